"""Leaving and the end.  Rules: docs/games/monkey_butt.md, B-27 to B-30, B-36 to B-38, section Outcome."""

from __future__ import annotations

from typing import Any

from apps.games.monkey_butt import GAME
from tests.games.monkey_butt.positions import act, brief, hand, listed, position, zone
from tests.games.staging import Scripted, Table, faces


def outcome(table: Table) -> dict[str, Any]:
    result: dict[str, Any] = table.view()["outcome"]
    return result


class TestGoingOut:
    def test_everybody_else_is_safe_when_one_seat_is_active(self) -> None:
        table = position(hands={0: "P9", 1: "B2", 2: ""}, out=[2], rows={1: "B4 B3 -"}, down={1: "B5"}, pile="P2")
        assert act(table, 0, "play", cards="P9") == [
            "played(seat=0, zone=hand, cards=[P9])",
            "went_out(seat=0, place=2)",
            "revealed(seat=1, zone=hand, cards=[B2])",
            "revealed(seat=1, zone=down, cards=[B5])",
            "round_over(reason=butt, final=true, ranking=[[2], [0], [1]], shares={0:1, 2:1}, "
            "scores={0:0, 1:4, 2:0}, carry=null)",
        ]
        view = table.view(0)
        assert (view["phase"], view["turn"], view["deadline"], view["actors"]) == ("over", None, None, [])
        assert [entry["status"] for entry in view["seats"]] == ["out", "active", "out"]
        assert faces(table.row(1, viewer=0)["hand"]) == ["B2#1"]
        assert table.row(1, viewer=None)["down"] == {"gen": 0, "pos": 34, "card": "B5#1"}
        assert GAME.wake_at(table.state) is None
        assert GAME.actors(table.state) == frozenset()
        assert listed(table, 1) == []
        assert table.refused(1, {"type": "flip"}) == "round_over"

    def test_a_seat_with_an_open_or_face_down_card_is_not_out(self) -> None:
        for rows, down in (({0: "P3 - -"}, {}), ({0: "- P3 -"}, {}), ({0: "- - P3"}, {}), ({}, {0: "P3"})):
            table = position(hands={0: "P9", 1: "B2"}, rows=rows, down=down, pile="P2")
            assert act(table, 0, "play", cards="P9")[1:] == ["turn_started(seat=1, turn=6, deadline=20001)"]


class TestCap:
    def test_the_most_cards_are_the_monkey_butts(self) -> None:
        table = position(
            hands={0: "P9 P8", 1: "B2 B3", 2: "", 3: "Y2", 4: ""},
            rows={1: "B4 - -", 3: "- Y3 Y4"},
            out=[4],
            aside={2: "P2 P3 P4 P5"},
            turn=600,
        )
        assert act(table, 0, "play", cards="P9")[-1] == (
            "round_over(reason=cap, final=true, ranking=[[4], [0], [1, 3]], shares={0:1, 4:1}, "
            "scores={0:1, 1:3, 3:3, 4:0}, carry=null)"
        )

    def test_the_last_turn_is_number_600(self) -> None:
        table = position(hands={0: "P9 P8", 1: "B2 B3"}, turn=599)
        assert act(table, 0, "play", cards="P8")[-1] == "turn_started(seat=1, turn=600, deadline=20001)"
        assert act(table, 1, "pick_up", add=None)[-1].startswith("round_over(reason=cap")

    def test_equal_counts_and_nobody_out_share(self) -> None:
        table = position(hands={0: "P9 P8", 1: "B3", 2: ""}, down={2: "K2"}, pile="P2", turn=600)
        act(table, 0, "play", cards="P9")
        assert outcome(table) == {
            "final": True,
            "reason": "cap",
            "ranking": [[0, 1, 2]],
            "shares": {"0": 1, "1": 1, "2": 1},
            "scores": {"0": 1, "1": 1, "2": 1},
            "carry": None,
        }

    def test_others_rank_by_cards_with_equal_ones_in_a_group(self) -> None:
        table = position(
            hands={0: "P9 P8", 1: "B2 B3 B4", 2: "Y2", 3: "K2 K3"}, rows={0: "P3 - -"}, pile="P2", turn=600
        )
        act(table, 0, "pick_up", add=None)
        assert outcome(table)["ranking"] == [[2], [3], [1], [0]]
        table = position(hands={0: "P9 P8", 1: "B2 B3 B4", 2: "Y2", 3: "K2"}, down={0: "P3"}, pile="P2", turn=600)
        act(table, 0, "pick_up", add=None)
        assert outcome(table)["ranking"] == [[2, 3], [1], [0]]
        assert outcome(table)["scores"] == {"0": 4, "1": 3, "2": 1, "3": 1}
        assert outcome(table)["shares"] == {"1": 1, "2": 1, "3": 1}


class TestLeaving:
    def test_all_cards_are_set_aside_in_order(self) -> None:
        table = position(
            hands={0: "P9 P8", 1: "B2", 2: "B3"},
            rows={0: "P2 P3 P4"},
            down={0: "P5"},
            phase="use",
            in_play=("XB", "stolen"),
            pile="Y9",
        )
        assert brief(table.leave(0)) == [
            "left(seat=0, reason=left)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]
        cards = table.state.deal.cards.texts(table.state.aside[table.state.deal.seats[0]])
        assert cards == ("P9#1", "P8#1", "P2#1", "P3#1", "P4#1", "P5#1", "XB#1")
        assert faces(table.row(0, viewer=0)["aside"]) == [None] * 7
        entry = table.row(0, viewer=0)
        assert (entry["hand"], entry["a"], entry["b"], entry["c"], entry["down"]) == ([], None, None, None, None)
        assert (entry["status"], table.view()["board"]["in_play"]) == ("left", None)
        assert zone(table, "pile") == "Y9"

    def test_in_the_own_turn_the_next_seat_goes_on_the_pile_as_it_lies(self) -> None:
        table = position(hands={0: "P9", 1: "B2 B12", 2: "B3"}, pile="Y9")
        table.leave(0)
        assert listed(table, 1) == ["play B12", "pick_up null"]

    def test_the_opener_leaves_and_the_next_plays_anything(self) -> None:
        table = position(hands={0: "P3", 1: "B9 XT", 2: "B4"}, lowest=3, turn=1)
        assert table.view()["board"]["lowest"] == "3"
        assert table.leave(0)[1] == "turn_started(seat=1, turn=2, deadline=20001)"
        assert table.view()["board"]["lowest"] is None
        assert listed(table, 1) == ["play B9", "thief XT 2"]

    def test_another_seat_leaves_and_the_opener_is_still_bound(self) -> None:
        table = position(hands={0: "P3 P9", 1: "B9", 2: "B4"}, lowest=3, turn=1)
        assert table.leave(1, "connection") == ["left(seat=1, reason=connection)"]
        assert listed(table, 0) == ["play P3"]

    def test_the_last_seat_wins_when_nobody_is_out(self) -> None:
        table = position(hands={0: "P9", 1: "B2"}, phase="use", in_play=("XB", "stolen"), pile="Y9")
        assert brief(table.leave(1)) == [
            "left(seat=1, reason=left)",
            "revealed(seat=0, zone=hand, cards=[P9])",
            "revealed(seat=1, zone=aside, cards=[B2])",
            "round_over(reason=last_seat, final=true, ranking=[[0]], shares={0:1}, scores={0:1}, carry=null)",
        ]
        assert table.view(1)["board"]["in_play"] == {"gen": 0, "pos": 50, "card": "XB#1"}
        assert table.view(1)["board"]["lowest"] is None

    def test_the_last_seat_is_the_monkey_butt_when_somebody_is_safe(self) -> None:
        table = position(hands={0: "", 1: "B2", 2: "B3"}, out=[0], seat=1, pile="Y9")
        assert brief(table.leave(2))[-1] == (
            "round_over(reason=butt, final=true, ranking=[[0], [1]], shares={0:1}, scores={0:0, 1:1}, carry=null)"
        )
        table = position(hands={0: "", 1: "B2", 2: "B3"}, out=[0], seat=1, lowest=2)
        table.leave(1)
        assert outcome(table)["ranking"] == [[0], [2]]
        assert table.view()["board"]["lowest"] is None

    def test_a_robbed_seat_without_cards_goes_out_when_the_turn_would_be_its(self) -> None:
        table = position(hands={0: "P2", 1: "", 2: "B3", 3: "B4"}, phase="use", in_play=("XB", "stolen"), pile="Y9")
        assert brief(table.leave(0)) == [
            "left(seat=0, reason=left)",
            "went_out(seat=1, place=1)",
            "turn_started(seat=2, turn=6, deadline=20001)",
        ]
        table = position(hands={0: "P2", 1: "", 2: "B3"}, phase="use", in_play=("XB", "stolen"), pile="Y9")
        assert brief(table.leave(0))[1:] == [
            "went_out(seat=1, place=1)",
            "revealed(seat=0, zone=aside, cards=[P2, XB])",
            "revealed(seat=2, zone=hand, cards=[B3])",
            "round_over(reason=butt, final=true, ranking=[[1], [2]], shares={1:1}, scores={1:0, 2:1}, carry=null)",
        ]

    def test_a_robbed_seat_without_cards_that_is_not_next_goes_out_after_the_next_play(self) -> None:
        table = position(hands={0: "P2", 1: "B12 B3", 2: "", 3: "B4"}, phase="use", in_play=("XB", "stolen"))
        assert brief(table.leave(0))[1:] == ["turn_started(seat=1, turn=6, deadline=20001)"]
        assert act(table, 1, "play", cards="B12")[1:] == [
            "went_out(seat=2, place=1)",
            "turn_started(seat=3, turn=7, deadline=20001)",
        ]

    def test_a_robbed_seat_without_cards_at_the_cap_stays_active(self) -> None:
        table = position(hands={0: "P2", 1: "", 2: "B3"}, phase="use", in_play=("XB", "stolen"), pile="Y9", turn=600)
        table.leave(0)
        assert (outcome(table)["reason"], outcome(table)["ranking"]) == ("cap", [[1], [2]])
        assert [entry["status"] for entry in table.view()["seats"]] == ["left", "active", "active"]


def test_victim_and_lowest_are_null_once_the_round_is_over() -> None:
    table = position(hands={0: "P2", 1: "B2"}, phase="steal", victim=1, pile="Y9")
    table.leave(1)
    assert (table.view(0)["board"]["victim"], table.view(0)["board"]["zone"]) == (None, None)
    table = position(hands={0: "P2", 1: "B2"}, lowest=2)
    table.leave(1)
    assert table.view(0)["board"]["lowest"] is None
    assert hand(table, 0) == "P2"


def test_locks_are_not_shown_once_the_round_is_over() -> None:
    table = Table.start(GAME, seats=(0, 1))
    table.wake(30_000)
    first = table.legal(0, 30_001)[0]
    table.act(0, first, 30_001)
    table.leave(1, now=30_002)
    assert [entry["locked"] for entry in table.view()["seats"]] == [False, False]
    assert table.view()["phase"] == "over"
    assert GAME.wake(table.state, 10**9, Scripted()).events == ()
