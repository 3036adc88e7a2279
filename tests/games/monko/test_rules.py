"""Monko: the numbered rules that the corner cases leave open, the clocks, the windows, and what a seat may do."""

from __future__ import annotations

import pytest

from apps.games.contract import Seat, Spec
from apps.games.monko import GAME
from apps.games.monko.cards import CODES, MATCHES, POINTS
from tests.games.monko.positions import DRAW, PASS, TAKE, aside, call, catch, hand, play, position, window
from tests.games.table import FixedChance, Table, brief, deck_of


class TestSpec:
    def test_the_constants_are_those_of_the_page(self) -> None:
        assert GAME.spec == Spec(
            slug="monko",
            title="Monko",
            rules="monko/1",
            seats_min=2,
            seats_max=4,
            options=(),
            clocks={
                "turn_ms": 10_000,
                "first_turn_ms": 14_000,
                "call_ms": 3_000,
                "exposed_ms": 3_000,
                "turn_cap": 1_000,
                "start_returns_max": 10,
            },
            streams=("start-return/n", "start-colour", "reshuffle/n"),
            unsequenced=frozenset({"call", "catch"}),
            refusals=frozenset(),
            match_game=False,
        )


class TestDeck:
    def test_the_canonical_order_is_the_one_of_the_page(self) -> None:
        deck = GAME.deck({}, 2)
        assert len(deck) == 108
        places = {
            0: "R0#1",
            1: "R1#1",
            2: "R1#2",
            19: "RS#1",
            21: "RR#1",
            24: "RD#2",
            25: "Y0#1",
            50: "G0#1",
            75: "B0#1",
        }
        assert {index: deck[index] for index in places} == places
        assert deck[99:] == ("BD#2", "W#1", "W#2", "W#3", "W#4", "W4#1", "W4#2", "W4#3", "W4#4")
        assert GAME.deck({}, 4) == deck

    def test_points(self) -> None:
        worth = {code.split("#")[0]: POINTS[index] for index, code in enumerate(CODES)}
        assert {face: worth[face] for face in ("R0", "Y7", "B9", "GS", "RR", "YD", "W", "W4")} == {
            "R0": 0,
            "Y7": 7,
            "B9": 9,
            "GS": 20,
            "RR": 20,
            "YD": 20,
            "W": 50,
            "W4": 50,
        }

    def test_a_wild_card_on_top_matches_by_colour_only(self) -> None:
        faces = {CODES[card].split("#")[0] for card in MATCHES["G", ""]}
        assert faces == {"W", "W4", *(f"G{symbol}" for symbol in "0123456789SRD")}

    def test_a_symbol_matches_in_any_colour(self) -> None:
        faces = {CODES[card].split("#")[0] for card in MATCHES["G", "7"]}
        assert {"R7", "Y7", "B7"} < faces
        assert "R8" not in faces


class TestStart:
    def test_cards_are_dealt_round_from_the_opener(self) -> None:
        table = Table.start("monko", deck_of("monko"), (0, 3, 5), 3)
        assert table.events[0] == {
            "type": "round_started",
            "game": "monko",
            "rules": "monko/1",
            "seats": [0, 3, 5],
            "opener": 3,
            "options": {},
            "carry": None,
        }
        assert [(event["seat"], event["zone"]) for event in table.events[1:4]] == [
            (3, "hand"),
            (5, "hand"),
            (0, "hand"),
        ]
        assert [card["pos"] for card in table.events[2]["cards"]] == [1, 4, 7, 10, 13, 16, 19]
        assert len(table.state.deck) == 108 - 22
        assert table.events[-1] == {"type": "turn_started", "seat": 3, "turn": 1, "deadline": 14_000}
        state = table.state
        assert (state.dry, state.windows_opened, state.reshuffles, state.gen) == (0, 0, 0, 0)
        assert (state.pending, state.windows, state.drawn, state.offline) == ((), (), None, frozenset())

    def test_only_the_first_turn_is_long(self) -> None:
        table = Table.start("monko", deck_of("monko"), (0, 1))
        table.act(0, DRAW, 1_000)
        assert brief(table.act(0, PASS, 2_000))[-1] == "turn_started 1 2 12000"

    def test_a_wild_start_card_draws_its_colour_and_nothing_else(self) -> None:
        rest = [card for card in deck_of("monko") if not card.startswith("W")]
        deck = deck_of("monko", " ".join(rest[:14]) + " W#1")
        table = Table.start("monko", deck, chance=FixedChance({"start-colour": 3}))
        assert brief(table.events)[-2:] == ["start_flipped W#1 B 1 0", "turn_started 0 1 14000"]
        assert table.chance.asked == [("start-colour", 4)]

    def test_a_returned_card_lies_where_the_stream_says(self) -> None:
        rest = [card for card in deck_of("monko") if not card.startswith("W4")]
        deck = deck_of("monko", " ".join(rest[:14]) + " W4#1")
        table = Table.start("monko", deck, chance=FixedChance({"start-return/0": 93}))
        assert table.state.deck[-1] == CODES.index("W4#1")
        assert table.step is not None
        (generation,) = table.step.generations
        assert (generation.gen, generation.stream) == (1, "start-return/0")
        assert generation.source == (*deck[15:], "W4#1")
        assert generation.order == (*deck[15:], "W4#1")
        assert table.state.places[CODES.index("W4#1")] == (1, 93)
        assert table.state.gen == 1


class TestPlay:
    @pytest.mark.parametrize(
        ("card", "told"),
        [
            ("R7", ["played 0 R7#1 R 1 0", "turn_started 1 6 10001"]),
            ("RS", ["played 0 RS#1 R 1 0", "skipped 1", "turn_started 2 6 10001"]),
            ("RR", ["played 0 RR#1 R -1 0", "turn_started 2 6 10001"]),
            ("RD", ["played 0 RD#1 R 1 2", "turn_started 1 6 10001"]),
        ],
    )
    def test_what_a_card_does_with_three_seats(self, card: str, told: list[str]) -> None:
        table = position({0: f"{card} B1 B2", 1: "R1", 2: "R2"}, dry=1)
        assert brief(table.act(0, play(card), 1)) == told
        assert table.state.dry == 0
        assert hand(table, 0) == "B1 B2"

    def test_skips_go_against_the_clock_when_the_direction_does(self) -> None:
        table = position({0: "RS B1 B2", 1: "R1", 2: "R2", 3: "R3"}, direction=-1)
        assert brief(table.act(0, play("RS"), 1))[1:] == ["skipped 3", "turn_started 2 6 10001"]

    def test_a_reverse_turns_back_again(self) -> None:
        table = position({0: "RR B1 B2", 1: "R1", 2: "R2"}, direction=-1)
        assert brief(table.act(0, play("RR"), 1)) == ["played 0 RR#1 R 1 0", "turn_started 1 6 10001"]

    def test_a_skip_with_two_seats_gives_a_new_turn(self) -> None:
        table = position({0: "RS B1 B2", 1: "R1"}, acted=False)
        assert brief(table.act(0, play("RS"), 1))[1:] == ["skipped 1", "turn_started 0 6 10001"]
        assert table.state.acted is False
        assert brief(table.wake(10_001))[0] == "timed_out 0 true"

    def test_a_claim_with_a_w4_needs_its_colour_and_opens_no_window(self) -> None:
        table = position({0: "W4", 1: "R1", 2: "R2"})
        assert table.refused(0, play("W4"), 1) == "colour_needed"
        events = ["played 0 W4#1 Y 1 4", "claimed 0", "turn_started 1 6 10001"]
        assert brief(table.act(0, play("W4", "Y"), 1)) == events
        assert table.state.pending == (0,)

    def test_a_claim_closes_the_open_window(self) -> None:
        table = position({0: "RD", 1: "R1", 2: "R2"}, windows=[window(0), window(2, number=2)])
        assert brief(table.act(0, play("RD"), 1))[1:3] == ["window_closed 0 1 played null", "claimed 0"]
        assert [each.number for each in table.state.windows] == [2]

    def test_the_drawn_card_may_be_played(self) -> None:
        table = position({0: "B1 B2", 1: "R1"}, deck="W")
        table.act(0, DRAW, 1)
        assert table.state.deadline == 10_000
        expected = [*[play("W", colour) for colour in "RYGB"], PASS]
        assert list(table.legal(0, 2)) == expected
        assert brief(table.act(0, play("W", "B"), 2))[0] == "played 0 W#1 B 1 0"
        assert table.state.drawn is None

    def test_a_wild_card_on_the_pile_keeps_the_chosen_colour_through_a_reshuffle(self) -> None:
        table = position({0: "B1 B2", 1: "R1"}, deck="", pile="R3 W#2 W", colour="G")
        assert brief(table.act(0, DRAW, 1)) == ["reshuffled 1 2", "drew 0 [?] turn"]
        assert (table.state.colour, len(table.state.pile)) == ("G", 1)
        assert table.chance.asked == [("reshuffle/0", ("R3#1", "W#2"))]

    def test_the_second_reshuffle_uses_the_next_stream(self) -> None:
        table = position({0: "B1", 1: "R2 R3 R4"}, deck="", pile="Y1 Y2 RD", stack=2)
        table.act(0, TAKE, 1)
        table.act(1, play("R2"), 2)
        table.act(0, DRAW, 3)
        assert [stream for stream, _ in table.chance.asked] == ["reshuffle/0", "reshuffle/1"]
        assert table.state.gen == 2


class TestEvents:
    def test_those_that_the_worked_example_leaves_out(self) -> None:
        table = position({0: "RD", 1: "R1", 2: "R2"}, windows=[window(1)])
        assert table.act(0, play("RD"), 1)[1] == {"type": "claimed", "seat": 0}
        table = position({0: "B1", 1: "R1"}, drawn="B1")
        assert table.act(0, PASS, 1)[0] == {"type": "passed", "seat": 0, "cause": "chosen"}
        table = position({0: "R1", 1: "R2", 2: "R3"}, pile="RD", stack=2, seat=1)
        assert table.leave(1, 1)[1] == {"type": "stack_taken", "seat": 1, "size": 2}
        table = position({0: "B1", 1: "R1"}, windows=[window(0, exposed=True)])
        closed = {"type": "window_closed", "seat": 0, "window": 1, "cause": "survived", "by": None}
        assert table.wake(7_000) == [closed]


class TestTake:
    def test_the_next_seat_plays_on_the_card_that_lies(self) -> None:
        table = position({0: "B1", 1: "RD B2 B3"}, pile="RD#2", stack=2, dry=1)
        table.act(0, TAKE, 1)
        assert (table.state.stack, table.state.dry) == (0, 0)
        assert brief(table.act(1, play("RD"), 2))[0] == "played 1 RD#1 R 1 2"

    def test_taking_clears_the_w4(self) -> None:
        table = position({0: "B1", 1: "RD"}, pile="W4", stack=4, plus4=True)
        table.act(0, TAKE, 1)
        assert (table.state.stack, table.state.plus4) == (0, False)

    def test_a_stack_that_nothing_covers_is_settled(self) -> None:
        table = position({0: "B1", 1: "R2"}, deck="", pile="RD", stack=2)
        assert brief(table.act(0, TAKE, 1)) == ["stack_taken 0 2", "turn_started 1 6 10001"]
        assert table.state.stack == 0

    def test_a_claim_that_could_draw_nothing_still_wins(self) -> None:
        table = position({0: "", 1: "RD R1 R2"}, deck="", pile="BD", stack=2, pending=(0,), seat=1)
        events = brief(table.act(1, play("RD"), 1))
        assert events[1] == "stack_taken 0 4"
        assert events[2:] == [
            "reshuffled 1 1",
            "drew 0 [?] stack",
            "turn_started 1 6 10001",
        ]

    def test_a_claim_with_an_empty_deck_and_a_bare_pile_wins(self) -> None:
        table = position({0: "", 1: "R1", 2: "R2"}, deck="", pile="RD", stack=2, pending=(0,), seat=2)
        events = brief(table.leave(2, 1))
        assert events[:2] == ["left 2 left", "stack_taken 2 2"]
        assert events[-1] == "round_over true stack [[0] [1]] {0:1} {0:0 1:1} null"

    def test_a_stack_that_comes_to_an_empty_hand_with_nothing_to_draw_ends_the_round(self) -> None:
        table = position({0: "R1", 1: "", 2: "R2"}, deck="", pile="RD", stack=2, pending=(1,), seat=0)
        events = brief(table.leave(0, 1))
        assert events[-1] == "round_over true stack [[1] [2]] {1:1} {1:0 2:2} null"

    def test_the_clock_takes_the_whole_stack(self) -> None:
        table = position({0: "B1", 1: "R2"}, pile="RD", stack=2, windows=[window(0, opened=9_000)])
        assert brief(table.wake(10_000)) == [
            "timed_out 0 true",
            "stack_taken 0 2",
            "drew 0 [? ?] stack",
            "window_closed 0 1 grew null",
            "turn_started 1 6 20000",
        ]

    def test_taking_passes_on_against_the_clock_too(self) -> None:
        table = position({0: "B1", 1: "R2", 2: "R3"}, pile="RD", stack=2, direction=-1)
        assert brief(table.act(0, TAKE, 1))[-1] == "turn_started 2 6 10001"


class TestClocks:
    def test_an_action_in_the_turn_does_not_count_towards_removal(self) -> None:
        table = position({0: "B1", 1: "B2"}, windows=[window(0)])
        table.act(0, call(), 1)
        assert brief(table.wake(10_000))[0] == "timed_out 0 false"

    def test_an_action_of_another_seat_changes_nothing_about_that(self) -> None:
        table = position({0: "B1", 1: "B2"}, windows=[window(1)])
        table.act(1, call(), 1)
        assert brief(table.wake(10_000))[0] == "timed_out 0 true"

    def test_a_lost_connection_does_not_count(self) -> None:
        table = position({0: "B1", 1: "B2"}, offline=(0,))
        assert brief(table.wake(10_000))[0] == "timed_out 0 false"

    def test_the_new_deadline_counts_from_the_wake(self) -> None:
        table = position({0: "B1", 1: "B2"})
        assert brief(table.wake(12_000))[-1] == "turn_started 1 6 22000"
        assert table.game.wake_at(table.state) == 22_000

    def test_a_wake_before_its_time_is_nothing(self) -> None:
        table = position({0: "B1", 1: "B2"})
        before = table.state
        assert table.wake(9_999) == []
        assert table.state is before

    def test_a_lost_connection_shortens_the_running_turn(self) -> None:
        table = position({0: "B1", 1: "B2"})
        assert brief(table.connection(0, False, 2_000)) == ["connection_changed 0 false", "clock_changed 0 7000"]
        assert brief(table.connection(0, True, 3_000)) == ["connection_changed 0 true"]
        assert table.state.deadline == 7_000
        assert table.connection(0, True, 3_000) == []

    @pytest.mark.parametrize("now", [5_000, 5_001, 8_000])
    def test_a_lost_connection_never_lengthens_it(self, now: int) -> None:
        table = position({0: "B1", 1: "B2"})
        assert brief(table.connection(0, False, now)) == ["connection_changed 0 false"]
        assert table.state.deadline == 10_000

    def test_another_seat_only_changes_its_flag(self) -> None:
        table = position({0: "B1", 1: "B2"})
        assert brief(table.connection(1, False, 1)) == ["connection_changed 1 false"]
        assert table.connection(1, False, 1) == []
        table.act(0, DRAW, 2)
        assert brief(table.act(0, PASS, 2))[-1] == "turn_started 1 6 5002"
        assert table.refused(1, DRAW, 3) == "disconnected"
        assert table.legal(1, 3) == ()

    def test_a_clock_with_nothing_left_passes_dry(self) -> None:
        table = position({0: "B1", 1: "R2"}, deck="")
        assert brief(table.wake(10_000)) == ["timed_out 0 true", "passed 0 clock", "turn_started 1 6 20000"]
        assert table.state.dry == 1

    def test_a_card_drawn_by_the_clock_is_no_dry_pass(self) -> None:
        table = position({0: "B1", 1: "R2"}, deck="G1", dry=1)
        table.wake(10_000)
        assert table.state.dry == 0
        assert table.state.drawn is None

    def test_a_chosen_pass_with_the_last_card_drawn_is_no_dry_pass(self) -> None:
        table = position({0: "B1", 1: "R2"}, deck="G1", dry=1)
        table.act(0, DRAW, 1)
        table.act(0, PASS, 2)
        assert table.state.dry == 0

    def test_the_clock_passes_after_a_draw_that_emptied_the_deck_without_counting_it_dry(self) -> None:
        table = position({0: "B1", 1: "R2"}, deck="G1", dry=1)
        table.act(0, DRAW, 1)
        table.wake(10_000)
        assert table.state.dry == 0


class TestWindows:
    def test_numbers_count_on_in_the_round(self) -> None:
        table = position({0: "R1 R2", 1: "R3 R4"}, windows=[window(1, number=6)])
        table.act(1, call(6), 1)
        assert brief(table.act(0, play("R1"), 1))[1] == "window_opened 0 7 3001 6001"

    def test_stages_happen_in_order_of_their_time(self) -> None:
        table = position({0: "R1", 1: "R2"}, windows=[window(0), window(1, opened=2_500, number=2)])
        assert table.game.wake_at(table.state) == 4_000
        assert brief(table.wake(9_000)) == [
            "exposed 0 1",
            "exposed 1 2",
            "window_closed 0 1 survived null",
            "window_closed 1 2 survived null",
        ]
        assert table.game.wake_at(table.state) == 10_000

    def test_at_equal_times_windows_by_number_and_the_turn_last(self) -> None:
        windows = [window(0, opened=4_000, exposed=True), window(1, opened=7_000, number=2)]
        table = position({0: "B1", 1: "B2"}, windows=windows)
        assert [event.split()[0] for event in brief(table.wake(10_000))] == [
            "window_closed",
            "exposed",
            "timed_out",
            "drew",
            "passed",
            "turn_started",
        ]

    def test_one_late_wake_lets_both_stages_happen(self) -> None:
        table = position({0: "B1", 1: "B2"}, windows=[window(1, opened=1_000)], deadline=5_000)
        events = [event.split()[0] for event in brief(table.wake(8_000))]
        assert events == ["exposed", "timed_out", "drew", "passed", "turn_started", "window_closed"]

    def test_a_catch_leaves_turn_deadline_and_stack_as_they_are(self) -> None:
        table = position({0: "B1", 1: "B2", 2: "RD"}, pile="RD#2", stack=2, seat=2, windows=[window(0, exposed=True)])
        assert brief(table.act(1, catch(), 5_000)) == ["window_closed 0 1 caught 1", "drew 0 [? ?] penalty"]
        state = table.state
        assert (state.stack, state.seat, state.deadline, state.turn, state.acted) == (2, 2, 10_000, 5, False)

    def test_a_pending_seat_may_catch(self) -> None:
        windows = [window(1, exposed=True)]
        table = position({0: "", 1: "B2", 2: "RD"}, pile="RD#2", stack=2, seat=2, pending=(0,), windows=windows)
        assert table.legal(0, 1) == (catch(),)
        assert brief(table.act(0, catch(), 1))[0] == "window_closed 1 1 caught 0"

    def test_a_seat_without_connection_can_be_caught(self) -> None:
        table = position({0: "B1", 1: "B2"}, windows=[window(1, exposed=True)], offline=(1,))
        assert brief(table.act(0, catch(), 1)) == ["window_closed 1 1 caught 0", "drew 1 [? ?] penalty"]

    def test_a_penalty_that_draws_nothing_tells_nothing(self) -> None:
        table = position({0: "B1", 1: "R2"}, deck="", windows=[window(1, exposed=True)])
        assert brief(table.act(0, catch(), 1)) == ["window_closed 1 1 caught 0"]

    def test_a_draw_that_brings_nothing_keeps_the_window(self) -> None:
        table = position({0: "B1", 1: "R2"}, deck="", windows=[window(0, opened=9_000)])
        table.wake(10_000)
        assert [each.number for each in table.state.windows] == [1]

    def test_a_draw_of_another_seat_keeps_the_window(self) -> None:
        table = position({0: "B1", 1: "R2"}, windows=[window(1)])
        assert brief(table.act(0, DRAW, 1)) == ["drew 0 [?] turn"]
        assert [each.seat for each in table.state.windows] == [1]


class TestEnd:
    def test_the_turn_cap(self) -> None:
        table = position({0: "R1", 1: "R2", 2: "G1 B1"}, turn=999, drawn="R1")
        assert brief(table.act(0, PASS, 1))[-1] == "turn_started 1 1000 10001"
        table.act(1, DRAW, 2)
        assert brief(table.act(1, PASS, 3))[-1] == ("round_over true cap [[0] [2] [1]] {0:1} {0:1 1:3 2:2} null")

    def test_at_the_cap_a_stack_is_ignored_and_stays(self) -> None:
        table = position({0: "RD R5 R6", 1: "R1", 2: "R1#2"}, turn=1_000)
        events = brief(table.act(0, play("RD"), 1))
        assert events[-1] == "round_over true cap [[1 2] [0]] {1:1 2:1} {0:11 1:1 2:1} null"
        assert table.view(None)["board"]["stack"] == {"size": 2, "plus4": False}

    def test_blocked_comes_before_the_cap(self) -> None:
        table = position({0: "B1", 1: "B2"}, deck="", turn=1_000)
        assert brief(table.act(0, PASS, 1))[-1].startswith("round_over true blocked")

    def test_a_stack_for_an_empty_hand_comes_before_the_cap(self) -> None:
        table = position({0: "", 1: "RD R1"}, pile="BD", stack=2, pending=(0,), seat=1, turn=1_000)
        assert [event.split()[0] for event in brief(table.act(1, play("RD"), 1))][:4] == [
            "played",
            "window_opened",
            "stack_taken",
            "drew",
        ]

    def test_no_block_while_a_stack_waits(self) -> None:
        table = position({0: "RD B1 B2", 1: "R5"}, deck="", pile="R1")
        assert brief(table.act(0, play("RD"), 1))[-1] == "turn_started 1 6 10001"

    def test_no_block_while_a_card_is_left_to_draw(self) -> None:
        table = position({0: "B1", 1: "B2"}, deck="G1", drawn="B1")
        assert brief(table.act(0, PASS, 1))[-1] == "turn_started 1 6 10001"

    def test_a_wild_card_in_a_hand_is_no_block(self) -> None:
        table = position({0: "B1", 1: "W"}, deck="")
        assert brief(table.act(0, PASS, 1))[-1] == "turn_started 1 6 10001"

    def test_set_aside_cards_do_not_unblock(self) -> None:
        table = position({0: "B1", 1: "R2", 2: "B3"}, deck="", seat=1)
        assert brief(table.leave(1, 1))[-1] == "round_over true blocked [[0] [2]] {0:1} {0:1 2:3} null"

    def test_a_leave_sets_the_row_of_dry_passes_back(self) -> None:
        table = position({0: "R1", 1: "R2", 2: "R3"}, deck="", dry=2, seat=0)
        table.leave(2, 1)
        assert table.state.dry == 0
        assert brief(table.act(0, PASS, 2))[-1] == "turn_started 1 6 10002"

    def test_all_seats_have_to_pass_dry(self) -> None:
        table = position({0: "R1", 1: "R2", 2: "R3"}, deck="", dry=1)
        assert brief(table.act(0, PASS, 1))[-1] == "turn_started 1 6 10001"
        assert brief(table.act(1, PASS, 2))[-1].startswith("round_over true blocked")

    def test_after_the_end_nothing_is_due(self) -> None:
        table = position({0: "R1", 1: "R2", 2: "R3"}, windows=[window(1)], drawn="R1")
        table.act(0, play("R1"), 1)
        view = table.view(None)
        assert (view["phase"], view["turn"], view["deadline"], view["actors"]) == ("over", None, None, [])
        assert (view["board"]["windows"], view["board"]["drawn"]) == ([], None)
        assert table.game.wake_at(table.state) is None
        assert table.game.actors(table.state) == frozenset()


class TestLeave:
    def test_in_another_seats_turn_nothing_else_happens(self) -> None:
        table = position({0: "R1", 1: "R2", 2: "R3"}, windows=[window(2)])
        assert brief(table.leave(2, 1, "timeouts")) == ["left 2 timeouts", "window_closed 2 1 left null"]
        assert (hand(table, 2), aside(table, 2)) == ("", "R3")

    def test_in_the_own_turn_the_next_seat_begins(self) -> None:
        table = position({0: "R1", 1: "R2", 2: "R3"}, seat=1, direction=-1)
        assert brief(table.leave(1, 1, "connection")) == ["left 1 connection", "turn_started 0 6 10001"]

    def test_the_leaver_takes_its_stack_over_a_reshuffle(self) -> None:
        table = position({0: "R1", 1: "R2", 2: "R3"}, deck="G1", pile="Y1 Y2 RD", stack=2, seat=1)
        assert brief(table.leave(1, 1)) == [
            "left 1 left",
            "stack_taken 1 2",
            "drew 1 [?] stack",
            "reshuffled 1 2",
            "drew 1 [?] stack",
            "turn_started 2 6 10001",
        ]
        assert aside(table, 1) == "R2 G1 Y2"

    def test_the_leavers_stack_lets_a_claim_win(self) -> None:
        table = position({0: "", 1: "R2", 2: "R3"}, pile="RD", stack=2, seat=1, pending=(0,))
        events = brief(table.leave(1, 1))
        assert [event.split()[0] for event in events] == [
            "left",
            "stack_taken",
            "drew",
            "revealed",
            "revealed",
            "round_over",
        ]
        assert events[-1] == "round_over true stack [[0] [2]] {0:1} {0:0 2:3} null"

    def test_the_last_seat_wins_without_more_ado(self) -> None:
        table = position({0: "R1", 1: "R2"}, windows=[window(0), window(1, number=2)], dry=1)
        assert brief(table.leave(0, 1)) == [
            "left 0 left",
            "revealed 0 aside [R1#1]",
            "revealed 1 hand [R2#1]",
            "round_over true last_seat [[1]] {1:1} {1:2} null",
        ]


class TestLegal:
    def test_plays_in_canonical_order_wild_cards_by_colour_then_draw(self) -> None:
        table = position({0: "W4 R5 B9 W#2 R1", 1: "R2"})
        wild = [play("W#2", colour) for colour in "RYGB"] + [play("W4", colour) for colour in "RYGB"]
        assert list(table.legal(0, 1)) == [play("R1"), play("R5"), play("B9"), *wild, DRAW]

    def test_on_a_stack(self) -> None:
        table = position({0: "RD W4 R5 W", 1: "R2"}, pile="BD", stack=2)
        assert list(table.legal(0, 1)) == [play("RD"), *[play("W4", colour) for colour in "RYGB"], TAKE]

    def test_after_a_draw_only_the_drawn_card_or_pass(self) -> None:
        table = position({0: "R5 B3", 1: "R2"}, drawn="B3")
        assert table.legal(0, 1) == (PASS,)

    def test_draw_and_pass_when_nothing_is_left(self) -> None:
        table = position({0: "B5", 1: "R2"}, deck="")
        assert table.legal(0, 1) == (DRAW, PASS)

    def test_calls_before_catches_by_window(self) -> None:
        windows = [window(1, exposed=True), window(0, number=2), window(2, number=3), window(3, number=5, exposed=True)]
        table = position({0: "B5", 1: "R2", 2: "R3", 3: "R4"}, windows=windows)
        assert table.legal(0, 1) == (DRAW, call(2), catch(1), catch(5))
        assert table.legal(1, 1) == (call(1), catch(5))

    def test_nothing_when_something_is_due_or_the_seat_is_gone(self) -> None:
        table = position({0: "B5", 1: "R2", 2: "R3"}, left=(2,))
        assert table.legal(0, 9_999) == (DRAW,)
        assert table.legal(0, 10_000) == ()
        assert table.legal(1, 1) == ()
        assert table.legal(2, 1) == ()
        assert table.game.actors(table.state) == frozenset({Seat(0)})
