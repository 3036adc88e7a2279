"""The worked example of docs/games/monkey_butt.md, event by event."""

from __future__ import annotations

from apps.games.monkey_butt import GAME
from tests.games.staging import Table, written

TOP = "P3#1 B4#1 Y5#1 Y4#1 PZ#1 P4#1 XT#1 B10#1 Y9#1 PG#1 P12#1 XB#1 Y6#1 B6#1 P1#1 P8#1 Y2#1 B2#1 Y7#1 B7#1 B5#1 P6#1"


def test_the_worked_example() -> None:
    table = Table.start(GAME, TOP, seats=(0, 1), opener=0)
    assert table.events[0] == {
        "type": "round_started",
        "game": "monkey_butt",
        "rules": "monkey_butt/1",
        "seats": [0, 1],
        "opener": 0,
        "options": {"quick": True, "devil": False},
        "carry": None,
    }
    started = [
        "dealt(seat=0, zone=hand, cards=[@0.0, @0.2, @0.4, @0.6, @0.8, @0.10])",
        "dealt(seat=1, zone=hand, cards=[@0.1, @0.3, @0.5, @0.7, @0.9, @0.11])",
        "dealt(seat=0, zone=down, cards=[@0.12])",
        "dealt(seat=1, zone=down, cards=[@0.13])",
        "phase_started(phase=ab, deadline=30000)",
    ]
    assert written(table.events)[1:] == started
    assert table.act(0, {"type": "lay", "a": "P12#1", "b": "PZ#1"}, 1000) == ["locked(seat=0)"]
    assert table.act(1, {"type": "lay", "a": "PG#1", "b": "XB#1"}, 2000) == [
        "locked(seat=1)",
        "laid(seat=0, a=@0.10=P12#1, b=@0.4=PZ#1)",
        "laid(seat=1, a=@0.9=PG#1, b=@0.11=XB#1)",
        "phase_started(phase=c, deadline=32000)",
    ]
    assert table.act(1, {"type": "pick", "card": "Y9#1"}, 3000) == ["locked(seat=1)"]
    assert table.act(0, {"type": "pick", "card": "B10#1"}, 4000) == [
        "locked(seat=0)",
        "picked(seat=0, by=1, c=@0.8=Y9#1)",
        "picked(seat=1, by=0, c=@0.7=B10#1)",
        "turn_started(seat=0, turn=1, deadline=24000)",
    ]
    assert table.refused(0, {"type": "play", "cards": ["Y5#1"]}, 5000) == "must_open_low"
    assert table.act(0, {"type": "play", "cards": ["P3#1"]}, 6000) == [
        "played(seat=0, zone=hand, cards=[@0.0=P3#1])",
        "drew(seat=0, cards=[@0.14], cause=refill)",
        "turn_started(seat=1, turn=2, deadline=26000)",
    ]
    assert table.act(1, {"type": "play", "cards": ["P4#1", "Y4#1", "B4#1"]}, 7000) == [
        "played(seat=1, zone=hand, cards=[@0.5=P4#1, @0.3=Y4#1, @0.1=B4#1])",
        "burned(seat=1, count=4)",
        "drew(seat=1, cards=[@0.15, @0.16, @0.17], cause=refill)",
        "turn_started(seat=1, turn=3, deadline=27000)",
    ]
    assert table.act(1, {"type": "play", "cards": ["P8#1"]}, 8000) == [
        "played(seat=1, zone=hand, cards=[@0.15=P8#1])",
        "drew(seat=1, cards=[@0.18], cause=refill)",
        "turn_started(seat=0, turn=4, deadline=28000)",
    ]
    assert table.act(0, {"type": "thief", "card": "XT#1", "seat": 1}, 9000) == [
        "used(seat=0, zone=hand, card=@0.6=XT#1, target=1, effect=true)",
        "clock_changed(seat=0, deadline=29000)",
    ]
    assert table.act(0, {"type": "choose", "card": "B2#1"}, 10000) == [
        "stole(seat=0, from=1, card=@0.17)",
        "played(seat=0, zone=stolen, cards=[@0.17=B2#1])",
        "drew(seat=0, cards=[@0.19], cause=refill)",
        "turn_started(seat=1, turn=5, deadline=30000)",
    ]
    assert table.wake(30000) == [
        "timed_out(seat=1, counts=true)",
        "picked_up(seat=1, cards=[@0.15=P8#1, @0.17=B2#1], added=null)",
        "turn_started(seat=0, turn=6, deadline=50000)",
    ]
    assert table.act(0, {"type": "play", "cards": ["P1#1"]}, 31000) == [
        "played(seat=0, zone=hand, cards=[@0.14=P1#1])",
        "drew(seat=0, cards=[@0.20], cause=refill)",
        "turn_started(seat=1, turn=7, deadline=51000)",
    ]
