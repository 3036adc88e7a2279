"""Wonky: the computer player (apps/games/wonky/bot.py)."""

from __future__ import annotations

from apps.games.chance import Dice
from apps.games.contract import Seat
from apps.games.inputs import setup_of
from apps.games.wonky import GAME
from apps.games.wonky.blocks import BASE, BLOCK_INDEX, risk
from apps.games.wonky.bot import choose
from tests.games.staging import Table
from tests.games.wonky.arranging import DRAW, KEEP, arranged, play, stack, tower_of


def chosen(table: Table, seat: int) -> object:
    return choose(table.view(seat), table.legal(seat), Dice(1).below)


def test_puts_a_block_where_the_risk_is_least() -> None:
    text = "LPf0 LGf0 MBf4"
    table = arranged({0: "MG#1", 1: "LB#1"}, text)
    risks = {
        (action["down"], action["offset"]): risk(
            (*tower_of(text), (BLOCK_INDEX["MG"], action["down"], 4 + action["offset"])), BASE["shaky"]
        )
        for action in table.legal(0)
    }
    action = chosen(table, 0)
    assert isinstance(action, dict)
    assert risks[action["down"], action["offset"]] == min(risks.values())
    assert list(risks.values()).count(min(risks.values())) == 1


def test_keeps_cards_that_fit_everywhere_for_later() -> None:
    table = arranged({0: "ANYD#1 MA#1 MG#1", 1: "LB#1"})
    action = chosen(table, 0)
    assert isinstance(action, dict)
    assert action["card"] == "MG#1"


def test_passes_on_a_tower_that_is_too_shaky() -> None:
    tower = "LPf0 LGf0 LBf0 MPf0 MGf0 MBf0 SPf0"
    assert chosen(arranged({0: "SG#1 PASS#1 SB#1", 1: "LB#1"}, tower), 0) == play("PASS#1")
    table = arranged({0: "SP#2", 1: "LB#1"}, tower, deck="SG#1")
    assert chosen(table, 0) == DRAW
    table.act(0, DRAW)
    assert chosen(table, 0) == KEEP


def test_dares_the_ninth_block_whatever_the_risk() -> None:
    table = arranged({0: "SB#1 PASS#1 SG#1", 1: "LB#1"}, "LPf0 LGf0 LBf0 MPf0 MGf0 MBf0 SPf0 SGf0")
    assert chosen(table, 0) == stack("SB#1", "SB", "flat", 0)


def test_plays_its_action_card_before_its_last_block() -> None:
    assert chosen(arranged({0: "MG#1 REV#1", 1: "LB#1"}), 0) == play("REV#1")


def test_draws_when_it_must() -> None:
    assert chosen(arranged({0: "PASS#1 REV#1", 1: "LB#1"}, rebuilding=True), 0) == DRAW


def test_waits_when_it_is_not_its_turn() -> None:
    assert chosen(arranged({0: "MG#1", 1: "LB#1"}), 1) is None


def test_beats_random_play() -> None:
    """Seat 0 is the bot, the other two choose at random; 40 rounds."""
    wins, dice = 0, Dice(5)
    for seed in range(40):
        setup, chance = setup_of(GAME, seed, (Seat(0), Seat(1), Seat(2)))
        state, now = GAME.start(setup, chance).state, setup.now
        while (outcome := GAME.outcome(state)) is None:
            now += 1
            legal = GAME.legal(state, state.seat, now)
            action = choose(GAME.view(state, state.seat), legal, dice.below) if state.seat == 0 else None
            action = action or legal[dice.below(len(legal))]
            assert action in legal
            state = GAME.act(state, state.seat, action, now, chance).state
        wins += Seat(0) in outcome.shares
    assert wins >= 30
