"""Mojo: every guard, in the order of the page (docs/games/mojo.md, sections Start and carry and Actions).

A row of a table breaks the guard it names and, as far as one input can, those after it: so it also shows the order.
"""

from __future__ import annotations

from typing import Any

import pytest

from apps.games.contract import RuleError, Seat, Setup
from apps.games.mojo import GAME
from tests.games.mojo.arranging import arranged, discard, reveal
from tests.games.staging import Scripted, Table, stacked

DECK = stacked(GAME, "", 2)
CARRY = {"round": 2, "totals": {"0": 5, "1": 7}, "face": 0, "lead": 1}


class TestStart:
    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"options": {"pile": 1}, "seats": (1, 0), "opener": 9, "deck": (), "carry": 1}, "bad_option"),
            ({"options": {"piles": 3}}, "bad_option"),
            ({"options": {"piles": True}}, "bad_option"),
            ({"options": {"piles": "1"}}, "bad_option"),
            ({"seats": (1, 0), "opener": 9, "deck": (), "carry": 1}, "bad_seats"),
            ({"seats": (0,), "opener": 0}, "bad_seats"),
            ({"seats": tuple(range(9))}, "bad_seats"),
            ({"seats": (0, 0)}, "bad_seats"),
            ({"opener": 2, "deck": (), "carry": 1}, "bad_opener"),
            ({"deck": DECK[1:], "carry": 1}, "bad_deck"),
            ({"deck": (*DECK[1:], "B0#2")}, "bad_deck"),
            ({"deck": (*DECK[1:], "B0#5")}, "bad_deck"),
            ({"carry": 1}, "bad_carry"),
            ({"carry": {}}, "bad_carry"),
            ({"carry": {**CARRY, "totals": {"0": 5, "2": 7}}}, "bad_carry"),
            ({"carry": {**CARRY, "totals": [5, 7]}}, "bad_carry"),
            ({"carry": {"totals": {"0": 5, "1": 7}, "face": 0, "lead": 1}}, "bad_carry"),
            ({"carry": CARRY, "opener": 2}, "bad_opener"),
        ],
    )
    def test_refuses_a_bad_setup_with_the_first_guard_that_fails(self, changes: dict[str, Any], code: str) -> None:
        good = {"seats": (0, 1), "deck": DECK, "options": {}, "now": 0, "opener": 0, "carry": None}
        with pytest.raises(RuleError) as refusal:
            GAME.start(Setup(**{**good, **changes}), Scripted())
        assert refusal.value.code == code

    @pytest.mark.parametrize("seats", [2, 8])
    def test_takes_two_to_eight_seats_with_gaps_and_both_options(self, seats: int) -> None:
        for piles in (1, 2):
            ring = tuple(range(3, 3 + 2 * seats, 2))
            table = Table.start(GAME, seats=ring, options={"piles": piles})
            assert table.state.deal.seats == ring


# Whose turn it is holds Y5 and G2; seat 1 holds O8; seat 2 has laid down B0 (up) and B1; the pile shows G4.
def one_pile(seat: int = 0) -> Table:
    return arranged({0: "Y5#1 G2#1 R11#1 R12#1", 1: "O8#1", 2: ""}, "G4#1", laid={2: "B0#1+ B1#1"}, seat=seat)


def two_piles(locked: int | None = None) -> Table:
    return arranged({0: "Y5#1 G2#1 R11#1 R12#1", 1: "O8#1"}, "G4#1", "Y6#1", locked=locked)


BAD_FORM: list[Any] = [
    None,
    [],
    "discard",
    {},
    {"card": "Y5#1"},
    {"type": 1, "card": "Y5#1"},
    {"type": "draw"},
    {"type": "draw", "x": 1},
    {"type": "Discard", "card": "Y5#1"},
    {"type": "discard"},
    {"type": "discard", "card": 5},
    {"type": "discard", "card": "Y5"},
    {"type": "discard", "card": "Y5#7"},
    {"type": "discard", "card": "Y5#1", "x": 1},
    {"type": "reveal"},
    {"type": "reveal", "card": "Y8#1"},
    {"type": "reveal", "card": "B1#1", "pile": 1},
]


class TestForm:
    @pytest.mark.parametrize("action", BAD_FORM)
    def test_is_checked_before_the_turn(self, action: Any) -> None:
        assert one_pile(seat=1).refused(0, action) == "bad_action"

    @pytest.mark.parametrize("key", [{"pile": 1}, {"from": "deck"}, {"pile": 1, "from": "deck"}])
    def test_knows_no_pile_and_no_from_with_one_pile(self, key: dict[str, Any]) -> None:
        assert one_pile().refused(0, {**discard("G2#1"), **key}) == "bad_action"

    @pytest.mark.parametrize(
        "key",
        [
            {},
            {"from": "deck"},
            {"pile": 0},
            {"pile": 3},
            {"pile": True},
            {"pile": "1"},
            {"pile": 1.0},
            {"pile": None},
            {"pile": 1, "from": None},
            {"pile": 1, "from": "pile"},
            {"pile": 1, "from": 1},
            {"pile": 1, "from": "deck", "x": 1},
        ],
    )
    def test_needs_a_pile_and_may_have_a_from_with_two(self, key: dict[str, Any]) -> None:
        assert two_piles().refused(0, {**discard("Y5#1"), **key}) == "bad_action"


class TestDiscard:
    @pytest.mark.parametrize(
        ("seat", "now", "before", "action", "code"),
        [
            (3, 15_000, "over", {}, "round_over"),
            (3, 15_000, None, {}, "clock_due"),
            (3, 14_999, None, {}, "not_in_round"),
            (0, 1, "left", {}, "not_in_round"),
            (1, 1, "offline", {}, "disconnected"),
            (1, 1, None, {}, "bad_action"),
            (1, 1, None, discard("Y5#1"), "not_your_turn"),
            (0, 1, "laid", discard("Y5#1"), "must_reveal"),
            (0, 1, None, discard("O8#1"), "card_not_held"),
        ],
    )
    def test_one_pile(self, seat: int, now: int, before: str | None, action: Any, code: str) -> None:
        table = one_pile()
        if before == "over":
            table.leave(0)
            table.leave(1)
        elif before == "left":
            table.leave(0)
        elif before == "offline":
            table.connection(1, False)
        elif before == "laid":
            table.state.seat = Seat(2)
            seat = 2
        assert table.refused(seat, action, now) == code

    @pytest.mark.parametrize(
        ("locked", "action", "code"),
        [
            (2, discard("O8#1", 1), "card_not_held"),
            (2, discard("Y5#1", 1), "wrong_pile"),
            (1, discard("G2#1", 2, "deck"), "wrong_pile"),
            (None, discard("Y5#1", 1), "choice_needed"),
            (1, discard("Y5#1", 1), "choice_needed"),
            (None, discard("Y5#1", 2, "deck"), "choice_not_allowed"),
            (None, discard("G2#1", 1, "other"), "choice_not_allowed"),
        ],
    )
    def test_two_piles(self, locked: int | None, action: Any, code: str) -> None:
        assert two_piles(locked).refused(0, action) == code

    def test_an_equal_card_must_not_come_with_a_choice(self) -> None:
        table = arranged({0: "Y5#1 G2#1", 1: "O8#1"}, "G4#1", "Y5#2")
        assert table.refused(0, discard("Y5#1", 2, "other")) == "choice_not_allowed"
        assert table.act(0, discard("Y5#1", 2))[0].endswith("pile=2, result=equal)")


class TestReveal:
    @pytest.mark.parametrize(
        ("turn", "seat", "card", "code"),
        [
            (0, 2, "Y5#1", "not_your_turn"),
            (0, 0, "B1#1", "nothing_laid"),
            (2, 2, "Y5#1", "card_not_laid"),
            (2, 2, "B0#1", "card_not_laid"),
        ],
    )
    def test_guards(self, turn: int, seat: int, card: str, code: str) -> None:
        assert one_pile(seat=turn).refused(seat, reveal(card)) == code


class TestLeave:
    @pytest.mark.parametrize(
        ("over", "seat", "reason", "now", "code"),
        [
            (True, 9, "bored", 15_000, "round_over"),
            (False, 9, "bored", 15_000, "clock_due"),
            (False, 9, "bored", 1, "not_in_round"),
            (False, 1, "bored", 1, "bad_reason"),
        ],
    )
    def test_guards(self, over: bool, seat: int, reason: str, now: int, code: str) -> None:
        table = one_pile()
        if over:
            table.leave(0)
            table.leave(1)
        with pytest.raises(RuleError) as refusal:
            table.leave(seat, reason, now)
        assert refusal.value.code == code
        if not over and seat == 9 and now == 1:
            with pytest.raises(RuleError, match="not_in_round"):
                table.connection(seat, False, now)


class TestView:
    def test_refuses_a_seat_that_was_not_dealt_in(self) -> None:
        table = one_pile()
        table.leave(0)
        assert table.view(0)["viewer"] == 0
        with pytest.raises(RuleError, match="not_in_round"):
            table.view(3)
