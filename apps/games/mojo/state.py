"""Mojo: the state of one round, and its plain form.

Rules: docs/games/mojo.md, section State.  It holds values only and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apps.games.contract import JSON, Card, Seat
from apps.games.kit.cards import Cards
from apps.games.kit.round import Round, dump_shared, load_shared, seat_keys, seat_map
from apps.games.mojo.cards import TABLE

Laid = tuple[tuple[int, bool], ...]
"""The cards a seat has laid down, in laid order, each with whether it is turned up."""


@dataclass(slots=True)
class State(Round):
    """One round of a match."""

    number: int
    """Of the round in the match, from 1."""
    totals: dict[Seat, int]
    """Points before this round; once it is scored, those of the active seats include it."""
    face: int
    """0 or 10: the face of the Mojo card that is up during this round."""
    piles: tuple[Cards, ...]
    """One or two discard piles, bottom to top; pile p of the rules is ``piles[p - 1]``."""
    laid: dict[Seat, Laid]
    """By seat that has laid down; a seat that still has a hand is not in it."""
    locked: int | None
    """Number of the pile that the next discard of this turn must go on."""

    def copy(self) -> State:
        """Return a shallow copy."""
        new = object.__new__(State)
        self.copy_shared(new)
        new.number = self.number
        new.totals = self.totals
        new.face = self.face
        new.piles = self.piles
        new.laid = self.laid
        new.locked = self.locked
        return new

    @property
    def direction(self) -> int:
        """1 clockwise, -1 counter-clockwise (J-7)."""
        return 1 if self.face == 0 else -1

    @property
    def threshold(self) -> int:
        """The most cards that are a small hand (J-5): seats dealt in count, whether or not they left."""
        return 2 if len(self.deal.seats) == 2 else 3

    def face_down(self, seat: Seat) -> Cards:
        """Return the laid cards of a seat that are still face down, in laid order."""
        return tuple([card for card, up in self.laid.get(seat, ()) if not up])

    def zones(self) -> dict[str, tuple[Card, ...]]:
        """Return every zone by name with its cards."""
        texts = self.deal.cards.texts
        zones = Round.zones(self)
        zones.update({f"pile {place}": texts(pile) for place, pile in enumerate(self.piles, start=1)})
        zones.update({f"laid {seat}": texts(card for card, _ in laid) for seat, laid in self.laid.items()})
        return zones


def dump(s: State) -> dict[str, JSON]:
    """Return the state as plain JSON."""
    return {
        **dump_shared(s),
        "number": s.number,
        "totals": seat_map(s.totals),
        "face": s.face,
        "piles": [list(pile) for pile in s.piles],
        "laid": {str(seat): [list(entry) for entry in laid] for seat, laid in s.laid.items()},
        "locked": s.locked,
    }


def load(data: Mapping[str, JSON]) -> State:
    """Return the state that was dumped."""
    return State(
        **load_shared(dict(data), TABLE),
        number=data["number"],
        totals=seat_keys(data["totals"]),
        face=data["face"],
        piles=tuple([tuple(pile) for pile in data["piles"]]),
        laid={Seat(int(seat)): tuple([(card, up) for card, up in laid]) for seat, laid in data["laid"].items()},
        locked=data["locked"],
    )
