"""Mojo: the computer player (apps/games/mojo/bot.py)."""

from __future__ import annotations

from apps.games.chance import Dice
from apps.games.contract import Seat
from apps.games.inputs import setup_of
from apps.games.mojo import GAME
from apps.games.mojo.bot import choose
from tests.games.mojo.arranging import arranged, discard, reveal
from tests.games.staging import Table


def chosen(table: Table, seat: int) -> object:
    return choose(table.view(seat), table.legal(seat), Dice(1).below)


def test_discards_an_equal_card_rather_than_a_lower_one() -> None:
    table = arranged({0: "Y5#2 G4#1 R11#1 R12#1", 1: "O8#1"}, "Y5#1")
    assert chosen(table, 0) == discard("Y5#2")


def test_gets_rid_of_the_dearest_lower_card() -> None:
    table = arranged({0: "B1#1 Y7#1 G2#1 R12#2", 1: "O8#1"}, "R11#1")
    assert chosen(table, 0) == discard("Y7#1")


def test_takes_a_cheap_card_that_is_known_rather_than_an_unknown_one() -> None:
    table = arranged({0: "R12#1 R12#2 B0#1", 1: "O8#1"}, "B0#2 B0#3", "B0#4", locked=1)
    table.state.hands = {**table.state.hands, Seat(0): table.state.hands[Seat(0)][:1]}
    assert chosen(table, 0) == discard("R12#1", 1, "other")


def test_turns_up_the_cheapest_card_first() -> None:
    table = arranged({0: "", 1: "O8#1"}, "Y5#1", laid={0: "R12#1 B0#1 Y6#1+"})
    assert chosen(table, 0) == reveal("B0#1")


def test_waits_when_it_is_not_its_turn() -> None:
    table = arranged({0: "Y5#2", 1: "O8#1"}, "Y5#1")
    assert chosen(table, 1) is None


def test_beats_random_play() -> None:
    """Seat 0 is the bot, the other two choose at random; 60 matches."""
    wins, dice = 0, Dice(5)
    for seed in range(60):
        carry = None
        outcome = None
        for number in range(30):
            setup, chance = setup_of(
                GAME, seed * 100 + number, (Seat(0), Seat(1), Seat(2)), {"piles": 1 + seed % 2}, carry
            )
            state, now = GAME.start(setup, chance).state, setup.now
            while (outcome := GAME.outcome(state)) is None:
                now += 1
                legal = GAME.legal(state, state.seat, now)
                action = choose(GAME.view(state, state.seat), legal, dice.below) if state.seat == 0 else None
                action = action or legal[dice.below(len(legal))]
                assert action in legal
                state = GAME.act(state, state.seat, action, now, chance).state
            carry = outcome.carry
            if outcome.final:
                break
        assert outcome is not None
        assert outcome.final
        wins += Seat(0) in outcome.shares
    assert wins >= 40
