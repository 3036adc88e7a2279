"""Monko: the worked example of the rule page, event by event."""

from __future__ import annotations

from tests.games.examples import play_example
from tests.games.monko.positions import DRAW, TAKE, call, hand, play, position
from tests.games.table import FixedChance, Table, deck_of

DECK = "RS#1 B2#1 YS#1 R2#1 GS#1 Y1#1 BS#1 Y2#1 B4#1 G1#1 BD#1 W#1 R9#1 R5#1 W4#1 R3#1 Y6#1 Y7#1 Y8#1 Y9#1 GD#1"


def test_the_worked_example_happens_as_the_page_says() -> None:
    play_example("monko", Table.start("monko", deck_of("monko", DECK), chance=FixedChance({"start-return/0": 3})))


def test_the_example_turn_for_players() -> None:
    table = position({0: "RD B4", 1: "BD G1 G7", 2: "W4 Y2 Y5"}, deck="R1 R2 R3 R4 R5 R6 R7 R8 Y8")
    assert table.act(0, play("RD"), 1)[1]["type"] == "window_opened"
    table.act(0, call(), 2)
    assert table.act(1, play("BD"), 3)[0]["stack"] == 4
    assert table.act(2, play("W4", "Y"), 4)[0]["stack"] == 8
    assert table.legal(0, 5) == (TAKE,)
    table.act(0, TAKE, 5)
    assert hand(table, 0) == "B4 R1 R2 R3 R4 R5 R6 R7 R8"
    assert table.legal(1, 6) == (DRAW,)
    table.act(1, DRAW, 6)
    table.act(1, play("Y8"), 7)
    assert hand(table, 1) == "G1 G7"
