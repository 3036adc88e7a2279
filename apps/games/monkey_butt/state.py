"""Monkey Butt: the state of a round.

Rules: docs/games/monkey_butt.md, section State.  A state is a value; see the rule of copies in ``apps.games.kit``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from apps.games.contract import JSON, Card, Seat
from apps.games.kit.cards import Cards
from apps.games.kit.round import Round, dump_shared, load_shared, seat_keys, seat_map, zones_dump, zones_load
from apps.games.monkey_butt.cards import Pack, pack

AB: Final = "ab"
PICK_C: Final = "c"
PLAY: Final = "play"
STEAL: Final = "steal"
USE: Final = "use"
OVER: Final = "over"

PLACES: Final = ("A", "B", "C")
"""Names of a seat's open cards, by their index in ``State.open``."""

Open = tuple[int | None, int | None, int | None]
"""A, B and C of one seat."""


@dataclass(slots=True)
class State(Round):
    """A round of Monkey Butt.  ``seat`` is the turn's seat from phase play on."""

    pack: Pack
    """The cards of the round, as in ``deal.cards``."""
    phase: str
    pile: Cards
    """Bottom first, open."""
    burn: Cards
    """Burnt cards, oldest first, open."""
    removed: Cards
    """Used super specials, in order of use, open."""
    open: dict[Seat, Open]
    down: dict[Seat, Cards]
    """The face-down card, one or none."""
    locks: dict[Seat, Cards]
    """Secret choices: A and B in phase ab, the card of the seat's target in phase c."""
    targets: dict[Seat, Seat]
    """In phase c, for whom a seat picks.  A seat whose target has left has none."""
    lowest: int
    """Rank that the opening play must have; 0 for none."""
    victim: Seat | None
    """Whose hand is open to the turn's seat in phase steal."""
    in_play: int | None
    """The super special that is to be used in phase use."""
    in_play_zone: str
    """Where ``in_play`` came from, stolen or down; empty without it."""
    out: tuple[Seat, ...]
    """Seats that are safe, in the order of going out."""

    def copy(self) -> State:
        """Return a shallow copy."""
        new = object.__new__(State)
        self.copy_shared(new)
        new.pack = self.pack
        new.phase = self.phase
        new.pile = self.pile
        new.burn = self.burn
        new.removed = self.removed
        new.open = self.open
        new.down = self.down
        new.locks = self.locks
        new.targets = self.targets
        new.lowest = self.lowest
        new.victim = self.victim
        new.in_play = self.in_play
        new.in_play_zone = self.in_play_zone
        new.out = self.out
        return new

    def zones(self) -> dict[str, tuple[Card, ...]]:
        """Return every zone by name with its cards."""
        texts = self.deal.cards.texts
        zones = Round.zones(self)  # Not super(): a dataclass with slots is made anew by its decorator.
        zones.update({"pile": texts(self.pile), "burn": texts(self.burn), "removed": texts(self.removed)})
        zones["in_play"] = () if self.in_play is None else texts((self.in_play,))
        for seat in self.deal.seats:
            zones[f"open {seat}"] = texts(self.open_cards(seat))
            zones[f"down {seat}"] = texts(self.down[seat])
        return zones

    def open_cards(self, seat: Seat) -> Cards:
        """Return the open cards that a seat has, A before B before C."""
        return tuple([card for card in self.open[seat] if card is not None])

    def count(self, seat: Seat) -> int:
        """Return how many cards a seat has: hand, A, B, C and the face-down card."""
        return len(self.hands[seat]) + len(self.open_cards(seat)) + len(self.down[seat])

    def set_open(self, seat: Seat, place: int, card: int | None) -> None:
        """Put a card, or none, on one of the places A, B and C of a seat."""
        row = list(self.open[seat])
        row[place] = card
        self.open = {**self.open, seat: (row[0], row[1], row[2])}

    def zone(self, seat: Seat) -> tuple[str, Cards]:
        """Return the zone that a seat plays from and its cards: hand, bc, a or down (B-35)."""
        hand = self.hands[seat]
        if hand:
            return "hand", hand
        a, b, c = self.open[seat]
        if b is not None or c is not None:
            return "bc", tuple([card for card in (b, c) if card is not None])
        if a is not None:
            return "a", (a,)
        return "down", self.down[seat]


def dump(s: State) -> JSON:
    """Return the state as plain JSON."""
    return {
        **dump_shared(s),
        "phase": s.phase,
        "pile": list(s.pile),
        "burn": list(s.burn),
        "removed": list(s.removed),
        "open": {str(seat): list(row) for seat, row in s.open.items()},
        "down": zones_dump(s.down),
        "locks": zones_dump(s.locks),
        "targets": seat_map(s.targets),
        "lowest": s.lowest,
        "victim": s.victim,
        "in_play": s.in_play,
        "in_play_zone": s.in_play_zone,
        "out": list(s.out),
    }


def load(data: dict[str, Any]) -> State:
    """Return a state equal to the one that was dumped."""
    its = pack(data["options"], len(data["seats"]))
    return State(
        **load_shared(data, its),
        pack=its,
        phase=data["phase"],
        pile=tuple(data["pile"]),
        burn=tuple(data["burn"]),
        removed=tuple(data["removed"]),
        open={seat: (row[0], row[1], row[2]) for seat, row in seat_keys(data["open"]).items()},
        down=zones_load(data["down"]),
        locks=zones_load(data["locks"]),
        targets=seat_keys(data["targets"]),
        lowest=data["lowest"],
        victim=data["victim"],
        in_play=data["in_play"],
        in_play_zone=data["in_play_zone"],
        out=tuple(data["out"]),
    )
