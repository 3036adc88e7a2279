"""Monko: the engine and a second, plainer program agree on random rounds in everything that anybody is told.

``SEALDECK_REFERENCE_ROUNDS`` (default 3) is how many rounds are played per ring and manner.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from apps.games.chance import Dice
from apps.games.contract import RuleError, Seat
from apps.games.inputs import MANNERS, Input, RandomPlay, apply, setup_of
from apps.games.monko import GAME
from apps.games.monko.cards import CODES
from tests.games.monko.reference import Reference, Refused

ROUNDS = int(os.environ.get("SEALDECK_REFERENCE_ROUNDS", "3"))
RINGS = [(0, 1), (0, 1, 2), (0, 1, 2, 3), (2, 7), (0, 3, 8), (1, 2, 4, 9)]


def wrong_action(dice: Dice) -> dict[str, Any]:
    """Return a well-formed action, mostly one that is refused."""
    verb = ("play", "play", "play", "draw", "pass", "take", "call", "catch")[dice.below(8)]
    action: dict[str, Any] = {"type": verb}
    if verb == "play":
        action["card"] = CODES[dice.below(len(CODES))]
        if dice.below(2):
            action["colour"] = "RYGB"[dice.below(4)]
    elif verb in ("call", "catch"):
        action["window"] = 1 + dice.below(6)
    return action


def feed(reference: Reference, given: Input) -> str | None:
    """Feed an input to the reference; return the code of a refusal."""
    try:
        if given.kind == "wake":
            reference.wake(given.now)
        else:
            getattr(reference, given.kind)(given.seat, given.value, given.now)
    except Refused as refused:
        return str(refused)
    return None


def code_of(state: Any, given: Input, chance: Any) -> str | None:
    """Return the code with which the engine refuses an input."""
    try:
        apply(GAME, state, given, chance)
    except RuleError as error:
        return error.code
    return None


@pytest.mark.parametrize("manner", sorted(MANNERS))
@pytest.mark.parametrize("ring", RINGS, ids=str)
def test_two_programs_agree(ring: tuple[int, ...], manner: str) -> None:
    for seed in range(ROUNDS):
        compare(tuple(Seat(seat) for seat in ring), manner, seed)


def compare(seats: tuple[Seat, ...], manner: str, seed: int) -> None:
    """Play one round on both and compare after every input."""
    setup, chance = setup_of(GAME, seed, seats)
    step = GAME.start(setup, chance)
    reference = Reference(list(seats), list(setup.deck), setup.opener, setup.now, chance, list(CODES))
    source, dice = RandomPlay(GAME, seed, MANNERS[manner]), Dice(seed + 1)
    while True:
        state = step.state
        assert list(step.events) == reference.events
        for viewer in (None, *seats):
            assert GAME.view(state, viewer) == reference.view(viewer)
        due = GAME.wake_at(state)
        if due is None:
            assert reference.outcome is not None
            return
        assert due == reference.due()
        for seat in seats:
            for now in (due - 1, due):
                assert list(GAME.legal(state, seat, now)) == reference.legal(seat, now)
            tried = Input("act", due - 1, seat, wrong_action(dice))
            code = code_of(state, tried, chance)
            if code is not None:
                assert feed(reference, tried) == code
        given = source.next(state)
        step = apply(GAME, state, given, chance)
        assert feed(reference, given) is None
