"""Wonky: the corner cases of a round, event by event (docs/games/wonky.md, sections Actions, Clock, Numbered rules)."""

from __future__ import annotations

import pytest

from apps.games.contract import Seat
from apps.games.wonky import GAME
from apps.games.wonky.rules import TURN_CAP
from tests.games.staging import Table, faces, written
from tests.games.wonky.arranging import DRAW, KEEP, arranged, hidden, names, place_of, play, shown, stack

FULL = "LPf0 LGf0 LBf0 MPf0 MGf0 MBf0 SPf0 SGf0"
"""Eight blocks; SB is free."""


class TestStart:
    @pytest.mark.parametrize(("seats", "cards"), [(2, 7), (6, 7), (7, 5), (8, 5)])
    def test_deals_seven_cards_or_five(self, seats: int, cards: int) -> None:
        """W-1, W-21."""
        table = Table.start(GAME, seats=tuple(range(seats)), opener=1, now=30)
        dealt = [event for event in table.events if event["type"] == "dealt"]
        assert [event["seat"] for event in dealt] == [*range(1, seats), 0]
        assert [len(event["cards"]) for event in dealt] == [cards] * seats
        assert dealt[1]["cards"][1] == {"gen": 0, "pos": seats + 1}
        assert written(table.events)[-1] == "turn_started(seat=1, turn=1, deadline=20030)"
        board = table.view()["board"]
        assert board["deck_count"] == 54 - seats * cards
        assert (board["tower"], board["discard"], board["direction"], board["placements"]) == ([], [], 1, 0)

    def test_tells_the_options_with_the_default(self) -> None:
        assert written(Table.start(GAME).events)[0] == (
            "round_started(game=wonky, rules=wonky/1, seats=[0, 1], opener=0, options={tower:shaky}, carry=null)"
        )


class TestStack:
    def test_the_first_block_cannot_fall_but_its_tremor_is_drawn(self) -> None:
        """W-10."""
        table = arranged({0: "LP#1 MG#1", 1: "LB#1"}, tremor=0)
        assert table.act(0, stack("LP#1", "LP", "curved"), 9)[1:] == [
            "placed(seat=0, block=LP, down=curved, x=0, height=1, risk=0, tremor=0, placement=0, stood=true)",
            "turn_started(seat=1, turn=2, deadline=20009)",
        ]
        assert table.chance.asked == [("tremor/0", 10_000)]

    @pytest.mark.parametrize(("tremor", "stood"), [(862, "true"), (861, "false")])
    def test_the_tower_falls_exactly_when_the_tremor_is_less_than_the_risk(self, tremor: int, stood: str) -> None:
        """Corner case 11."""
        table = arranged({0: "MG#1 SP#1", 1: "LB#1"}, "LPf0", tremor=tremor, placements=4)
        events = table.act(0, stack("MG#1", "MG", "flat", 3))
        assert events[:2] == [
            f"played(seat=0, card={shown(table, 'MG#1')})",
            f"placed(seat=0, block=MG, down=flat, x=3, height=2, risk=862, tremor={tremor}, placement=4, "
            f"stood={stood})",
        ]
        assert table.chance.asked[0] == ("tremor/4", 10_000)
        assert table.view()["board"]["placements"] == 5

    def test_a_risk_of_ten_thousand_always_falls(self) -> None:
        """Corner case 12."""
        table = arranged({0: "MG#1 SP#1", 1: "LB#1"}, "LPf0", tremor=9_999)
        assert "risk=10000, tremor=9999" in table.act(0, stack("MG#1", "MG", "flat", 8))[1]
        assert table.view()["board"]["tower"] == []

    def test_offsets_add_up(self) -> None:
        table = arranged({0: "MG#1 SP#1", 1: "SP#2 LB#1"}, "LPf0 LGf-2", tremor=9_999)
        assert ", x=-5, height=3," in table.act(0, stack("MG#1", "MG", "flat", -3))[1]
        assert table.view()["board"]["tower"][-1] == {"block": "MG", "down": "flat", "x": -5}
        assert ", x=-3, height=4," in table.act(1, stack("SP#2", "SP", "curved", 2))[1]
        assert table.view()["board"]["free"] == ["SG", "SB", "MP", "MB", "LB"]

    def test_the_option_chooses_the_base(self) -> None:
        for option, risk in (("shaky", 660 + 120), ("steady", 480 + 120)):
            table = arranged({0: "LA#1 SP#1", 1: "LB#1"}, "LPf0 MGf0", option=option)
            assert f"risk={risk + 80}," in table.act(0, stack("LA#1", "LG"))[1]


class TestFall:
    def test_clears_the_tower_costs_three_cards_and_the_turn_goes_on(self) -> None:
        """W-11, W-16."""
        table = arranged({0: "MG#1 PASS#1", 1: "LB#1"}, "LPf0 SPf0", tremor=0, deck="SG#1 SG#2 SB#1 SB#2", turn=7)
        assert table.act(0, stack("MG#1", "MG"), 5)[2:] == [
            "fell(seat=0, height=3)",
            f"drew(seat=0, cards={hidden(table, 'SG#1 SG#2 SB#1')}, cause=fall)",
            "clock_changed(seat=0, deadline=20005)",
        ]
        view = table.view()
        assert (view["phase"], view["turn"]) == ("rebuild", {"number": 7, "seat": 0})
        assert view["board"]["free"] == ["SP", "SG", "SB", "MP", "MG", "MB", "LP", "LG", "LB"]
        assert table.hand(0) == "PASS#1 SG#1 SG#2 SB#1"
        assert [action.get("card") for action in table.legal(0)] == ["SG#1", "SG#1", "SG#2", "SG#2", "SB#1", "SB#1"]

    def test_forgets_the_drawn_card_so_that_every_card_may_start_the_new_tower(self) -> None:
        table = arranged({0: "SP#1", 1: "LB#1"}, "SPf0", tremor=0, deck="SG#1 PASS#1 MG#1 MB#1")
        table.act(0, DRAW)
        assert names(table.act(0, stack("SG#1", "SG")))[-1] == "clock_changed"
        assert table.view(0)["board"]["drawn"] is None
        assert {action["card"] for action in table.legal(0)} == {"SP#1", "MG#1", "MB#1"}
        assert names(table.act(0, stack("SP#1", "SP")))[:2] == ["played", "placed"]

    def test_rebuild_takes_any_block_or_combo_card_and_nothing_else(self) -> None:
        """Corner case 20."""
        table = arranged({0: "PASS#1 REV#1 AG#1 ANYD#1", 1: "LB#1"}, rebuilding=True)
        assert table.refused(0, play("PASS#1")) == "must_rebuild"
        assert table.refused(0, DRAW) == "can_play"
        assert table.refused(0, KEEP) == "must_rebuild"
        placed = [(action["card"], action["block"]) for action in table.legal(0)]
        assert placed[:6] == [
            ("AG#1", "SG"),
            ("AG#1", "SG"),
            ("AG#1", "MG"),
            ("AG#1", "MG"),
            ("AG#1", "LG"),
            ("AG#1", "LG"),
        ]
        assert len(placed) == 6 + 18
        events = table.act(0, stack("ANYD#1", "MB"))
        assert names(events) == ["played", "placed", "drew", "turn_started"]
        assert table.view()["phase"] == "play"

    def test_who_has_no_block_card_draws_until_one_comes(self) -> None:
        table = arranged({0: "PASS#1 REV#1", 1: "LB#1"}, rebuilding=True, deck="REV#2 LA#1 MP#1")
        assert table.legal(0) == [DRAW]
        assert table.act(0, DRAW) == [f"drew(seat=0, cards={hidden(table, 'REV#2')}, cause=turn)"]
        assert table.legal(0) == [DRAW]
        assert table.view(0)["board"]["drawn"] is None
        table.act(0, DRAW)
        assert [action["card"] for action in table.legal(0)] == ["LA#1"] * 6
        assert names(table.act(0, stack("LA#1", "LB"))) == ["played", "placed", "turn_started"]

    def test_a_combo_card_that_fell_has_no_effect(self) -> None:
        """Corner case 14; W-9, W-14."""
        table = arranged({0: "ANYR#1", 1: "LB#1"}, "LPf0", tremor=0, deck="SG#1 SG#2 SB#1")
        events = table.act(0, stack("ANYR#1", "MG"))
        assert names(events) == ["played", "placed", "fell", "drew", "clock_changed"]
        assert table.view()["board"]["direction"] == 1
        assert faces(table.view()["board"]["discard"]) == ["ANYR#1"]

    def test_reshuffles_the_discard_pile_without_the_card_just_played(self) -> None:
        """W-5; what comes after the deck ran out is the next generation."""
        table = arranged(
            {0: "MG#1", 1: "LB#1"},
            "LPf0",
            tremor=0,
            discard="SP#1 SG#1 SB#1",
            deck="REV#1",
            orders={"reshuffle/0": ("SB#1",)},
        )
        events = table.act(0, stack("MG#1", "MG"))
        assert events[3:] == [
            f"drew(seat=0, cards={hidden(table, 'REV#1')}, cause=fall)",
            "reshuffled(gen=1, count=3)",
            "drew(seat=0, cards=[@1.0, @1.1], cause=fall)",
            "clock_changed(seat=0, deadline=20001)",
        ]
        assert table.chance.asked[1] == ("reshuffle/0", ("SP#1", "SG#1", "SB#1"))
        assert table.hand(0) == "REV#1 SB#1 SP#1"
        assert faces(table.view()["board"]["discard"]) == ["MG#1"]
        (generation,) = table.generations
        assert (generation.source, generation.order) == (("SP#1", "SG#1", "SB#1"), ("SB#1", "SP#1", "SG#1"))

    def test_a_last_card_that_fell_with_nothing_to_draw_does_not_win(self) -> None:
        """Corner case 15; W-14."""
        table = arranged({0: "MG#1", 1: "LB#1"}, "LPf0", tremor=0, deck="")
        assert names(table.act(0, stack("MG#1", "MG"))) == ["played", "placed", "fell", "clock_changed"]
        assert table.legal(0) == [DRAW]
        assert table.act(0, DRAW, 7) == [
            "passed(seat=0, cause=nothing_left)",
            "turn_started(seat=1, turn=2, deadline=20007)",
        ]
        assert table.view()["phase"] == "play"
        table.act(1, stack("LB#1", "LB"), 8)
        assert table.view()["outcome"]["scores"] == {"0": 0, "1": 0}
        assert table.view()["outcome"]["ranking"] == [[1], [0]]

    def test_an_empty_hand_draws_as_soon_as_something_is_left(self) -> None:
        table = arranged({0: "", 1: "LB#1"}, "LPf0", deck="SG#1", rebuilding=True)
        assert table.legal(0) == [DRAW]
        assert names(table.act(0, DRAW)) == ["drew"]


class TestCombo:
    def test_anyd_makes_the_next_seat_draw_and_it_keeps_its_turn(self) -> None:
        """W-8."""
        table = arranged({0: "ANYD#1 SP#1", 1: "LB#1", 2: "LG#1"}, deck="SG#1")
        assert table.act(0, stack("ANYD#1", "MB"))[2:] == [
            f"drew(seat=1, cards={hidden(table, 'SG#1')}, cause=combo)",
            "turn_started(seat=1, turn=2, deadline=20001)",
        ]
        assert table.hand(1) == "LB#1 SG#1"
        assert table.view(1)["board"]["drawn"] is None

    def test_anyd_with_nothing_to_draw_is_forgiven(self) -> None:
        table = arranged({0: "ANYD#1 SP#1", 1: "LB#1"}, deck="")
        assert names(table.act(0, stack("ANYD#1", "MB"))) == ["played", "placed", "turn_started"]

    def test_anyd_counts_in_the_direction_in_force(self) -> None:
        """Corner case 17."""
        table = arranged({0: "ANYD#1 SP#1", 1: "LB#1", 2: "LG#1"}, deck="SG#1", direction=-1)
        events = table.act(0, stack("ANYD#1", "MB"))
        assert events[2].startswith("drew(seat=2,")
        assert events[3].startswith("turn_started(seat=2,")

    def test_anyr_turns_the_direction(self) -> None:
        """Corner case 18."""
        table = arranged({0: "ANYR#1 SP#1", 1: "LB#1", 2: "LG#1"})
        assert table.act(0, stack("ANYR#1", "MB"))[2:] == [
            "reversed(direction=-1)",
            "turn_started(seat=2, turn=2, deadline=20001)",
        ]

    def test_a_block_card_has_no_combo_effect(self) -> None:
        table = arranged({0: "AB#1 SP#1", 1: "LB#1"}, deck="SG#1")
        assert names(table.act(0, stack("AB#1", "MB"))) == ["played", "placed", "turn_started"]


class TestActionCards:
    def test_pass_goes_on_to_the_next_seat(self) -> None:
        """W-6."""
        table = arranged({0: "PASS#1 SP#1", 1: "LB#1", 2: "LG#1"}, "LPf0")
        assert table.act(0, play("PASS#1"), 3) == [
            f"played(seat=0, card={shown(table, 'PASS#1')})",
            "turn_started(seat=1, turn=2, deadline=20003)",
        ]
        assert len(table.view()["board"]["tower"]) == 1
        assert faces(table.view()["board"]["discard"]) == ["PASS#1"]

    def test_rev_turns_the_direction(self) -> None:
        """W-7."""
        table = arranged({0: "REV#1 SP#1", 1: "LB#1", 2: "LG#1"})
        assert table.act(0, play("REV#1"))[1:] == [
            "reversed(direction=-1)",
            "turn_started(seat=2, turn=2, deadline=20001)",
        ]
        assert table.view()["board"]["direction"] == -1

    def test_rev_between_two_seats_goes_to_the_other_all_the_same(self) -> None:
        """Corner case 19."""
        table = arranged({0: "REV#1 SP#1", 1: "LB#1"}, direction=-1)
        assert table.act(0, play("REV#1"))[1:] == [
            "reversed(direction=1)",
            "turn_started(seat=1, turn=2, deadline=20001)",
        ]


class TestDrawing:
    def test_goes_on_until_the_drawn_card_is_playable(self) -> None:
        """Corner cases 7, 8 and 9; W-4."""
        table = arranged({0: "PASS#1", 1: "LB#1"}, "SPf0", deck="SP#1 SP#2 SG#2 MG#1")
        assert table.refused(0, play("PASS#1")) == "last_card"
        assert table.legal(0) == [DRAW]
        table.act(0, DRAW, 1)
        assert table.view(0)["board"]["drawn"] == {**place_of(table, "SP#1"), "card": "SP#1"}
        assert table.view(1)["board"]["drawn"] == place_of(table, "SP#1")
        assert table.view()["board"]["drawn"] == place_of(table, "SP#1")
        assert table.refused(0, play("PASS#1")) == "only_drawn_card"
        assert table.refused(0, KEEP) == "must_draw"
        assert table.legal(0) == [DRAW]
        table.act(0, DRAW, 2)
        assert table.legal(0) == [DRAW]
        assert table.act(0, DRAW, 3) == [f"drew(seat=0, cards={hidden(table, 'SG#2')}, cause=turn)"]
        assert table.refused(0, DRAW) == "can_play"
        assert table.refused(0, play("PASS#1")) == "only_drawn_card"
        legal = table.legal(0)
        assert [action["type"] for action in legal] == ["stack"] * 34 + ["keep"]
        assert {action.get("card") for action in legal} == {"SG#2", None}
        assert table.game.wake_at(table.state) == 20_000
        assert table.act(0, KEEP, 4) == ["passed(seat=0, cause=kept)", "turn_started(seat=1, turn=2, deadline=20004)"]
        assert table.view(0)["board"]["drawn"] is None

    def test_a_drawn_action_card_can_be_played_with_another_card_in_hand(self) -> None:
        table = arranged({0: "SP#1", 1: "LB#1"}, "SPf0", deck="REV#1")
        table.act(0, DRAW)
        assert table.legal(0) == [play("REV#1"), KEEP]
        assert names(table.act(0, play("REV#1"))) == ["played", "reversed", "turn_started"]

    def test_with_nothing_left_ends_the_turn(self) -> None:
        """Corner cases 10 and 25; W-5: the top of the discard pile stays."""
        table = arranged({0: "SP#1", 1: "LB#1", 2: "LG#1"}, "SPf0", deck="", discard="MP#1", direction=-1)
        assert table.legal(0) == [DRAW]
        assert table.act(0, DRAW, 2) == [
            "passed(seat=0, cause=nothing_left)",
            "turn_started(seat=2, turn=2, deadline=20002)",
        ]

    def test_renews_the_deck_from_two_discards(self) -> None:
        table = arranged({0: "SP#1", 1: "LB#1"}, "SPf0", deck="", discard="MP#1 MG#1")
        assert table.act(0, DRAW) == ["reshuffled(gen=1, count=1)", "drew(seat=0, cards=[@1.0], cause=turn)"]
        assert table.view()["board"]["deck_count"] == 0
        table.act(0, stack("MP#1", "MP"), 2)
        table.act(1, stack("LB#1", "LB"), 3)
        assert [stream for stream, _ in table.chance.asked if stream.startswith("reshuffle")] == ["reshuffle/0"]

    def test_numbers_its_reshuffles(self) -> None:
        table = arranged({0: "SP#1", 1: "SP#2 PASS#1"}, "SPf0", deck="", discard="SP#3 MG#1")
        table.act(0, DRAW)
        assert table.act(0, DRAW)[0] == "passed(seat=0, cause=nothing_left)"
        table.act(1, play("PASS#1"))
        assert table.act(0, DRAW)[0] == "reshuffled(gen=2, count=1)"
        assert table.chance.asked == [("reshuffle/0", ("SP#3",)), ("reshuffle/1", ("MG#1",))]


class TestLegal:
    def test_lists_cards_then_blocks_then_sides_then_offsets(self) -> None:
        table = arranged({0: "ANYR#1 PASS#1 SA#1 MG#1", 1: "LB#1"}, "SPf0 MBf0")
        expected = [stack("MG#1", "MG", down, d) for down in ("flat", "curved") for d in range(-8, 9)]
        for block in ("SG", "SB"):
            expected += [stack("SA#1", block, down, d) for down in ("flat", "curved") for d in range(-8, 9)]
        expected.append(play("PASS#1"))
        for block in ("SG", "SB", "MP", "MG", "LP", "LG", "LB"):
            expected += [stack("ANYR#1", block, down, d) for down in ("flat", "curved") for d in range(-8, 9)]
        assert table.legal(0) == expected

    def test_has_only_offset_zero_on_an_empty_tower(self) -> None:
        table = arranged({0: "AG#1", 1: "LB#1"})
        assert table.legal(0) == [
            stack("AG#1", block, down) for block in ("SG", "MG", "LG") for down in ("flat", "curved")
        ]

    def test_leaves_out_a_lone_action_card(self) -> None:
        table = arranged({0: "PASS#1 SP#1", 1: "LB#1"}, "SPf0")
        assert table.legal(0) == [play("PASS#1")]
        table = arranged({0: "PASS#1", 1: "LB#1"})
        assert table.legal(0) == [DRAW]


class TestEnd:
    def test_the_ninth_block_wins_at_once(self) -> None:
        """Corner case 16; W-13: before any combo effect, whatever is in the hands."""
        table = arranged({0: "ANYD#1 SP#1 SP#2", 1: "LB#1", 2: "LG#1 LG#2 LG#3", 3: "MP#1"}, FULL)
        table.leave(3)
        assert table.act(0, stack("ANYD#1", "SB"))[1:] == [
            "placed(seat=0, block=SB, down=flat, x=0, height=9, risk=5980, tremor=9999, placement=0, stood=true)",
            f"revealed(seat=0, zone=hand, cards=[{shown(table, 'SP#1')}, {shown(table, 'SP#2')}])",
            f"revealed(seat=1, zone=hand, cards=[{shown(table, 'LB#1')}])",
            f"revealed(seat=2, zone=hand, cards=[{', '.join(shown(table, f'LG#{n}') for n in (1, 2, 3))}])",
            f"revealed(seat=3, zone=aside, cards=[{shown(table, 'MP#1')}])",
            "round_over(reason=ninth, final=true, ranking=[[0], [1], [2]], shares={0:1}, "
            "scores={0:2, 1:1, 2:3}, carry=null)",
        ]
        assert len(table.view()["board"]["tower"]) == 9

    def test_the_ninth_block_with_the_last_card_is_still_the_ninth(self) -> None:
        table = arranged({0: "SB#1", 1: "LB#1"}, FULL)
        assert "reason=ninth" in table.act(0, stack("SB#1", "SB"))[-1]

    def test_the_eighth_block_does_not_win(self) -> None:
        table = arranged({0: "SG#1 SP#1", 1: "LB#1"}, FULL.removesuffix(" SGf0"))
        assert names(table.act(0, stack("SG#1", "SG")))[-1] == "turn_started"

    def test_an_empty_hand_wins_and_leaves_out_the_combo(self) -> None:
        """Corner case 13; W-12."""
        table = arranged({0: "ANYD#1", 1: "LB#1 LB#2"}, deck="SG#1")
        events = table.act(0, stack("ANYD#1", "MB"))
        assert names(events)[:2] == ["played", "placed"]
        assert "drew" not in names(events)
        assert events[-1] == (
            "round_over(reason=out, final=true, ranking=[[0], [1]], shares={0:1}, scores={0:0, 1:2}, carry=null)"
        )
        assert table.game.actors(table.state) == frozenset()
        assert table.game.wake_at(table.state) is None

    def test_an_anyr_as_last_card_does_not_turn_the_direction(self) -> None:
        table = arranged({0: "ANYR#1", 1: "LB#1"})
        assert "reversed" not in names(table.act(0, stack("ANYR#1", "MB")))

    def test_equal_hands_share_a_group_behind_the_winner(self) -> None:
        """W-24."""
        table = arranged({0: "MB#1", 1: "LB#1 LB#2", 2: "LG#1", 3: "SP#1 SP#2", 4: "SG#1"})
        assert "ranking=[[0], [2, 4], [1, 3]]" in table.act(0, stack("MB#1", "MB"))[-1]

    def test_the_fewest_cards_share_at_the_turn_cap(self) -> None:
        """W-19."""
        hands = {0: "PASS#1 SP#1", 1: "LB#1 LB#2", 2: "LG#1", 3: "SP#2"}
        table = arranged(hands, turn=TURN_CAP)
        table.leave(3)
        assert table.act(0, play("PASS#1"))[-1] == (
            "round_over(reason=cap, final=true, ranking=[[0, 2], [1]], shares={0:1, 2:1}, "
            "scores={0:1, 1:2, 2:1}, carry=null)"
        )
        table = arranged(hands, turn=TURN_CAP - 1)
        assert table.act(0, play("PASS#1"))[-1].startswith("turn_started(seat=1, turn=300,")

    def test_hands_are_revealed_at_the_cap(self) -> None:
        table = arranged({0: "PASS#1 SP#1", 1: "LB#1"}, turn=TURN_CAP, drawn="PASS#1", deck="SG#1")
        events = table.act(0, KEEP)
        assert names(events) == ["passed", "revealed", "revealed", "revealed", "round_over"]
        assert events[1] == f"revealed(seat=0, zone=hand, cards=[{shown(table, 'PASS#1')}, {shown(table, 'SP#1')}])"
        assert events[2].startswith("revealed(seat=0, zone=aside, cards=[")
        assert events[3] == f"revealed(seat=1, zone=hand, cards=[{shown(table, 'LB#1')}])"
        assert table.view(0)["board"]["drawn"] is None
        assert table.view()["phase"] == "over"


class TestClock:
    def test_with_nothing_done_draws_one_and_passes(self) -> None:
        """Corner case 23."""
        table = arranged({0: "SP#1", 1: "LB#1"}, deck="SG#1 SG#2")
        assert table.wake(20_000) == [
            "timed_out(seat=0, counts=true)",
            f"drew(seat=0, cards={hidden(table, 'SG#1')}, cause=clock)",
            "passed(seat=0, cause=clock)",
            "turn_started(seat=1, turn=2, deadline=40000)",
        ]

    def test_with_a_playable_drawn_card_just_passes(self) -> None:
        """Corner case 22."""
        table = arranged({0: "SP#1", 1: "LB#1"}, "SPf0", deck="SG#1 SG#2")
        table.act(0, DRAW)
        assert table.wake(20_000)[:2] == ["timed_out(seat=0, counts=false)", "passed(seat=0, cause=clock)"]

    def test_with_a_drawn_card_that_is_not_playable_draws_one_more(self) -> None:
        table = arranged({0: "SP#1", 1: "LB#1"}, "SPf0", deck="SP#2 SG#2")
        table.act(0, DRAW)
        assert names(table.wake(20_000)) == ["timed_out", "drew", "passed", "turn_started"]
        assert table.hand(0) == "SP#1 SP#2 SG#2"

    def test_with_nothing_left_just_passes(self) -> None:
        table = arranged({0: "SP#1", 1: "LB#1"}, "SPf0", deck="")
        assert names(table.wake(20_000)) == ["timed_out", "passed", "turn_started"]

    def test_in_rebuild_draws_until_a_block_card_comes_and_places_it_flat(self) -> None:
        """Corner case 21."""
        table = arranged({0: "PASS#1 REV#1", 1: "LB#1"}, rebuilding=True, deck="REV#2 LA#1 MP#1", tremor=0)
        assert table.wake(20_000) == [
            "timed_out(seat=0, counts=true)",
            f"drew(seat=0, cards={hidden(table, 'REV#2')}, cause=clock)",
            f"drew(seat=0, cards={hidden(table, 'LA#1')}, cause=clock)",
            f"played(seat=0, card={shown(table, 'LA#1')})",
            "placed(seat=0, block=LP, down=flat, x=0, height=1, risk=0, tremor=0, placement=0, stood=true)",
            "turn_started(seat=1, turn=2, deadline=40000)",
        ]

    def test_in_rebuild_plays_the_lowest_card_with_its_effect(self) -> None:
        table = arranged({0: "PASS#1 ANYR#1 ANYD#1", 1: "LB#1", 2: "LG#1"}, rebuilding=True, deck="SG#1")
        events = table.wake(20_000)
        assert events[1] == f"played(seat=0, card={shown(table, 'ANYD#1')})"
        assert "block=SP, down=flat, x=0" in events[2]
        assert events[3].startswith("drew(seat=1,")

    def test_in_rebuild_the_last_card_wins(self) -> None:
        table = arranged({0: "MG#1", 1: "LB#1"}, rebuilding=True)
        assert "reason=out" in table.wake(20_000)[-1]

    def test_in_rebuild_with_nothing_left_passes(self) -> None:
        table = arranged({0: "PASS#1", 1: "LB#1"}, rebuilding=True, deck="", discard="MG#1")
        assert names(table.wake(20_000)) == ["timed_out", "passed", "turn_started"]

    def test_in_rebuild_counts_as_idle_only_without_an_action_in_the_turn(self) -> None:
        table = arranged({0: "MG#1 SP#1", 1: "LB#1"}, "LPf0", tremor=0)
        table.act(0, stack("MG#1", "MG"), 50)
        assert table.wake(20_050)[0] == "timed_out(seat=0, counts=false)"

    def test_does_nothing_before_the_deadline(self) -> None:
        table = arranged({0: "MG#1 SP#1", 1: "LB#1"})
        assert table.wake(19_999) == []
        assert table.game.wake_at(table.state) == 20_000

    def test_counts_from_now_and_runs_out_once(self) -> None:
        table = arranged({0: "SP#1", 1: "LB#1"})
        assert table.wake(90_000)[-1] == "turn_started(seat=1, turn=2, deadline=110000)"

    def test_is_short_for_a_seat_without_connection(self) -> None:
        table = arranged({0: "MG#1 SP#1", 1: "LB#1"}, "LPf0", tremor=0)
        assert table.connection(0, False, 10) == [
            "connection_changed(seat=0, connected=false)",
            "clock_changed(seat=0, deadline=5010)",
        ]
        assert table.connection(0, False, 11) == []
        assert table.connection(0, True, 12) == ["connection_changed(seat=0, connected=true)"]
        assert table.game.wake_at(table.state) == 5_010
        table.connection(1, False, 13)
        assert table.act(0, stack("MG#1", "MG"), 14)[-1] == "clock_changed(seat=0, deadline=20014)"
        assert table.act(0, stack("SP#1", "SP"), 15)[-1] == "turn_started(seat=1, turn=2, deadline=5015)"


class TestLeave:
    def test_in_rebuild_leaves_the_tower_empty_and_the_next_seat_in_play(self) -> None:
        """Corner case 24."""
        table = arranged({0: "SP#1", 1: "LB#1", 2: "LG#1"}, rebuilding=True, direction=-1)
        assert table.leave(0, now=4) == ["left(seat=0, reason=left)", "turn_started(seat=2, turn=2, deadline=20004)"]
        assert (table.view()["phase"], table.view()["board"]["tower"]) == ("play", [])
        assert table.row(0, 0)["aside"] == [place_of(table, "SP#1")]

    def test_out_of_turn_changes_nothing_else(self) -> None:
        table = arranged({0: "SP#1", 1: "LB#1", 2: "LG#1"}, "LPf0")
        assert table.leave(1, "timeouts") == ["left(seat=1, reason=timeouts)"]
        assert len(table.view()["board"]["tower"]) == 1
        assert table.row(1)["status"] == "left"

    def test_forgets_the_drawn_card(self) -> None:
        table = arranged({0: "SP#1", 1: "LB#1", 2: "LG#1"}, "SPf0", drawn="SP#1")
        table.leave(0)
        assert table.view()["board"]["drawn"] is None

    def test_of_the_last_but_one_ends_the_round(self) -> None:
        table = arranged({0: "SP#1", 1: "LB#1 LB#2"}, "LPf0")
        assert table.leave(0, "connection") == [
            "left(seat=0, reason=connection)",
            f"revealed(seat=0, zone=aside, cards=[{shown(table, 'SP#1')}])",
            f"revealed(seat=1, zone=hand, cards=[{shown(table, 'LB#1')}, {shown(table, 'LB#2')}])",
            "round_over(reason=last_seat, final=true, ranking=[[1]], shares={1:1}, scores={1:2}, carry=null)",
        ]

    def test_in_the_last_turn_ends_the_round_at_the_cap(self) -> None:
        table = arranged({0: "SP#1", 1: "LB#1 LB#2", 2: "LG#1"}, turn=TURN_CAP)
        events = table.leave(0)
        assert events[-1].startswith("round_over(reason=cap, final=true, ranking=[[2], [1]], shares={2:1}")

    def test_skips_seats_that_left_in_both_directions(self) -> None:
        for direction, seat in ((1, 4), (-1, 7)):
            table = arranged({0: "PASS#1 SP#1", 2: "LB#1", 4: "LG#1", 7: "MB#1"}, direction=direction)
            table.leave(2)
            assert table.act(0, play("PASS#1"))[-1].startswith(f"turn_started(seat={seat},")
        assert table.state.active == (Seat(0), Seat(4), Seat(7))
