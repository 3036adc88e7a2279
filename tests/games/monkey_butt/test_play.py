"""Playing, burning, taking the pile, flipping.  Rules: docs/games/monkey_butt.md, B-7 to B-20, B-34, B-35."""

from __future__ import annotations

import pytest

from tests.games.monkey_butt.positions import act, hand, listed, position, refused, row, zone


class TestPlayable:
    def test_on_an_eight(self) -> None:
        table = position(hands={0: "P1 PF PG P8 P9 Y3 PZ", 1: "Y9"}, pile="B8")
        assert listed(table, 0) == ["play P1", "play Y3", "play P8", "play PZ", "pick_up null"]
        for card in ("PF", "PG", "P9"):
            assert refused(table, 0, "play", cards=card) == "not_playable"

    def test_on_a_king_kong(self) -> None:
        table = position(hands={0: "P1 PF PG P8 P9 Y3 PZ XT", 1: "Y9"}, pile="BG")
        assert listed(table, 0) == ["play PZ", "play PF", "play PG", "thief XT 1", "pick_up null"]

    def test_on_a_number(self) -> None:
        table = position(hands={0: "P1 Y4 P8 P9", 1: "Y9"}, pile="B5")
        assert listed(table, 0) == ["play P8", "play P9", "pick_up null"]

    def test_under_a_one(self) -> None:
        table = position(hands={0: "P9 PZ MF#1 Y9 XB", 1: "B9"}, pile="P1 Y2")
        assert refused(table, 0, "play", cards="P9") == "colour_blocked"
        assert refused(table, 0, "play", cards="PZ") == "colour_blocked"
        assert listed(table, 0) == ["play Y9", "play MF", "butt XB 0", "butt XB 1", "pick_up null"]
        assert refused(table, 0, "play", cards="Y9 MF#1") == "mixed_ranks"
        assert table.refused(0, {"type": "play", "cards": ["MF#1", "Y9#1"]}) == "bad_action"

    def test_a_set_is_judged_once_against_the_pile_before_it(self) -> None:
        table = position(hands={0: "P1 Y1 B2", 1: "B9"}, pile="B8")
        assert act(table, 0, "play", cards="P1 Y1")[0] == "played(seat=0, zone=hand, cards=[P1, Y1])"

    def test_anything_goes_on_a_zen_over_an_eight(self) -> None:
        table = position(hands={0: "P2 YG P11", 1: "B9"}, pile="B8 YZ")
        assert listed(table, 0) == ["play P2", "play P11", "play YG", "pick_up null"]


class TestSets:
    def test_smaller_sets_come_first_then_by_index(self) -> None:
        table = position(hands={0: "B9 P9 Y9 B2", 1: "B8"}, pile="")
        assert listed(table, 0) == [
            "play B2",
            "play P9",
            "play Y9",
            "play B9",
            "play P9+Y9",
            "play P9+B9",
            "play Y9+B9",
            "play P9+Y9+B9",
        ]

    def test_ranks_go_from_one_to_twelve_then_zen_pyro_kong_then_supers(self) -> None:
        table = position(hands={0: "XC XT MF#2 PG YF BZ P12 Y2 B1", 1: "B8"}, rows={0: "P3 - -", 1: "Y3 - B3"})
        assert listed(table, 0) == [
            "play B1",
            "play Y2",
            "play P12",
            "play BZ",
            "play YF",
            "play MF#2",
            "play YF+MF#2",
            "play PG",
            "thief XT 1",
            "cheeky XC 0A 1A",
            "cheeky XC 0A 1C",
        ]

    def test_the_longest_set_is_all_eight_pyros(self) -> None:
        pyros = "PF YF BF KF OF MF#1 MF#2 MF#3"
        table = position(hands={0: pyros, **dict.fromkeys(range(1, 6), "")}, down=dict.fromkeys(range(1, 6), ""))
        plays = listed(table, 0)
        assert len(plays) == 255
        assert plays[-1] == "play PF+YF+BF+KF+OF+MF+MF#2+MF#3"

    def test_a_blocked_card_is_in_no_set(self) -> None:
        table = position(hands={0: "P9 Y9 B9", 1: "B8"}, pile="Y1 P2")
        assert listed(table, 0) == ["play P9", "play B9", "play P9+B9", "pick_up null"]


class TestBurning:
    def test_three_of_a_rank_with_three_colours(self) -> None:
        table = position(hands={0: "P7 P2", 1: "B2"}, pile="P3 Y7 B7")
        assert act(table, 0, "play", cards="P7") == [
            "played(seat=0, zone=hand, cards=[P7])",
            "burned(seat=0, count=4)",
            "turn_started(seat=0, turn=6, deadline=20001)",
        ]
        assert (zone(table, "pile"), zone(table, "burn")) == ("", "P3 Y7 B7 P7")

    def test_three_are_not_enough_with_four_colours(self) -> None:
        table = position(hands={0: "P7 P2", 1: "B2", 2: "B3"}, pile="Y7 B7")
        assert act(table, 0, "play", cards="P7")[1:] == ["turn_started(seat=1, turn=6, deadline=20001)"]
        assert act(table, 1, "pick_up", add=None)[0] == "picked_up(seat=1, cards=[Y7, B7, P7], added=null)"

    def test_four_burn_with_four_colours(self) -> None:
        table = position(hands={0: "P7 K7 P2", 1: "B2", 2: "B3"}, pile="Y7 B7", burn="P5 K5")
        assert act(table, 0, "play", cards="P7 K7")[1] == "burned(seat=0, count=4)"
        assert zone(table, "burn") == "P5 K5 Y7 B7 P7 K7"

    def test_a_run_is_broken_by_another_rank(self) -> None:
        table = position(hands={0: "P7 P2", 1: "B2"}, pile="Y7 B5")
        assert act(table, 0, "play", cards="P7")[1:] == ["turn_started(seat=1, turn=6, deadline=20001)"]

    def test_a_pyro_burns_alone_and_in_a_set(self) -> None:
        table = position(hands={0: "PF MF#1 P2", 1: "B2"}, pile="Y9")
        assert act(table, 0, "play", cards="PF MF#1")[1:] == [
            "burned(seat=0, count=3)",
            "turn_started(seat=0, turn=6, deadline=20001)",
        ]
        assert position(hands={0: "PF P2", 1: "B2"}).act(0, {"type": "play", "cards": ["PF#1"]})[1] == (
            "burned(seat=0, count=1)"
        )

    def test_the_last_card_of_a_burner_sends_it_out_and_the_next_opens(self) -> None:
        table = position(hands={0: "P7", 1: "B2", 2: "B3"}, pile="Y7 B7 K7")
        assert act(table, 0, "play", cards="P7") == [
            "played(seat=0, zone=hand, cards=[P7])",
            "burned(seat=0, count=4)",
            "went_out(seat=0, place=1)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]

    def test_zens_and_kongs_burn_by_their_run(self) -> None:
        table = position(hands={0: "PG BG P2", 1: "B2"}, pile="YG")
        assert act(table, 0, "play", cards="PG BG")[1] == "burned(seat=0, count=3)"


class TestRefill:
    def test_up_to_three_before_the_next_turn(self) -> None:
        table = position(hands={0: "P9 Y9 B9 P2", 1: "B2"}, deck="Y3 Y4 Y5 Y6")
        assert act(table, 0, "play", cards="P9 Y9")[1:] == [
            "drew(seat=0, cards=[@0.17], cause=refill)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]
        assert hand(table, 0) == "B9 P2 Y3"

    def test_not_beyond_three_and_not_more_than_there_are(self) -> None:
        table = position(hands={0: "P9 Y9 B9 P2", 1: "B2"}, deck="Y3 Y4")
        assert len(act(table, 0, "play", cards="P2")) == 2
        table = position(hands={0: "P9", 1: "B2"}, deck="Y3 Y4")
        assert act(table, 0, "play", cards="P9")[1] == "drew(seat=0, cards=[@0.17, @0.18], cause=refill)"

    def test_a_hand_that_is_empty_when_its_turn_begins_draws_three(self) -> None:
        table = position(hands={0: "P9 Y9 B9 P2", 1: ""}, rows={1: "B2 B3 B4"}, deck="Y3 Y4 Y5 Y6")
        assert act(table, 0, "play", cards="P2")[1:] == [
            "turn_started(seat=1, turn=6, deadline=20001)",
            "drew(seat=1, cards=[@0.17, @0.18, @0.19], cause=refill)",
        ]

    def test_a_hand_of_one_does_not_draw_when_its_turn_begins(self) -> None:
        table = position(hands={0: "P9 Y9 B9 P2", 1: "B5"}, rows={1: "B2 B3 B4"}, deck="Y3 Y4 Y5 Y6")
        assert act(table, 0, "play", cards="P2")[1:] == ["turn_started(seat=1, turn=6, deadline=20001)"]

    def test_taking_the_pile_is_no_play(self) -> None:
        table = position(hands={0: "P9", 1: "B2"}, pile="B12", deck="Y3 Y4")
        assert act(table, 0, "pick_up", add=None) == [
            "picked_up(seat=0, cards=[B12], added=null)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]
        assert hand(table, 0) == "P9 B12"


class TestZones:
    def test_b_and_c_come_after_the_hand_and_the_deck(self) -> None:
        table = position(hands={0: "P9", 1: "B2"}, rows={0: "P2 P3 Y3"})
        assert table.view()["board"]["zone"] == "hand"
        assert refused(table, 0, "play", cards="P3") == "card_not_available"
        table = position(hands={0: "", 1: "B2"}, rows={0: "P2 P3 Y3"})
        assert table.view()["board"]["zone"] == "bc"
        assert listed(table, 0) == ["play P3", "play Y3", "play P3+Y3"]
        assert refused(table, 0, "play", cards="P2") == "card_not_available"
        assert act(table, 0, "play", cards="P3 Y3")[0] == "played(seat=0, zone=bc, cards=[P3, Y3])"
        assert row(table, 0) == "P2 - -"

    def test_one_of_b_and_c_is_enough_for_the_zone(self) -> None:
        for cards, rest in (("P2 P3 -", "P3"), ("P2 - P3", "P3")):
            table = position(hands={0: "", 1: "B2"}, rows={0: cards}, down={0: "Y2"})
            assert table.view()["board"]["zone"] == "bc"
            assert act(table, 0, "play", cards=rest)[0] == "played(seat=0, zone=bc, cards=[P3])"
            assert row(table, 0) == "P2 - -"

    def test_a_comes_after_b_and_c(self) -> None:
        table = position(hands={0: "", 1: "B2"}, rows={0: "P2 - -"}, down={0: "P3"})
        assert table.view()["board"]["zone"] == "a"
        assert act(table, 0, "play", cards="P2") == [
            "played(seat=0, zone=a, cards=[P2])",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]
        assert row(table, 0) == "- - -"

    def test_the_face_down_card_comes_last(self) -> None:
        table = position(hands={0: "", 1: "B2"}, down={0: "P3"})
        assert table.view()["board"]["zone"] == "down"
        assert listed(table, 0) == ["flip"]

    def test_a_seat_that_took_the_pile_plays_its_hand_again(self) -> None:
        table = position(hands={0: "", 1: "B12 B2"}, rows={0: "P2 P3 Y3"}, pile="P12")
        act(table, 0, "pick_up", add=None)
        act(table, 1, "play", cards="B12")
        assert table.view()["board"]["zone"] == "hand"
        assert hand(table, 0) == "P12"


class TestPickUp:
    def test_in_zone_bc_with_none_or_one_of_them(self) -> None:
        table = position(hands={0: "", 1: "B2"}, rows={0: "P9 P2 Y3"}, pile="B1 Y9")
        assert listed(table, 0)[-3:] == ["pick_up null", "pick_up B", "pick_up C"]
        assert refused(table, 0, "pick_up", add="A") == "bad_add"
        assert act(table, 0, "pick_up", add="C") == [
            "picked_up(seat=0, cards=[B1, Y9], added=Y3)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]
        assert (hand(table, 0), row(table, 0), zone(table, "pile")) == ("B1 Y9 Y3", "P9 P2 -", "")

    def test_in_zone_bc_with_b_and_with_none(self) -> None:
        table = position(hands={0: "", 1: "B2"}, rows={0: "P9 P2 Y3"}, pile="Y9")
        act(table, 0, "pick_up", add="B")
        assert (hand(table, 0), row(table, 0)) == ("Y9 P2", "P9 - Y3")
        table = position(hands={0: "", 1: "B2"}, rows={0: "P9 P2 Y3"}, pile="Y9")
        act(table, 0, "pick_up", add=None)
        assert (hand(table, 0), row(table, 0)) == ("Y9", "P9 P2 Y3")

    def test_in_zone_a_only_with_a(self) -> None:
        table = position(hands={0: "", 1: "B2"}, rows={0: "P2 - -"}, down={0: "B3"}, pile="Y9")
        assert refused(table, 0, "pick_up", add=None) == "bad_add"
        assert listed(table, 0) == ["pick_up A"]
        assert act(table, 0, "pick_up", add="A")[0] == "picked_up(seat=0, cards=[Y9], added=P2)"
        assert (hand(table, 0), row(table, 0)) == ("Y9 P2", "- - -")


class TestFlip:
    @pytest.mark.parametrize("card", ["P9", "PZ"])
    def test_a_playable_card_is_played_with_all_effects(self, card: str) -> None:
        table = position(hands={0: "", 1: "B2", 2: "B3"}, down={0: card}, pile="P5")
        assert refused(table, 0, "pick_up", add=None) == "must_flip"
        assert act(table, 0, "flip") == [
            f"flipped(seat=0, card={card}, playable=true)",
            f"played(seat=0, zone=down, cards=[{card}])",
            "went_out(seat=0, place=1)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]

    def test_a_card_that_is_too_low_goes_to_the_hand_with_the_pile(self) -> None:
        table = position(hands={0: "", 1: "B2"}, down={0: "P4"}, pile="P5 B6")
        assert act(table, 0, "flip") == [
            "flipped(seat=0, card=P4, playable=false)",
            "picked_up(seat=0, cards=[P5, B6], added=null)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]
        assert hand(table, 0) == "P4 P5 B6"
        assert table.row(0)["down"] is None

    def test_a_blocked_card_is_not_playable(self) -> None:
        table = position(hands={0: "", 1: "B2"}, down={0: "P9"}, pile="P1 B6")
        assert act(table, 0, "flip")[0] == "flipped(seat=0, card=P9, playable=false)"

    def test_a_burning_last_card_sends_the_seat_out(self) -> None:
        table = position(hands={0: "", 1: "B2", 2: "B3"}, down={0: "MF#2"}, pile="P1 P9")
        assert act(table, 0, "flip")[1:] == [
            "played(seat=0, zone=down, cards=[MF#2])",
            "burned(seat=0, count=3)",
            "went_out(seat=0, place=1)",
            "turn_started(seat=1, turn=6, deadline=20001)",
        ]

    def test_a_failed_flip_does_not_refill(self) -> None:
        table = position(hands={0: "", 1: "B2"}, down={0: "P4"}, pile="P5")
        act(table, 0, "flip")
        assert hand(table, 0) == "P4 P5"
