"""Wonky: the colour of a card in the terminal."""

from __future__ import annotations

NAMES = {"P": "magenta", "G": "green", "B": "blue"}


def colour(face: str) -> str:
    """Return the name of a face's colour; cards of any colour, action and combo cards are bold."""
    return NAMES.get(face[1], "bold") if len(face) == 2 else "bold"
