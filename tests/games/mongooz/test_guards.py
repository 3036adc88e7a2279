"""Guards in their order, one row each: the position fails this guard and, where possible, those after it.

Rules: docs/games/mongooz.md, section Actions; docs/games/common.md, section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from apps.games.contract import RuleError, Seat, Setup
from apps.games.mongooz import GAME
from apps.games.mongooz.cards import TABLE
from tests.games.mongooz.positions import FAR, listed, position
from tests.games.staging import Scripted, Table


def fresh(**changes: Any) -> Table:
    """Return turn 5 of seat 0, nothing flipped, HT on top of its discard; hearts end at H8, turn 4 was seat 2's."""
    given: dict[str, Any] = {
        "piles": {0: "C2 C3", 1: "D2 D3", 2: "S2 S3"},
        "discards": {0: "S9 HT", 1: "DJ"},
        "middle": {"H": 2},
        "previous": (4, 2, "S5", "1"),
    }
    return position(**(given | changes))


def flipped(**changes: Any) -> Table:
    return fresh(**({"flipped": "C9", "previous": None} | changes))


def empty(**changes: Any) -> Table:
    return fresh(**({"discards": {1: "DJ"}} | changes))


def by(kind: str, **keys: Any) -> dict[str, Any]:
    return {"type": kind, **keys}


ROWS: list[tuple[Callable[[], Table], int, dict[str, Any], str]] = [
    (empty, 1, by("to_middle"), "not_your_turn"),
    (empty, 0, by("to_middle"), "nothing_to_play"),
    (fresh, 0, by("to_middle"), "does_not_fit"),
    (flipped, 0, by("to_middle"), "does_not_fit"),
    (empty, 1, by("to_seat", seat=1), "not_your_turn"),
    (empty, 0, by("to_seat", seat=0), "own_pile"),
    (empty, 0, by("to_seat", seat=2), "nothing_to_play"),
    (empty, 0, by("to_seat", seat=1), "nothing_to_play"),
    (fresh, 0, by("to_seat", seat=1), "does_not_fit"),
    (fresh, 0, by("to_seat", seat=2), "does_not_fit"),
    (flipped, 1, by("flip"), "not_your_turn"),
    (flipped, 0, by("flip"), "already_flipped"),
    (fresh, 1, by("discard"), "not_your_turn"),
    (fresh, 0, by("discard"), "nothing_flipped"),
    (lambda: fresh(blocked=[0, 1]), 0, by("call", turn=3), "window_closed"),
    (lambda: fresh(blocked=[0, 1]), 0, by("call", turn=6), "window_closed"),
    (flipped, 2, by("call", turn=4), "window_closed"),
    (lambda: fresh(previous=(4, 2, "S5", "2"), blocked=[2]), 2, by("call", turn=4), "own_turn"),
    (lambda: fresh(blocked=[0]), 0, by("call", turn=5), "own_turn"),
    (lambda: fresh(blocked=[1]), 1, by("call", turn=4), "already_called"),
    (lambda: fresh(callers="1", offences="HT"), 1, by("call", turn=5), "already_called"),
    (lambda: fresh(blocked=[1]), 1, by("call", turn=5), "call_blocked"),
    (lambda: fresh(blocked=[0]), 0, by("call", turn=4), "call_blocked"),
]


@pytest.mark.parametrize(("make", "seat", "action", "code"), ROWS)
def test_an_action_is_refused_by_its_first_guard(
    make: Callable[[], Table], seat: int, action: dict[str, Any], code: str
) -> None:
    table = make()
    assert table.refused(seat, action) == code
    assert (action in table.legal(seat)) == (code == "does_not_fit" and action != by("to_seat", seat=2))


MALFORMED: list[Any] = [
    None,
    [],
    "flip",
    {},
    {"type": None},
    {"type": "draw"},
    {"type": "flip", "x": 1},
    {"type": "to_middle", "seat": 1},
    {"type": "to_seat"},
    {"type": "to_seat", "seat": True},
    {"type": "to_seat", "seat": 3},
    {"type": "to_seat", "seat": "1"},
    {"type": "to_seat", "seat": None},
    {"type": "discard", "card": "H8#1"},
    {"type": "call"},
    {"type": "call", "turn": 0},
    {"type": "call", "turn": True},
    {"type": "call", "turn": "4"},
    {"type": "call", "turn": 4.0},
    {"type": "call", "turn": None},
]


@pytest.mark.parametrize("action", MALFORMED)
def test_a_malformed_action_is_refused_before_the_turn(action: Any) -> None:
    assert fresh().refused(1, action) == "bad_action"
    assert fresh().refused(0, action) == "bad_action"


def test_the_common_guards_come_first_and_in_order() -> None:
    table = fresh(offline=[0], left=[2], deadline=50)
    assert table.refused(0, None, 50) == "clock_due"
    assert table.refused(2, None, 49) == "not_in_round"
    assert table.refused(8, None, 49) == "not_in_round"
    assert table.refused(0, None, 49) == "disconnected"
    assert listed(table, 0, 49) == []
    assert listed(table, 2, 49) == []
    assert listed(table, 1, 50) == []
    assert listed(fresh(), 0, FAR) == []


def test_leave_and_connection_are_refused_in_order() -> None:
    table = fresh(left=[2], deadline=50)

    def leave(seat: int, reason: str, now: int) -> str:
        with pytest.raises(RuleError) as refusal:
            GAME.leave(table.state, Seat(seat), reason, now, Scripted())
        return refusal.value.code

    def connection(seat: int, now: int) -> str:
        with pytest.raises(RuleError) as refusal:
            GAME.connection(table.state, Seat(seat), False, now)
        return refusal.value.code

    assert leave(2, "bored", 50) == "clock_due"
    assert leave(2, "bored", 49) == "not_in_round"
    assert leave(0, "bored", 49) == "bad_reason"
    assert connection(2, 50) == "clock_due"
    assert connection(2, 49) == "not_in_round"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"options": {"quick": True}, "seats": (Seat(0),)}, "bad_option"),
        ({"seats": (Seat(0),), "opener": Seat(9)}, "bad_seats"),
        ({"seats": tuple(Seat(seat) for seat in range(5)), "opener": Seat(9)}, "bad_seats"),
        ({"opener": Seat(9), "deck": ()}, "bad_opener"),
        ({"deck": TABLE.codes[:-1] + TABLE.codes[:1], "carry": 1}, "bad_deck"),
        ({"carry": 1}, "bad_carry"),
    ],
)
def test_start_refuses_in_order(changes: dict[str, Any], code: str) -> None:
    setup = Setup((Seat(0), Seat(1)), TABLE.codes, {}, 0, Seat(0))
    with pytest.raises(RuleError) as refusal:
        GAME.start(replace(setup, **changes), Scripted())
    assert refusal.value.code == code


def test_actions_are_listed_with_all_their_keys() -> None:
    assert fresh().legal(0) == [
        {"type": "to_middle"},
        {"type": "to_seat", "seat": 1},
        {"type": "flip"},
        {"type": "call", "turn": 4},
    ]
    assert flipped(discards={}).legal(0) == [{"type": "to_middle"}, {"type": "discard"}]


def test_legal_is_listed_in_order() -> None:
    assert listed(fresh(), 0) == ["to_middle", "to_seat 1", "flip", "call 4"]
    assert listed(fresh(discards={0: "S9", 1: "DJ", 2: "D4"}), 0) == [
        "to_middle",
        "to_seat 1",
        "to_seat 2",
        "flip",
        "call 4",
    ]
    assert listed(empty(), 0) == ["flip", "call 4"]
    assert listed(flipped(), 0) == ["to_middle", "to_seat 1", "discard"]
    assert listed(fresh(), 1) == ["call 5"]
    assert listed(fresh(previous=(4, 2, "", "")), 1) == ["call 4", "call 5"]
    assert listed(fresh(), 2) == ["call 5"]
    assert listed(fresh(blocked=[1]), 1) == []
    assert listed(fresh(left=[2]), 0) == ["to_middle", "to_seat 1", "flip", "call 4"]
    assert listed(fresh(seat=1, discards={0: "S9", 1: "DJ", 2: "D4"}, left=[2]), 1) == [
        "to_middle",
        "to_seat 0",
        "to_seat 2",
        "flip",
    ]
