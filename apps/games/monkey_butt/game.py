"""Monkey Butt: the contract's methods, each in a few lines.  Rules: docs/games/monkey_butt.md."""

from __future__ import annotations

from apps.games.contract import JSON, Action, Card, Chance, Options, Outcome, Seat, Setup, Step, View
from apps.games.kit import guards, opening, turns
from apps.games.kit.round import Call
from apps.games.monkey_butt import actions, clocks, rules, view
from apps.games.monkey_butt.cards import pack
from apps.games.monkey_butt.state import AB, PICK_C, State, dump, load


class MonkeyButt:
    """The rules of Monkey Butt; see ``apps.games.contract.Game`` for what each method promises."""

    spec = rules.SPEC

    def deck(self, options: Options, seats: int) -> tuple[Card, ...]:
        """Return the cards in canonical order.

        Raises:
            RuleError: bad_option.
        """
        return pack(opening.options_filled(self.spec, options), seats).codes

    def start(self, setup: Setup, chance: Chance) -> Step[State]:
        """Deal and open the set-up."""
        return rules.start(setup, chance)

    def actors(self, state: State) -> frozenset[Seat]:
        """Return the turn's seat, or in a set-up phase the seats that have to choose."""
        return frozenset(view.actors(state))

    def legal(self, state: State, seat: Seat, now: int) -> tuple[Action, ...]:
        """Return the seat's allowed actions in the order of the page."""
        return actions.legal(state, seat) if guards.listens(state, seat, now) else ()

    def act(self, state: State, seat: Seat, action: Action, now: int, chance: Chance) -> Step[State]:
        """Apply one action of one seat."""
        guards.may_act(state, seat, now)
        verb = actions.check(action, state.deal)
        s, call = state.copy(), Call(now, chance)
        if s.turn:
            s.acted = True
        actions.ACTIONS[verb](s, seat, action, call)
        return call.step(s)

    def wake_at(self, state: State) -> int | None:
        """Return when the set-up clock or the turn's clock is due."""
        return state.due() if state.outcome is None else None

    def wake(self, state: State, now: int, chance: Chance) -> Step[State]:
        """Let the clock play if it is due."""
        return turns.wake(state, now, chance, clocks.happen)

    def leave(self, state: State, seat: Seat, reason: str, now: int, chance: Chance) -> Step[State]:
        """Take the seat out of the round."""
        guards.may_leave(state, seat, reason, now)
        s, call = state.copy(), Call(now, chance)
        rules.leave(s, seat, reason, call)
        return call.step(s)

    def connection(self, state: State, seat: Seat, connected: bool, now: int) -> Step[State]:
        """Note a lost connection, or that it is back; a set-up clock does not shorten."""
        return turns.connection(state, seat, connected, now, shortens=state.phase not in (AB, PICK_C))

    def outcome(self, state: State) -> Outcome | None:
        """Return how the round ended."""
        return state.outcome

    def view(self, state: State, viewer: Seat | None) -> View:
        """Return what the viewer may know."""
        return view.view(state, viewer)

    def dump(self, state: State) -> JSON:
        """Return the state as plain JSON."""
        return dump(state)

    def load(self, data: JSON) -> State:
        """Return a state equal to the dumped one."""
        return load(data)
