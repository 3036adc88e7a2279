"""Wonky: the state of a round, what can be played in it, and its plain form.

Rules: docs/games/wonky.md, section State and stability.  It holds values only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apps.games.contract import JSON, Card
from apps.games.kit.cards import Cards
from apps.games.kit.round import Round, dump_shared, load_shared
from apps.games.wonky.blocks import ALL_BLOCKS, Tower
from apps.games.wonky.cards import MATCHES, TABLE


@dataclass(slots=True)
class State(Round):
    """A round of Wonky."""

    discard: Cards
    """The discard pile, bottom to top."""
    direction: int
    """1 clockwise, -1 counter-clockwise."""
    tower: Tower
    placements: int
    """Blocks placed in the round so far; also the number of the next tremor's stream."""
    rebuilding: bool
    """Phase ``rebuild``: the turn's seat must start a new tower after a fall."""
    drawn: int | None
    """The card last drawn in this turn by ``draw`` in phase ``play``."""

    def copy(self) -> State:
        """Return a shallow copy."""
        new = object.__new__(State)
        self.copy_shared(new)
        new.discard = self.discard
        new.direction = self.direction
        new.tower = self.tower
        new.placements = self.placements
        new.rebuilding = self.rebuilding
        new.drawn = self.drawn
        return new

    def free(self) -> int:
        """Return the set of blocks that are not in the tower."""
        blocks = ALL_BLOCKS
        for block, _, _ in self.tower:
            blocks ^= 1 << block
        return blocks

    def playable(self, hand: Cards, card: int) -> bool:
        """Return whether a card of this hand can be played now (W-3); in ``rebuild`` no action card can (W-11)."""
        if MATCHES[card]:
            return MATCHES[card] & self.free() != 0
        return not self.rebuilding and len(hand) >= 2

    def any_playable(self, hand: Cards) -> bool:
        """Return whether some card of this hand can be played now."""
        return any(self.playable(hand, card) for card in hand)

    def nothing_left(self) -> bool:
        """Return whether no card can be drawn: an empty deck, and no discard beneath the top one (W-5)."""
        return not self.deck and len(self.discard) < 2

    def zones(self) -> dict[str, tuple[Card, ...]]:
        """Return every zone by name with its cards."""
        return {**Round.zones(self), "discard": self.deal.cards.texts(self.discard)}


def dump(s: State) -> dict[str, JSON]:
    """Return the state as plain JSON."""
    return {
        **dump_shared(s),
        "discard": list(s.discard),
        "direction": s.direction,
        "tower": [list(placed) for placed in s.tower],
        "placements": s.placements,
        "rebuilding": s.rebuilding,
        "drawn": s.drawn,
    }


def load(data: Mapping[str, JSON]) -> State:
    """Return the state that was dumped."""
    return State(
        **load_shared(dict(data), TABLE),
        discard=tuple(data["discard"]),
        direction=data["direction"],
        tower=tuple([(block, down, x) for block, down, x in data["tower"]]),
        placements=data["placements"],
        rebuilding=data["rebuilding"],
        drawn=data["drawn"],
    )
