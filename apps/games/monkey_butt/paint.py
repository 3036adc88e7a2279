"""Monkey Butt: the colour of a card in the terminal."""

from __future__ import annotations

NAMES = {"P": "magenta", "Y": "yellow", "B": "blue", "K": "black", "O": "orange"}


def colour(face: str) -> str:
    """Return the name of a face's colour; Pyros of all colours and super specials are bold."""
    return NAMES.get(face[0], "bold")
