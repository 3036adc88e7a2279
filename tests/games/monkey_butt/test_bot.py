"""The computer player of Monkey Butt."""

from __future__ import annotations

from typing import Any

import pytest

from apps.games.chance import Dice
from apps.games.contract import Seat
from apps.games.inputs import setup_of
from apps.games.monkey_butt import GAME, bot
from tests.games.monkey_butt.positions import brief_action, position
from tests.games.staging import Table


def chosen(table: Table, seat: int) -> str:
    action = bot.choose(table.view(seat), table.legal(seat), lambda m: 0)
    assert action is not None
    assert action in table.legal(seat)
    return brief_action(action)


def test_it_lays_out_its_strongest_cards_and_picks_the_weakest() -> None:
    table = Table.start(GAME, "P2#1 Y2#1 PZ#1 Y3#1 P8#1 Y4#1 MF#1 Y5#1 P3#1 Y6#1 P4#1 Y7#1")
    assert chosen(table, 0) == "lay MF PZ"
    table.wake(30_000)
    action = bot.choose(table.view(0), table.legal(0, 30_001), lambda m: 0)
    assert action == {"type": "pick", "card": "Y2#1"}


@pytest.mark.parametrize(
    ("held", "pile", "choice"),
    [
        ("P9 P4 Y9 PZ", "Y3", "play P4"),
        ("P9 Y9 PZ", "Y3", "play P9+Y9"),
        ("P9 P12 Y12", "Y7 B9 Y9", "play P9"),
        ("PZ P2 MF", "Y9", "play PZ"),
        ("P2 P3", "Y9", "pick_up null"),
        ("P2 XB", "Y9 B9", "butt XB 1"),
        ("P2 XT", "Y9", "thief XT 1"),
    ],
)
def test_it_plays_low_and_keeps_special_cards(held: str, pile: str, choice: str) -> None:
    assert chosen(position(hands={0: held.replace("MF", "MF#1"), 1: "B2 B3"}, pile=pile), 0) == choice


@pytest.mark.parametrize(
    ("victim", "pile", "choice"),
    [("B2 B9 B12", "Y9", "choose B12"), ("B2 B3", "Y9", "choose B2"), ("B2 XT#2", "Y9", "choose XT#2")],
)
def test_it_steals_what_can_be_used(victim: str, pile: str, choice: str) -> None:
    assert chosen(position(hands={0: "P2", 1: victim}, pile=pile, phase="steal", victim=1), 0) == choice


def test_it_flips_when_it_must() -> None:
    assert chosen(position(hands={0: "", 1: "B2"}, down={0: "P3"}), 0) == "flip"


def test_it_gives_a_weak_open_card_for_a_strong_one() -> None:
    table = position(hands={0: "P3 XC", 1: "B2"}, rows={0: "PZ P2 -", 1: "MF#1 B4 -"}, pile="Y9")
    assert chosen(table, 0) == "cheeky XC 0B 1A"


def test_it_waits_when_it_has_nothing_to_choose() -> None:
    table = position(hands={0: "P3", 1: "B2"})
    assert bot.choose(table.view(1), (), lambda m: 0) is None


@pytest.mark.parametrize("options", [{}, {"quick": False, "devil": True}])
@pytest.mark.parametrize("seats", [2, 5, 8])
def test_bots_finish_rounds_well_before_the_cap(seats: int, options: dict[str, Any]) -> None:
    turns = []
    for seed in range(4):
        setup, chance = setup_of(GAME, seed, tuple(Seat(seat) for seat in range(seats)), options)
        state, now, dice = GAME.start(setup, chance).state, setup.now, Dice(seed)
        while GAME.outcome(state) is None:
            seat = min(GAME.actors(state))
            action = bot.choose(GAME.view(state, seat), GAME.legal(state, seat, now), dice.below)
            assert action is not None
            state = GAME.act(state, seat, action, now, chance).state
        turns.append(state.turn)
    assert min(turns) < 400
