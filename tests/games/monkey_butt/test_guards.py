"""Guards in their order, one row each: the position fails this guard and, where possible, those after it.

Rules: docs/games/monkey_butt.md, section Actions; docs/games/common.md, section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from apps.games.contract import RuleError, Seat
from apps.games.monkey_butt import GAME
from tests.games.monkey_butt.positions import FAR, action, listed, position, refused
from tests.games.staging import Scripted, Table


def hand_turn(**changes: Any) -> Table:
    """Return seat 0's turn on a top B9 over the blocking P1."""
    given: dict[str, Any] = {
        "hands": {0: "P9 P10 Y3 Y12 K12 XT XB XC XD MF#1", 1: "B2 B3", 2: ""},
        "rows": {0: "P2 Y2 B12", 1: "P3 - -", 2: "- - P4"},
        "down": {0: "P5", 1: "P6", 2: "P7"},
        "pile": "P1 B9",
        "options": {"devil": True},
    }
    return position(**(given | changes))


def down_turn(**changes: Any) -> Table:
    given: dict[str, Any] = {"hands": {0: "", 1: "B2"}, "down": {0: "XB", 1: "P6"}, "pile": "P1"}
    return position(**(given | changes))


def use_turn(**changes: Any) -> Table:
    """Return seat 0's turn with a stolen Thief to use, a second one in hand."""
    return hand_turn(
        **(
            {
                "hands": {0: "XT#2 P9", 1: "B2", 2: ""},
                "phase": "use",
                "in_play": ("XT", "stolen"),
            }
            | changes
        )
    )


def steal_turn() -> Table:
    return hand_turn(phase="steal", victim=1)


def setup_turn() -> Table:
    return hand_turn(phase="ab", turn=0)


Row = tuple[Callable[[], Table], int, dict[str, Any], str]

PLAY: list[Row] = [
    (use_turn, 1, action("play", cards="P4"), "wrong_phase"),
    (steal_turn, 1, action("play", cards="P4"), "wrong_phase"),
    (setup_turn, 1, action("play", cards="P4"), "wrong_phase"),
    (hand_turn, 1, action("play", cards="P4"), "not_your_turn"),
    (down_turn, 0, action("play", cards="P4"), "must_flip"),
    (hand_turn, 0, action("play", cards="P9 Y2 XB"), "card_not_available"),
    (hand_turn, 0, action("play", cards="P2"), "card_not_available"),
    (hand_turn, 0, action("play", cards="P9 XT"), "super_special"),
    (lambda: hand_turn(lowest=3, pile=""), 0, action("play", cards="P9 P10"), "mixed_ranks"),
    (lambda: hand_turn(lowest=3), 0, action("play", cards="P9"), "must_open_low"),
    (hand_turn, 0, action("play", cards="P9"), "colour_blocked"),
    (lambda: hand_turn(hands={0: "P6 Y6", 1: "", 2: ""}, down={}), 0, action("play", cards="P6 Y6"), "colour_blocked"),
    (hand_turn, 0, action("play", cards="Y3"), "not_playable"),
]

SUPER: list[Row] = [
    (steal_turn, 1, action("thief", card="XB", seat=0), "wrong_phase"),
    (setup_turn, 1, action("thief", card="XB", seat=0), "wrong_phase"),
    (hand_turn, 1, action("thief", card="XB", seat=0), "not_your_turn"),
    (use_turn, 1, action("thief", card="XB", seat=0), "not_your_turn"),
    (down_turn, 0, action("thief", card="XB", seat=0), "must_flip"),
    (hand_turn, 0, action("thief", card="B2", seat=0), "card_not_available"),
    (use_turn, 0, action("thief", card="XT#2", seat=0), "card_not_available"),
    (lambda: hand_turn(lowest=3), 0, action("thief", card="XB", seat=0), "wrong_card"),
    (use_turn, 0, action("butt", card="XT", seat=0), "wrong_card"),
    (hand_turn, 0, action("devil", card="XT"), "wrong_card"),
    (hand_turn, 0, action("cheeky", card="P9", first=None, second=None), "wrong_card"),
    (lambda: hand_turn(lowest=3, pile=""), 0, action("thief", card="XT", seat=0), "must_open_low"),
    (lambda: hand_turn(lowest=3, pile=""), 0, action("cheeky", card="XC", first=None, second=None), "must_open_low"),
    (lambda: hand_turn(lowest=3, pile=""), 0, action("devil", card="XD"), "must_open_low"),
]

TARGETS: list[Row] = [
    (hand_turn, 0, action("thief", card="XT", seat=0), "bad_target"),
    (hand_turn, 0, action("thief", card="XT", seat=2), "bad_target"),
    (hand_turn, 0, action("thief", card="XT", seat=None), "bad_target"),
    (lambda: hand_turn(aside={1: ""}), 0, action("thief", card="XT", seat=1), "bad_target"),
    (lambda: hand_turn(hands={0: "XT", 1: "", 2: ""}), 0, action("thief", card="XT", seat=1), "bad_target"),
    (lambda: hand_turn(aside={1: ""}), 0, action("butt", card="XB", seat=1), "bad_target"),
    (lambda: hand_turn(rows={}, down={}, out=[2]), 0, action("butt", card="XB", seat=2), "bad_target"),
    (hand_turn, 0, action("cheeky", card="XC", first=None, second=None), "bad_target"),
    (hand_turn, 0, action("cheeky", card="XC", first="0A", second="0B"), "bad_target"),
    (hand_turn, 0, action("cheeky", card="XC", first="1A", second="0B"), "bad_target"),
    (hand_turn, 0, action("cheeky", card="XC", first="0A", second="1B"), "bad_target"),
    (hand_turn, 0, action("cheeky", card="XC", first="1B", second="2C"), "bad_target"),
    (lambda: hand_turn(aside={2: ""}), 0, action("cheeky", card="XC", first="0A", second="2C"), "bad_target"),
    (lambda: hand_turn(rows={0: "P2 - -"}), 0, action("cheeky", card="XC", first="0A", second="1A"), "bad_target"),
    (
        lambda: hand_turn(hands={0: "", 1: "", 2: ""}, rows={0: "P2 XC -", 1: "P3 - -"}),
        0,
        action("cheeky", card="XC", first="0B", second="1A"),
        "bad_target",
    ),
]

CHOOSE: list[Row] = [
    (hand_turn, 1, action("choose", card="P9"), "wrong_phase"),
    (use_turn, 1, action("choose", card="P9"), "wrong_phase"),
    (steal_turn, 1, action("choose", card="P9"), "not_your_turn"),
    (steal_turn, 0, action("choose", card="P9"), "card_not_shown"),
    (steal_turn, 0, action("choose", card="P3"), "card_not_shown"),
]

PICK_UP: list[Row] = [
    (use_turn, 1, action("pick_up", add="C"), "wrong_phase"),
    (steal_turn, 1, action("pick_up", add=None), "wrong_phase"),
    (lambda: hand_turn(pile=""), 1, action("pick_up", add="C"), "not_your_turn"),
    (lambda: down_turn(pile=""), 0, action("pick_up", add="C"), "must_flip"),
    (lambda: hand_turn(pile=""), 0, action("pick_up", add="C"), "pile_empty"),
    (hand_turn, 0, action("pick_up", add="A"), "bad_add"),
    (hand_turn, 0, action("pick_up", add="B"), "bad_add"),
    (lambda: hand_turn(hands={0: "", 1: "", 2: ""}), 0, action("pick_up", add="A"), "bad_add"),
    (
        lambda: hand_turn(hands={0: "", 1: "", 2: ""}, rows={0: "P2 - B12"}),
        0,
        action("pick_up", add="B"),
        "bad_add",
    ),
    (
        lambda: hand_turn(hands={0: "", 1: "", 2: ""}, rows={0: "P2 Y2 -"}),
        0,
        action("pick_up", add="C"),
        "bad_add",
    ),
    (lambda: hand_turn(hands={0: "", 1: "", 2: ""}, rows={0: "P2 - -"}), 0, action("pick_up", add=None), "bad_add"),
    (lambda: hand_turn(hands={0: "", 1: "", 2: ""}, rows={0: "P2 - -"}), 0, action("pick_up", add="B"), "bad_add"),
]

FLIP: list[Row] = [
    (use_turn, 1, action("flip"), "wrong_phase"),
    (steal_turn, 0, action("flip"), "wrong_phase"),
    (hand_turn, 1, action("flip"), "not_your_turn"),
    (hand_turn, 0, action("flip"), "cannot_flip"),
    (lambda: hand_turn(hands={0: "", 1: "", 2: ""}), 0, action("flip"), "cannot_flip"),
    (lambda: hand_turn(hands={0: "", 1: "", 2: ""}, rows={0: "P2 - -"}), 0, action("flip"), "cannot_flip"),
]

SETUP: list[Row] = [
    (hand_turn, 0, action("lay", a="B2", b="B2"), "wrong_phase"),
    (hand_turn, 0, action("pick", card="P9"), "wrong_phase"),
]


@pytest.mark.parametrize(("make", "seat", "given", "code"), [*PLAY, *SUPER, *TARGETS, *CHOOSE, *PICK_UP, *FLIP, *SETUP])
def test_an_action_is_refused_by_its_first_guard(
    make: Callable[[], Table], seat: int, given: dict[str, Any], code: str
) -> None:
    table = make()
    assert table.refused(seat, given) == code
    assert given not in table.legal(seat)


MALFORMED: list[Any] = [
    None,
    [],
    "flip",
    {},
    {"type": 1},
    {"type": "draw"},
    {"type": "flip", "x": 1},
    {"type": "lay", "a": "P1#1"},
    {"type": "lay", "a": "P1#1", "b": None},
    {"type": "pick"},
    {"type": "pick", "card": "O1#1"},
    {"type": "choose", "card": "P1"},
    {"type": "play"},
    {"type": "play", "cards": []},
    {"type": "play", "cards": "P9#1"},
    {"type": "play", "cards": ["P9#1", "P9#1"]},
    {"type": "play", "cards": ["MF#1", "Y9#1"]},
    {"type": "play", "cards": [9]},
    {"type": "thief", "card": "XT#1"},
    {"type": "thief", "card": "XT#3", "seat": 1},
    {"type": "thief", "card": "XT#1", "seat": True},
    {"type": "thief", "card": "XT#1", "seat": 3},
    {"type": "thief", "card": "XT#1", "seat": "1"},
    {"type": "butt", "card": "XB#1", "seat": None},
    {"type": "devil", "card": "XD#1", "seat": 1},
    {"type": "cheeky", "card": "XC#1", "first": None, "second": {"seat": 1, "place": "A"}},
    {"type": "cheeky", "card": "XC#1", "first": {"seat": 0, "place": "A"}, "second": None},
    {"type": "cheeky", "card": "XC#1", "first": None},
    {"type": "cheeky", "card": "XC#1", "first": {"seat": 0, "place": "D"}, "second": {"seat": 1, "place": "A"}},
    {"type": "cheeky", "card": "XC#1", "first": {"seat": 0, "place": None}, "second": {"seat": 1, "place": "A"}},
    {"type": "cheeky", "card": "XC#1", "first": {"seat": 0}, "second": {"seat": 1, "place": "A"}},
    {"type": "cheeky", "card": "XC#1", "first": {"seat": 0, "place": "A", "x": 1}, "second": {"seat": 1, "place": "A"}},
    {"type": "cheeky", "card": "XC#1", "first": {"seat": False, "place": "A"}, "second": {"seat": 1, "place": "A"}},
    {"type": "cheeky", "card": "XC#1", "first": {"seat": 5, "place": "A"}, "second": {"seat": 1, "place": "A"}},
    {"type": "cheeky", "card": "XC#1", "first": ["0", "A"], "second": {"seat": 1, "place": "A"}},
    {"type": "pick_up"},
    {"type": "pick_up", "add": "D"},
    {"type": "pick_up", "add": False},
]


@pytest.mark.parametrize("given", MALFORMED)
def test_a_malformed_action_is_refused_before_phase_and_turn(given: Any) -> None:
    assert hand_turn().refused(1, given) == "bad_action"
    assert setup_turn().refused(1, given) == "bad_action"


def test_the_devil_is_no_card_without_the_option() -> None:
    table = position(hands={0: "XT", 1: "P2"})
    assert table.refused(0, {"type": "devil", "card": "XD#1"}) == "bad_action"


def test_the_common_guards_come_first_and_in_order() -> None:
    table = hand_turn(offline=[0], deadline=50, aside={2: ""})
    assert table.refused(0, None, now=50) == "clock_due"
    assert table.refused(2, None, now=49) == "not_in_round"
    assert table.refused(7, None, now=49) == "not_in_round"
    assert table.refused(0, None, now=49) == "disconnected"
    assert listed(table, 0, now=49) == []
    assert refused(hand_turn(out=[2], rows={}, down={}), 2, "flip") == "not_in_round"
    assert listed(hand_turn(), 0, now=FAR) == []
    assert listed(hand_turn(), 1) == []


def test_leave_and_connection_are_refused_in_order() -> None:
    table = hand_turn(deadline=50, aside={2: ""})

    def leave(seat: int, reason: str, now: int) -> str:
        with pytest.raises(RuleError) as refusal:
            GAME.leave(table.state, Seat(seat), reason, now, Scripted())
        return refusal.value.code

    def connection(seat: int, now: int) -> str:
        with pytest.raises(RuleError) as refusal:
            GAME.connection(table.state, Seat(seat), False, now)
        return refusal.value.code

    assert leave(2, "bored", 50) == "clock_due"
    assert leave(2, "bored", 49) == "not_in_round"
    assert leave(0, "bored", 49) == "bad_reason"
    assert connection(2, 50) == "clock_due"
    assert connection(2, 49) == "not_in_round"
    safe = hand_turn(out=[2], rows={}, down={}, hands={0: "P9", 1: "B2", 2: ""})
    with pytest.raises(RuleError) as refusal:
        safe.leave(2)
    assert refusal.value.code == "not_in_round"
    with pytest.raises(RuleError) as refusal:
        safe.connection(2, False)
    assert refusal.value.code == "not_in_round"
