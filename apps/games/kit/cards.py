"""Decks as tables: the canonical order of the cards and the way between a card's code and its index.

Common rules: section 2.  It never shuffles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from apps.games.contract import Card

Cards = tuple[int, ...]
"""A zone: cards as canonical indexes, in the order of the zone (section 2, "Order of zones")."""


@dataclass(frozen=True, slots=True)
class CardTable:
    """The canonical order of one deck.  Made once per deck and shared by all rounds."""

    codes: tuple[Card, ...]
    index: dict[Card, int] = field(init=False, repr=False, compare=False)
    """Canonical index by code."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", {code: number for number, code in enumerate(self.codes)})
        assert len(self.index) == len(self.codes), "a card code is unique in its deck"

    def numbers(self, codes: Iterable[Card]) -> Cards:
        """Return the canonical indexes of these codes, in their order."""
        return tuple([self.index[code] for code in codes])

    def texts(self, cards: Iterable[int]) -> tuple[Card, ...]:
        """Return the codes of these cards, in their order."""
        return tuple([self.codes[card] for card in cards])


def table(faces: Iterable[tuple[str, int]]) -> CardTable:
    """Build the table of a deck from its faces in canonical order, each with its number of copies."""
    return CardTable(tuple(f"{face}#{copy}" for face, copies in faces for copy in range(1, copies + 1)))


def face(code: Card) -> str:
    """Return the face of a card code: what stands before the ``#``."""
    return code[: code.index("#")]
