"""Mojo: the 78 cards, and what a set of them costs.

Rules: docs/games/mojo.md, section Deck, J-13, J-14 and J-27.  Elsewhere in this package a card is its canonical index.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from apps.games.kit.cards import CardTable, face, table

COLOURS: Final = (
    ("B", (0, 1), 4),
    ("G", (2, 3, 4), 5),
    ("Y", (5, 6, 7), 6),
    ("O", (8, 9, 10), 7),
    ("R", (11, 12), 8),
)
"""Letter, values and copies of each face, in canonical order."""

TABLE: Final[CardTable] = table((f"{letter}{value}", copies) for letter, values, copies in COLOURS for value in values)

_LETTERS: Final = "".join(letter for letter, _, _ in COLOURS)

VALUE: Final = tuple(int(face(code)[1:]) for code in TABLE.codes)
"""By card: the number on it."""
COLOUR: Final = tuple(_LETTERS.index(code[0]) for code in TABLE.codes)
"""By card: its colour, an index of COLOURS."""


def raw_points(cards: Iterable[int]) -> int:
    """Return what the cards cost: the highest value of each colour, summed; no cards cost 0.

    Source: docs/games/mojo.md, J-27.
    """
    highest = [0] * len(COLOURS)
    for card in cards:
        highest[COLOUR[card]] = max(highest[COLOUR[card]], VALUE[card])
    return sum(highest)
