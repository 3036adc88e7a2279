"""Staged rounds for the rule tests: a scripted deck and chance, and events in the notation of the rule pages.

``@g.p`` is a hidden card with its place, ``@g.p=CODE`` a shown one; an event is written ``name(key=value, ...)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from apps.games.contract import Action, Card, Event, Game, RuleError, Seat, Setup, Step

KEYS_FIRST: dict[str, tuple[str, ...]] = {"round_over": ("reason", "final")}


class Scripted:
    """Chance that gives what the test wrote down, and remembers what was asked.

    ``numbers`` holds the answer of ``uniform`` by stream; a stream that is not in it must not be asked.  ``shuffle``
    keeps the order, or puts the cards listed for its stream on top.
    """

    def __init__(
        self, numbers: Mapping[str, int] | None = None, orders: Mapping[str, Sequence[Card]] | None = None
    ) -> None:
        self.numbers = dict(numbers or {})
        self.orders = dict(orders or {})
        self.asked: list[tuple[str, object]] = []

    def uniform(self, stream: str, m: int) -> int:
        self.asked.append((stream, m))
        return self.numbers[stream]

    def shuffle(self, stream: str, items: Sequence[Card]) -> tuple[Card, ...]:
        self.asked.append((stream, tuple(items)))
        first = [card for card in self.orders.get(stream, ()) if card in items]
        return (*first, *[card for card in items if card not in first])


def stacked(game: Game[Any], top: str, seats: int, options: Mapping[str, Any] | None = None) -> tuple[Card, ...]:
    """Return a deck with these cards on top, then all others in canonical order."""
    first = top.split()
    return (*first, *[card for card in game.deck(options or {}, seats) if card not in first])


class Table:
    """A running round that takes inputs and returns the events of each in the notation of the rule pages."""

    def __init__(self, game: Game[Any], step: Step[Any], chance: Scripted) -> None:
        self.game = game
        self.chance = chance
        self.state = step.state
        self.events = step.events
        self.generations = step.generations

    @classmethod
    def start(
        cls,
        game: Game[Any],
        top: str = "",
        *,
        seats: Sequence[int] = (0, 1),
        opener: int | None = None,
        options: Mapping[str, Any] | None = None,
        carry: Any = None,
        now: int = 0,
        chance: Scripted | None = None,
    ) -> Table:
        """Open a round with this top of the deck."""
        ring = tuple(Seat(seat) for seat in seats)
        first = ring[0] if opener is None else Seat(opener)
        deck = stacked(game, top, len(ring), options)
        setup = Setup(seats=ring, deck=deck, options=options or {}, now=now, opener=first, carry=carry)
        chance = chance or Scripted()
        return cls(game, game.start(setup, chance), chance)

    def _took(self, step: Step[Any]) -> list[str]:
        self.state = step.state
        self.events = step.events
        self.generations = step.generations
        return written(step.events)

    def act(self, seat: int, action: Action, now: int = 1) -> list[str]:
        return self._took(self.game.act(self.state, Seat(seat), action, now, self.chance))

    def wake(self, now: int) -> list[str]:
        return self._took(self.game.wake(self.state, now, self.chance))

    def leave(self, seat: int, reason: str = "left", now: int = 1) -> list[str]:
        return self._took(self.game.leave(self.state, Seat(seat), reason, now, self.chance))

    def connection(self, seat: int, connected: bool, now: int = 1) -> list[str]:
        return self._took(self.game.connection(self.state, Seat(seat), connected, now))

    def refused(self, seat: int, action: Any, now: int = 1) -> str:
        """Return the code with which an action is refused; the state must stay as it is."""
        before = self.game.dump(self.state)
        with pytest.raises(RuleError) as refusal:
            self.game.act(self.state, Seat(seat), action, now, self.chance)
        assert self.game.dump(self.state) == before
        return refusal.value.code

    def legal(self, seat: int, now: int = 1) -> list[Action]:
        return list(self.game.legal(self.state, Seat(seat), now))

    def view(self, viewer: int | None = None) -> dict[str, Any]:
        return self.game.view(self.state, None if viewer is None else Seat(viewer))

    def row(self, seat: int, viewer: int | None = None) -> dict[str, Any]:
        """Return a seat's row of a view."""
        return next(row for row in self.view(viewer)["seats"] if row["seat"] == seat)

    def hand(self, seat: int) -> str:
        return " ".join(self.state.deal.cards.texts(self.state.hands[seat]))


def written(events: Sequence[Event]) -> list[str]:
    """Return events in the notation of the rule pages."""
    return [_event(event) for event in events]


def _event(event: Event) -> str:
    first = KEYS_FIRST.get(event["type"], ())
    keys = [*first, *[key for key in event if key not in first and key != "type"]]
    return f"{event['type']}({', '.join(f'{key}={value_text(event[key])}' for key in keys)})"


def value_text(value: Any) -> str:
    """Return a JSON value in the notation of the rule pages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        if set(value) in ({"gen", "pos"}, {"gen", "pos", "card"}):
            return f"@{value['gen']}.{value['pos']}" + (f"={value['card']}" if "card" in value else "")
        return "{" + ", ".join(f"{key}:{value_text(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(value_text(inner) for inner in value) + "]"
    return str(value)


def faces(cards: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """Return the codes of the cards of a view, None for a hidden one."""
    return [card.get("card") for card in cards]
