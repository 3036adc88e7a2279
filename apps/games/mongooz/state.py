"""Mongooz: the state of a round.

Rules: docs/games/mongooz.md, section State.  A value, by the rule of copies in ``apps.games.kit``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from apps.games.contract import JSON, Card, Seat
from apps.games.kit.cards import Cards
from apps.games.kit.round import Round, dump_shared, load_shared, zones_dump, zones_load
from apps.games.mongooz.cards import BELOW, RANK, ROUND, SUIT, SUITS, TABLE


class Offence(NamedTuple):
    """A play that was overlooked."""

    card: int
    could_middle: bool
    """Whether it fitted the middle then."""


class Record(NamedTuple):
    """What may be called about one turn."""

    turn: int
    offender: Seat
    """Whose turn it is or was."""
    offences: tuple[Offence, ...]
    callers: tuple[Seat, ...]
    """Who called it rightly, in that order; the first of them has upheld it."""


@dataclass(slots=True)
class State(Round):
    """A round of Mongooz.  There is no draw deck, and no hands: cards lie in piles, face down, and discards, open."""

    piles: dict[Seat, Cards]
    """Face down, top first."""
    discards: dict[Seat, Cards]
    """Open, bottom to top."""
    middle: tuple[Cards, ...]
    """By suit, bottom to top."""
    start_rank: int
    """Rank that begins a suit."""
    flipped: int | None
    """The card that the turn's seat has turned up and not yet laid."""
    current: Record
    """Of the running turn."""
    previous: Record | None
    """Of the turn before, while it may still be called."""
    blocked: frozenset[Seat]
    """Seats that made a wrong call since the running turn began."""

    def copy(self) -> State:
        """Return a shallow copy."""
        new = object.__new__(State)
        self.copy_shared(new)
        new.piles = self.piles
        new.discards = self.discards
        new.middle = self.middle
        new.start_rank = self.start_rank
        new.flipped = self.flipped
        new.current = self.current
        new.previous = self.previous
        new.blocked = self.blocked
        return new

    def zones(self) -> dict[str, tuple[Card, ...]]:
        """Return every zone with its cards."""
        zones = {**Round.zones(self), "flipped": () if self.flipped is None else TABLE.texts((self.flipped,))}
        zones.update({f"pile {seat}": TABLE.texts(cards) for seat, cards in self.piles.items()})
        zones.update({f"discard {seat}": TABLE.texts(cards) for seat, cards in self.discards.items()})
        zones.update({f"middle {SUITS[suit]}": TABLE.texts(cards) for suit, cards in enumerate(self.middle)})
        return zones

    def put_pile(self, seat: Seat, cards: Cards) -> None:
        """Give the seat this face-down pile instead of the one it has."""
        self.piles = {**self.piles, seat: cards}

    def put_discard(self, seat: Seat, cards: Cards) -> None:
        """Give the seat this discard instead of the one it has."""
        self.discards = {**self.discards, seat: cards}

    def has_cards(self, seat: Seat) -> bool:
        """Return whether the seat has a card in its pile or discard."""
        return bool(self.piles[seat] or self.discards[seat])

    def count(self, seat: Seat) -> int:
        """Return the cards of a seat: pile, discard and a flipped card in its hand (Z-30)."""
        flipped = self.flipped is not None and seat == self.seat
        return len(self.piles[seat]) + len(self.discards[seat]) + flipped

    def to_play(self) -> int | None:
        """Return the card that the turn's seat would place: the flipped one, else the top of its discard (Z-26)."""
        if self.flipped is not None:
            return self.flipped
        discard = self.discards[self.seat]
        return discard[-1] if discard else None

    def fits_middle(self, card: int) -> bool:
        """Return whether a card goes on its suit's pile; on a pile of 13 none does (Z-3 to Z-5)."""
        return (RANK[card] - self.start_rank) % ROUND == len(self.middle[SUIT[card]])

    def fits_seat(self, card: int, seat: Seat) -> bool:
        """Return whether a card goes on the discard of another seat (Z-6)."""
        discard = self.discards[seat]
        return bool(discard) and RANK[discard[-1]] == BELOW[card]

    def fits(self, card: int) -> bool:
        """Return whether the turn's seat can place a card anywhere."""
        return self.fits_middle(card) or any(
            self.fits_seat(card, seat) for seat in self.deal.seats if seat != self.seat
        )

    def callable(self) -> tuple[Record, ...]:
        """Return the records of the turns that may be called, ascending (Z-11)."""
        return (self.current,) if self.previous is None else (self.previous, self.current)


def _record_dump(record: Record) -> JSON:
    return [record.turn, record.offender, [list(offence) for offence in record.offences], list(record.callers)]


def _record_load(data: JSON) -> Record:
    turn, offender, offences, callers = data
    return Record(turn, offender, tuple([Offence(*row) for row in offences]), tuple(callers))


def dump(s: State) -> JSON:
    """Return the state as plain JSON."""
    return {
        **dump_shared(s),
        "piles": zones_dump(s.piles),
        "discards": zones_dump(s.discards),
        "middle": [list(cards) for cards in s.middle],
        "start_rank": s.start_rank,
        "flipped": s.flipped,
        "current": _record_dump(s.current),
        "previous": None if s.previous is None else _record_dump(s.previous),
        "blocked": sorted(s.blocked),
    }


def load(data: dict[str, Any]) -> State:
    """Return a state equal to the dumped one."""
    return State(
        **load_shared(data, TABLE),
        piles=zones_load(data["piles"]),
        discards=zones_load(data["discards"]),
        middle=tuple([tuple(cards) for cards in data["middle"]]),
        start_rank=data["start_rank"],
        flipped=data["flipped"],
        current=_record_load(data["current"]),
        previous=None if data["previous"] is None else _record_load(data["previous"]),
        blocked=frozenset(data["blocked"]),
    )
