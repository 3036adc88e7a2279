"""Mojo: the colour of a card in the terminal."""

from __future__ import annotations

NAMES = {"B": "blue", "G": "green", "Y": "yellow", "O": "orange", "R": "red"}


def colour(face: str) -> str:
    """Return the name of a face's colour."""
    return NAMES[face[0]]
