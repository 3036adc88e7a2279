"""Monko: the colour of a card in the terminal."""

from __future__ import annotations

NAMES = {"R": "red", "Y": "yellow", "G": "green", "B": "blue"}


def colour(face: str) -> str:
    """Return the name of a face's colour; wild cards are bold."""
    return NAMES.get(face[0], "bold")
