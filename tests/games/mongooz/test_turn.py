"""Deal, placements, flips, discards.  Rules: docs/games/mongooz.md, Z-1 to Z-9, Z-20 to Z-26."""

from __future__ import annotations

import pytest

from apps.games.mongooz import GAME
from apps.games.mongooz.cards import TABLE
from apps.games.mongooz.state import Offence
from tests.games.mongooz.positions import FAR, act, brief, discard, pile, position, told
from tests.games.staging import Scripted, Table

CLOCK = "clock_changed(seat=0, deadline=8001)"


def offences(table: Table) -> list[tuple[str, bool]]:
    return [(TABLE.codes[card][:-2], middle) for card, middle in table.state.current.offences]


def test_the_game_says_what_it_is() -> None:
    spec = GAME.spec
    assert (spec.slug, spec.title, spec.rules) == ("mongooz", "Mongooz", "mongooz/1")
    assert (spec.seats_min, spec.seats_max, spec.options) == (2, 4, ())
    assert dict(spec.clocks) == {"turn_ms": 8_000, "pilot_ms": 3_000, "turn_cap": 600}
    assert (spec.streams, spec.match_game) == ((), False)
    assert (spec.unsequenced, spec.refusals) == (frozenset({"call"}), frozenset({"does_not_fit"}))


def test_the_deck_is_by_suit_then_by_rank() -> None:
    expected = [f"{suit}{rank}#1" for suit in "CDHS" for rank in "A23456789TJQK"]
    assert [list(GAME.deck({}, seats)) for seats in (2, 3, 4)] == [expected] * 3


class TestStart:
    def test_two_seats(self) -> None:
        table = Table.start(GAME, seats=(3, 5), opener=5, now=100)
        assert told(table)[0] == (
            "round_started(game=mongooz, rules=mongooz/1, seats=[3, 5], opener=5, options={}, carry=null)"
        )
        assert [event["type"] for event in table.events] == [
            "round_started",
            "dealt",
            "dealt",
            "middle_opened",
            "turn_started",
        ]
        assert [(event["seat"], len(event["cards"])) for event in table.events[1:3]] == [(5, 26), (3, 25)]
        assert table.events[1]["zone"] == "pile"
        assert table.events[1]["cards"][:2] == [{"gen": 0, "pos": 0}, {"gen": 0, "pos": 2}]
        assert told(table)[3:] == ["middle_opened(card=SK)", "turn_started(seat=5, turn=1, deadline=8100)"]
        assert pile(table, 5).startswith("SQ ST S8")
        assert pile(table, 5).endswith("C5 C3 CA")
        assert table.view()["board"]["start_rank"] == "K"
        assert table.state.deck == ()

    def test_three_seats_begin_with_the_second(self) -> None:
        table = Table.start(GAME, seats=(0, 1, 2), opener=1)
        assert [(event["seat"], len(event["cards"])) for event in table.events[1:4]] == [(1, 17), (2, 17), (0, 17)]
        assert told(table)[-1] == "turn_started(seat=2, turn=1, deadline=8000)"

    def test_four_seats_begin_with_the_opener(self) -> None:
        table = Table.start(GAME, seats=(0, 1, 2, 4), opener=2)
        dealt = [(event["seat"], len(event["cards"])) for event in table.events[1:5]]
        assert dealt == [(2, 13), (4, 13), (0, 13), (1, 12)]
        assert told(table)[-1] == "turn_started(seat=2, turn=1, deadline=8000)"

    def test_turn_1_can_be_called_alone(self) -> None:
        table = Table.start(GAME, seats=(0, 1))
        assert table.view()["board"]["callable"] == [{"turn": 1, "seat": 0, "callers": []}]
        assert table.refused(1, {"type": "call", "turn": 2}) == "window_closed"
        assert act(table, 1, "call", turn=1) == ["called(seat=1, turn=1, valid=false, offences=[])"]


class TestPlacing:
    def test_one_rank_up_on_the_own_suit(self) -> None:
        table = position(piles={0: "C2", 1: "C3"}, discards={0: "S3 H9"}, middle={"H": 2})
        assert act(table, 0, "to_middle") == ["placed(seat=0, card=H9, from=discard, onto=null)", CLOCK]
        assert discard(table, 0) == "S3"
        assert table.view()["board"]["middle"]["H"]["count"] == 3

    @pytest.mark.parametrize(("card", "fits"), [("D7", True), ("C7", True), ("D8", False), ("H8", False)])
    def test_the_start_rank_opens_every_suit(self, card: str, fits: bool) -> None:
        table = position(piles={0: "C2", 1: "C3"}, flipped=card, middle={"S": 1})
        if fits:
            assert act(table, 0, "to_middle") == [f"placed(seat=0, card={card}, from=flipped, onto=null)", CLOCK]
            assert table.view()["board"]["middle"][card[0]] == {
                "top": {"gen": 0, "pos": TABLE.index[f"{card}#1"], "card": f"{card}#1"},
                "count": 1,
            }
        else:
            assert table.refused(0, {"type": "to_middle"}) == "does_not_fit"

    def test_ranks_run_in_a_circle(self) -> None:
        table = position(piles={0: "C2", 1: "C3"}, flipped="DA", middle={"D": 7})
        assert act(table, 0, "to_middle")[0] == "placed(seat=0, card=DA, from=flipped, onto=null)"
        table = position(piles={0: "C2", 1: "C3"}, discards={0: "DA", 1: "SK"})
        assert act(table, 0, "to_seat", seat=1) == ["placed(seat=0, card=DA, from=discard, onto=1)", CLOCK]
        assert (discard(table, 0), discard(table, 1)) == ("", "SK DA")

    def test_a_suit_of_13_is_closed(self) -> None:
        table = position(piles={0: "C2", 1: "C3"}, flipped="D6", middle={"D": 12})
        act(table, 0, "to_middle")
        assert table.view()["board"]["middle"]["D"]["count"] == 13
        assert [table.state.fits_middle(card) for card in range(13, 26)] == [False] * 13

    def test_a_seat_takes_any_suit_one_rank_up_and_never_equal_or_two_up(self) -> None:
        for card, fits in (("C9", True), ("H9", True), ("H8", False), ("HT", False), ("H7", False)):
            table = position(piles={0: "C2", 1: "C3"}, flipped=card, discards={1: "S8"})
            assert table.state.fits_seat(TABLE.index[f"{card}#1"], table.state.deal.seats[1]) == fits
            if fits:
                assert act(table, 0, "to_seat", seat=1)[0] == f"placed(seat=0, card={card}, from=flipped, onto=1)"
            else:
                assert table.refused(0, {"type": "to_seat", "seat": 1}) == "does_not_fit"

    def test_only_the_flipped_card_can_be_placed(self) -> None:
        table = position(piles={0: "C2", 1: "C3"}, flipped="C9", discards={0: "H8"}, middle={"H": 1})
        assert table.refused(0, {"type": "to_middle"}) == "does_not_fit"

    def test_an_autopilots_discard_may_be_played_on(self) -> None:
        table = position(piles={0: "C2", 1: "C3", 2: "C4"}, flipped="C9", discards={1: "S8"}, left=[1])
        assert act(table, 0, "to_seat", seat=1)[0] == "placed(seat=0, card=C9, from=flipped, onto=1)"

    def test_the_last_card_wins_in_mid_turn(self) -> None:
        table = position(piles={0: "", 1: "C3 C4", 2: "C5"}, flipped="H8", middle={"H": 1}, discards={2: "C2"})
        assert act(table, 0, "to_middle") == [
            "placed(seat=0, card=H8, from=flipped, onto=null)",
            "revealed(seat=1, zone=pile, cards=[C3, C4])",
            "revealed(seat=2, zone=pile, cards=[C5])",
            "round_over(reason=out, final=true, ranking=[[0], [1, 2]], shares={0:1}, scores={0:0, 1:2, 2:2}, "
            "carry=null)",
        ]

    def test_a_pile_or_discard_left_is_no_win(self) -> None:
        table = position(piles={0: "C2", 1: "C3"}, flipped="H8", middle={"H": 1})
        assert act(table, 0, "to_middle")[1] == CLOCK
        table = position(piles={0: "", 1: "C3"}, flipped="H8", middle={"H": 1}, discards={0: "C2"})
        assert act(table, 0, "to_middle")[1] == CLOCK


class TestFlip:
    def test_turns_up_the_next_card_with_a_fresh_clock(self) -> None:
        table = position(piles={0: "C2 C3", 1: "C4"}, discards={0: "D5"}, previous=(4, 1, "C9", ""))
        assert act(table, 0, "flip", now=9) == ["flipped(seat=0, card=C2)", "clock_changed(seat=0, deadline=8009)"]
        assert pile(table, 0) == "C3"
        assert offences(table) == []
        assert table.state.previous is None
        assert table.view()["board"]["flipped"] == {"gen": 0, "pos": 1, "card": "C2#1"}

    def test_an_overlooked_top_of_the_discard_is_an_offence(self) -> None:
        table = position(piles={0: "C2 C3", 1: "C4"}, discards={0: "S3 H8"}, middle={"H": 1})
        act(table, 0, "flip")
        assert offences(table) == [("H8", True)]
        table = position(piles={0: "C2 C3", 1: "C4"}, discards={0: "S3 H8", 1: "D7"})
        act(table, 0, "flip")
        assert offences(table) == [("H8", False)]
        table = position(piles={0: "C2 C3", 1: "C4"}, discards={0: "H8 S3"}, middle={"H": 1})
        act(table, 0, "flip")
        assert offences(table) == []

    def test_the_own_discard_is_no_place(self) -> None:
        table = position(piles={0: "C2 C3", 1: "C4"}, discards={0: "H7 H8"})
        act(table, 0, "flip")
        assert offences(table) == []

    def test_an_empty_pile_is_renewed_from_the_discard_unshuffled(self) -> None:
        table = position(piles={0: "", 1: "C4"}, discards={0: "H8 D4 S2"}, middle={"H": 1})
        assert act(table, 0, "flip") == ["turned_over(seat=0, count=3)", "flipped(seat=0, card=H8)", CLOCK]
        assert (pile(table, 0), discard(table, 0)) == ("D4 S2", "")
        assert offences(table) == []
        assert brief(table.act(0, {"type": "discard"}, 2))[0] == "discarded(seat=0, card=H8, forced=false)"
        assert table.state.previous is not None
        assert table.state.previous.offences == (Offence(TABLE.index["H8#1"], True),)

    def test_the_overlooked_card_may_be_the_one_flipped(self) -> None:
        table = position(piles={0: "", 1: "C4"}, discards={0: "H8"}, middle={"H": 1})
        assert act(table, 0, "flip") == ["turned_over(seat=0, count=1)", "flipped(seat=0, card=H8)", CLOCK]
        assert offences(table) == [("H8", True)]
        assert act(table, 0, "to_middle")[-1].startswith("round_over(reason=out")
        assert table.view()["board"]["callable"] == []


class TestDiscard:
    def test_ends_the_turn(self) -> None:
        table = position(piles={0: "C2", 1: "C4", 2: "C3"}, flipped="D4", discards={0: "H8"}, blocked=[1])
        assert act(table, 0, "discard", now=7) == [
            "discarded(seat=0, card=D4, forced=false)",
            "turn_started(seat=1, turn=6, deadline=8007)",
        ]
        assert discard(table, 0) == "H8 D4"
        assert table.view()["board"]["callable"] == [
            {"turn": 5, "seat": 0, "callers": []},
            {"turn": 6, "seat": 1, "callers": []},
        ]
        assert table.view()["board"]["blocked"] == []
        assert table.state.previous is not None
        assert table.state.previous.offences == ()

    def test_of_a_card_that_fits_is_an_offence(self) -> None:
        for middle, discards, could_middle in (({"D": 1}, {}, True), ({}, {1: "S7"}, False)):
            table = position(piles={0: "C2", 1: "C4"}, flipped="D8", middle=middle, discards=discards)
            act(table, 0, "discard")
            assert table.state.previous is not None
            assert table.state.previous.offences == (Offence(TABLE.index["D8#1"], could_middle),)

    def test_keeps_the_offences_made_before(self) -> None:
        table = position(piles={0: "C2", 1: "C4"}, flipped="D8", middle={"D": 1}, offences="H8-")
        act(table, 0, "discard")
        assert table.state.previous is not None
        assert [TABLE.codes[card] for card, _ in table.state.previous.offences] == ["H8#1", "D8#1"]


class TestClock:
    def test_flips_and_discards(self) -> None:
        table = position(piles={0: "D8 C3", 1: "C4", 2: "C5"}, middle={"D": 1}, discards={0: "C9"})
        assert brief(table.wake(FAR)) == [
            "timed_out(seat=0, counts=true)",
            "flipped(seat=0, card=D8)",
            "discarded(seat=0, card=D8, forced=false)",
            "turn_started(seat=1, turn=6, deadline=1008000)",
        ]
        assert act(table, 1, "call", turn=5, now=FAR)[0] == "called(seat=1, turn=5, valid=true, offences=[D8])"

    def test_turns_the_discard_over_and_counts_both_offences(self) -> None:
        table = position(piles={0: "", 1: "C4"}, middle={"D": 1, "H": 1}, discards={0: "H8 D8"})
        assert brief(table.wake(FAR))[1:4] == [
            "turned_over(seat=0, count=2)",
            "flipped(seat=0, card=H8)",
            "discarded(seat=0, card=H8, forced=false)",
        ]
        assert act(table, 1, "call", turn=5, now=FAR)[0].endswith("offences=[D8, H8])")

    def test_discards_what_is_flipped(self) -> None:
        table = position(piles={0: "C2", 1: "C4"}, flipped="D4", acted=True)
        assert brief(table.wake(FAR)) == [
            "timed_out(seat=0, counts=false)",
            "discarded(seat=0, card=D4, forced=false)",
            "turn_started(seat=1, turn=6, deadline=1008000)",
        ]

    def test_a_call_of_the_turns_seat_makes_the_time_out_not_count(self) -> None:
        table = position(piles={0: "C2", 1: "C4"}, previous=(4, 1, "", ""), deadline=500)
        assert act(table, 0, "call", turn=4) == ["called(seat=0, turn=4, valid=false, offences=[])"]
        assert GAME.wake_at(table.state) == 500
        assert table.wake(500)[0] == "timed_out(seat=0, counts=false)"

    def test_a_call_of_another_seat_does_not(self) -> None:
        table = position(piles={0: "C2", 1: "C4"}, deadline=500)
        act(table, 1, "call", turn=5)
        assert table.wake(500)[0] == "timed_out(seat=0, counts=true)"

    def test_without_connection_it_is_short_and_does_not_count(self) -> None:
        table = position(piles={0: "C2 C3", 1: "C4 C5"}, deadline=8_000)
        assert table.connection(1, False, 10) == ["connection_changed(seat=1, connected=false)"]
        assert table.connection(0, False, 10) == [
            "connection_changed(seat=0, connected=false)",
            "clock_changed(seat=0, deadline=5010)",
        ]
        assert table.wake(5_010)[0] == "timed_out(seat=0, counts=false)"
        assert told(table)[-1] == "turn_started(seat=1, turn=6, deadline=10010)"

    def test_nothing_happens_before_it_is_due(self) -> None:
        table = position(piles={0: "C2", 1: "C4"})
        step = GAME.wake(table.state, FAR - 1, Scripted())
        assert (step.state, step.events) == (table.state, ())


class TestCap:
    def test_the_fewest_cards_share(self) -> None:
        table = position(
            piles={0: "C2", 1: "C4", 2: "C5", 3: ""},
            flipped="D4",
            discards={1: "S2 S3 S4", 2: "H2"},
            turn=600,
            left=[3],
        )
        assert act(table, 0, "discard") == [
            "discarded(seat=0, card=D4, forced=false)",
            "revealed(seat=0, zone=pile, cards=[C2])",
            "revealed(seat=1, zone=pile, cards=[C4])",
            "revealed(seat=2, zone=pile, cards=[C5])",
            "round_over(reason=cap, final=true, ranking=[[0, 2], [1]], shares={0:1, 2:1}, scores={0:2, 1:4, 2:2}, "
            "carry=null)",
        ]
        assert table.view()["board"]["blocked"] == []
        assert table.view()["board"]["callable"] == []

    def test_the_last_turn_is_number_600(self) -> None:
        table = position(piles={0: "C2", 1: "C4"}, flipped="D4", turn=599)
        assert act(table, 0, "discard")[1] == "turn_started(seat=1, turn=600, deadline=8001)"
