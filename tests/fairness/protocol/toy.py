"""toy/1, the replayable game of the test vectors.

One card to each seat from the opener on; each shows it in that order; the last card in canonical order wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.games.contract import JSON, Action, Card, Chance, Event, Option, Outcome, RuleError, Seat, Setup, Spec, Step

DECK = tuple(f"{colour}{number}#1" for number in range(3) for colour in "RYGB")


@dataclass(frozen=True, slots=True)
class State:
    ring: tuple[Seat, ...]
    cards: tuple[Card, ...]
    shown: int = 0


class Toy:
    spec = Spec("toy", "Toy", "toy/1", 2, 4, options=(Option("hand", 1, (1,), "Cards of each seat"),))

    def deck(self, options: Any, seats: int) -> tuple[Card, ...]:
        return DECK

    def start(self, setup: Setup, chance: Chance) -> Step[State]:
        at = setup.seats.index(setup.opener)
        ring = setup.seats[at:] + setup.seats[:at]
        started: Event = {
            "type": "round_started",
            "game": "toy",
            "rules": "toy/1",
            "seats": list(setup.seats),
            "opener": setup.opener,
            "options": dict(setup.options),
            "carry": None,
        }
        dealt: list[Event] = [
            {"type": "dealt", "seat": seat, "zone": "hand", "cards": [{"gen": 0, "pos": pos}]}
            for pos, seat in enumerate(ring)
        ]
        return Step(State(ring, setup.deck[: len(ring)]), (started, *dealt))

    def actors(self, state: State) -> frozenset[Seat]:
        return frozenset(state.ring[state.shown : state.shown + 1])

    def legal(self, state: State, seat: Seat, now: int) -> tuple[Action, ...]:
        return ({"type": "show"},) if seat in self.actors(state) else ()

    def act(self, state: State, seat: Seat, action: Action, now: int, chance: Chance) -> Step[State]:
        if self.outcome(state) is not None:
            raise RuleError("round_over")
        if action != {"type": "show"}:
            raise RuleError("bad_action")
        if seat not in self.actors(state):
            raise RuleError("not_your_turn")
        pos = state.shown
        shown: Event = {"type": "shown", "seat": seat, "card": {"gen": 0, "pos": pos, "card": state.cards[pos]}}
        after = State(state.ring, state.cards, pos + 1)
        outcome = self.outcome(after)
        if outcome is None:
            return Step(after, (shown,))
        over: Event = {
            "type": "round_over",
            "reason": outcome.reason,
            "final": True,
            "ranking": [list(group) for group in outcome.ranking],
            "shares": {str(winner): weight for winner, weight in outcome.shares.items()},
            "scores": {},
            "carry": None,
        }
        return Step(after, (shown, over))

    def wake_at(self, state: State) -> int | None:
        return None

    def wake(self, state: State, now: int, chance: Chance) -> Step[State]:
        return Step(state, ())

    def leave(self, state: State, seat: Seat, reason: str, now: int, chance: Chance) -> Step[State]:
        raise RuleError("not_in_round")

    def connection(self, state: State, seat: Seat, connected: bool, now: int) -> Step[State]:
        return Step(state, ())

    def outcome(self, state: State) -> Outcome | None:
        if state.shown < len(state.ring):
            return None
        order: Sequence[int] = sorted(range(len(state.ring)), key=lambda n: -DECK.index(state.cards[n]))
        ranked = [state.ring[n] for n in order]
        return Outcome(True, {ranked[0]: 1}, tuple((seat,) for seat in ranked), {}, "high_card")

    def view(self, state: State, viewer: Seat | None) -> dict[str, Any]:
        return {}

    def dump(self, state: State) -> JSON:
        return {"ring": list(state.ring), "cards": list(state.cards), "shown": state.shown}

    def load(self, data: JSON) -> State:
        return State(tuple(map(Seat, data["ring"])), tuple(data["cards"]), data["shown"])
