"""The shared part of a round's state, and the record that one call into a game keeps.

Common rules: section 2 (places, ``<h>``, ``<s>``, zones) and section 4 (what clocks need).  A state is a value: see the
rule of copies in ``apps.games.kit``.  Slotted but not frozen: a frozen class of this width costs several times as much
to copy, and a copy is made at every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, TypeVar

from apps.games.contract import JSON, Card, Chance, Event, Generation, Outcome, Seat, Step
from apps.games.kit.cards import Cards, CardTable

Place = tuple[int, int]
"""Where a card lies in its committed deck: generation, and index in it."""


@dataclass(frozen=True, slots=True)
class Deal:
    """What stays the same for a whole round."""

    cards: CardTable
    seats: tuple[Seat, ...]
    """The ring: the seats dealt in, ascending, which is clockwise."""
    options: dict[str, bool | int | str]
    """All options, defaults filled in."""
    opener: Seat
    carry: JSON


@dataclass(slots=True)
class Round:
    """What the state of every game has.  A game derives its own state from it and adds what is its own."""

    deal: Deal
    places: tuple[Place, ...]
    """Place of each card, by canonical index."""
    deck: Cards
    """Draw deck, top first."""
    hands: dict[Seat, Cards]
    """By seat, in order of arrival; every seat of the ring has one."""
    aside: dict[Seat, Cards]
    """Cards of seats that left, unseen until the end."""
    active: tuple[Seat, ...]
    """Seats that are dealt in, have not left and are not out; ascending."""
    offline: frozenset[Seat]
    """Seats whose connection was last told to be lost."""
    turn: int
    """Number of the running turn, from 1; 0 before the first."""
    seat: Seat
    """The turn's seat (before the first turn: the opener)."""
    deadline: int
    """Of the running turn or set-up clock; Unix milliseconds."""
    acted: bool
    """Whether an action of the turn's seat was accepted in this turn."""
    gen: int
    """Number of the newest generation."""
    reshuffles: int
    """How often the draw deck was renewed; also the number of the next reshuffle's stream."""
    outcome: Outcome | None

    def copy(self) -> Self:
        """Return a shallow copy: ``new = object.__new__(State)``, ``self.copy_shared(new)``, then the own fields."""
        raise NotImplementedError

    def copy_shared(self, new: Round) -> None:
        """Copy the fields of ``Round`` to a new state."""
        new.deal = self.deal
        new.places = self.places
        new.deck = self.deck
        new.hands = self.hands
        new.aside = self.aside
        new.active = self.active
        new.offline = self.offline
        new.turn = self.turn
        new.seat = self.seat
        new.deadline = self.deadline
        new.acted = self.acted
        new.gen = self.gen
        new.reshuffles = self.reshuffles
        new.outcome = self.outcome

    def due(self) -> int:
        """Return the earliest time at which something happens by itself while the round runs."""
        return self.deadline

    def zones(self) -> dict[str, tuple[Card, ...]]:
        """Return every zone by name with its cards; together they are the deck, each card once (law 6)."""
        texts = self.deal.cards.texts
        zones = {"deck": texts(self.deck)}
        zones.update({f"hand {seat}": texts(cards) for seat, cards in self.hands.items()})
        zones.update({f"aside {seat}": texts(cards) for seat, cards in self.aside.items()})
        return zones

    def hidden(self, card: int) -> dict[str, Any]:
        """Return ``<h>``: a card by its place alone."""
        gen, pos = self.places[card]
        return {"gen": gen, "pos": pos}

    def shown(self, card: int) -> dict[str, Any]:
        """Return ``<s>``: a card by its place and its code."""
        gen, pos = self.places[card]
        return {"gen": gen, "pos": pos, "card": self.deal.cards.codes[card]}

    def put(self, seat: Seat, cards: Cards) -> None:
        """Give the seat this hand instead of the one it has."""
        hands = self.hands.copy()
        hands[seat] = cards
        self.hands = hands


State = TypeVar("State", bound=Round)


class Call:
    """One call into a game: its time and chance, and what it has produced so far."""

    __slots__ = ("chance", "emit", "events", "generations", "now")

    def __init__(self, now: int, chance: Chance) -> None:
        self.now = now
        self.chance = chance
        self.events: list[Event] = []
        self.generations: list[Generation] = []
        self.emit = self.events.append

    def step(self, state: State) -> Step[State]:
        """Return the finished call."""
        return Step(state, tuple(self.events), tuple(self.generations) if self.generations else ())


def seat_map(values: dict[Seat, Any]) -> dict[str, Any]:
    """Return a seat map: keys as decimal text, for JSON."""
    return {str(seat): value for seat, value in values.items()}


def seat_keys(values: dict[str, Any]) -> dict[Seat, Any]:
    """Return the reverse of ``seat_map``."""
    return {Seat(int(seat)): value for seat, value in values.items()}


def zones_dump(zones: dict[Seat, Cards]) -> dict[str, list[int]]:
    """Return zones by seat for ``dump``."""
    return {str(seat): list(cards) for seat, cards in zones.items()}


def zones_load(data: dict[str, list[int]]) -> dict[Seat, Cards]:
    """Return the reverse of ``zones_dump``."""
    return {Seat(int(seat)): tuple(cards) for seat, cards in data.items()}


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome as the view, ``round_over`` and ``dump`` write it."""
    return {
        "final": outcome.final,
        "reason": outcome.reason,
        "ranking": [list(group) for group in outcome.ranking],
        "shares": seat_map(dict(outcome.shares)),
        "scores": seat_map(dict(outcome.scores)),
        "carry": outcome.carry,
    }


def outcome_load(data: JSON) -> Outcome | None:
    """Return the reverse of ``outcome_json``."""
    if data is None:
        return None
    return Outcome(
        final=data["final"],
        shares=seat_keys(data["shares"]),
        ranking=tuple(tuple(group) for group in data["ranking"]),
        scores=seat_keys(data["scores"]),
        reason=data["reason"],
        carry=data["carry"],
    )


def dump_shared(s: Round) -> dict[str, JSON]:
    """Return the shared part of a state as plain JSON; a game adds its own keys.

    The cards of the table are not in it: they follow from the options and the number of seats.
    """
    return {
        "seats": list(s.deal.seats),
        "options": dict(s.deal.options),
        "opener": s.deal.opener,
        "carry": s.deal.carry,
        "places": [[gen, pos] for gen, pos in s.places],
        "deck": list(s.deck),
        "hands": zones_dump(s.hands),
        "aside": zones_dump(s.aside),
        "active": list(s.active),
        "offline": sorted(s.offline),
        "turn": s.turn,
        "seat": s.seat,
        "deadline": s.deadline,
        "acted": s.acted,
        "gen": s.gen,
        "reshuffles": s.reshuffles,
        "outcome": None if s.outcome is None else outcome_json(s.outcome),
    }


def load_shared(data: dict[str, JSON], cards: CardTable) -> dict[str, Any]:
    """Return the fields of ``Round`` by name, for the constructor of a game's state."""
    return {
        "deal": Deal(cards, tuple(data["seats"]), data["options"], data["opener"], data["carry"]),
        "places": tuple([(gen, pos) for gen, pos in data["places"]]),
        "deck": tuple(data["deck"]),
        "hands": zones_load(data["hands"]),
        "aside": zones_load(data["aside"]),
        "active": tuple(data["active"]),
        "offline": frozenset(data["offline"]),
        "turn": data["turn"],
        "seat": data["seat"],
        "deadline": data["deadline"],
        "acted": data["acted"],
        "gen": data["gen"],
        "reshuffles": data["reshuffles"],
        "outcome": outcome_load(data["outcome"]),
    }
