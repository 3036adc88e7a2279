"""The worked example of docs/games/monkey_butt.md, event by event, and the example turn for players."""

from __future__ import annotations

from tests.games.examples import play_example
from tests.games.monkey_butt.positions import act, hand, position, refused
from tests.games.table import Table, deck_of

DECK = "P3#1 B4#1 Y5#1 Y4#1 PZ#1 P4#1 XT#1 B10#1 Y9#1 PG#1 P12#1 XB#1 Y6#1 B6#1 P1#1 P8#1 Y2#1 B2#1 Y7#1 B7#1 B5#1 P6#1"


def test_the_worked_example_happens_as_the_page_says() -> None:
    table = Table.start("monkey_butt", deck_of("monkey_butt", DECK))
    assert table.events[0] == {
        "type": "round_started",
        "game": "monkey_butt",
        "rules": "monkey_butt/1",
        "seats": [0, 1],
        "opener": 0,
        "options": {"quick": True, "devil": False},
        "carry": None,
    }
    play_example("monkey_butt", table)


def test_the_example_turn_for_players() -> None:
    table = position(hands={0: "XT Y4 Y8", 1: "P9 B9 Y12"}, seat=1, pile="Y1 Y9", deck="PG B2 P8 P3")
    assert refused(table, 1, "play", cards="Y12") == "colour_blocked"
    assert act(table, 1, "play", cards="P9 B9")[1] == "burned(seat=1, count=4)"
    assert hand(table, 1) == "Y12 PG B2"
    act(table, 1, "play", cards="B2")
    assert hand(table, 1) == "Y12 PG P8"
    act(table, 0, "thief", card="XT", seat=1)
    assert act(table, 0, "choose", card="PG")[1] == "played(seat=0, zone=stolen, cards=[PG])"
    assert (hand(table, 0), hand(table, 1)) == ("Y4 Y8 P3", "Y12 P8")
    assert [action["type"] for action in table.legal(1)] == ["pick_up"]
