"""Super specials.  Rules: docs/games/monkey_butt.md, B-20 to B-26."""

from __future__ import annotations

from typing import Any, ClassVar

from apps.games.contract import RuleError
from tests.games.monkey_butt.positions import act, brief, hand, listed, position, refused, row, zone
from tests.games.staging import Table, faces


class TestThief:
    def test_opens_the_victims_hand_to_the_thief_alone(self) -> None:
        table = position(hands={0: "XT P2", 1: "B2 B9", 2: "Y2"}, pile="P9")
        assert act(table, 0, "thief", now=10, card="XT", seat=1) == [
            "used(seat=0, zone=hand, card=XT, target=1, effect=true)",
            "clock_changed(seat=0, deadline=20010)",
        ]
        view = table.view(0)
        assert (view["phase"], view["board"]["victim"], view["board"]["zone"]) == ("steal", 1, None)
        assert view["turn"] == {"number": 5, "seat": 0}
        assert view["actors"] == [0]
        assert faces(table.row(1, viewer=0)["hand"]) == ["B2#1", "B9#1"]
        assert faces(table.row(1, viewer=2)["hand"]) == [None, None]
        assert faces(table.row(2, viewer=0)["hand"]) == [None]
        assert faces(table.row(0, viewer=1)["hand"]) == [None]
        assert faces(view["board"]["removed"])[-1] == "XT#1"
        assert listed(table, 0) == ["choose B2", "choose B9"]
        assert listed(table, 1) == []

    def test_a_playable_card_is_played_by_the_thief(self) -> None:
        table = position(hands={0: "XT P2", 1: "B2 B9", 2: "Y2"}, pile="P9", deck="Y3 Y4 Y5")
        act(table, 0, "thief", card="XT", seat=1)
        assert act(table, 0, "choose", card="B9") == [
            "stole(seat=0, from=1, card=@0.38)",
            "played(seat=0, zone=stolen, cards=[B9])",
            "drew(seat=0, cards=[@0.17, @0.18], cause=refill)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]
        assert (hand(table, 1), zone(table, "pile")) == ("B2", "P9 B9")
        assert table.view()["board"]["victim"] is None

    def test_a_stolen_card_may_burn(self) -> None:
        table = position(hands={0: "XT P2", 1: "BF B9"}, pile="P9")
        act(table, 0, "thief", card="XT", seat=1)
        assert act(table, 0, "choose", card="BF")[2:] == [
            "burned(seat=0, count=2)",
            "turn_started(seat=0, turn=6, deadline=20001)",
        ]

    def test_the_victims_last_card_sends_it_out(self) -> None:
        table = position(hands={0: "XT P2", 1: "B9", 2: "Y2"}, pile="P9")
        act(table, 0, "thief", card="XT", seat=1)
        assert act(table, 0, "choose", card="B9") == [
            "stole(seat=0, from=1, card=@0.38)",
            "played(seat=0, zone=stolen, cards=[B9])",
            "went_out(seat=1, place=1)",
            "turn_started(seat=2, turn=6, deadline=20001)",
        ]

    def test_the_acting_seat_goes_out_first(self) -> None:
        table = position(hands={0: "XT", 1: "B9"}, pile="P9")
        act(table, 0, "thief", card="XT", seat=1)
        assert act(table, 0, "choose", card="B9")[2:] == [
            "went_out(seat=0, place=1)",
            "round_over(reason=butt, final=true, ranking=[[0], [1]], shares={0:1}, scores={0:0, 1:0}, carry=null)",
        ]

    def test_thief_and_victim_may_both_go_out(self) -> None:
        table = position(hands={0: "B9", 1: "Y2", 2: "XT"}, seat=2, pile="P9")
        act(table, 2, "thief", card="XT", seat=0)
        assert act(table, 2, "choose", card="B9")[2:] == [
            "went_out(seat=2, place=1)",
            "went_out(seat=0, place=2)",
            "revealed(seat=1, zone=hand, cards=[Y2])",
            "round_over(reason=butt, final=true, ranking=[[2], [0], [1]], shares={0:1, 2:1}, "
            "scores={0:0, 1:1, 2:0}, carry=null)",
        ]

    def test_a_card_that_is_not_playable_is_kept_with_the_pile(self) -> None:
        table = position(hands={0: "XT P2", 1: "B9 B2 Y9", 2: "Y2"}, pile="P9 P12")
        act(table, 0, "thief", card="XT", seat=1)
        assert act(table, 0, "choose", card="B2") == [
            "stole(seat=0, from=1, card=@0.31)",
            "picked_up(seat=0, cards=[P9, P12], added=null)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]
        assert (hand(table, 0), hand(table, 1)) == ("P2 B2 P9 P12", "B9 Y9")

    def test_a_card_that_is_not_playable_refills_the_thief(self) -> None:
        table = position(hands={0: "XT", 1: "B9 B2 Y9", 2: "Y2"}, pile="P12", deck="Y3 Y4")
        act(table, 0, "thief", card="XT", seat=1)
        assert act(table, 0, "choose", card="B2")[2:] == [
            "drew(seat=0, cards=[@0.17], cause=refill)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]

    def test_a_blocked_card_is_kept(self) -> None:
        table = position(hands={0: "XT P2", 1: "B9 B2"}, pile="B1")
        act(table, 0, "thief", card="XT", seat=1)
        assert act(table, 0, "choose", card="B9")[1] == "picked_up(seat=0, cards=[B1], added=null)"

    def test_a_stolen_super_special_is_used_at_once(self) -> None:
        table = position(hands={0: "XT P2", 1: "XB B2", 2: "Y2"}, pile="P12")
        act(table, 0, "thief", card="XT", seat=1)
        assert act(table, 0, "choose", now=40, card="XB") == [
            "stole(seat=0, from=1, card=@0.65)",
            "clock_changed(seat=0, deadline=20040)",
        ]
        view = table.view(0)
        assert (view["phase"], view["board"]["victim"]) == ("use", None)
        assert view["board"]["in_play"] == {"gen": 0, "pos": 65, "card": "XB#1"}
        assert table.view(1)["board"]["in_play"] == {"gen": 0, "pos": 65}
        assert table.view()["board"]["in_play"] == {"gen": 0, "pos": 65}
        assert listed(table, 0) == ["butt XB 0", "butt XB 1", "butt XB 2"]
        assert refused(table, 0, "pick_up", add=None) == "wrong_phase"
        assert act(table, 0, "butt", card="XB", seat=2) == [
            "used(seat=0, zone=stolen, card=XB, target=2, effect=true)",
            "picked_up(seat=2, cards=[P12], added=null)",
            "turn_started(seat=2, turn=6, deadline=20001)",
        ]
        assert (table.state.in_play, table.state.in_play_zone) == (None, "")

    def test_a_stolen_thief_robs_again(self) -> None:
        table = position(hands={0: "XT P2", 1: "XT#2", 2: "Y2"}, pile="P12")
        act(table, 0, "thief", card="XT", seat=1)
        act(table, 0, "choose", card="XT#2")
        assert listed(table, 0) == ["thief XT#2 2"]
        act(table, 0, "thief", card="XT#2", seat=2)
        assert act(table, 0, "choose", card="Y2")[1:] == [
            "picked_up(seat=0, cards=[P12], added=null)",
            "went_out(seat=1, place=1)",
            "went_out(seat=2, place=2)",
            "revealed(seat=0, zone=hand, cards=[P2, Y2, P12])",
            "round_over(reason=butt, final=true, ranking=[[1], [2], [0]], shares={1:1, 2:1}, "
            "scores={0:3, 1:0, 2:0}, carry=null)",
        ]

    def test_a_robbed_victim_that_gets_the_pile_is_not_out(self) -> None:
        table = position(hands={0: "XT P2", 1: "XB", 2: "Y2"}, pile="P12")
        act(table, 0, "thief", card="XT", seat=1)
        act(table, 0, "choose", card="XB")
        assert act(table, 0, "butt", card="XB", seat=1)[1:] == [
            "picked_up(seat=1, cards=[P12], added=null)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]

    def test_without_a_hand_to_rob_there_is_no_effect(self) -> None:
        table = position(hands={0: "XT P2", 1: "", 2: ""}, down={1: "B2", 2: "B3"}, pile="P9")
        assert listed(table, 0) == ["thief XT null", "pick_up null"]
        assert refused(table, 0, "thief", card="XT", seat=1) == "bad_target"
        assert act(table, 0, "thief", card="XT", seat=None) == [
            "used(seat=0, zone=hand, card=XT, target=null, effect=false)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]
        assert zone(table, "pile") == "P9"

    def test_counts_no_hand_of_a_seat_that_left(self) -> None:
        table = position(hands={0: "XT P2", 1: "", 2: "B3"}, aside={1: "B2"})
        assert listed(table, 0)[-1] == "thief XT 2"

    def test_the_victim_leaves(self) -> None:
        table = position(hands={0: "XT P2", 1: "B9", 2: "Y2"}, pile="P9", deck="Y3")
        act(table, 0, "thief", card="XT", seat=1)
        assert brief(table.leave(1)) == [
            "left(seat=1, reason=left)",
            "drew(seat=0, cards=[@0.17], cause=refill)",
            "turn_started(seat=2, turn=6, deadline=20001)",
        ]
        assert table.view(0)["board"]["victim"] is None
        assert faces(table.row(1, viewer=0)["aside"]) == [None]

    def test_the_victim_of_a_thief_without_cards_leaves(self) -> None:
        table = position(hands={0: "XT", 1: "B9", 2: "Y2", 3: "Y3"}, pile="P9")
        act(table, 0, "thief", card="XT", seat=1)
        assert brief(table.leave(1))[1:] == [
            "went_out(seat=0, place=1)",
            "turn_started(seat=2, turn=6, deadline=20001)",
        ]

    def test_another_seat_leaves(self) -> None:
        table = position(hands={0: "XT P2", 1: "B9", 2: "Y2"}, pile="P9")
        act(table, 0, "thief", card="XT", seat=1)
        assert table.leave(2) == ["left(seat=2, reason=left)"]
        assert table.view()["phase"] == "steal"

    def test_the_thief_leaves(self) -> None:
        table = position(hands={0: "XT P2", 1: "B9", 2: "Y2"}, pile="P9")
        act(table, 0, "thief", card="XT", seat=1)
        assert table.leave(0)[1:] == ["turn_started(seat=1, turn=6, deadline=20001)"]
        view = table.view(0)
        assert (view["phase"], view["board"]["victim"]) == ("play", None)
        assert faces(table.row(1, viewer=0)["hand"]) == [None]


class TestButt:
    def test_the_target_takes_the_pile_and_the_next_turn(self) -> None:
        table = position(hands={0: "XB P2", 1: "B9", 2: "Y2"}, pile="P9 Y9", deck="Y3 Y4 Y5")
        assert act(table, 0, "butt", card="XB", seat=2) == [
            "used(seat=0, zone=hand, card=XB, target=2, effect=true)",
            "picked_up(seat=2, cards=[P9, Y9], added=null)",
            "drew(seat=0, cards=[@0.17, @0.18], cause=refill)",
            "turn_started(seat=2, turn=6, deadline=20001)",
        ]
        assert hand(table, 2) == "Y2 P9 Y9"

    def test_an_empty_pile_makes_no_event(self) -> None:
        table = position(hands={0: "XB P2", 1: "B9", 2: "Y2"})
        assert act(table, 0, "butt", card="XB", seat=2) == [
            "used(seat=0, zone=hand, card=XB, target=2, effect=true)",
            "turn_started(seat=2, turn=6, deadline=20001)",
        ]

    def test_on_itself_the_seat_goes_on(self) -> None:
        table = position(hands={0: "XB", 1: "B9"}, pile="P9 Y9")
        assert act(table, 0, "butt", card="XB", seat=0)[1:] == [
            "picked_up(seat=0, cards=[P9, Y9], added=null)",
            "turn_started(seat=0, turn=6, deadline=20001)",
        ]

    def test_on_itself_without_pile_as_last_card_the_next_seat_opens(self) -> None:
        table = position(hands={0: "XB", 1: "B9", 2: "Y2"})
        assert act(table, 0, "butt", card="XB", seat=0)[1:] == [
            "went_out(seat=0, place=1)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]

    def test_turned_up_last_and_used_on_the_other(self) -> None:
        table = position(hands={0: "", 1: "B9"}, down={0: "XB"}, pile="P9")
        assert act(table, 0, "flip", now=30) == [
            "flipped(seat=0, card=XB, playable=true)",
            "clock_changed(seat=0, deadline=20030)",
        ]
        assert table.view()["board"]["in_play"] == {"gen": 0, "pos": 50, "card": "XB#1"}
        assert table.row(0)["down"] is None
        assert act(table, 0, "butt", card="XB", seat=1) == [
            "used(seat=0, zone=down, card=XB, target=1, effect=true)",
            "picked_up(seat=1, cards=[P9], added=null)",
            "went_out(seat=0, place=1)",
            "revealed(seat=1, zone=hand, cards=[B9, P9])",
            "round_over(reason=butt, final=true, ranking=[[0], [1]], shares={0:1}, scores={0:0, 1:2}, carry=null)",
        ]

    def test_turned_up_last_and_used_on_itself(self) -> None:
        table = position(hands={0: "", 1: "B9"}, down={0: "XB"}, pile="P9")
        act(table, 0, "flip")
        assert act(table, 0, "butt", card="XB", seat=0)[1:] == [
            "picked_up(seat=0, cards=[P9], added=null)",
            "turn_started(seat=0, turn=6, deadline=20001)",
        ]

    def test_a_used_card_does_not_break_a_run(self) -> None:
        table = position(hands={0: "XB P2", 1: "B7 B2"}, pile="P7 Y7")
        act(table, 0, "butt", card="XB", seat=0)
        assert hand(table, 0) == "P2 P7 Y7"
        act(table, 0, "play", cards="P7 Y7")
        assert act(table, 1, "play", cards="B7")[1] == "burned(seat=1, count=3)"


class TestCheeky:
    def four(self, **changes: Any) -> Table:
        given: dict[str, Any] = {
            "hands": {0: "XC P9", 1: "B9", 2: "Y9", 3: ""},
            "rows": {0: "P2 - P4", 1: "Y2 Y3 -", 2: "- B3 B4", 3: "K2 K3 K4"},
            "pile": "B2",
            "aside": {3: ""},
        }
        return position(**(given | changes))

    def test_lists_first_seat_first_place_second_seat_second_place(self) -> None:
        assert listed(self.four(), 0) == [
            "play P9",
            "cheeky XC 0A 1A",
            "cheeky XC 0A 1B",
            "cheeky XC 0A 2B",
            "cheeky XC 0A 2C",
            "cheeky XC 0C 1A",
            "cheeky XC 0C 1B",
            "cheeky XC 0C 2B",
            "cheeky XC 0C 2C",
            "cheeky XC 1A 2B",
            "cheeky XC 1A 2C",
            "cheeky XC 1B 2B",
            "cheeky XC 1B 2C",
            "pick_up null",
        ]

    def test_two_open_cards_change_places(self) -> None:
        table = self.four(deck="Y12")
        assert act(table, 0, "cheeky", card="XC", first="0C", second="2B") == [
            "used(seat=0, zone=hand, card=XC, target=null, effect=true)",
            "swapped(moves=[{card:P4, from:{seat:0, place:C}, to:{seat:2, place:B}}, "
            "{card:B3, from:{seat:2, place:B}, to:{seat:0, place:C}}])",
            "drew(seat=0, cards=[@0.26], cause=refill)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]
        assert (row(table, 0), row(table, 2)) == ("P2 - B3", "- P4 B4")

    def test_two_other_seats_may_change(self) -> None:
        table = self.four()
        act(table, 0, "cheeky", card="XC", first="1A", second="2C")
        assert (row(table, 1), row(table, 2)) == ("B4 Y3 -", "- B3 Y2")

    def test_the_used_card_is_no_open_card_any_more(self) -> None:
        table = position(hands={0: "", 1: "B9", 2: "Y9"}, rows={0: "P2 XC P4", 1: "Y2 - -"}, pile="B12")
        assert listed(table, 0) == ["cheeky XC 0A 1A", "cheeky XC 0C 1A", "pick_up null", "pick_up B", "pick_up C"]
        assert refused(table, 0, "cheeky", card="XC", first="0B", second="1A") == "bad_target"
        assert act(table, 0, "cheeky", card="XC", first="0C", second="1A")[0] == (
            "used(seat=0, zone=bc, card=XC, target=null, effect=true)"
        )
        assert row(table, 0) == "P2 - Y2"

    def test_with_fewer_than_two_such_seats_it_has_no_effect(self) -> None:
        for rows in ({0: "P2 XC -"}, {0: "- XC -"}, {0: "- XC -", 1: "Y2 - -"}):
            table = position(hands={0: "", 1: "B9"}, rows=rows, down={0: "P3"}, pile="P12")
            assert listed(table, 0)[0] == "cheeky XC null null"
            assert act(table, 0, "cheeky", card="XC", first=None, second=None) == [
                "used(seat=0, zone=bc, card=XC, target=null, effect=false)",
                "turn_started(seat=1, turn=6, deadline=20001)",
            ]

    def test_a_stolen_one_is_used_with_its_targets(self) -> None:
        table = position(
            hands={0: "P9", 1: ""}, rows={0: "P2 - -", 1: "Y2 - -"}, phase="use", in_play=("XC#2", "stolen")
        )
        assert listed(table, 0) == ["cheeky XC#2 0A 1A"]
        assert act(table, 0, "cheeky", card="XC#2", first="0A", second="1A")[0] == (
            "used(seat=0, zone=stolen, card=XC#2, target=null, effect=true)"
        )


class TestDevil:
    OPTIONS: ClassVar = {"devil": True}

    def test_the_burn_pile_is_dealt_to_the_others(self) -> None:
        table = position(
            hands={0: "XD P9", 1: "B9", 2: "Y9"}, pile="B2", burn="Y2 Y3 Y4", deck="K2 K3", options=self.OPTIONS
        )
        assert act(table, 0, "devil", card="XD") == [
            "used(seat=0, zone=hand, card=XD, target=null, effect=true)",
            "returned(seat=1, cards=[Y2, Y4])",
            "returned(seat=2, cards=[Y3])",
            "drew(seat=0, cards=[@0.46, @0.47], cause=refill)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]
        assert (hand(table, 1), hand(table, 2), zone(table, "burn"), zone(table, "pile")) == (
            "B9 Y2 Y4",
            "Y9 Y3",
            "",
            "B2",
        )

    def test_it_goes_round_from_the_next_seat_and_leaves_out_who_left(self) -> None:
        table = position(
            hands={0: "", 1: "B9", 2: "XD Y9", 3: "B8"},
            aside={0: "P2"},
            seat=2,
            burn="Y2",
            options=self.OPTIONS,
        )
        assert act(table, 2, "devil", card="XD")[1:] == [
            "returned(seat=3, cards=[Y2])",
            "turn_started(seat=3, turn=6, deadline=20001)",
        ]

    def test_an_empty_burn_pile_has_no_effect(self) -> None:
        table = position(hands={0: "XD P9", 1: "B9"}, pile="B2", options=self.OPTIONS)
        assert listed(table, 0) == ["play P9", "devil XD", "pick_up null"]
        assert act(table, 0, "devil", card="XD") == [
            "used(seat=0, zone=hand, card=XD, target=null, effect=false)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]

    def test_as_last_card_it_sends_the_user_out(self) -> None:
        table = position(hands={0: "XD", 1: "B9", 2: "B8"}, burn="Y2 Y3 Y4", options=self.OPTIONS)
        assert act(table, 0, "devil", card="XD")[1:] == [
            "returned(seat=1, cards=[Y2, Y4])",
            "returned(seat=2, cards=[Y3])",
            "went_out(seat=0, place=1)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]


def test_supers_are_listed_in_canonical_order_with_their_targets() -> None:
    table = position(
        hands={0: "XD XC#2 XB XT#2 XT", 1: "B9", 2: ""},
        rows={0: "P2 - -", 2: "- - P3"},
        options={"devil": True},
    )
    assert listed(table, 0) == [
        "thief XT 1",
        "thief XT#2 1",
        "butt XB 0",
        "butt XB 1",
        "butt XB 2",
        "cheeky XC#2 0A 2C",
        "devil XD",
    ]


def test_actions_are_listed_with_all_their_keys() -> None:
    table = position(hands={0: "", 1: "B9"}, rows={0: "P2 XC XD", 1: "Y2 - -"}, pile="B2", options={"devil": True})
    assert table.legal(0) == [
        {
            "type": "cheeky",
            "card": "XC#1",
            "first": {"seat": 0, "place": "A"},
            "second": {"seat": 1, "place": "A"},
        },
        {
            "type": "cheeky",
            "card": "XC#1",
            "first": {"seat": 0, "place": "C"},
            "second": {"seat": 1, "place": "A"},
        },
        {"type": "devil", "card": "XD#1"},
        {"type": "pick_up", "add": None},
        {"type": "pick_up", "add": "B"},
        {"type": "pick_up", "add": "C"},
    ]
    table = position(hands={0: "XB XT Y2", 1: "B9"}, rows={0: "P2 - -"})
    assert table.legal(0) == [
        {"type": "play", "cards": ["Y2#1"]},
        {"type": "thief", "card": "XT#1", "seat": 1},
        {"type": "butt", "card": "XB#1", "seat": 0},
        {"type": "butt", "card": "XB#1", "seat": 1},
    ]
    table = position(hands={0: "XT XC", 1: ""}, down={1: "B9"})
    assert table.legal(0) == [
        {"type": "thief", "card": "XT#1", "seat": None},
        {"type": "cheeky", "card": "XC#1", "first": None, "second": None},
    ]
    assert position(hands={0: "P2", 1: "B9"}, phase="steal", victim=1).legal(0) == [{"type": "choose", "card": "B9#1"}]


def test_supers_are_used_on_an_empty_pile_and_leave_it_empty() -> None:
    table = position(hands={0: "XT P2", 1: "", 2: "B3"}, down={1: "B2"})
    act(table, 0, "thief", card="XT", seat=2)
    assert zone(table, "pile") == ""


def test_a_flipped_super_may_have_no_target() -> None:
    table = position(hands={0: "", 1: "", 2: ""}, down={0: "XT", 1: "B2", 2: "B3"}, pile="P9")
    act(table, 0, "flip")
    assert listed(table, 0) == ["thief XT null"]
    assert act(table, 0, "thief", card="XT", seat=None) == [
        "used(seat=0, zone=down, card=XT, target=null, effect=false)",
        "went_out(seat=0, place=1)",
        "turn_started(seat=1, turn=6, deadline=20001)",
    ]


def test_a_refused_use_changes_nothing() -> None:
    table = position(hands={0: "XT P2", 1: "B3"})
    try:
        table.act(0, {"type": "thief", "card": "XT#1", "seat": 0})
    except RuleError:
        assert hand(table, 0) == "XT P2"
