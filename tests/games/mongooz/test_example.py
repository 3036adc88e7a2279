"""The worked example of docs/games/mongooz.md, event by event, and the example turn for players."""

from __future__ import annotations

from tests.games.examples import play_example
from tests.games.mongooz.positions import act, discard, position
from tests.games.table import Table, deck_of

DECK = "S2#1 D5#1 S7#1 D6#1 C9#1 S9#1 CJ#1 H9#1 C3#1 C4#1 H8#1 H7#1"


def test_the_worked_example_happens_as_the_page_says() -> None:
    table = Table.start("mongooz", deck_of("mongooz", last=DECK))
    play_example("mongooz", table, left_out=("round_started", "dealt"))


def test_the_example_turn_for_players() -> None:
    table = position(
        piles={0: "DJ C9 C2", 1: "CA D3 D4", 2: "DQ D2 D5 D6"},
        discards={0: "S4", 1: "HT", 2: "D8"},
        middle={"S": 3},
    )
    act(table, 0, "flip")
    assert act(table, 0, "to_seat", seat=1)[0] == "placed(seat=0, card=DJ, from=flipped, onto=1)"
    act(table, 0, "flip")
    act(table, 0, "discard")
    assert act(table, 2, "call", turn=5) == [
        "called(seat=2, turn=5, valid=true, offences=[C9])",
        "paid(seat=2, to=0, cards=[@0.24, @0.14])",
    ]
    assert discard(table, 0) == "S4 C9"
    assert act(table, 1, "call", turn=5)[0] == "called(seat=1, turn=5, valid=true, offences=[C9])"
    act(table, 1, "flip")
    assert table.refused(1, {"type": "call", "turn": 5}) == "window_closed"
