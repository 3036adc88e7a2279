"""Monko: the state of a round.

Rules: docs/games/monko.md, section State.  A value, by the rule of copies in ``apps.games.kit``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from apps.games.contract import JSON, Card, Seat
from apps.games.kit.cards import Cards
from apps.games.kit.round import Round, dump_shared, load_shared
from apps.games.monko.cards import MATCHES, RAISES, SYMBOL, TABLE


@dataclass(frozen=True, slots=True)
class Window:
    """An open call window: a seat is down to one card."""

    number: int
    """From 1 in the round."""
    seat: Seat
    exposed_at: int
    closes_at: int
    exposed: bool

    def due(self) -> int:
        """Return when its next stage is due."""
        return self.closes_at if self.exposed else self.exposed_at


@dataclass(slots=True)
class State(Round):
    """A round of Monko."""

    pile: Cards
    """Bottom to top, all open."""
    colour: str
    """Active colour."""
    direction: int
    """1 clockwise, -1 counter-clockwise."""
    stack: int
    """Size of the waiting stack, 0 for none."""
    plus4: bool
    """Whether a W4 is in the stack."""
    pending: tuple[Seat, ...]
    """Seats that emptied their hand with a draw card, in that order."""
    drawn: int | None
    """Card drawn in this turn by the turn's seat."""
    windows: tuple[Window, ...]
    """Open call windows by number."""
    windows_opened: int
    dry: int
    """Turns in a row that ended with a pass without a card because nothing was left."""

    def copy(self) -> State:
        """Return a shallow copy."""
        new = object.__new__(State)
        self.copy_shared(new)
        new.pile = self.pile
        new.colour = self.colour
        new.direction = self.direction
        new.stack = self.stack
        new.plus4 = self.plus4
        new.pending = self.pending
        new.drawn = self.drawn
        new.windows = self.windows
        new.windows_opened = self.windows_opened
        new.dry = self.dry
        return new

    def due(self) -> int:
        """Return the earliest of the turn's deadline and the next stages of the windows."""
        if not self.windows:
            return self.deadline
        return min(self.deadline, min([window.due() for window in self.windows]))

    def zones(self) -> dict[str, tuple[Card, ...]]:
        """Return every zone with its cards."""
        # Not super(): a dataclass with slots is made anew by its decorator.
        return {**Round.zones(self), "pile": TABLE.texts(self.pile)}

    def playable(self) -> frozenset[int]:
        """Return the cards that may be laid now, whoever holds them (M-10, M-19)."""
        if self.stack:
            return RAISES[self.plus4]
        return MATCHES[self.colour, SYMBOL[self.pile[-1]]]

    def nothing_left(self) -> bool:
        """Return whether there is no card to draw and none to reshuffle."""
        return not self.deck and len(self.pile) == 1


def dump(s: State) -> JSON:
    """Return the state as plain JSON."""
    return {
        **dump_shared(s),
        "pile": list(s.pile),
        "colour": s.colour,
        "direction": s.direction,
        "stack": s.stack,
        "plus4": s.plus4,
        "pending": list(s.pending),
        "drawn": s.drawn,
        "windows": [[w.number, w.seat, w.exposed_at, w.closes_at, w.exposed] for w in s.windows],
        "windows_opened": s.windows_opened,
        "dry": s.dry,
    }


def load(data: dict[str, Any]) -> State:
    """Return a state equal to the dumped one."""
    return State(
        **load_shared(data, TABLE),
        pile=tuple(data["pile"]),
        colour=data["colour"],
        direction=data["direction"],
        stack=data["stack"],
        plus4=data["plus4"],
        pending=tuple(data["pending"]),
        drawn=data["drawn"],
        windows=tuple([Window(*row) for row in data["windows"]]),
        windows_opened=data["windows_opened"],
        dry=data["dry"],
    )
