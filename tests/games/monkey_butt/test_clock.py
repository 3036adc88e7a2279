"""The turn's clock.  Rules: docs/games/monkey_butt.md, section Clocks, B-31; docs/games/common.md, section 4."""

from __future__ import annotations

import pytest

from apps.games.monkey_butt import GAME
from tests.games.monkey_butt.positions import act, brief, hand, position, row, zone
from tests.games.staging import Scripted

LATE = 1_000_000
NEXT = "turn_started(seat=1, turn=6, deadline=1020000)"


def test_a_flip_is_made() -> None:
    table = position(hands={0: "", 1: "B2", 2: "B3"}, down={0: "P9"}, pile="P5")
    assert brief(table.wake(LATE)) == [
        "timed_out(seat=0, counts=true)",
        "flipped(seat=0, card=P9, playable=true)",
        "played(seat=0, zone=down, cards=[P9])",
        "went_out(seat=0, place=1)",
        NEXT,
    ]


def test_a_failed_flip_takes_the_pile() -> None:
    table = position(hands={0: "", 1: "B2"}, down={0: "P2"}, pile="P5")
    assert brief(table.wake(LATE))[1:] == [
        "flipped(seat=0, card=P2, playable=false)",
        "picked_up(seat=0, cards=[P5], added=null)",
        NEXT,
    ]


def test_a_flipped_super_special_is_wasted() -> None:
    table = position(hands={0: "", 1: "B2", 2: "B3"}, down={0: "XB"}, pile="P5")
    assert brief(table.wake(LATE))[1:] == [
        "flipped(seat=0, card=XB, playable=true)",
        "used(seat=0, zone=down, card=XB, target=null, effect=false)",
        "went_out(seat=0, place=1)",
        NEXT,
    ]
    assert zone(table, "pile") == "P5"


def test_the_pile_is_taken_even_with_a_playable_hand() -> None:
    table = position(hands={0: "P9", 1: "B2"}, pile="P5", deck="Y3")
    assert brief(table.wake(LATE)) == [
        "timed_out(seat=0, counts=true)",
        "picked_up(seat=0, cards=[P5], added=null)",
        NEXT,
    ]


def test_the_pile_is_taken_without_b_and_c_but_with_a() -> None:
    table = position(hands={0: "", 1: "B2"}, rows={0: "P2 P3 P4"}, pile="P5")
    assert brief(table.wake(LATE))[1] == "picked_up(seat=0, cards=[P5], added=null)"
    assert row(table, 0) == "P2 P3 P4"
    table = position(hands={0: "", 1: "B2"}, rows={0: "P2 - -"}, pile="P5")
    assert brief(table.wake(LATE))[1] == "picked_up(seat=0, cards=[P5], added=P2)"
    assert hand(table, 0) == "P5 P2"


@pytest.mark.parametrize(
    ("held", "played"),
    [
        ("PZ P9 Y9", "P9"),
        ("Y9 B12 P9", "P9"),
        ("B2 P1", "P1"),
        ("P8 P7", "P7"),
        ("PF PG YZ BZ", "YZ"),
        ("PF YG PG XT", "PG"),
        ("MF#2 MF#1 XT", "MF"),
        ("MF#1 BF XT", "BF"),
        ("XT P12", "P12"),
    ],
)
def test_on_an_empty_pile_the_lowest_number_then_zen_kong_pyro(held: str, played: str) -> None:
    table = position(hands={0: held, 1: "B3"})
    assert brief(table.wake(LATE))[1] == f"played(seat=0, zone=hand, cards=[{played}])"


def test_on_an_empty_pile_with_supers_alone_the_first_is_wasted() -> None:
    table = position(hands={0: "XB XT#2 XT", 1: "B2"}, deck="Y3")
    assert brief(table.wake(LATE)) == [
        "timed_out(seat=0, counts=true)",
        "used(seat=0, zone=hand, card=XT, target=null, effect=false)",
        "drew(seat=0, cards=[@0.17], cause=refill)",
        NEXT,
    ]
    table = position(hands={0: "", 1: "B2"}, rows={0: "P2 XC#2 XC"})
    assert brief(table.wake(LATE))[1] == "used(seat=0, zone=bc, card=XC, target=null, effect=false)"
    assert row(table, 0) == "P2 XC#2 -"


def test_on_an_empty_pile_open_cards_are_played_from_their_zone() -> None:
    table = position(hands={0: "", 1: "B2"}, rows={0: "P2 PZ Y12"})
    assert brief(table.wake(LATE))[1] == "played(seat=0, zone=bc, cards=[Y12])"
    table = position(hands={0: "", 1: "B2"}, rows={0: "XT - -"}, down={0: "P3"})
    assert brief(table.wake(LATE))[1] == "used(seat=0, zone=a, card=XT, target=null, effect=false)"


def test_a_burn_by_the_clock_gives_the_same_seat_the_turn() -> None:
    table = position(hands={0: "MF#2 XT", 1: "B2"})
    assert brief(table.wake(LATE))[1:] == [
        "played(seat=0, zone=hand, cards=[MF#2])",
        "burned(seat=0, count=1)",
        "turn_started(seat=0, turn=6, deadline=1020000)",
    ]


def test_the_opening_play_is_the_lowest_number() -> None:
    table = position(hands={0: "P9 P3 Y3", 1: "B4"}, lowest=3)
    assert brief(table.wake(LATE))[1] == "played(seat=0, zone=hand, cards=[P3])"
    assert table.view()["board"]["lowest"] is None


def test_in_phase_steal_the_first_card_in_canonical_order_is_taken() -> None:
    table = position(hands={0: "P2", 1: "B9 Y9 P12", 2: "B2"}, phase="steal", victim=1, acted=True, pile="Y2")
    assert brief(table.wake(LATE)) == [
        "timed_out(seat=0, counts=false)",
        "stole(seat=0, from=1, card=@0.11)",
        "played(seat=0, zone=stolen, cards=[P12])",
        NEXT,
    ]


def test_in_phase_steal_a_super_special_is_wasted() -> None:
    table = position(hands={0: "P2", 1: "XB XT", 2: "B2"}, phase="steal", victim=1, acted=True, deck="Y3")
    assert brief(table.wake(LATE))[1:] == [
        "stole(seat=0, from=1, card=@0.63)",
        "used(seat=0, zone=stolen, card=XT, target=null, effect=false)",
        "drew(seat=0, cards=[@0.17], cause=refill)",
        NEXT,
    ]
    assert zone(table, "removed").split()[-1] == "XT"


def test_in_phase_use_the_card_is_wasted() -> None:
    table = position(hands={0: "P2", 1: "", 2: "B2"}, phase="use", in_play=("XB", "stolen"), acted=True, pile="Y2")
    assert brief(table.wake(LATE)) == [
        "timed_out(seat=0, counts=false)",
        "used(seat=0, zone=stolen, card=XB, target=null, effect=false)",
        "went_out(seat=1, place=1)",
        "turn_started(seat=2, turn=6, deadline=1020000)",
    ]


def test_an_action_of_the_turn_makes_the_time_out_not_count() -> None:
    table = position(hands={0: "XT P2", 1: "B9 B8", 2: "B2"}, pile="P9")
    act(table, 0, "thief", now=5, card="XT", seat=1)
    assert GAME.wake_at(table.state) == 20_005
    assert table.wake(20_005)[0] == "timed_out(seat=0, counts=false)"
    assert table.wake(60_000)[0] == "timed_out(seat=1, counts=true)"


def test_without_connection_the_time_out_does_not_count() -> None:
    table = position(hands={0: "P2", 1: "B9"}, pile="P9", offline=[0])
    assert table.wake(LATE)[0] == "timed_out(seat=0, counts=false)"


def test_a_lost_connection_shortens_the_turn_and_a_fresh_clock_is_short_too() -> None:
    table = position(hands={0: "P2", 1: "B9"}, pile="P9", deadline=20_000)
    assert table.connection(1, False, 10) == ["connection_changed(seat=1, connected=false)"]
    assert table.connection(0, False, 10) == [
        "connection_changed(seat=0, connected=false)",
        "clock_changed(seat=0, deadline=5010)",
    ]
    assert table.connection(0, False, 11) == []
    assert table.connection(0, True, 12) == ["connection_changed(seat=0, connected=true)"]
    assert GAME.wake_at(table.state) == 5_010
    assert brief(table.wake(5_010))[-1] == "turn_started(seat=1, turn=6, deadline=10010)"


def test_nothing_happens_before_it_is_due() -> None:
    table = position(hands={0: "P2", 1: "B9"}, pile="P9")
    step = GAME.wake(table.state, LATE - 1, Scripted())
    assert (step.state, step.events) == (table.state, ())
