"""Monko: every guard, in the order of the rule page.

In each row of the order tables the guard named fails, and where a position allows it the later ones fail as well.
"""

from __future__ import annotations

from typing import Any

import pytest

from apps.games.contract import RuleError, Setup
from apps.games.monko import GAME
from tests.games.monko.positions import DRAW, PASS, TAKE, call, catch, play, position, window
from tests.games.table import FixedChance, Table, deck_of

HANDS = {0: "R1 B7 W", 1: "R2 B8 W#2", 3: "R3 B9 W#3"}


def over() -> Table:
    """A round that is over."""
    table = position({0: "R1", 1: "R2"})
    table.leave(1, 0)
    return table


COMMON = [
    ("round over", over, 1, {"type": "nothing"}, 99_999, "round_over"),
    ("deadline reached", lambda: position(HANDS, left=(1,)), 1, {"type": "nothing"}, 10_000, "clock_due"),
    ("window due first", lambda: position(HANDS, windows=[window(3)], left=(1,)), 1, {}, 4_000, "clock_due"),
    ("a seat that left", lambda: position(HANDS, left=(1,), offline=(1,)), 1, {}, 9_999, "not_in_round"),
    ("a seat that was not dealt in", lambda: position(HANDS), 2, {}, 9_999, "not_in_round"),
    ("a seat without connection", lambda: position(HANDS, offline=(1,)), 1, {}, 9_999, "disconnected"),
    ("a malformed action out of turn", lambda: position(HANDS), 1, {}, 9_999, "bad_action"),
]


@pytest.mark.parametrize(("why", "build", "seat", "action", "now", "code"), COMMON, ids=[row[0] for row in COMMON])
def test_common_guards_of_act_in_order(why: str, build: Any, seat: int, action: Any, now: int, code: str) -> None:
    assert build().refused(seat, action, now) == code


MALFORMED: list[Any] = [
    None,
    [],
    "draw",
    7,
    {},
    {"type": None},
    {"type": ["draw"]},
    {"type": {}},
    {"type": "Draw"},
    {"type": "lay"},
    {"type": "draw", "x": 1},
    {"type": "pass", "card": "R1#1"},
    {"type": "take", "window": 1},
    {"type": "play"},
    {"type": "play", "card": None},
    {"type": "play", "card": 1},
    {"type": "play", "card": ["R1#1"]},
    {"type": "play", "card": "R1"},
    {"type": "play", "card": "R1#3"},
    {"type": "play", "card": "R0#2"},
    {"type": "play", "card": "r1#1"},
    {"type": "play", "card": "R1#1", "x": None},
    {"type": "play", "card": "W#1", "colour": None},
    {"type": "play", "card": "W#1", "colour": "r"},
    {"type": "play", "card": "W#1", "colour": "W"},
    {"type": "play", "card": "W#1", "colour": ["R"]},
    {"type": "play", "card": "W#1", "colour": "R", "x": 1},
    {"type": "play", "colour": "R"},
    {"type": "call"},
    {"type": "call", "window": 0},
    {"type": "call", "window": -1},
    {"type": "call", "window": True},
    {"type": "call", "window": 1.0},
    {"type": "call", "window": "1"},
    {"type": "call", "window": None},
    {"type": "call", "window": 1, "seat": 0},
    {"type": "catch"},
    {"type": "catch", "window": 0},
    {"type": "catch", "window": True},
    {"type": "catch", "windows": 1},
]


@pytest.mark.parametrize("action", MALFORMED, ids=str)
def test_refuses_a_malformed_action(action: Any) -> None:
    table = position(HANDS, windows=[window(0, exposed=True)])
    for seat in (0, 1):
        assert table.refused(seat, action, 0) == "bad_action"


PLAY = [
    ("another seat's turn", {}, 1, play("B9"), "not_your_turn"),
    ("not in the hand", {"drawn": "B7"}, 0, play("B9"), "card_not_held"),
    ("another card was drawn", {"drawn": "W"}, 0, play("B7", "R"), "only_drawn_card"),
    ("no draw card on a stack", {"stack": 2}, 0, play("R1", "R"), "stack_waiting"),
    ("a wild card on a stack", {"stack": 2}, 0, play("W"), "stack_waiting"),
    ("neither colour nor symbol", {}, 0, play("B7", "R"), "no_match"),
    ("a wild card without a colour", {}, 0, play("W"), "colour_needed"),
    ("a coloured card with a colour", {}, 0, play("R1", "R"), "colour_not_allowed"),
]


@pytest.mark.parametrize(("why", "given", "seat", "action", "code"), PLAY, ids=[row[0] for row in PLAY])
def test_guards_of_play_in_order(why: str, given: dict[str, Any], seat: int, action: Any, code: str) -> None:
    assert position(HANDS, **given).refused(seat, action, 0) == code


OTHERS = [
    ("draw out of turn", {"stack": 2, "drawn": "R1"}, 1, DRAW, "not_your_turn"),
    ("draw with a stack", {"stack": 2, "drawn": "R1"}, 0, DRAW, "stack_waiting"),
    ("draw twice", {"drawn": "R1"}, 0, DRAW, "already_drew"),
    ("pass out of turn", {"stack": 2}, 1, PASS, "not_your_turn"),
    ("pass with a stack", {"stack": 2}, 0, PASS, "stack_waiting"),
    ("pass without a draw", {}, 0, PASS, "must_draw_first"),
    (
        "pass with a pile to draw from",
        {"deck": "", "pile": "R1#2 R9"},
        0,
        PASS,
        "must_draw_first",
    ),
    ("take out of turn", {}, 1, TAKE, "not_your_turn"),
    ("take no stack", {}, 0, TAKE, "no_stack"),
    ("call no window", {}, 0, call(), "no_such_window"),
    ("call a window of another number", {"windows": [window(0, number=2)]}, 1, call(1), "no_such_window"),
    ("call another's window", {"windows": [window(0)]}, 1, call(), "not_your_window"),
    ("catch no window", {}, 0, catch(), "no_such_window"),
    (
        "catch another number",
        {"windows": [window(0, number=2, exposed=True)]},
        1,
        catch(3),
        "no_such_window",
    ),
    ("catch oneself", {"windows": [window(0)]}, 0, catch(), "own_window"),
    ("catch too early", {"windows": [window(0)]}, 1, catch(), "not_exposed"),
]


@pytest.mark.parametrize(("why", "given", "seat", "action", "code"), OTHERS, ids=[row[0] for row in OTHERS])
def test_guards_of_the_other_verbs_in_order(why: str, given: dict[str, Any], seat: int, action: Any, code: str) -> None:
    assert position(HANDS, **given).refused(seat, action, 0) == code


LEAVE = [
    ("round over", over, 1, "left", 99_999, "round_over"),
    ("deadline reached", lambda: position(HANDS, left=(1,)), 1, "bored", 10_000, "clock_due"),
    ("already left", lambda: position(HANDS, left=(1,)), 1, "bored", 0, "not_in_round"),
    ("not dealt in", lambda: position(HANDS), 2, "bored", 0, "not_in_round"),
    ("another reason", lambda: position(HANDS), 1, "bored", 0, "bad_reason"),
    ("no reason", lambda: position(HANDS), 1, None, 0, "bad_reason"),
    ("a list", lambda: position(HANDS), 1, ["left"], 0, "bad_reason"),
]


@pytest.mark.parametrize(("why", "build", "seat", "reason", "now", "code"), LEAVE, ids=[row[0] for row in LEAVE])
def test_guards_of_leave_in_order(why: str, build: Any, seat: int, reason: Any, now: int, code: str) -> None:
    assert build().refusal("leave", seat, reason, now) == code


CONNECTION = [
    ("round over", over, 1, 99_999, "round_over"),
    ("deadline reached", lambda: position(HANDS, left=(1,)), 1, 10_000, "clock_due"),
    ("a seat that left", lambda: position(HANDS, left=(1,)), 1, 0, "not_in_round"),
    ("not dealt in", lambda: position(HANDS), 2, 0, "not_in_round"),
]


@pytest.mark.parametrize(("why", "build", "seat", "now", "code"), CONNECTION, ids=[row[0] for row in CONNECTION])
def test_guards_of_connection_in_order(why: str, build: Any, seat: int, now: int, code: str) -> None:
    assert build().refusal("connection", seat, False, now) == code


GOOD = deck_of("monko")
START: list[tuple[str, dict[str, Any], str]] = [
    (
        "an option, and all else",
        {"options": {"x": 1}, "seats": (0,), "opener": 9, "deck": ()},
        "bad_option",
    ),
    ("options that are no object", {"options": []}, "bad_option"),
    ("one seat", {"seats": (0,), "opener": 9, "deck": ()}, "bad_seats"),
    ("five seats", {"seats": (0, 1, 2, 3, 4)}, "bad_seats"),
    ("seats not ascending", {"seats": (1, 0), "opener": 9}, "bad_seats"),
    ("a seat twice", {"seats": (0, 0), "opener": 9}, "bad_seats"),
    ("a seat that is true", {"seats": (0, True)}, "bad_seats"),
    ("a seat below 0", {"seats": (-1, 0)}, "bad_seats"),
    ("a seat above 254", {"seats": (0, 255)}, "bad_seats"),
    ("an opener without seat", {"opener": 2, "deck": ()}, "bad_opener"),
    ("an opener that is true", {"opener": True, "deck": ()}, "bad_opener"),
    ("a card missing", {"deck": GOOD[1:], "carry": {}}, "bad_deck"),
    ("a card twice", {"deck": (*GOOD[:-1], GOOD[0]), "carry": {}}, "bad_deck"),
    ("a card of another game", {"deck": (*GOOD[:-1], "B0#9"), "carry": {}}, "bad_deck"),
    ("a card that is no text", {"deck": (*GOOD[:-1], ["R0#1"]), "carry": {}}, "bad_deck"),
    ("no deck", {"deck": None, "carry": {}}, "bad_deck"),
    ("a carry", {"carry": {}}, "bad_carry"),
]


@pytest.mark.parametrize(("why", "given", "code"), START, ids=[row[0] for row in START])
def test_guards_of_start_in_order(why: str, given: dict[str, Any], code: str) -> None:
    setup: dict[str, Any] = {"seats": (0, 1), "deck": GOOD, "options": {}, "now": 0, "opener": 0, "carry": None}
    with pytest.raises(RuleError) as refusal:
        GAME.start(Setup(**setup | given), FixedChance())
    assert refusal.value.code == code


def test_a_viewer_must_have_been_dealt_in() -> None:
    table = position(HANDS, left=(1,))
    with pytest.raises(RuleError, match="not_in_round"):
        table.view(2)
    assert table.view(1)["viewer"] == 1
    assert table.view(None)["viewer"] is None
