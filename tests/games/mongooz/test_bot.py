"""The computer player of Mongooz, and how much it notices."""

from __future__ import annotations

from typing import Any

import pytest

from apps.games.chance import Dice
from apps.games.contract import Seat
from apps.games.inputs import setup_of
from apps.games.mongooz import GAME, bot
from tests.games.mongooz.positions import position
from tests.games.staging import Table


def chosen(table: Table, seat: int, skill: int = 1000) -> Any:
    action = bot.choose(table.view(seat), table.legal(seat), lambda m: 0, skill)
    assert action is None or action in table.legal(seat)
    return action


def test_it_plays_what_fits_in_the_middle_first() -> None:
    table = position(piles={0: "C2", 1: "C3"}, flipped="H8", middle={"H": 1}, discards={1: "D7"})
    assert chosen(table, 0) == {"type": "to_middle"}
    assert chosen(table, 0, skill=0) == {"type": "discard"}


def test_else_on_the_seat_with_the_most_cards() -> None:
    table = position(piles={0: "C2", 1: "C3", 2: "C4 C5"}, flipped="H8", discards={1: "D7", 2: "S7"})
    assert chosen(table, 0) == {"type": "to_seat", "seat": 2}


def test_its_own_discard_before_the_pile() -> None:
    table = position(piles={0: "C2", 1: "C3"}, discards={0: "H8"}, middle={"H": 1})
    assert chosen(table, 0) == {"type": "to_middle"}
    assert chosen(table, 0, skill=0) == {"type": "flip"}
    assert chosen(position(piles={0: "C2", 1: "C3"}, discards={0: "H9"}, middle={"H": 1}), 0) == {"type": "flip"}
    assert chosen(position(piles={0: "C2", 1: "C3"}), 0) == {"type": "flip"}


def test_it_calls_a_card_that_was_overlooked_before_the_flip() -> None:
    table = position(piles={0: "C2", 1: "C3"}, discards={0: "H8"}, middle={"H": 1}, flipped="D4", offences="H8")
    assert chosen(table, 1) == {"type": "call", "turn": 5}
    assert chosen(table, 1, skill=0) is None


def test_it_does_not_call_before_the_flip() -> None:
    assert chosen(position(piles={0: "C2", 1: "C3"}, discards={0: "H8"}, middle={"H": 1}), 1) is None


def test_it_calls_a_discard_that_fitted_and_joins_a_right_call() -> None:
    table = position(
        piles={0: "C2", 1: "C3 C4", 2: "C5"}, discards={2: "H8"}, middle={"H": 1}, previous=(4, 2, "H8", "")
    )
    assert chosen(table, 1) == {"type": "call", "turn": 4}
    table.act(1, {"type": "call", "turn": 4})
    table = position(piles={0: "C2", 1: "C3 C4", 2: "C5"}, previous=(4, 2, "H8", "1"))
    assert chosen(table, 0) == {"type": "call", "turn": 4}
    assert chosen(table, 1) is None


def test_it_waits_in_the_turn_of_another() -> None:
    assert chosen(position(piles={0: "C2", 1: "C3"}), 1) is None


def slips(skill: int) -> tuple[int, int]:
    """Return the right calls and the turns of some rounds among bots of this skill."""
    calls = turns = 0
    for seed in range(6):
        setup, chance = setup_of(GAME, seed, (Seat(0), Seat(1), Seat(2)))
        state, now, dice = GAME.start(setup, chance).state, setup.now, Dice(seed)
        while GAME.outcome(state) is None:
            now += 100
            for seat in state.active:
                legal = GAME.legal(state, seat, now)
                action = bot.choose(GAME.view(state, seat), legal, dice.below, skill) if legal else None
                if action is not None:
                    step = GAME.act(state, seat, action, now, chance)
                    calls += sum(event["type"] == "called" and event["valid"] for event in step.events)
                    state = step.state
                    break
            if GAME.outcome(state) is None and (due := GAME.wake_at(state)) is not None and due <= now:
                state = GAME.wake(state, now, chance).state
        turns += state.turn
    return calls, turns


def test_skill_decides_how_much_slips() -> None:
    perfect, poor = slips(1000), slips(600)
    assert perfect[0] == 0
    assert poor[0] > 10


@pytest.mark.parametrize("skill", [400, 1000])
def test_bots_of_any_skill_finish(skill: int) -> None:
    assert slips(skill)[1] < 6 * 600
