"""Mongooz: the pack of 52.

Rules: docs/games/mongooz.md, section Deck, Z-5.  Elsewhere in this package a card is its canonical index, a suit and a
rank are their index here; ranks run in a circle, A after K.
"""

from __future__ import annotations

from typing import Final

from apps.games.kit.cards import CardTable, table

SUITS: Final = ("C", "D", "H", "S")
RANKS: Final = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K")
ROUND: Final = len(RANKS)
"""Number of ranks, and of cards in a finished suit pile."""

TABLE: Final[CardTable] = table((suit + rank, 1) for suit in SUITS for rank in RANKS)

SUIT: Final = tuple(card // ROUND for card in range(len(TABLE.codes)))
RANK: Final = tuple(card % ROUND for card in range(len(TABLE.codes)))
BELOW: Final = tuple((rank - 1) % ROUND for rank in RANK)
"""By card, the rank that it may be laid on."""
