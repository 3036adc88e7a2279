"""Start, the two set-up phases, and who opens.  Rules: docs/games/monkey_butt.md, B-1 to B-6, B-30, B-33."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from apps.games.contract import RuleError, Seat, Setup
from apps.games.monkey_butt import GAME
from tests.games.monkey_butt.positions import act, brief, hand, listed, refused, row
from tests.games.staging import Scripted, Table, faces, written

THREE = (
    "P2 Y2 B2  P3 Y3 B3  P4 Y4 B4  P5 Y5 B5  P6 Y6 B6  P7 Y7 B7  "  # six each, in turn: P to 0, Y to 1, B to 2
    "K10 K11 K12"
)


def three(now: int = 0, opener: int = 0) -> Table:
    """Return a round of seats 0, 1 and 2, each with the numbers 2 to 7 of one colour; the opener has pink."""
    top = " ".join(f"{card}#1" for card in THREE.split())
    return Table.start(GAME, top, seats=(0, 1, 2), opener=opener, now=now)


def three_in_c() -> Table:
    table = three()
    for seat, colour in enumerate("PYB"):
        act(table, seat, "lay", a=f"{colour}7", b=f"{colour}6")
    return table


def setup(**changes: Any) -> Setup:
    seats = changes.pop("seats", (0, 1))
    deck = GAME.deck({}, 2)
    given = Setup(seats=tuple(Seat(seat) for seat in seats), deck=deck, options={}, now=0, opener=Seat(0))
    return replace(given, **changes)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"options": {"quick": 1}, "seats": (0,)}, "bad_option"),
        ({"options": {"fast": True}}, "bad_option"),
        ({"options": {"devil": "yes"}}, "bad_option"),
        ({"seats": (0,), "opener": 5}, "bad_seats"),
        ({"seats": tuple(range(9))}, "bad_seats"),
        ({"seats": (1, 0)}, "bad_seats"),
        ({"opener": 5, "deck": ()}, "bad_opener"),
        ({"deck": GAME.deck({}, 3), "carry": {}}, "bad_deck"),
        ({"carry": {}}, "bad_carry"),
    ],
)
def test_start_refuses_in_order(changes: dict[str, Any], code: str) -> None:
    with pytest.raises(RuleError) as refusal:
        GAME.start(setup(**changes), Scripted())
    assert refusal.value.code == code


def test_the_deal_goes_round_from_the_opener_and_ends_with_the_face_down_cards() -> None:
    table = three(opener=1)
    assert brief(written(table.events))[1:] == [
        "dealt(seat=1, zone=hand, cards=[@0.0, @0.3, @0.6, @0.9, @0.12, @0.15])",
        "dealt(seat=2, zone=hand, cards=[@0.1, @0.4, @0.7, @0.10, @0.13, @0.16])",
        "dealt(seat=0, zone=hand, cards=[@0.2, @0.5, @0.8, @0.11, @0.14, @0.17])",
        "dealt(seat=1, zone=down, cards=[@0.18])",
        "dealt(seat=2, zone=down, cards=[@0.19])",
        "dealt(seat=0, zone=down, cards=[@0.20])",
        "phase_started(phase=ab, deadline=30000)",
    ]
    assert hand(table, 1) == "P2 P3 P4 P5 P6 P7"
    assert GAME.wake_at(table.state) == 30_000
    assert sorted(GAME.actors(table.state)) == [0, 1, 2]


class TestLay:
    def test_is_listed_with_all_its_keys(self) -> None:
        assert three().legal(0)[0] == {"type": "lay", "a": "P2#1", "b": "P3#1"}
        assert three_in_c().legal(0)[0] == {"type": "pick", "card": "Y2#1"}

    def test_lists_every_pair_by_a_then_b(self) -> None:
        table = three()
        expected = [f"lay P{a} P{b}" for a in range(2, 8) for b in range(2, 8) if a != b]
        assert listed(table, 0) == expected

    def test_refuses_in_order(self) -> None:
        table = three()
        act(table, 1, "lay", a="Y2", b="Y3")
        assert refused(table, 1, "pick", card="P2") == "wrong_phase"
        assert refused(table, 1, "lay", a="P2", b="P2") == "already_locked"
        assert listed(table, 1) == []
        assert refused(table, 0, "lay", a="P2", b="Y2") == "card_not_held"
        assert refused(table, 0, "lay", a="Y2", b="P2") == "card_not_held"
        assert refused(table, 0, "lay", a="Y2", b="Y2") == "card_not_held"
        assert refused(table, 0, "lay", a="P2", b="P2") == "same_card"
        assert refused(three_in_c(), 0, "lay", a="Y2", b="Y2") == "wrong_phase"

    def test_stays_secret_until_all_have_locked_and_is_shown_in_the_ring_from_the_opener(self) -> None:
        table = three(opener=1)
        assert act(table, 0, "lay", a="B2", b="B3") == ["locked(seat=0)"]
        assert [entry["a"] for entry in table.view(0)["seats"]] == [None] * 3
        assert [entry["locked"] for entry in table.view(2)["seats"]] == [True, False, False]
        assert sorted(GAME.actors(table.state)) == [1, 2]
        act(table, 1, "lay", a="P2", b="P3")
        assert act(table, 2, "lay", now=500, a="Y3", b="Y2") == [
            "locked(seat=2)",
            "laid(seat=1, a=P2, b=P3)",
            "laid(seat=2, a=Y3, b=Y2)",
            "laid(seat=0, a=B2, b=B3)",
            "phase_started(phase=c, deadline=30500)",
        ]
        assert row(table, 2) == "Y3 Y2 -"
        assert hand(table, 2) == "Y4 Y5 Y6 Y7"
        assert [entry["locked"] for entry in table.view(0)["seats"]] == [False] * 3


class TestPick:
    def test_lists_the_cards_of_the_target(self) -> None:
        table = three_in_c()
        assert listed(table, 0) == ["pick Y2", "pick Y3", "pick Y4", "pick Y5"]
        assert listed(table, 2) == ["pick P2", "pick P3", "pick P4", "pick P5"]

    def test_refuses_in_order(self) -> None:
        table = three_in_c()
        act(table, 0, "pick", card="Y2")
        assert refused(table, 0, "play", cards="P2") == "wrong_phase"
        assert refused(table, 0, "pick", card="P2") == "already_locked"
        assert listed(table, 0) == []
        assert refused(table, 1, "pick", card="P2") == "card_not_shown"
        assert refused(table, 1, "pick", card="B7") == "card_not_shown"
        assert refused(three(), 0, "pick", card="P2") == "wrong_phase"

    def test_only_the_picker_sees_the_targets_hand(self) -> None:
        table = three_in_c()
        act(table, 0, "pick", card="Y2")
        assert faces(table.row(1, viewer=0)["hand"]) == ["Y2#1", "Y3#1", "Y4#1", "Y5#1"]
        assert faces(table.row(1, viewer=2)["hand"]) == [None] * 4
        assert faces(table.row(2, viewer=0)["hand"]) == [None] * 4
        assert faces(table.row(1)["hand"]) == [None] * 4
        assert faces(table.row(1, viewer=1)["hand"]) == ["Y2#1", "Y3#1", "Y4#1", "Y5#1"]

    def test_is_shown_when_all_have_picked_and_the_lowest_number_opens(self) -> None:
        table = three_in_c()
        act(table, 1, "pick", card="B2")
        act(table, 0, "pick", card="Y2")
        assert act(table, 2, "pick", now=700, card="P3") == [
            "locked(seat=2)",
            "picked(seat=0, by=2, c=P3)",
            "picked(seat=1, by=0, c=Y2)",
            "picked(seat=2, by=1, c=B2)",
            "turn_started(seat=0, turn=1, deadline=20700)",
        ]
        assert row(table, 1) == "Y7 Y6 Y2"
        assert table.view()["board"]["lowest"] == "2"
        assert listed(table, 0) == ["play P2"]
        assert hand(table, 2) == "B3 B4 B5"


def opened(top: str, opener: int = 0) -> Table:
    """Return a two-seat round in phase play: the first four cards of each hand are its A, B, picked C and one of three.

    ``top`` names twelve cards in the order dealt.
    """
    cards = top.split()
    table = Table.start(GAME, " ".join(f"{card}#1" for card in cards), seats=(0, 1), opener=opener)
    hands = {opener: cards[0::2], 1 - opener: cards[1::2]}
    for seat in (0, 1):
        act(table, seat, "lay", a=hands[seat][0], b=hands[seat][1])
    for seat in (0, 1):
        act(table, seat, "pick", card=hands[1 - seat][2])
    return table


class TestOpening:
    def test_a_one_is_the_lowest_number(self) -> None:
        table = opened("P2 Y2 P3 Y3 P4 Y4 P5 Y1 P6 Y6 P7 Y7")
        assert (table.state.seat, table.view()["board"]["lowest"]) == (1, "1")

    def test_the_first_holder_in_the_ring_from_the_opener_opens(self) -> None:
        table = opened("P2 Y2 P3 Y3 P4 Y4 P5 Y5 P6 Y6 P7 Y7", opener=1)
        assert table.state.seat == 1
        assert table.events[-1]["type"] == "turn_started"

    def test_twelve_may_be_the_lowest(self) -> None:
        table = opened("P2 Y2 P3 Y3 P4 Y4 PZ YZ PG YG P12 YF", opener=0)
        assert (table.state.seat, table.view()["board"]["lowest"]) == (0, "12")
        assert listed(table, 0) == ["play P12"]

    def test_nothing_of_the_set_up_is_kept(self) -> None:
        table = opened("P2 Y2 P3 Y3 P4 Y4 P5 Y5 P6 Y6 P7 Y7")
        assert (table.state.locks, table.state.targets, table.state.acted) == ({}, {}, False)

    def test_cards_laid_out_do_not_count(self) -> None:
        table = opened("P2 Y2 P3 Y3 P4 Y4 P9 Y5 P10 Y6 P11 Y7")
        assert (table.state.seat, table.view()["board"]["lowest"]) == (1, "5")

    def test_equal_cards_may_be_added_and_nothing_else(self) -> None:
        table = opened("P2 Y2 P3 Y3 P4 Y4 P5 Y6 B5 Y7 XT B7")
        assert listed(table, 0) == ["play P5", "play B5", "play P5+B5"]
        assert refused(table, 0, "thief", card="XT", seat=1) == "must_open_low"
        act(table, 0, "play", cards="P5 B5")
        assert table.view()["board"]["lowest"] is None
        assert table.state.seat == 1

    def test_without_numbers_the_first_seat_plays_anything(self) -> None:
        table = opened("P2 Y2 P3 Y3 P4 Y4 PZ YZ PG YG XT YF", opener=1)
        assert table.state.seat == 1
        assert table.view()["board"]["lowest"] is None
        assert listed(table, 1)[:2] == ["play PZ", "play PG"]
        assert "thief XT 0" in listed(table, 1)


class TestSetupClock:
    def test_locks_the_strongest_two_and_the_second_as_b(self) -> None:
        table = three()
        act(table, 1, "lay", a="Y2", b="Y3")
        assert GAME.wake(table.state, 29_999, Scripted()).events == ()
        assert brief(table.wake(31_000)) == [
            "timed_out(seat=0, counts=false)",
            "locked(seat=0)",
            "timed_out(seat=2, counts=false)",
            "locked(seat=2)",
            "laid(seat=0, a=P7, b=P6)",
            "laid(seat=1, a=Y2, b=Y3)",
            "laid(seat=2, a=B7, b=B6)",
            "phase_started(phase=c, deadline=61000)",
        ]

    def test_picks_the_weakest_and_goes_round_from_the_opener(self) -> None:
        table = three(opener=2)
        table.wake(30_000)
        act(table, 0, "pick", now=31_000, card="B5")
        assert brief(table.wake(60_000)) == [
            "timed_out(seat=2, counts=false)",
            "locked(seat=2)",
            "timed_out(seat=1, counts=false)",
            "locked(seat=1)",
            "picked(seat=2, by=1, c=P2)",
            "picked(seat=0, by=2, c=Y2)",
            "picked(seat=1, by=0, c=B5)",
            "turn_started(seat=1, turn=1, deadline=80000)",
        ]

    def test_is_not_shortened_by_a_lost_connection(self) -> None:
        table = three()
        assert table.connection(0, False, 100) == ["connection_changed(seat=0, connected=false)"]
        assert GAME.wake_at(table.state) == 30_000
        assert table.refused(0, {"type": "lay", "a": "P2#1", "b": "P3#1"}, 200) == "disconnected"
        assert listed(table, 0) == []
        assert sorted(GAME.actors(table.state)) == [0, 1, 2]
        table.wake(30_000)
        assert table.connection(0, True, 30_001) == ["connection_changed(seat=0, connected=true)"]
        assert table.connection(0, False, 30_002) == ["connection_changed(seat=0, connected=false)"]
        assert GAME.wake_at(table.state) == 60_000

    def test_gives_a_seat_without_connection_five_seconds_for_its_turn(self) -> None:
        table = three()
        table.connection(0, False)
        table.wake(30_000)
        assert brief(table.wake(60_000))[-1] == "turn_started(seat=0, turn=1, deadline=65000)"


class TestLeaving:
    def test_the_last_unlocked_seat_shows_ab(self) -> None:
        table = three()
        act(table, 0, "lay", a="P2", b="P3")
        act(table, 2, "lay", a="B2", b="B3")
        assert brief(table.leave(1, now=400)) == [
            "left(seat=1, reason=left)",
            "laid(seat=0, a=P2, b=P3)",
            "laid(seat=2, a=B2, b=B3)",
            "phase_started(phase=c, deadline=30400)",
        ]
        assert listed(table, 0) == [f"pick B{rank}" for rank in (4, 5, 6, 7)]
        assert faces(table.row(1, viewer=1)["aside"]) == [None] * 7

    def test_a_locked_seat_does_not_show_ab(self) -> None:
        table = three()
        act(table, 0, "lay", a="P2", b="P3")
        assert table.leave(0) == ["left(seat=0, reason=left)"]
        assert [entry["locked"] for entry in table.view()["seats"]] == [True, False, False]
        assert sorted(GAME.actors(table.state)) == [1, 2]
        assert table.row(0, viewer=0)["hand"] == []

    def test_of_two_ends_the_round(self) -> None:
        table = Table.start(GAME, seats=(0, 1))
        events = table.leave(0, "timeouts")
        assert events[0] == "left(seat=0, reason=timeouts)"
        assert events[-1] == (
            "round_over(reason=last_seat, final=true, ranking=[[1]], shares={1:1}, scores={1:7}, carry=null)"
        )
        assert [event.split("(")[0] for event in events[1:-1]] == ["revealed", "revealed", "revealed"]
        assert "zone=aside" in events[1]

    def test_unpicked_in_c_the_weakest_card_is_picked_in_the_leavers_name(self) -> None:
        table = three_in_c()
        act(table, 0, "pick", card="Y3")
        assert table.leave(1) == ["left(seat=1, reason=left)"]
        assert refused(table, 0, "pick", card="B2") == "already_locked"
        assert [entry["locked"] for entry in table.view()["seats"]] == [True, True, False]
        assert sorted(GAME.actors(table.state)) == [2]
        assert act(table, 2, "pick", card="P4")[1:] == [
            "picked(seat=0, by=2, c=P4)",
            "picked(seat=2, by=1, c=B2)",
            "turn_started(seat=0, turn=1, deadline=20001)",
        ]
        assert row(table, 2) == "B7 B6 B2"

    def test_picked_in_c_the_leavers_choice_stands(self) -> None:
        table = three_in_c()
        act(table, 1, "pick", card="B5")
        act(table, 2, "pick", card="P5")
        assert brief(table.leave(1)) == [
            "left(seat=1, reason=left)",
            "picked(seat=0, by=2, c=P5)",
            "picked(seat=2, by=1, c=B5)",
            "turn_started(seat=0, turn=1, deadline=20001)",
        ]

    def test_a_seat_whose_target_left_need_not_pick(self) -> None:
        table = three_in_c()
        table.leave(1)
        assert listed(table, 0) == []
        assert refused(table, 0, "pick", card="Y2") == "already_locked"
        assert [entry["locked"] for entry in table.view()["seats"]] == [False, True, False]
        assert faces(table.row(1, viewer=0)["hand"]) == []
        assert faces(table.row(2, viewer=1)["hand"]) == [None] * 4
        assert brief(table.wake(30_001))[:3] == [
            "timed_out(seat=2, counts=false)",
            "locked(seat=2)",
            "picked(seat=0, by=2, c=P2)",
        ]

    def test_two_of_four_leaving_in_c(self) -> None:
        top = [f"{colour}{rank}#1" for rank in range(2, 8) for colour in "PYBK"]
        table = Table.start(GAME, " ".join(top), seats=(0, 1, 2, 3))
        table.wake(30_000)
        act(table, 0, "pick", now=30_001, card="Y3")
        assert table.leave(0, now=30_002) == ["left(seat=0, reason=left)"]
        assert table.leave(1, now=30_003) == ["left(seat=1, reason=left)"]
        assert sorted(GAME.actors(table.state)) == [2]
        assert act(table, 2, "pick", now=30_004, card="K5") == [
            "locked(seat=2)",
            "picked(seat=2, by=1, c=B2)",
            "picked(seat=3, by=2, c=K5)",
            "turn_started(seat=3, turn=1, deadline=50004)",
        ]
