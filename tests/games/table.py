"""A table for tests: one round that is fed inputs and asked what happened."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from apps.games import registry
from apps.games.chance import SeededChance
from apps.games.contract import Action, Card, Event, Outcome, RuleError, Seat, Setup, Step, View
from apps.games.laws import text_of


class FixedChance:
    """Chance whose numbers a test has written down; what it has not is drawn from a seed, shuffles keep their order."""

    def __init__(self, numbers: Mapping[str, int] | None = None) -> None:
        self.numbers = dict(numbers or {})
        self.asked: list[tuple[str, Any]] = []
        self._other = SeededChance(1)

    def uniform(self, stream: str, m: int) -> int:
        """Return the number written down for the stream."""
        self.asked.append((stream, m))
        number = self.numbers[stream] if stream in self.numbers else self._other.uniform(stream, m)
        assert 0 <= number < m
        return number

    def shuffle(self, stream: str, items: Sequence[Card]) -> tuple[Card, ...]:
        """Return the items turned round: the last one comes to the top, so that the order shows."""
        self.asked.append((stream, tuple(items)))
        return tuple(reversed(items))


def deck_of(slug: str, first: str = "", last: str = "", seats: int = 2, options: Any = None) -> tuple[Card, ...]:
    """Return a deck that begins, or ends, with these codes; all other cards lie there in canonical order."""
    begin, end = tuple(first.split()), tuple(last.split())
    rest = [code for code in registry.game(slug).deck(options or {}, seats) if code not in begin + end]
    return (*begin, *rest, *end)


class Table:
    """One round of one game, with its time and chance kept for the test."""

    def __init__(self, slug: str, state: Any = None, chance: FixedChance | None = None) -> None:
        self.game = registry.game(slug)
        self.state = state
        self.chance = chance or FixedChance()
        self.events: list[Event] = []
        self.step: Step[Any] | None = None

    @classmethod
    def start(
        cls,
        slug: str,
        deck: Sequence[Card],
        seats: Sequence[int] = (0, 1),
        opener: int = 0,
        options: Mapping[str, Any] | None = None,
        now: int = 0,
        chance: FixedChance | None = None,
        carry: Any = None,
    ) -> Table:
        """Start a round; its events are in ``events``."""
        table = cls(slug, chance=chance)
        ring = tuple(Seat(seat) for seat in seats)
        setup = Setup(ring, tuple(deck), options or {}, now, Seat(opener), carry)
        table._take(table.game.start(setup, table.chance))
        return table

    def _take(self, step: Step[Any]) -> list[Event]:
        self.step = step
        self.state = step.state
        self.events = list(step.events)
        return self.events

    def act(self, seat: int, action: Action, now: int) -> list[Event]:
        """Let a seat act and return the events."""
        return self._take(self.game.act(self.state, Seat(seat), action, now, self.chance))

    def wake(self, now: int) -> list[Event]:
        """Let what is due happen and return the events."""
        return self._take(self.game.wake(self.state, now, self.chance))

    def leave(self, seat: int, now: int, reason: str = "left") -> list[Event]:
        """Let a seat leave and return the events."""
        return self._take(self.game.leave(self.state, Seat(seat), reason, now, self.chance))

    def connection(self, seat: int, connected: bool, now: int) -> list[Event]:
        """Lose or regain a connection and return the events."""
        return self._take(self.game.connection(self.state, Seat(seat), connected, now))

    def refusal(self, kind: str, seat: int, value: Any, now: int) -> str:
        """Return the code with which an input is refused; the state must be as before."""
        before = text_of(self.game.dump(self.state))
        code = None
        try:
            if kind == "act":
                self.game.act(self.state, Seat(seat), value, now, self.chance)
            elif kind == "leave":
                self.game.leave(self.state, Seat(seat), value, now, self.chance)
            else:
                self.game.connection(self.state, Seat(seat), value, now)
        except RuleError as error:
            code = error.code
        assert code is not None, f"{kind} of seat {seat} was taken: {value}"
        assert text_of(self.game.dump(self.state)) == before
        return code

    def refused(self, seat: int, action: Any, now: int) -> str:
        """Return the code with which an action is refused."""
        return self.refusal("act", seat, action, now)

    def legal(self, seat: int, now: int) -> tuple[Action, ...]:
        """Return what the seat may do."""
        return self.game.legal(self.state, Seat(seat), now)

    def view(self, viewer: int | None) -> View:
        """Return what a viewer may know."""
        return self.game.view(self.state, None if viewer is None else Seat(viewer))

    def outcome(self) -> Outcome | None:
        """Return how the round ended."""
        return self.game.outcome(self.state)


def brief(events: Sequence[Event]) -> list[str]:
    """Return events in short: type, then the values without places, as ``played 0 RS#1``."""
    return [" ".join([event["type"], *(_brief(event[key]) for key in event if key != "type")]) for event in events]


def _brief(value: Any) -> str:
    if isinstance(value, dict):
        if "gen" in value:
            return str(value.get("card", "?"))
        return "{" + " ".join(f"{key}:{_brief(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + " ".join(_brief(inner) for inner in value) + "]"
    return value if isinstance(value, str) else json.dumps(value)
