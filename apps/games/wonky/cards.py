"""Wonky: the 54 cards, and which blocks each of them may be stacked with.

Rules: docs/games/wonky.md, section Deck and blocks.  Elsewhere in this package a card is its canonical index.
"""

from __future__ import annotations

from typing import Final

from apps.games.kit.cards import CardTable, face, table
from apps.games.wonky.blocks import BLOCKS

KINDS: Final = (
    (BLOCKS, 3),
    (("AP", "AG", "AB"), 3),
    (("SA", "MA", "LA"), 2),
    (("PASS", "REV"), 3),
    (("ANYD", "ANYR"), 3),
)
"""Faces and the copies of each, in canonical order."""

TABLE: Final[CardTable] = table((name, copies) for names, copies in KINDS for name in names)
FACE: Final = tuple(face(code) for code in TABLE.codes)
"""By card."""


def _matches(name: str, block: str) -> bool:
    if name in ("ANYD", "ANYR"):
        return True
    # Neither PASS nor REV begins with a size, so they match nothing.
    return name[0] in ("A", block[0]) and name[1] in ("A", block[1])


MATCHES: Final = tuple(sum(1 << i for i, block in enumerate(BLOCKS) if _matches(name, block)) for name in FACE)
"""By card: the set of blocks that go with it; empty for an action card."""
