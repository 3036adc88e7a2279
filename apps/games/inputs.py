"""Inputs: what is fed to a round, one at a time, and a random source of them.

A round is a function of its setup, its inputs with their times, and its chance.  This module is that sentence as code,
for simulations, the laws, tests and play in the terminal.  Source: docs/developers/engine-contract.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from apps.games.chance import Dice, SeededChance
from apps.games.contract import Action, Chance, Game, Options, RuleError, Seat, Setup, Step

S = TypeVar("S")

START_MS = 1_700_000_000_000
"""When simulated rounds begin."""


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a round, as a transcript entry records it."""

    kind: str
    """act, wake, leave or connection."""
    now: int
    seat: Seat | None = None
    value: Any = None
    """The action, the reason, or whether the seat is connected."""


def apply(game: Game[S], state: S, given: Input, chance: Chance) -> Step[S]:
    """Feed one input to a round.

    Raises:
        RuleError: the rules refuse it; nothing changed.
    """
    if given.kind == "wake":
        return game.wake(state, given.now, chance)
    assert given.seat is not None, "only wake has no seat"
    if given.kind == "act":
        return game.act(state, given.seat, given.value, given.now, chance)
    if given.kind == "leave":
        return game.leave(state, given.seat, given.value, given.now, chance)
    assert given.kind == "connection", given.kind
    return game.connection(state, given.seat, given.value, given.now)


def error_of(game: Game[Any], state: Any, given: Input, chance: Chance) -> str | None:
    """Return the code with which the rules refuse an input, or None if they take it."""
    try:
        apply(game, state, given, chance)
    except RuleError as error:
        return error.code
    return None


def setup_of(
    game: Game[Any], seed: int, seats: tuple[Seat, ...], options: Options | None = None, carry: Any = None
) -> tuple[Setup, SeededChance]:
    """Return the setup of a simulated round and its chance: both follow from the seed alone."""
    chance = SeededChance(seed)
    deck = chance.shuffle("deck", game.deck(options or {}, len(seats)))
    opener = seats[chance.uniform("first-seat", len(seats))]
    return Setup(seats, deck, options or {}, START_MS, opener, carry), chance


@dataclass(frozen=True, slots=True)
class Manner:
    """How random play goes; each number is a chance in a thousand, asked before every input."""

    name: str
    leave: int = 0
    drop: int = 0
    """A connection is lost, or one that was lost is back."""
    out_of_turn: int = 0
    """Another seat than an actor tries first (calls, catches)."""
    late: int = 0
    """Nobody moves until something is due, or a while later."""
    pause_ms: int = 1_000
    """Up to this much passes between two inputs."""
    eager: int = 1
    """Of so many random picks from the list of actions the earliest one is taken: pages list plays before passes."""


CALM = Manner("calm", out_of_turn=150, late=20, eager=3)
ROUGH = Manner("rough", leave=8, drop=60, out_of_turn=250, late=90, pause_ms=4_000, eager=2)
STORM = Manner("storm", drop=150, out_of_turn=300, late=300, pause_ms=9_000)
MANNERS = {manner.name: manner for manner in (CALM, ROUGH, STORM)}


class RandomPlay:
    """A source of random inputs for one round; deterministic for its seed."""

    def __init__(self, game: Game[Any], seed: int, manner: Manner, now: int = START_MS) -> None:
        self.game = game
        self.dice = Dice(seed)
        self.manner = manner
        self.now = now

    def _one_in_thousand(self, chances: int) -> bool:
        return chances > 0 and self.dice.below(1000) < chances

    def _some_active(self, state: Any) -> dict[str, Any]:
        """Return the row of an active seat, drawn from all of them."""
        rows: list[dict[str, Any]] = [row for row in self.game.view(state, None)["seats"] if row["status"] == "active"]
        return rows[self.dice.below(len(rows))]

    def next(self, state: Any) -> Input:
        """Return an input that the running round takes: a listed action, a wake, a leave or a change of connection."""
        game, dice, manner = self.game, self.dice, self.manner
        due = game.wake_at(state)
        assert due is not None, "a running round has something due"
        self.now += dice.below(manner.pause_ms)
        if self._one_in_thousand(manner.late):
            self.now = max(self.now, due + dice.below(4) * dice.below(5_000))
        if self.now >= due:
            if dice.below(3):
                self.now = max(due, min(self.now, due + 1))
            return Input("wake", self.now)
        if self._one_in_thousand(manner.leave):
            row = self._some_active(state)
            return Input("leave", self.now, row["seat"], ("left", "timeouts", "connection")[dice.below(3)])
        if self._one_in_thousand(manner.drop):
            row = self._some_active(state)
            return Input("connection", self.now, row["seat"], not row["connected"])
        seats = sorted(game.actors(state))
        if not seats or self._one_in_thousand(manner.out_of_turn):
            seat = self._some_active(state)["seat"]
        else:
            seat = seats[dice.below(len(seats))]
        actions = game.legal(state, seat, self.now)
        if actions:
            pick = min(dice.below(len(actions)) for _ in range(manner.eager))
            return self.accepted(state, seat, (*actions[pick:], *actions[:pick]))
        self.now = due
        return Input("wake", self.now)

    def accepted(self, state: Any, seat: Seat, actions: Sequence[Action]) -> Input:
        """Return the first of these listed actions that the rules take.

        It is the first of all in every game that refuses nothing it lists (``Spec.refusals``).
        """
        if not self.game.spec.refusals:
            return Input("act", self.now, seat, actions[0])
        inputs = [Input("act", self.now, seat, action) for action in actions]
        return next(given for given in inputs if error_of(self.game, state, given, SeededChance(0)) is None)
