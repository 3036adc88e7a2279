"""Mojo: the corner cases of a round, event by event (docs/games/mojo.md, sections Actions, Clock, Numbered rules)."""

from __future__ import annotations

import pytest

from apps.games.contract import Seat
from apps.games.mojo import GAME
from apps.games.mojo.rules import TURN_CAP
from tests.games.mojo.arranging import arranged, discard, names, reveal, zone
from tests.games.staging import Scripted, Table, faces, written


class TestDiscard:
    def test_lower_ends_the_turn(self) -> None:
        table = arranged({0: "G2#1 R11#1 R12#1", 1: "O8#1 O9#1 O10#1"}, "Y5#1")
        assert names(table.act(0, discard("G2#1"), 7)) == ["discarded", "laid", "turn_started"]
        assert (table.state.seat, table.state.turn, table.state.deadline) == (1, 2, 15_007)

    def test_equal_asks_for_another_with_a_fresh_clock(self) -> None:
        table = arranged({0: "Y5#2 G2#1", 1: "O8#1"}, "Y5#1")
        assert table.act(0, discard("Y5#2"), 9_000)[1] == "clock_changed(seat=0, deadline=24000)"
        assert (table.state.seat, table.state.turn, table.state.locked) == (0, 1, 1)
        assert [action["card"] for action in table.legal(0)] == ["G2#1"]

    def test_a_fresh_clock_of_a_seat_without_connection_is_short(self) -> None:
        table = arranged({0: "Y5#2 Y5#3 G2#1 G3#1", 1: "O8#1"}, "Y5#1")
        table.connection(0, False, 100)
        assert table.refused(0, discard("Y5#2")) == "disconnected"
        assert table.legal(0) == []
        table.connection(0, True, 200)
        assert table.act(0, discard("Y5#2"), 300)[1] == "clock_changed(seat=0, deadline=15300)"

    def test_higher_costs_a_card_and_ends_the_turn(self) -> None:
        table = arranged({0: "R12#1 R11#1 G2#1", 1: "O8#1"}, "Y5#1", deck="B0#4 B1#4")
        assert names(table.act(0, discard("R12#1"))) == ["discarded", "drew", "turn_started"]
        assert table.hand(0) == "R11#1 G2#1 B0#4"

    def test_an_equal_card_of_another_colour_does_not_exist_but_values_decide(self) -> None:
        table = arranged({0: "O9#1 O8#2 O10#1 R11#1", 1: "B0#1"}, "O8#1")
        assert table.act(0, discard("O9#1"))[0].endswith("result=higher)")
        table = arranged({0: "O9#1 O8#2 O10#1 R11#1", 1: "B0#1"}, "O8#1")
        assert table.act(0, discard("O8#2"))[0].endswith("result=equal)")
        table = arranged({0: "O9#1 O8#2 O10#1 R11#1", 1: "B0#1"}, "O9#3")
        assert table.act(0, discard("O8#2"))[0].endswith("result=lower)")


class TestLayingDown:
    def test_two_seats_lay_down_two_cards_after_the_whole_turn(self) -> None:
        """Corner case 1; J-2: three cards between equal discards are not a small hand."""
        table = arranged({0: "Y5#2 G2#1 R11#1 R12#1", 1: "O8#1 O9#1 O10#1"}, "Y5#1")
        assert names(table.act(0, discard("Y5#2"))) == ["discarded", "clock_changed"]
        assert table.act(0, discard("G2#1"))[1] == f"laid(seat=0, cards={_hidden(table, 'R11#1 R12#1')})"
        assert table.hand(0) == ""

    def test_two_seats_do_not_lay_down_three_cards(self) -> None:
        table = arranged({0: "G2#1 G3#1 R11#1 R12#1", 1: "O8#1"}, "Y5#1")
        assert names(table.act(0, discard("G2#1"))) == ["discarded", "turn_started"]

    def test_three_seats_lay_down_three_cards_in_hand_order(self) -> None:
        """Corner case 2."""
        table = arranged({0: "R12#1 G2#1 B1#1 Y6#1", 1: "O8#1", 2: "O9#1"}, "Y5#1")
        assert table.act(0, discard("G2#1"))[1] == f"laid(seat=0, cards={_hidden(table, 'R12#1 B1#1 Y6#1')})"
        assert table.state.laid[Seat(0)] == tuple((card, False) for card in zone("R12#1 B1#1 Y6#1"))

    def test_three_seats_do_not_lay_down_four_cards(self) -> None:
        table = arranged({0: "R12#1 G2#1 B1#1 Y6#1 O9#2", 1: "O8#1", 2: "O9#1"}, "Y5#1")
        assert names(table.act(0, discard("G2#1"))) == ["discarded", "turn_started"]

    def test_the_threshold_stays_three_when_a_seat_left(self) -> None:
        """Corner case 3; J-5."""
        table = arranged({0: "R12#1 G2#1 B1#1 Y6#1", 1: "O8#1", 2: "O9#1"}, "Y5#1")
        table.leave(2)
        assert names(table.act(0, discard("G2#1"))) == ["discarded", "laid", "turn_started"]

    def test_a_drawn_card_counts_and_is_laid_down_last(self) -> None:
        """J-2, J-4, corner case 6: a higher last card draws one, which is laid down."""
        table = arranged({0: "R12#1", 1: "O8#1"}, "Y5#1", deck="B0#4")
        assert table.act(0, discard("R12#1")) == [
            f"discarded(seat=0, card={_shown(table, 'R12#1')}, pile=1, result=higher)",
            f"drew(seat=0, cards={_hidden(table, 'B0#4')}, cause=higher)",
            f"laid(seat=0, cards={_hidden(table, 'B0#4')})",
            "turn_started(seat=1, turn=2, deadline=15001)",
        ]
        table = arranged({0: "R12#1 R11#1", 1: "O8#1"}, "Y5#1", deck="B0#4")
        assert table.act(0, discard("R12#1"))[2] == f"laid(seat=0, cards={_hidden(table, 'R11#1 B0#4')})"

    def test_nothing_is_turned_up_in_the_turn_of_laying_down(self) -> None:
        """J-8."""
        table = arranged({0: "G2#1 R12#1", 1: "O8#1"}, "Y5#1")
        table.act(0, discard("G2#1"))
        assert table.state.laid[Seat(0)] == ((zone("R12#1")[0], False),)
        assert table.state.seat == 1


class TestTurningUp:
    def test_the_owner_chooses_and_others_may_have_laid_down_too(self) -> None:
        """J-9, J-11."""
        table = arranged({0: "", 1: ""}, "Y5#1", laid={0: "B1#1 B0#1", 1: "G2#1 G3#1"})
        assert [action["card"] for action in table.legal(0)] == ["B0#1", "B1#1"]
        assert table.act(0, reveal("B0#1"))[0] == f"turned_up(seat=0, card={_shown(table, 'B0#1')}, hidden=1)"
        assert [action["card"] for action in table.legal(1)] == ["G2#1", "G3#1"]
        table.act(1, reveal("G3#1"))
        assert [action["card"] for action in table.legal(0)] == ["B1#1"]
        events = table.act(0, reveal("B1#1"))
        assert names(events) == ["turned_up", "revealed", "scored", "round_over"]
        assert events[1] == f"revealed(seat=1, zone=laid, cards=[{_shown(table, 'G2#1')}])"

    def test_a_seat_that_has_laid_down_does_not_discard(self) -> None:
        """Corner case 7."""
        table = arranged({0: "", 1: "Y6#1"}, "Y5#1", laid={0: "B1#1 B0#1"})
        assert table.refused(0, discard("B0#1")) == "must_reveal"
        assert table.refused(0, reveal("Y6#1")) == "card_not_laid"


class TestEndOfARound:
    def test_a_last_equal_card_ends_it_at_once(self) -> None:
        """Corner case 4; J-3, J-12, J-13."""
        table = arranged({0: "Y5#2", 1: "O8#1 O9#1"}, "Y5#1")
        events = table.act(0, discard("Y5#2"))
        assert names(events) == ["discarded", "revealed", "scored", "round_over"]
        assert events[2] == "scored(raw={0:0, 1:9}, points={0:0, 1:9}, totals={0:0, 1:9}, mojo=0, face=0)"
        assert table.view()["board"]["locked"] is None

    def test_a_last_lower_card_after_equal_ones_ends_it_at_once(self) -> None:
        """Corner case 5."""
        table = arranged({0: "Y5#2 G2#1", 1: "O8#1 O9#1"}, "Y5#1")
        table.act(0, discard("Y5#2"))
        events = table.act(0, discard("G2#1"))
        assert names(events) == ["discarded", "revealed", "scored", "round_over"]
        assert "mojo=0" in events[2]

    def test_the_taker_pays_ten_more_when_somebody_has_less(self) -> None:
        """Corner case 10; J-15."""
        table = arranged({0: "", 1: "G2#2"}, "O8#1", laid={0: "Y5#1"}, totals={0: 3, 1: 4})
        events = table.act(0, reveal("Y5#1"))
        assert events[-2] == "scored(raw={0:5, 1:2}, points={0:15, 1:2}, totals={0:18, 1:6}, mojo=0, face=10)"
        assert events[-1].endswith("carry={round:2, totals:{0:18, 1:6}, face:10, lead:0})")
        assert table.view()["board"]["face"] == 0
        assert table.view()["board"]["direction"] == 1
        assert [row["total"] for row in table.view()["seats"]] == [18, 6]

    def test_the_taker_pays_nothing_when_nobody_has_less(self) -> None:
        """Corner case 11."""
        table = arranged({0: "", 1: "Y5#2"}, "O8#1", laid={0: "Y5#1"}, face=10)
        events = table.act(0, reveal("Y5#1"))
        assert events[-2] == "scored(raw={0:5, 1:5}, points={0:0, 1:5}, totals={0:0, 1:5}, mojo=0, face=0)"

    def test_hand_and_laid_cards_count_whether_up_or_down(self) -> None:
        """J-28, J-14, J-27."""
        table = arranged(
            {0: "", 1: "O8#2 O9#1 Y7#1", 2: ""}, "O8#1", laid={0: "B1#1+ B1#2", 2: "G4#1+ G4#2 R12#1"}, seat=0
        )
        events = table.act(0, reveal("B1#2"))
        assert events[-2].startswith("scored(raw={0:1, 1:16, 2:16}, points={0:0, 1:16, 2:16}")
        assert events[-1].startswith("round_over(reason=round, final=false, ranking=[[0], [1, 2]], shares={}")

    def test_hidden_cards_are_revealed_by_seat_then_zone(self) -> None:
        table = arranged({0: "Y5#2", 1: "O8#1", 2: "", 3: "G2#1"}, "Y5#1", laid={2: "B0#1+ B1#1 B1#2"})
        table.leave(1)
        events = table.act(0, discard("Y5#2"))
        assert events[1:4] == [
            f"revealed(seat=1, zone=aside, cards=[{_shown(table, 'O8#1')}])",
            f"revealed(seat=2, zone=laid, cards=[{_shown(table, 'B1#1')}, {_shown(table, 'B1#2')}])",
            f"revealed(seat=3, zone=hand, cards=[{_shown(table, 'G2#1')}])",
        ]
        assert events[4].startswith("scored(raw={0:0, 2:1, 3:2}")


class TestEndOfTheMatch:
    @pytest.mark.parametrize(
        ("totals", "expected"),
        [
            (
                {0: 50, 1: 45},
                "round_over(reason=target, final=true, ranking=[[0, 1]], shares={0:1, 1:1}, scores={0:50, 1:50}",
            ),
            (
                {0: 48, 1: 45},
                "round_over(reason=target, final=true, ranking=[[0], [1]], shares={0:1}, scores={0:48, 1:50}",
            ),
            (
                {0: 48, 1: 44},
                "round_over(reason=round, final=false, ranking=[[0], [1]], shares={}, scores={0:48, 1:49}",
            ),
            (
                {0: 55, 1: 60},
                "round_over(reason=target, final=true, ranking=[[0], [1]], shares={0:1}, scores={0:55, 1:65}",
            ),
        ],
    )
    def test_fifty_points_end_it_for_the_lowest_total(self, totals: dict[int, int], expected: str) -> None:
        """Corner cases 12 and 13; J-16, J-29.  The taker scores 0, the other seat 5."""
        table = arranged({0: "", 1: "Y5#1"}, "O8#1", laid={0: "B0#1"}, totals=totals)
        last = table.act(0, reveal("B0#1"))[-1]
        assert last.startswith(expected)
        carry = "null" if "final=true" in last else "{round:2, totals:{0:48, 1:49}, face:0, lead:0}"
        assert last.endswith(f"carry={carry})")

    @pytest.mark.parametrize(
        ("number", "other", "reason"), [(29, 0, "round"), (30, 0, "cap"), (30, 45, "target"), (31, 0, "round")]
    )
    def test_round_thirty_is_the_last(self, number: int, other: int, reason: str) -> None:
        """J-24; reaching the target is the reason that counts."""
        table = arranged({0: "", 1: "Y5#1"}, "O8#1", laid={0: "B0#1"}, number=number, totals={1: other})
        last = table.act(0, reveal("B0#1"))[-1]
        assert f"reason={reason}, final={'false' if reason == 'round' else 'true'}" in last
        assert f"shares={'{}' if reason == 'round' else '{0:1}'}" in last

    def test_totals_of_a_seat_that_left_do_not_end_it(self) -> None:
        table = arranged({0: "", 1: "Y5#1", 2: "Y5#2"}, "O8#1", laid={0: "B0#1"}, totals={2: 70, 1: 1})
        table.leave(2)
        last = table.act(0, reveal("B0#1"))[-1]
        assert last == (
            "round_over(reason=round, final=false, ranking=[[0], [1]], shares={}, scores={0:0, 1:6}, "
            "carry={round:2, totals:{0:0, 1:6}, face:0, lead:0})"
        )
        assert [row["total"] for row in table.view()["seats"]] == [0, 6, 70]


class TestTurnCap:
    def test_the_round_is_scored_raw_without_taker(self) -> None:
        """J-24, J-6: the lead is the seat after the opener, in the round's direction."""
        for face, lead in ((0, 2), (10, 4)):
            table = arranged(
                {0: "Y5#1 O8#1 R11#1 R12#1", 2: "G2#1", 4: "O9#1"}, "Y6#1", turn=TURN_CAP, face=face, totals={0: 1}
            )
            events = table.act(0, discard("Y5#1"))
            assert names(events) == ["discarded", "laid", *["revealed"] * 3, "scored", "round_over"]
            assert events[-2] == (
                "scored(raw={0:20, 2:2, 4:9}, points={0:20, 2:2, 4:9}, totals={0:21, 2:2, 4:9}, "
                f"mojo=null, face={face})"
            )
            assert events[-1] == (
                "round_over(reason=round, final=false, ranking=[[2], [4], [0]], shares={}, "
                f"scores={{0:21, 2:2, 4:9}}, carry={{round:2, totals:{{0:21, 2:2, 4:9}}, face:{face}, lead:{lead}}})"
            )

    def test_turn_five_hundred_is_still_played(self) -> None:
        table = arranged({0: "Y5#1 O8#1 R11#1", 1: "G2#1"}, "Y6#1", turn=TURN_CAP - 1)
        assert table.act(0, discard("Y5#1"))[-1].startswith("turn_started(seat=1, turn=500,")

    def test_an_emptied_hand_in_the_last_turn_still_takes_the_mojo_card(self) -> None:
        table = arranged({0: "Y5#1", 1: "G2#1"}, "Y6#1", turn=TURN_CAP)
        assert "mojo=0" in table.act(0, discard("Y5#1"))[-2]

    def test_a_leave_in_the_last_turn_scores_the_round(self) -> None:
        table = arranged({0: "Y5#1", 1: "G2#1", 2: "G3#1"}, "Y6#1", turn=TURN_CAP)
        events = table.leave(0)
        assert names(events) == ["left", *["revealed"] * 3, "scored", "round_over"]
        assert events[-2] == "scored(raw={1:2, 2:3}, points={1:2, 2:3}, totals={1:2, 2:3}, mojo=null, face=0)"
        assert events[-1].endswith("lead:1})")

    def test_the_lead_skips_seats_that_left(self) -> None:
        table = arranged({0: "Y5#1 O8#1 R11#1 R12#1", 2: "G2#1", 4: "O9#1"}, "Y6#1", turn=TURN_CAP)
        table.leave(2)
        assert table.act(0, discard("Y5#1"))[-1].endswith("lead:4})")


class TestDirection:
    def test_face_ten_goes_counter_clockwise(self) -> None:
        """J-7."""
        table = arranged({0: "Y5#1 O8#1 R11#1 R12#1 B0#1", 2: "G2#1", 5: "O9#1"}, "Y6#1", face=10)
        assert table.act(0, discard("Y5#1"))[-1].startswith("turn_started(seat=5,")
        assert table.view()["board"]["direction"] == -1
        table = arranged({0: "Y5#1 O8#1 R11#1 R12#1 B0#1", 2: "G2#1", 5: "O9#1"}, "Y6#1", face=10, seat=5)
        assert table.leave(5)[-1].startswith("turn_started(seat=2,")

    def test_face_zero_goes_clockwise(self) -> None:
        table = arranged({0: "Y5#1 O8#1 R11#1 R12#1 B0#1", 2: "G2#1", 5: "O9#1"}, "Y6#1", seat=5)
        assert table.leave(5)[-1].startswith("turn_started(seat=0,")


class TestTwoPiles:
    def test_a_higher_card_is_paid_from_the_deck(self) -> None:
        table = arranged({0: "R12#1 R11#1 G2#1", 1: "O8#1"}, "Y5#1", "Y6#1", deck="B0#4 B1#4")
        assert names(table.act(0, discard("R12#1", 2, "deck"))) == ["discarded", "drew", "turn_started"]
        assert table.hand(0) == "R11#1 G2#1 B0#4"
        assert [faces(pile) for pile in table.view()["board"]["piles"]] == [["Y5#1"], ["Y6#1", "R12#1"]]

    @pytest.mark.parametrize(("pile", "other"), [(1, 2), (2, 1)])
    def test_a_higher_card_is_paid_with_the_top_of_the_other_pile(self, pile: int, other: int) -> None:
        """J-18."""
        table = arranged({0: "R12#1 R11#1 G2#1", 1: "O8#1"}, "Y5#1 G3#1", "Y6#1 G4#1", deck="B0#4")
        taken = "G4#1" if other == 2 else "G3#1"
        events = table.act(0, discard("R12#1", pile, "other"))
        assert events[1] == f"took(seat=0, card={_shown(table, taken)}, pile={other})"
        assert names(events) == ["discarded", "took", "turn_started"]
        assert table.hand(0) == f"R11#1 G2#1 {taken}"
        piles = [["Y5#1", "G3#1", "R12#1"], ["Y6#1"]] if other == 2 else [["Y5#1"], ["Y6#1", "G4#1", "R12#1"]]
        assert [faces(cards) for cards in table.view()["board"]["piles"]] == piles
        assert table.row(0, 1)["hand"][-1] == _place(table, taken)

    @pytest.mark.parametrize(("pile", "other"), [(1, 2), (2, 1)])
    def test_the_deck_opens_a_pile_that_was_emptied(self, pile: int, other: int) -> None:
        """Corner case 19."""
        table = arranged({0: "R12#1 R11#1 G2#1", 1: "O8#1"}, "Y5#1", "Y6#1", deck="B0#4 B1#4")
        events = table.act(0, discard("R12#1", pile, "other"))
        assert names(events) == ["discarded", "took", "pile_opened", "turn_started"]
        assert events[2] == f"pile_opened(pile={other}, card={_shown(table, 'B0#4')})"
        assert faces(table.view()["board"]["piles"][other - 1]) == ["B0#4"]
        assert table.view()["board"]["deck_count"] == 1

    def test_an_empty_deck_is_renewed_before_it_opens_the_pile(self) -> None:
        """Corner case 20."""
        table = arranged({0: "Y6#1 R11#1 O9#1", 1: "O8#1"}, "G2#1 Y5#1", "B1#1", deck="")
        events = table.act(0, discard("Y6#1", 1, "other"))
        assert names(events) == ["discarded", "took", "reshuffled", "pile_opened", "turn_started"]
        assert events[2] == "reshuffled(gen=1, count=2)"
        assert events[3] == "pile_opened(pile=2, card=@1.0=G2#1)"
        assert table.chance.asked == [("reshuffle/0", ("G2#1", "Y5#1"))]
        assert [faces(pile) for pile in table.view()["board"]["piles"]] == [["Y6#1"], ["G2#1"]]

    def test_an_equal_card_locks_its_pile(self) -> None:
        """Corner case 18; J-19."""
        table = arranged({0: "Y6#2 Y7#1 G2#1", 1: "O8#1"}, "Y5#1", "Y6#1")
        table.act(0, discard("Y6#2", 2))
        assert table.view()["board"]["locked"] == 2
        assert table.refused(0, discard("G2#1", 1)) == "wrong_pile"
        assert table.legal(0) == [
            discard("G2#1", 2),
            discard("Y7#1", 2, "deck"),
            discard("Y7#1", 2, "other"),
        ]
        table.act(0, discard("G2#1", 2))
        assert table.view()["board"]["locked"] is None

    def test_legal_lists_pile_one_then_two_and_deck_then_other(self) -> None:
        table = arranged({0: "Y7#1 Y5#2 G2#1", 1: "O8#1"}, "Y5#1", "Y6#1")
        assert table.legal(0) == [
            discard("G2#1", 1),
            discard("G2#1", 2),
            discard("Y5#2", 1),
            discard("Y5#2", 2),
            discard("Y7#1", 1, "deck"),
            discard("Y7#1", 1, "other"),
            discard("Y7#1", 2, "deck"),
            discard("Y7#1", 2, "other"),
        ]
        assert table.legal(1) == []

    def test_the_top_of_a_pile_decides_not_what_lies_below(self) -> None:
        table = arranged({0: "Y6#1 B0#1", 1: "O8#1"}, "G2#1 Y7#1", "Y7#2 G2#2")
        assert table.legal(0)[2:] == [
            discard("Y6#1", 1),
            discard("Y6#1", 2, "deck"),
            discard("Y6#1", 2, "other"),
        ]
        assert table.refused(0, discard("Y6#1", 1, "deck")) == "choice_not_allowed"
        assert table.refused(0, discard("Y6#1", 2)) == "choice_needed"

    def test_a_reshuffle_takes_pile_one_then_pile_two_without_their_tops(self) -> None:
        """J-1."""
        table = arranged({0: "R12#1 R11#1 G2#1", 1: "O8#1"}, "Y5#1 G3#1", "Y6#1 G4#1 B0#1", deck="")
        events = table.act(0, discard("R12#1", 1, "deck"))
        assert names(events) == ["discarded", "reshuffled", "drew", "turn_started"]
        assert table.chance.asked == [("reshuffle/0", ("Y5#1", "G3#1", "Y6#1", "G4#1"))]
        assert events[2] == "drew(seat=0, cards=[@1.0], cause=higher)"
        assert [faces(pile) for pile in table.view()["board"]["piles"]] == [["R12#1"], ["B0#1"]]


class TestReshuffle:
    def test_numbers_its_streams_and_keeps_places_of_other_cards(self) -> None:
        chance = Scripted(orders={"reshuffle/0": ("G3#1",), "reshuffle/1": ("O8#1", "B1#1")})
        table = arranged(
            {0: "R11#1 R12#1 R11#2 B0#1 B0#2", 1: "O8#1 O9#1 O10#1 B1#1"}, "Y5#1 G3#1", deck="", chance=chance
        )
        top = _place(table, "R11#1")
        assert table.act(0, discard("R11#1"))[1:3] == [
            "reshuffled(gen=1, count=2)",
            "drew(seat=0, cards=[@1.0], cause=higher)",
        ]
        (generation,) = table.generations
        assert (generation.gen, generation.stream) == (1, "reshuffle/0")
        assert (generation.source, generation.order) == (("Y5#1", "G3#1"), ("G3#1", "Y5#1"))
        assert _place(table, "R11#1") == top
        assert table.hand(0) == "R12#1 R11#2 B0#1 B0#2 G3#1"
        table.act(1, discard("B1#1"))
        assert table.act(0, discard("R12#1"))[1] == "drew(seat=0, cards=[@1.1], cause=higher)"
        assert table.view()["board"]["deck_count"] == 0
        table.act(1, discard("O8#1"))
        assert table.act(0, discard("R11#2"))[1:3] == [
            "reshuffled(gen=2, count=4)",
            "drew(seat=0, cards=[@2.0], cause=higher)",
        ]
        assert chance.asked[1] == ("reshuffle/1", ("R11#1", "B1#1", "R12#1", "O8#1"))
        assert table.hand(0) == "B0#1 B0#2 G3#1 Y5#1 O8#1"
        assert _place(table, "B1#1") == {"gen": 2, "pos": 1}

    def test_does_not_happen_before_a_card_is_owed(self) -> None:
        table = arranged({0: "G2#1 R11#1 O9#1", 1: "O8#1"}, "G3#1 Y5#1", deck="")
        assert names(table.act(0, discard("G2#1"))) == ["discarded", "laid", "turn_started"]
        assert table.chance.asked == []


class TestClock:
    def test_discards_the_lowest_card(self) -> None:
        """J-20."""
        table = arranged({0: "R12#1 G3#1 G2#2 Y5#1", 1: "O8#1"}, "G4#1")
        assert table.wake(15_000) == [
            "timed_out(seat=0, counts=true)",
            f"discarded(seat=0, card={_shown(table, 'G2#2')}, pile=1, result=lower)",
            "turn_started(seat=1, turn=2, deadline=30000)",
        ]

    def test_goes_on_while_equal_without_fresh_clocks(self) -> None:
        """Corner case 22."""
        table = arranged({0: "B0#2 B0#3 G2#1 Y6#1", 1: "O8#1"}, "B0#1", deck="R12#1")
        events = table.wake(15_400)
        assert names(events) == ["timed_out", *["discarded"] * 3, "drew", "laid", "turn_started"]
        assert [event.rpartition("=")[2] for event in events[1:4]] == ["equal)", "equal)", "higher)"]
        assert events[-1] == "turn_started(seat=1, turn=2, deadline=30400)"

    def test_ends_the_round_when_the_last_card_is_equal(self) -> None:
        table = arranged({0: "B0#2 B0#3", 1: "O8#1"}, "B0#1")
        events = table.wake(15_000)
        assert names(events) == ["timed_out", "discarded", "discarded", "revealed", "scored", "round_over"]

    def test_turns_up_the_first_hidden_card_in_laid_order(self) -> None:
        """Corner case 9; J-9."""
        table = arranged({0: "", 1: "O8#1"}, "B0#1", laid={0: "Y6#1 B1#1"})
        assert table.wake(15_000)[1] == f"turned_up(seat=0, card={_shown(table, 'Y6#1')}, hidden=1)"
        table = arranged({0: "", 1: "O8#1"}, "B0#1", laid={0: "Y6#1+ R11#1 B1#1"})
        assert table.wake(15_000)[1] == f"turned_up(seat=0, card={_shown(table, 'R11#1')}, hidden=1)"

    @pytest.mark.parametrize(("locked", "pile"), [(None, 1), (1, 1), (2, 2)])
    def test_uses_the_locked_pile_or_else_pile_one_and_the_deck(self, locked: int | None, pile: int) -> None:
        table = arranged({0: "O9#1 R12#1 R11#1", 1: "O8#1"}, "Y5#1", "Y6#1", locked=locked, deck="B0#4 B1#4")
        events = table.wake(15_000)
        assert events[1] == f"discarded(seat=0, card={_shown(table, 'O9#1')}, pile={pile}, result=higher)"
        assert names(events) == ["timed_out", "discarded", "drew", "turn_started"]

    def test_stays_on_the_pile_that_its_equal_card_locked(self) -> None:
        table = arranged({0: "G2#2 G3#1 R12#1 R11#1", 1: "O8#1"}, "G2#1", "Y6#1")
        assert [event.split("pile=")[1] for event in table.wake(15_000)[1:3]] == [
            "1, result=equal)",
            "1, result=higher)",
        ]

    def test_counts_only_a_connected_seat_that_did_nothing(self) -> None:
        table = arranged({0: "Y5#2 G2#1 G3#1", 1: "O8#1"}, "Y5#1")
        table.act(0, discard("Y5#2"), 100)
        assert table.wake(15_100)[0] == "timed_out(seat=0, counts=false)"
        table = arranged({0: "Y5#2 G2#1 G3#1", 1: "O8#1"}, "Y5#1")
        table.connection(0, False, 1)
        assert table.wake(5_001)[0] == "timed_out(seat=0, counts=false)"

    def test_is_short_for_a_seat_without_connection(self) -> None:
        table = arranged({0: "G2#1 G3#1 Y6#1", 1: "O8#1"}, "Y5#1")
        assert table.connection(1, False, 1) == ["connection_changed(seat=1, connected=false)"]
        assert table.act(0, discard("G2#1"), 10)[-1] == "turn_started(seat=1, turn=2, deadline=5010)"

    def test_does_nothing_before_the_deadline(self) -> None:
        table = arranged({0: "G2#1 G3#1 Y6#1", 1: "O8#1"}, "Y5#1")
        assert table.wake(14_999) == []
        assert table.game.wake_at(table.state) == 15_000


class TestLeave:
    def test_out_of_turn_with_laid_cards(self) -> None:
        """Corner case 23; J-21."""
        table = arranged({0: "G2#1", 1: "", 2: "O8#1"}, "Y5#1", laid={1: "B1#1+ B0#1"})
        assert table.leave(1, "timeouts") == ["left(seat=1, reason=timeouts)"]
        row = table.row(1, 1)
        assert (row["hand"], row["laid"], row["status"]) == ([], None, "left")
        assert row["aside"] == [_place(table, "B1#1"), _place(table, "B0#1")]

    def test_in_turn_passes_it_on(self) -> None:
        table = arranged({0: "G2#1", 1: "Y7#1", 2: "O8#1"}, "Y5#1")
        assert table.leave(0, now=50) == ["left(seat=0, reason=left)", "turn_started(seat=1, turn=2, deadline=15050)"]
        assert table.row(0)["aside"] == [_place(table, "G2#1")]

    def test_unlocks_the_pile(self) -> None:
        table = arranged({0: "G2#1", 1: "Y7#1", 2: "O8#1"}, "Y5#1", "Y6#1", locked=2)
        table.leave(0)
        assert table.view()["board"]["locked"] is None

    def test_of_the_last_but_one_ends_the_match(self) -> None:
        """Corner case 24; J-30: the totals stay those before the round."""
        table = arranged({0: "G2#1", 1: "O8#1"}, "Y5#1", totals={0: 3, 1: 49})
        table.connection(1, False)
        assert table.leave(0, "connection") == [
            "left(seat=0, reason=connection)",
            f"revealed(seat=0, zone=aside, cards=[{_shown(table, 'G2#1')}])",
            f"revealed(seat=1, zone=hand, cards=[{_shown(table, 'O8#1')}])",
            "round_over(reason=last_seat, final=true, ranking=[[1]], shares={1:1}, scores={1:49}, carry=null)",
        ]
        assert table.game.actors(table.state) == frozenset()
        assert table.game.wake_at(table.state) is None
        assert table.wake(10**9) == []


class TestCarry:
    def test_goes_on_with_round_totals_face_and_lead(self) -> None:
        carry = {"round": 3, "totals": {"0": 12, "2": 30, "3": 5}, "face": 10, "lead": 2}
        table = _carried((0, 2, 3), carry)
        assert (table.state.number, table.state.totals, table.state.face) == (3, {0: 12, 2: 30, 3: 5}, 10)
        assert written(table.events)[0] == (
            "round_started(game=mojo, rules=mojo/1, seats=[0, 2, 3], opener=2, options={piles:1}, "
            "carry={round:3, totals:{0:12, 2:30, 3:5}, face:10, lead:2})"
        )
        assert [event["seat"] for event in table.events if event["type"] == "dealt"] == [2, 3, 0]
        assert written(table.events)[-1] == "turn_started(seat=2, turn=1, deadline=15000)"
        assert table.view()["opener"] == 2
        assert table.view()["board"]["round"] == 3

    @pytest.mark.parametrize(
        ("lead", "face", "opener"), [(2, 10, 0), (2, 0, 5), (7, 0, 0), (7, 10, 5), (0, 10, 0), (5, 0, 5)]
    )
    def test_the_nearest_seat_opens_for_a_lead_that_is_gone(self, lead: int, face: int, opener: int) -> None:
        """Corner cases 14 and 15; J-6."""
        carry = {"round": 2, "totals": {"0": 1, "2": 2, "5": 3, "7": 4}, "face": face, "lead": lead}
        table = _carried((0, 5), carry)
        assert table.view()["opener"] == opener
        assert table.view()["board"]["direction"] == (1 if face == 0 else -1)
        assert table.view()["board"]["threshold"] == 2
        assert table.state.totals == {0: 1, 5: 3}


class TestStart:
    def test_deals_eight_each_and_opens_both_piles(self) -> None:
        """J-25."""
        table = _carried((0, 1, 4), None, piles=2, opener=4)
        assert [event for event in written(table.events) if event.startswith(("pile", "turn"))] == [
            "pile_opened(pile=1, card=@0.24=Y5#2)",
            "pile_opened(pile=2, card=@0.25=Y5#3)",
            "turn_started(seat=4, turn=1, deadline=15000)",
        ]
        assert written(table.events)[1] == (
            "dealt(seat=4, zone=hand, cards=[@0.0, @0.3, @0.6, @0.9, @0.12, @0.15, @0.18, @0.21])"
        )
        assert table.view()["board"]["deck_count"] == 78 - 26
        assert table.state.threshold == 3


def _carried(seats: tuple[int, ...], carry: object, piles: int = 1, opener: int | None = None) -> Table:
    return Table.start(GAME, seats=seats, carry=carry, options={"piles": piles}, opener=opener)


def _place(table: Table, code: str) -> dict[str, int]:
    place: dict[str, int] = table.state.hidden(zone(code)[0])
    return place


def _shown(table: Table, code: str) -> str:
    place = _place(table, code)
    return f"@{place['gen']}.{place['pos']}={code}"


def _hidden(table: Table, codes: str) -> str:
    places = [_place(table, code) for code in codes.split()]
    return "[" + ", ".join(f"@{place['gen']}.{place['pos']}" for place in places) + "]"
