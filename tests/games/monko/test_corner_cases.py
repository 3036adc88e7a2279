"""Monko: every row of the corner-case table of the rule page, by its number."""

from __future__ import annotations

import pytest

from tests.games.monko.positions import (
    DRAW,
    PASS,
    TAKE,
    aside,
    call,
    catch,
    hand,
    play,
    position,
    window,
)
from tests.games.table import FixedChance, Table, brief, deck_of


def opened(start_card: str, seats: tuple[int, ...], opener: int = 0, numbers: dict[str, int] | None = None) -> Table:
    """Start a round in which this card is flipped."""
    before = 7 * len(seats)
    rest = [card for card in deck_of("monko") if not card.startswith(("W4", start_card))]
    cards = " ".join(rest[:before])
    return Table.start("monko", deck_of("monko", f"{cards} {start_card}"), seats, opener, chance=FixedChance(numbers))


def types(events: list[str]) -> list[str]:
    return [event.split()[0] for event in events]


class TestStart:
    def test_1_a_skip_passes_the_opener_over(self) -> None:
        events = opened("RS#1", (0, 1, 2)).events[-3:]
        assert brief(events) == ["start_flipped RS#1 R 1 0", "skipped 0", "turn_started 1 1 14000"]
        assert events[1] == {"type": "skipped", "seat": 0}

    def test_2_a_reverse_with_three_seats_turns_the_direction(self) -> None:
        table = opened("RR#1", (0, 1, 2))
        assert brief(table.events)[-2:] == ["start_flipped RR#1 R -1 0", "turn_started 0 1 14000"]
        table.act(0, DRAW, 1)
        assert brief(table.act(0, PASS, 2)) == ["passed 0 chosen", "turn_started 2 2 10002"]

    def test_3_a_reverse_with_two_seats_is_a_skip(self) -> None:
        events = brief(opened("RR#1", (0, 1)).events)[-3:]
        assert events == ["start_flipped RR#1 R 1 0", "skipped 0", "turn_started 1 1 14000"]

    def test_4_a_draw_two_waits_for_the_opener(self) -> None:
        table = opened("BD#1", (0, 1))
        assert brief(table.events)[-2:] == ["start_flipped BD#1 B 1 2", "turn_started 0 1 14000"]
        assert table.refused(0, DRAW, 1) == "stack_waiting"
        assert table.legal(0, 1)[-1] == TAKE

    def test_5_the_eleventh_w4_stays(self) -> None:
        numbers = {f"start-return/{number}": 0 for number in range(10)} | {"start-colour": 2}
        table = opened("W4#1", (0, 1), numbers=numbers)
        events = brief(table.events)
        assert events[3:13] == [f"start_returned W4#1 {gen}" for gen in range(1, 11)]
        assert events[13:] == ["start_flipped W4#1 G 1 4", "turn_started 0 1 14000"]
        assert table.state.plus4
        assert [event["card"]["gen"] for event in table.events[3:14]] == list(range(11))
        assert table.step is not None
        assert [generation.stream for generation in table.step.generations] == list(numbers)[:10]
        assert table.chance.asked == [(f"start-return/{number}", 94) for number in range(10)] + [("start-colour", 4)]


class TestPlaying:
    def test_6_neither_colour_nor_symbol(self) -> None:
        assert position({0: "B7 B8", 1: "R1"}).refused(0, play("B7"), 1) == "no_match"

    def test_7_a_wild_card_needs_a_colour_which_may_be_the_present_one(self) -> None:
        table = position({0: "W B8 B9", 1: "R1"})
        assert table.refused(0, play("W"), 1) == "colour_needed"
        assert brief(table.act(0, play("W", "R"), 1))[0] == "played 0 W#1 R 1 0"

    def test_8_a_coloured_card_takes_no_colour(self) -> None:
        assert position({0: "R5 B8", 1: "R1"}).refused(0, play("R5", "R"), 1) == "colour_not_allowed"

    def test_9_only_the_drawn_card_after_a_draw(self) -> None:
        table = position({0: "R5 B3", 1: "R1"}, drawn="B3", acted=True)
        assert table.refused(0, play("R5"), 1) == "only_drawn_card"
        assert table.refused(0, DRAW, 1) == "already_drew"

    def test_10_the_clock_after_an_own_draw_only_passes(self) -> None:
        table = position({0: "R5 B3", 1: "R1"}, drawn="B3", acted=True)
        assert brief(table.wake(10_000)) == ["timed_out 0 false", "passed 0 clock", "turn_started 1 6 20000"]
        assert hand(table, 0) == "R5 B3"

    def test_11_the_clock_draws_one_and_passes(self) -> None:
        table = position({0: "B5", 1: "R1"}, deck="R2 R3")
        expected = ["timed_out 0 true", "drew 0 [?] clock", "passed 0 clock", "turn_started 1 6 20000"]
        assert brief(table.wake(10_000)) == expected
        assert hand(table, 0) == "B5 R2"


class TestStack:
    def test_12_raising_a_stack_without_w4(self) -> None:
        table = position({0: "RD W4 RS W", 1: "R1"}, pile="BD", stack=2)
        assert table.refused(0, play("RS"), 1) == "stack_waiting"
        assert table.refused(0, play("W", "R"), 1) == "stack_waiting"
        before = table.state
        assert brief(table.act(0, play("RD"), 1))[0] == "played 0 RD#1 R 1 4"
        assert not table.state.plus4
        table.state = before
        assert brief(table.act(0, play("W4", "G"), 1))[0] == "played 0 W4#1 G 1 6"
        assert table.state.plus4

    def test_13_only_a_w4_on_a_w4(self) -> None:
        table = position({0: "RD B1", 1: "R1"}, pile="W4", stack=4, plus4=True)
        assert table.refused(0, play("RD"), 1) == "stack_waiting"

    def test_14_the_claim_wins_when_another_takes(self) -> None:
        table = position({0: "RD", 1: "B1", 2: "B2"})
        events = brief(table.act(0, play("RD"), 1))
        assert events == ["played 0 RD#1 R 1 2", "claimed 0", "turn_started 1 6 10001"]
        assert brief(table.act(1, TAKE, 2)) == [
            "stack_taken 1 2",
            "drew 1 [? ?] stack",
            "revealed 1 hand [B1#1 G1#1 G2#1]",
            "revealed 2 hand [B2#1]",
            "round_over true stack [[0] [2] [1]] {0:1} {0:0 1:4 2:2} null",
        ]

    def test_15_two_seats_the_claim_gets_the_raised_stack_back(self) -> None:
        table = position({0: "", 1: "RD R1 R2"}, pile="BD", stack=2, pending=(0,), seat=1)
        assert brief(table.act(1, play("RD"), 1)) == [
            "played 1 RD#1 R 1 4",
            "stack_taken 0 4",
            "drew 0 [? ? ? ?] stack",
            "turn_started 1 6 10001",
        ]
        assert table.state.pending == ()

    def test_16_the_first_claim_wins(self) -> None:
        table = position({0: "", 1: "", 2: "R5"}, pile="BD", stack=4, pending=(0, 1), seat=2)
        assert brief(table.act(2, TAKE, 1))[-1] == ("round_over true stack [[0] [1] [2]] {0:1} {0:0 1:0 2:15} null")

    def test_17_the_first_claim_takes_and_the_second_wins(self) -> None:
        table = position({0: "", 1: "", 2: "RD R1 R5"}, pile="BD", stack=4, pending=(0, 1), seat=2)
        events = brief(table.act(2, play("RD"), 1))
        assert types(events) == ["played", "stack_taken", "drew", "revealed", "revealed", "round_over"]
        assert events[1] == "stack_taken 0 6"
        assert events[-1] == "round_over true stack [[1] [2] [0]] {1:1} {0:21 1:0 2:6} null"

    def test_18_a_claim_that_leaves_is_lost(self) -> None:
        table = position({0: "", 1: "R1", 2: "R2"}, pile="BD", stack=2, pending=(0,), seat=1)
        assert brief(table.leave(0, 1)) == ["left 0 left"]
        assert brief(table.act(1, TAKE, 2)) == ["stack_taken 1 2", "drew 1 [? ?] stack", "turn_started 2 6 10002"]

    def test_19_who_leaves_before_a_stack_takes_it_along(self) -> None:
        table = position({0: "R1", 1: "R2", 2: "R3"}, pile="BD", stack=2, seat=1)
        assert brief(table.leave(1, 1)) == [
            "left 1 left",
            "stack_taken 1 2",
            "drew 1 [? ?] stack",
            "turn_started 2 6 10001",
        ]
        assert (hand(table, 1), aside(table, 1)) == ("", "R2 G1 G2")

    def test_20_the_last_seat_wins_before_a_stack_is_taken(self) -> None:
        table = position({0: "R1", 1: "R2"}, pile="BD", stack=2, seat=1)
        assert brief(table.leave(1, 1)) == [
            "left 1 left",
            "revealed 0 hand [R1#1]",
            "revealed 1 aside [R2#1]",
            "round_over true last_seat [[0]] {0:1} {0:1} null",
        ]

    def test_21_a_reverse_is_a_skip_once_two_are_active(self) -> None:
        table = position({0: "RR R1 R2", 1: "R2", 2: "R3"}, left=(2,))
        assert brief(table.act(0, play("RR"), 1)) == ["played 0 RR#1 R 1 0", "skipped 1", "turn_started 0 6 10001"]


class TestCall:
    def test_22_a_catch_before_the_window_is_exposed(self) -> None:
        table = position({0: "R1", 1: "R2"}, windows=[window(0, opened=1_000)])
        assert table.refused(1, catch(), 3_999) == "not_exposed"
        assert table.refused(1, catch(), 4_000) == "clock_due"
        table.wake(4_000)
        assert types(brief(table.act(1, catch(), 4_000))) == ["window_closed", "drew"]

    def test_23_the_owner_may_call_at_once(self) -> None:
        table = position({0: "R1 R2", 1: "R2#2"})
        assert brief(table.act(0, play("R2"), 1_000))[1] == "window_opened 0 1 4000 7000"
        assert brief(table.act(0, call(), 1_000)) == ["window_closed 0 1 called null"]

    def test_24_a_draw_closes_the_own_window(self) -> None:
        table = position({0: "B1", 1: "R2"}, windows=[window(0, exposed=True)])
        assert brief(table.act(0, DRAW, 4_500)) == ["drew 0 [?] turn", "window_closed 0 1 grew null"]

    def test_25_the_last_card_closes_the_own_window_and_wins(self) -> None:
        table = position({0: "R1", 1: "R2"}, windows=[window(0)])
        assert brief(table.act(0, play("R1"), 2_000)) == [
            "played 0 R1#1 R 1 0",
            "window_closed 0 1 played null",
            "revealed 1 hand [R2#1]",
            "round_over true out [[0] [1]] {0:1} {0:0 1:2} null",
        ]


class TestNothingLeft:
    def test_26_a_stack_over_the_end_of_the_deck(self) -> None:
        table = position({0: "R1", 1: "R2"}, deck="G1", pile="Y1 Y2 BD", stack=2)
        events = table.act(0, TAKE, 1)
        expected = [
            "stack_taken 0 2",
            "drew 0 [?] stack",
            "reshuffled 1 2",
            "drew 0 [?] stack",
            "turn_started 1 6 10001",
        ]
        assert brief(events) == expected
        assert table.chance.asked == [("reshuffle/0", ("Y1#1", "Y2#1"))]
        assert events[3]["cards"] == [{"gen": 1, "pos": 0}]
        assert (hand(table, 0), table.state.reshuffles) == ("R1 G1 Y2", 1)

    @pytest.mark.parametrize(("action", "cause"), [(PASS, "chosen"), (DRAW, "nothing_left")])
    def test_27_draw_and_pass_end_the_turn_without_a_card(self, action: dict[str, str], cause: str) -> None:
        table = position({0: "B1", 1: "R2"}, deck="")
        assert brief(table.act(0, action, 1)) == [f"passed 0 {cause}", "turn_started 1 6 10001"]
        assert table.state.dry == 1

    def test_28_all_pass_although_one_could_play(self) -> None:
        table = position({0: "B1", 1: "R2"}, deck="")
        table.act(0, PASS, 1)
        assert brief(table.act(1, PASS, 2)) == [
            "passed 1 chosen",
            "revealed 0 hand [B1#1]",
            "revealed 1 hand [R2#1]",
            "round_over true blocked [[0] [1]] {0:1} {0:1 1:2} null",
        ]

    def test_29_nobody_can_play_after_the_last_card_was_drawn(self) -> None:
        table = position({0: "B1", 1: "B3", 2: "G2 B2"}, deck="G1")
        table.act(0, DRAW, 1)
        events = brief(table.act(0, PASS, 2))
        assert types(events) == ["passed", "revealed", "revealed", "revealed", "round_over"]
        assert events[-1] == "round_over true blocked [[0] [1] [2]] {0:1} {0:2 1:3 2:4} null"

    def test_29_equal_points_share(self) -> None:
        table = position({0: "B1", 1: "B2", 2: "G3"}, deck="G1")
        table.act(0, DRAW, 1)
        events = brief(table.act(0, PASS, 2))
        assert events[-1] == "round_over true blocked [[0 1] [2]] {0:1 1:1} {0:2 1:2 2:3} null"

    def test_30_a_pile_of_two_gives_one_card(self) -> None:
        table = position({0: "B1", 1: "B3"}, deck="", pile="G5 R9")
        assert brief(table.act(0, DRAW, 1)) == ["reshuffled 1 1", "drew 0 [?] turn"]
        assert hand(table, 0) == "B1 G5"
