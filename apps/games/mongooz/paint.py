"""Mongooz: the colour of a card in the terminal."""

from __future__ import annotations

NAMES = {"C": "green", "D": "blue", "H": "red", "S": "bold"}


def colour(face: str) -> str:
    """Return the name of the colour of a face's suit: four colours tell suits apart quickest."""
    return NAMES[face[0]]
