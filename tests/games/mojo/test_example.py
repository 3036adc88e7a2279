"""Mojo: the worked example, event by event (docs/games/mojo.md, sections Actions, Clock and Events)."""

from __future__ import annotations

from apps.games.mojo import GAME
from tests.games.mojo.arranging import discard, reveal
from tests.games.staging import Table, written

TOP = """Y5#2 R12#1 Y5#3 R12#2 Y5#4 O8#1 Y5#5 O9#1 Y5#6 O10#1
G2#1 Y6#1 B0#1 Y7#1 B1#1 G3#1 Y5#1 R11#1 G4#1 G4#2"""


def test_a_round_runs_as_the_worked_example_says() -> None:
    table = Table.start(GAME, TOP)
    assert written(table.events) == [
        "round_started(game=mojo, rules=mojo/1, seats=[0, 1], opener=0, options={piles:1}, carry=null)",
        "dealt(seat=0, zone=hand, cards=[@0.0, @0.2, @0.4, @0.6, @0.8, @0.10, @0.12, @0.14])",
        "dealt(seat=1, zone=hand, cards=[@0.1, @0.3, @0.5, @0.7, @0.9, @0.11, @0.13, @0.15])",
        "pile_opened(pile=1, card=@0.16=Y5#1)",
        "turn_started(seat=0, turn=1, deadline=15000)",
    ]
    for number, pos in ((2, 0), (3, 2), (4, 4), (5, 6), (6, 8)):
        now = (number - 1) * 1000
        assert table.act(0, discard(f"Y5#{number}"), now) == [
            f"discarded(seat=0, card=@0.{pos}=Y5#{number}, pile=1, result=equal)",
            f"clock_changed(seat=0, deadline={now + 15000})",
        ]
    assert table.act(0, discard("G2#1"), 6000) == [
        "discarded(seat=0, card=@0.10=G2#1, pile=1, result=lower)",
        "laid(seat=0, cards=[@0.12, @0.14])",
        "turn_started(seat=1, turn=2, deadline=21000)",
    ]
    assert table.act(1, discard("R12#1"), 7000) == [
        "discarded(seat=1, card=@0.1=R12#1, pile=1, result=higher)",
        "drew(seat=1, cards=[@0.17], cause=higher)",
        "turn_started(seat=0, turn=3, deadline=22000)",
    ]
    assert table.act(0, reveal("B1#1"), 8000) == [
        "turned_up(seat=0, card=@0.14=B1#1, hidden=1)",
        "turn_started(seat=1, turn=4, deadline=23000)",
    ]
    assert table.wake(23000) == [
        "timed_out(seat=1, counts=true)",
        "discarded(seat=1, card=@0.15=G3#1, pile=1, result=lower)",
        "turn_started(seat=0, turn=5, deadline=38000)",
    ]
    assert table.act(0, reveal("B0#1"), 24000) == [
        "turned_up(seat=0, card=@0.12=B0#1, hidden=0)",
        "revealed(seat=1, zone=hand, cards=[@0.3=R12#2, @0.5=O8#1, @0.7=O9#1, @0.9=O10#1, @0.11=Y6#1, @0.13=Y7#1, "
        "@0.17=R11#1])",
        "scored(raw={0:1, 1:29}, points={0:0, 1:29}, totals={0:0, 1:29}, mojo=0, face=0)",
        "round_over(reason=round, final=false, ranking=[[0], [1]], shares={}, scores={0:0, 1:29}, "
        "carry={round:2, totals:{0:0, 1:29}, face:0, lead:0})",
    ]
