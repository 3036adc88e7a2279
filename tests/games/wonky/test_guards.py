"""Wonky: every guard, in the order of the page (docs/games/wonky.md, section Actions).

A row of a table breaks the guard it names and, as far as one input can, those after it: so it also shows the order.
"""

from __future__ import annotations

from typing import Any

import pytest

from apps.games.contract import RuleError, Setup
from apps.games.wonky import GAME
from tests.games.staging import Scripted, Table, stacked
from tests.games.wonky.arranging import DRAW, KEEP, arranged, play, stack

DECK = stacked(GAME, "", 2)


class TestStart:
    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"options": {"towers": "shaky"}, "seats": (1, 0), "opener": 9, "deck": (), "carry": {}}, "bad_option"),
            ({"options": {"tower": "Shaky"}}, "bad_option"),
            ({"options": {"tower": None}}, "bad_option"),
            ({"seats": (1, 0), "opener": 9, "deck": (), "carry": {}}, "bad_seats"),
            ({"seats": (0,)}, "bad_seats"),
            ({"seats": tuple(range(9))}, "bad_seats"),
            ({"opener": 2, "deck": (), "carry": {}}, "bad_opener"),
            ({"deck": DECK[1:], "carry": {}}, "bad_deck"),
            ({"deck": (*DECK[1:], "SP#2"), "carry": {}}, "bad_deck"),
            ({"carry": {}}, "bad_carry"),
        ],
    )
    def test_refuses_a_bad_setup_with_the_first_guard_that_fails(self, changes: dict[str, Any], code: str) -> None:
        good = {"seats": (0, 1), "deck": DECK, "options": {}, "now": 0, "opener": 0, "carry": None}
        with pytest.raises(RuleError) as refusal:
            GAME.start(Setup(**{**good, **changes}), Scripted())
        assert refusal.value.code == code


def table(**keys: Any) -> Table:
    """Seat 0 has the turn; SP stands; seat 0 holds block, action and combo cards, seat 1 some others."""
    return arranged({0: "SP#1 MG#1 AP#1 PASS#1 ANYD#1", 1: "LB#1 REV#1"}, "SPf0", **keys)


BAD_FORM: list[Any] = [
    None,
    [],
    "draw",
    {},
    {"type": None},
    {"type": "pass"},
    {"type": "Draw"},
    {"type": "draw", "x": 1},
    {"type": "keep", "card": "SP#1"},
    {"type": "play"},
    {"type": "play", "card": "SP"},
    {"type": "play", "card": "SP#4"},
    {"type": "play", "card": ["SP#1"]},
    {"type": "play", "card": "PASS#1", "block": "SP"},
    {"type": "stack", "card": "MG#1"},
    {"type": "stack", "card": "MG#1", "block": "MG", "down": "flat"},
    {**stack("MG#1", "MG"), "x": 0},
    {**stack("MG#1", "MG"), "card": "MG#9"},
    {**stack("MG#1", "MG"), "block": "mg"},
    {**stack("MG#1", "MG"), "block": "AG"},
    {**stack("MG#1", "MG"), "block": 4},
    {**stack("MG#1", "MG"), "down": "side"},
    {**stack("MG#1", "MG"), "down": None},
    {**stack("MG#1", "MG"), "offset": 9},
    {**stack("MG#1", "MG"), "offset": -9},
    {**stack("MG#1", "MG"), "offset": True},
    {**stack("MG#1", "MG"), "offset": 1.0},
    {**stack("MG#1", "MG"), "offset": "1"},
    {**stack("MG#1", "MG"), "offset": None},
]


class TestCommon:
    @pytest.mark.parametrize("action", BAD_FORM)
    def test_form_is_checked_before_the_turn(self, action: Any) -> None:
        assert table(seat=1).refused(0, action) == "bad_action"

    @pytest.mark.parametrize(
        ("seat", "now", "before", "action", "code"),
        [
            (3, 20_000, "over", {}, "round_over"),
            (3, 20_000, None, {}, "clock_due"),
            (3, 19_999, None, {}, "not_in_round"),
            (1, 1, "offline", {}, "disconnected"),
            (1, 1, None, {}, "bad_action"),
        ],
    )
    def test_guards_before_the_page(self, seat: int, now: int, before: str | None, action: Any, code: str) -> None:
        it = table()
        if before == "over":
            it.leave(1)
        elif before == "offline":
            it.connection(1, False)
        assert it.refused(seat, action, now) == code

    @pytest.mark.parametrize("action", [stack("SP#1", "SP"), play("SP#1"), DRAW, KEEP])
    def test_another_seats_turn_is_told_first(self, action: Any) -> None:
        it = table(seat=1, rebuilding=True)
        assert it.refused(0, action) == "not_your_turn"
        assert it.legal(0) == []

    @pytest.mark.parametrize(
        ("over", "seat", "reason", "now", "code"),
        [
            (True, 9, "bored", 20_000, "round_over"),
            (False, 9, "bored", 20_000, "clock_due"),
            (False, 9, "bored", 1, "not_in_round"),
            (False, 1, "bored", 1, "bad_reason"),
        ],
    )
    def test_leave(self, over: bool, seat: int, reason: str, now: int, code: str) -> None:
        it = table()
        if over:
            it.leave(0)
        with pytest.raises(RuleError) as refusal:
            it.leave(seat, reason, now)
        assert refusal.value.code == code

    def test_view_refuses_a_seat_that_was_not_dealt_in(self) -> None:
        with pytest.raises(RuleError, match="not_in_round"):
            table().view(2)


class TestStack:
    @pytest.mark.parametrize(
        ("drawn", "tower", "action", "code"),
        [
            ("MG#1", "SPf0", stack("REV#1", "SP"), "card_not_held"),
            ("MG#1", "SPf0", stack("PASS#1", "SP"), "only_drawn_card"),
            (None, "SPf0", stack("PASS#1", "SP"), "not_a_block_card"),
            (None, "", stack("PASS#1", "SP", "flat", 3), "not_a_block_card"),
            (None, "SPf0", stack("MG#1", "SP"), "block_in_tower"),
            (None, "SPf0", stack("SP#1", "SP"), "block_in_tower"),
            (None, "", stack("AP#1", "MG", "flat", 3), "block_mismatch"),
            (None, "SPf0", stack("MG#1", "MB"), "block_mismatch"),
            (None, "", stack("MG#1", "MG", "curved", 3), "bad_offset"),
            (None, "", stack("MG#1", "MG", "curved", -1), "bad_offset"),
        ],
    )
    def test_guards(self, drawn: str | None, tower: str, action: Any, code: str) -> None:
        it = arranged({0: "SP#1 MG#1 AP#1 PASS#1 ANYD#1", 1: "LB#1 REV#1"}, tower, drawn=drawn)
        assert it.refused(0, action) == code
        assert it.chance.asked == []

    def test_rebuild_asks_for_no_drawn_card_but_for_offset_zero(self) -> None:
        it = arranged({0: "SP#1 PASS#1", 1: "LB#1"}, rebuilding=True)
        assert it.refused(0, stack("PASS#1", "SP")) == "not_a_block_card"
        assert it.refused(0, stack("SP#1", "SP", "flat", 1)) == "bad_offset"


class TestPlay:
    @pytest.mark.parametrize(
        ("hand", "drawn", "rebuilding", "card", "code"),
        [
            ("PASS#1", "PASS#1", True, "SP#1", "must_rebuild"),
            ("PASS#1 MG#1", "PASS#1", False, "SP#1", "card_not_held"),
            ("PASS#1 MG#1", "PASS#1", False, "MG#1", "only_drawn_card"),
            ("MG#1", None, False, "MG#1", "not_an_action_card"),
            ("ANYR#1", None, False, "ANYR#1", "not_an_action_card"),
            ("PASS#1", None, False, "PASS#1", "last_card"),
            ("REV#1", None, False, "REV#1", "last_card"),
        ],
    )
    def test_guards(self, hand: str, drawn: str | None, rebuilding: bool, card: str, code: str) -> None:
        it = arranged({0: hand, 1: "LB#1"}, drawn=drawn, rebuilding=rebuilding)
        assert it.refused(0, play(card)) == code


class TestDraw:
    @pytest.mark.parametrize(
        ("hand", "tower", "drawn", "rebuilding", "refused"),
        [
            ("SP#1", "", None, False, True),
            ("SP#1", "SPf0", None, False, False),
            ("SP#1 PASS#1", "SPf0", None, False, True),
            ("PASS#1", "", None, False, False),
            ("SP#1 MG#1", "SPf0", "MG#1", False, True),
            ("SP#1 MG#1", "SPf0", "SP#1", False, False),
            ("SP#1 PASS#1", "SPf0", "PASS#1", False, True),
            ("PASS#1 REV#1", "", None, True, False),
            ("PASS#1 ANYR#1", "", None, True, True),
            ("", "", None, True, False),
            ("", "", None, False, False),
        ],
    )
    def test_is_refused_exactly_when_something_can_be_played(
        self, hand: str, tower: str, drawn: str | None, rebuilding: bool, refused: bool
    ) -> None:
        it = arranged({0: hand, 1: "LB#1"}, tower, drawn=drawn, rebuilding=rebuilding)
        assert (DRAW in it.legal(0)) is not refused
        if refused:
            assert it.refused(0, DRAW) == "can_play"
        else:
            assert it.act(0, DRAW)[0].startswith("drew(seat=0")


class TestKeep:
    @pytest.mark.parametrize(
        ("hand", "drawn", "rebuilding", "code"),
        [
            ("SP#1", None, True, "must_rebuild"),
            ("SP#1 MG#1", None, False, "nothing_drawn"),
            ("SP#1 MG#1", "SP#1", False, "must_draw"),
        ],
    )
    def test_guards(self, hand: str, drawn: str | None, rebuilding: bool, code: str) -> None:
        it = arranged({0: hand, 1: "LB#1"}, "" if rebuilding else "SPf0", drawn=drawn, rebuilding=rebuilding)
        assert it.refused(0, KEEP) == code
        assert KEEP not in it.legal(0)
