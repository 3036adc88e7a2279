"""Calls.  Rules: docs/games/mongooz.md, Z-10 to Z-18, Z-27 to Z-29."""

from __future__ import annotations

from typing import Any

from apps.games.mongooz import GAME
from tests.games.mongooz.positions import act, discard, listed, pile, position
from tests.games.staging import Table


def overlooked(**changes: Any) -> Table:
    """Return seat 0's turn: it has overlooked H8 on its discard, which fits the middle, and flipped C2."""
    given: dict[str, Any] = {
        "piles": {0: "D2 D3", 1: "S2 S4 S5", 2: "D4 D5 D6"},
        "discards": {0: "S3 H8"},
        "middle": {"H": 1},
        "flipped": "C2",
        "offences": "H8",
        "deadline": 5_000,
    }
    return position(**(given | changes))


FIRST = [
    "called(seat=1, turn=5, valid=true, offences=[H8])",
    "discarded(seat=0, card=C2, forced=true)",
    "paid(seat=1, to=0, cards=[@0.40, @0.42])",
    "fixed(seat=0, card=H8)",
    "turn_started(seat=1, turn=6, deadline=8001)",
]


class TestOfTheRunningTurn:
    def test_the_first_ends_it(self) -> None:
        table = overlooked()
        assert act(table, 1, "call", turn=5) == FIRST
        assert discard(table, 0) == "S3 C2"
        assert pile(table, 0) == "D2 D3 S2 S4"
        assert pile(table, 1) == "S5"
        assert table.view()["board"]["middle"]["H"]["count"] == 2
        assert table.view()["board"]["flipped"] is None
        assert table.view()["board"]["callable"] == [
            {"turn": 5, "seat": 0, "callers": [1]},
            {"turn": 6, "seat": 1, "callers": []},
        ]

    def test_the_forced_discard_is_no_offence(self) -> None:
        table = overlooked(flipped="D7")
        act(table, 1, "call", turn=5)
        assert table.state.previous is not None
        assert len(table.state.previous.offences) == 1

    def test_another_seat_may_still_call_it(self) -> None:
        table = overlooked()
        act(table, 1, "call", turn=5)
        assert act(table, 2, "call", turn=5) == [
            "called(seat=2, turn=5, valid=true, offences=[H8])",
            "paid(seat=2, to=0, cards=[@0.16, @0.17])",
        ]
        assert table.view()["board"]["callable"][0]["callers"] == [1, 2]
        assert table.refused(2, {"type": "call", "turn": 5}) == "already_called"

    def test_until_the_next_turns_first_flip(self) -> None:
        table = overlooked()
        act(table, 1, "call", turn=5)
        act(table, 1, "flip", now=2)
        assert table.refused(2, {"type": "call", "turn": 5}) == "window_closed"

    def test_with_nothing_flipped_there_is_no_forced_discard(self) -> None:
        table = overlooked(flipped="")
        assert act(table, 1, "call", turn=5) == [FIRST[0], *FIRST[2:]]

    def test_an_overlooked_card_that_was_turned_up_again_is_fixed_from_the_discard(self) -> None:
        table = overlooked(piles={0: "", 1: "S2 S4 S5", 2: "D4"}, discards={0: "H8"}, flipped="", offences="")
        act(table, 0, "flip")
        assert act(table, 1, "call", turn=5, now=2) == [
            "called(seat=1, turn=5, valid=true, offences=[H8])",
            "discarded(seat=0, card=H8, forced=true)",
            "paid(seat=1, to=0, cards=[@0.40, @0.42])",
            "fixed(seat=0, card=H8)",
            "turn_started(seat=1, turn=6, deadline=8002)",
        ]
        assert (pile(table, 0), discard(table, 0)) == ("S2 S4", "")

    def test_an_overlooked_card_that_was_placed_later_in_the_turn_is_not_fixed(self) -> None:
        table = overlooked(flipped="C7", middle={"H": 1})
        act(table, 0, "to_middle")
        act(table, 0, "to_middle", now=2)
        assert act(table, 1, "call", turn=5, now=3) == [
            "called(seat=1, turn=5, valid=true, offences=[H8])",
            "paid(seat=1, to=0, cards=[@0.40, @0.42])",
            "turn_started(seat=1, turn=6, deadline=8003)",
        ]

    def test_a_card_overlooked_twice_is_shown_twice_and_fixed_once(self) -> None:
        table = overlooked(flipped="", offences="", piles={0: "C7 D3", 1: "S2 S4 S5", 2: "D4"})
        act(table, 0, "flip")
        act(table, 0, "to_middle", now=2)
        act(table, 0, "flip", now=3)
        events = act(table, 1, "call", turn=5, now=4)
        assert events[0] == "called(seat=1, turn=5, valid=true, offences=[H8, H8])"
        assert [event for event in events if event.startswith("fixed")] == ["fixed(seat=0, card=H8)"]

    def test_the_next_place_begins_even_if_another_called(self) -> None:
        table = overlooked()
        assert act(table, 2, "call", turn=5)[-1] == "turn_started(seat=1, turn=6, deadline=8001)"

    def test_at_the_cap_the_round_ends(self) -> None:
        table = overlooked(turn=600)
        assert act(table, 1, "call", turn=600)[-1].startswith("round_over(reason=cap")

    def test_all_offences_are_shown_in_order_and_cost_one_penalty(self) -> None:
        table = overlooked(offences="H8 D9- H8", discards={0: "S3 H8 D9"})
        events = act(table, 1, "call", turn=5)
        assert events[0] == "called(seat=1, turn=5, valid=true, offences=[H8, D9, H8])"
        assert events[2:] == FIRST[2:]
        assert discard(table, 0) == "S3 D9 C2"


class TestOfTheTurnBefore:
    def before(self, **changes: Any) -> Table:
        given: dict[str, Any] = {
            "flipped": "",
            "offences": "",
            "previous": (4, 2, "C9 D8", ""),
            "discards": {0: "S3", 2: "D8 C9"},
            "middle": {"D": 1, "C": 2, "H": 1},
        }
        return overlooked(**(given | changes))

    def test_goes_on_with_the_running_turn(self) -> None:
        table = self.before()
        assert act(table, 0, "call", turn=4) == [
            "called(seat=0, turn=4, valid=true, offences=[C9, D8])",
            "paid(seat=0, to=2, cards=[@0.14, @0.15])",
            "fixed(seat=2, card=C9)",
            "fixed(seat=2, card=D8)",
        ]
        assert GAME.wake_at(table.state) == 5_000
        assert table.state.acted
        assert table.view()["turn"] == {"number": 5, "seat": 0}
        assert (discard(table, 2), pile(table, 2)) == ("", "D4 D5 D6 D2 D3")

    def test_by_another_seat_does_not_act_for_the_turns_seat(self) -> None:
        table = self.before()
        act(table, 1, "call", turn=4)
        assert not table.state.acted

    def test_does_not_touch_a_flipped_card_of_the_running_turn(self) -> None:
        table = overlooked(previous=(4, 2, "C9", ""), offences="", discards={0: "S3", 2: "C9"}, middle={"C": 2})
        assert act(table, 1, "call", turn=4) == [
            "called(seat=1, turn=4, valid=true, offences=[C9])",
            "paid(seat=1, to=2, cards=[@0.40, @0.42])",
            "fixed(seat=2, card=C9)",
        ]

    def test_a_card_that_has_gone_elsewhere_stays_there(self) -> None:
        table = self.before(discards={0: "C9", 2: "D8"})
        assert act(table, 1, "call", turn=4)[2:] == ["fixed(seat=2, card=D8)"]
        assert discard(table, 0) == "C9"

    def test_a_card_that_fitted_a_seat_only_stays(self) -> None:
        table = self.before(previous=(4, 2, "C9- D8-", ""))
        assert len(act(table, 1, "call", turn=4)) == 2
        assert discard(table, 2) == "D8 C9"

    def test_a_card_in_the_offenders_pile_is_found(self) -> None:
        table = self.before(piles={0: "D2 D3", 1: "S2 S4 S5", 2: "D4 D8 D6"}, discards={}, previous=(4, 2, "D8", ""))
        assert act(table, 1, "call", turn=4)[2:] == ["fixed(seat=2, card=D8)"]
        assert pile(table, 2) == "D4 D6 S2 S4"

    def test_a_second_caller_fixes_nothing(self) -> None:
        table = self.before(previous=(4, 2, "D8", "1"))
        assert act(table, 0, "call", turn=4) == [
            "called(seat=0, turn=4, valid=true, offences=[D8])",
            "paid(seat=0, to=2, cards=[@0.14, @0.15])",
        ]


class TestPaying:
    def test_with_one_pile_card_the_discard_is_turned_under_it(self) -> None:
        table = overlooked(piles={0: "D2", 1: "S2", 2: "D4"}, discards={0: "S3 H8", 1: "CQ CJ"})
        assert act(table, 1, "call", turn=5)[2:4] == [
            "turned_over(seat=1, count=2)",
            "paid(seat=1, to=0, cards=[@0.40, @0.11])",
        ]
        assert (pile(table, 0), pile(table, 1), discard(table, 1)) == ("D2 S2 CQ", "CJ", "")

    def test_with_two_pile_cards_the_discard_stays(self) -> None:
        table = overlooked(piles={0: "D2", 1: "S2 S4", 2: "D4"}, discards={0: "S3 H8", 1: "CQ CJ"})
        assert act(table, 1, "call", turn=5)[2] == "paid(seat=1, to=0, cards=[@0.40, @0.42])"
        assert (pile(table, 1), discard(table, 1)) == ("", "CQ CJ")

    def test_with_one_card_in_all_one_is_paid_and_the_caller_wins(self) -> None:
        table = overlooked(piles={0: "D2", 1: "S2", 2: "D4"})
        assert act(table, 1, "call", turn=5)[1:] == [
            "discarded(seat=0, card=C2, forced=true)",
            "paid(seat=1, to=0, cards=[@0.40])",
            "revealed(seat=0, zone=pile, cards=[D2, S2])",
            "revealed(seat=2, zone=pile, cards=[D4])",
            "round_over(reason=gave_out, final=true, ranking=[[1], [2], [0]], shares={1:1}, scores={0:5, 1:0, 2:1}, "
            "carry=null)",
        ]
        assert discard(table, 0) == "S3 H8 C2"

    def test_with_one_pile_and_one_discard_card_the_caller_wins(self) -> None:
        table = overlooked(piles={0: "D2", 1: "S2", 2: "D4"}, discards={0: "S3 H8", 1: "CQ"})
        events = act(table, 1, "call", turn=5)
        assert events[2:4] == ["turned_over(seat=1, count=1)", "paid(seat=1, to=0, cards=[@0.40, @0.11])"]
        assert events[-1].startswith("round_over(reason=gave_out")
        assert not any("fixed" in event for event in events)

    def test_with_only_a_discard_it_is_turned_over(self) -> None:
        table = overlooked(piles={0: "D2", 1: "", 2: "D4"}, discards={0: "S3 H8", 1: "CQ CJ CT"})
        assert act(table, 1, "call", turn=5)[2:4] == [
            "turned_over(seat=1, count=3)",
            "paid(seat=1, to=0, cards=[@0.11, @0.10])",
        ]

    def test_the_turns_seat_may_give_out_by_a_call(self) -> None:
        table = overlooked(
            piles={0: "D2", 1: "S2 S4", 2: "D4"}, flipped="", offences="", discards={}, previous=(4, 2, "C9", "")
        )
        events = act(table, 0, "call", turn=4)
        assert events[-1] == (
            "round_over(reason=gave_out, final=true, ranking=[[0], [1, 2]], shares={0:1}, scores={0:0, 1:2, 2:2}, "
            "carry=null)"
        )
        assert table.view()["board"]["callable"] == []


class TestWrongCalls:
    def test_cost_no_card_and_block_until_the_next_turn(self) -> None:
        table = overlooked(offences="", previous=(4, 2, "", ""), flipped="")
        assert act(table, 1, "call", turn=4) == ["called(seat=1, turn=4, valid=false, offences=[])"]
        assert table.view()["board"]["blocked"] == [1]
        assert table.view()["board"]["callable"][0] == {"turn": 4, "seat": 2, "callers": []}
        assert table.refused(1, {"type": "call", "turn": 5}) == "call_blocked"
        assert table.refused(1, {"type": "call", "turn": 4}) == "call_blocked"
        assert listed(table, 1) == []
        assert act(table, 0, "call", turn=4) == ["called(seat=0, turn=4, valid=false, offences=[])"]
        assert table.view()["board"]["blocked"] == [0, 1]
        act(table, 0, "flip", now=2)
        assert table.view()["board"]["blocked"] == [0, 1]
        act(table, 0, "discard", now=3)
        assert table.view()["board"]["blocked"] == []
        assert "call 5" in listed(table, 1, 4)

    def test_do_not_change_the_clock(self) -> None:
        table = overlooked(offences="")
        act(table, 1, "call", turn=5)
        assert GAME.wake_at(table.state) == 5_000
        assert not table.state.acted


def test_a_second_first_call_does_not_happen_after_a_wrong_one() -> None:
    table = overlooked(offences="", flipped="H9", discards={0: "S3 H7"}, middle={"H": 0})
    act(table, 1, "call", turn=5)
    act(table, 0, "discard", now=2)
    assert act(table, 1, "call", turn=5, now=3)[0] == "called(seat=1, turn=5, valid=false, offences=[])"
