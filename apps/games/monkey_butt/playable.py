"""Monkey Butt: what may be laid on what.

Rules: docs/games/monkey_butt.md, section Playable, B-7 to B-9.
"""

from __future__ import annotations

from typing import Final

from apps.games.kit.cards import Cards
from apps.games.monkey_butt.cards import EIGHT, KONG, NUMBER_MAX, ONE, PYRO, ZEN, Pack

ANYTHING: Final = tuple(range(ONE, KONG + 1))


def _on(top: int) -> tuple[int, ...]:
    """Return the ranks that may be laid on this one, ascending."""
    if top == EIGHT:
        return (*range(ONE, EIGHT + 1), ZEN)
    if top == KONG:
        return (ZEN, PYRO, KONG)
    if ONE <= top <= NUMBER_MAX:
        return tuple(sorted({*range(top, NUMBER_MAX + 1), EIGHT, ZEN, PYRO, KONG}))
    return ANYTHING


FITS: Final = tuple(_on(top) for top in range(KONG + 1))
"""By the rank on top, 0 for an empty pile: the ranks that may be laid.  A Pyro burns the pile and never lies on top."""


def fitting(pack: Pack, pile: Cards) -> tuple[int, ...]:
    """Return the ranks that may be laid on this pile, ascending, colours apart."""
    return FITS[pack.rank[pile[-1]]] if pile else ANYTHING


def blocked_colours(pack: Pack, pile: Cards) -> frozenset[str]:
    """Return the colours of which a 1 lies in the pile, at any depth (B-9)."""
    if pack.ones.isdisjoint(pile):
        return frozenset()
    return frozenset([pack.colour[card] for card in pile if card in pack.ones])


def goes(pack: Pack, pile: Cards, card: int) -> bool:
    """Return whether one card, no super special, may be laid on the pile as it lies."""
    return pack.colour[card] not in blocked_colours(pack, pile) and pack.rank[card] in fitting(pack, pile)
