"""Leaving, autopilots, views, the end.  Rules: docs/games/mongooz.md, Z-19, Z-29, Z-30, section View."""

from __future__ import annotations

import json

import pytest

from apps.games.contract import RuleError, Seat
from apps.games.mongooz import GAME
from tests.games.mongooz.positions import FAR, act, brief, discard, listed, pile, position, told
from tests.games.staging import Table, faces


class TestLeave:
    def test_in_the_own_turn_the_autopilot_plays_after_three_seconds(self) -> None:
        table = position(
            piles={0: "C2 H9 DT D4", 1: "C4", 2: "C5"}, flipped="H8", middle={"H": 1}, discards={2: "S9"}, deadline=500
        )
        assert table.leave(0, now=100) == [
            "left(seat=0, reason=left)",
            "clock_changed(seat=0, deadline=3100)",
        ]
        view = table.view(0)
        assert (view["actors"], view["turn"]) == ([], {"number": 5, "seat": 0})
        assert view["board"]["flipped"] == {"gen": 0, "pos": 33, "card": "H8#1"}
        assert GAME.actors(table.state) == frozenset()
        assert brief(table.wake(3_100)) == [
            "placed(seat=0, card=H8, from=flipped, onto=null)",
            "flipped(seat=0, card=C2)",
            "discarded(seat=0, card=C2, forced=false)",
            "turn_started(seat=1, turn=6, deadline=11100)",
        ]

    def test_a_short_clock_may_become_longer(self) -> None:
        table = position(piles={0: "C2", 1: "C4", 2: "C5"}, offline=[0], deadline=200)
        assert table.leave(0, "connection", now=100)[1] == "clock_changed(seat=0, deadline=3100)"

    def test_in_the_turn_of_another_nothing_more_happens(self) -> None:
        table = position(piles={0: "C2", 1: "C4 C6", 2: "C5"}, flipped="D4", deadline=500)
        assert table.leave(1, "timeouts", now=100) == ["left(seat=1, reason=timeouts)"]
        assert GAME.wake_at(table.state) == 500
        assert act(table, 0, "discard")[-1] == "turn_started(seat=1, turn=6, deadline=3001)"
        assert GAME.actors(table.state) == frozenset()

    def test_the_last_seat_wins_and_a_flipped_card_stays(self) -> None:
        table = position(piles={0: "C2", 1: "C4"}, flipped="D4", discards={1: "S2"})
        assert brief(table.leave(0)) == [
            "left(seat=0, reason=left)",
            "revealed(seat=0, zone=pile, cards=[C2])",
            "revealed(seat=1, zone=pile, cards=[C4])",
            "round_over(reason=last_seat, final=true, ranking=[[1]], shares={1:1}, scores={1:2}, carry=null)",
        ]
        assert table.view(0)["board"]["flipped"] == {"gen": 0, "pos": 16, "card": "D4#1"}
        assert table.view(0)["seats"][0]["status"] == "left"

    def test_a_flipped_card_counts_for_the_last_seat(self) -> None:
        table = position(piles={0: "C2", 1: "C4"}, flipped="D4", discards={0: "S2"})
        table.leave(1)
        assert table.view()["outcome"]["scores"] == {"0": 3}

    def test_offences_made_before_can_still_be_called(self) -> None:
        table = position(
            piles={0: "C2 C3", 1: "C4 C6 C8", 2: "C5"},
            flipped="D4",
            discards={0: "H8"},
            middle={"H": 1},
            offences="H8",
        )
        table.leave(0)
        assert listed(table, 1) == ["call 5"]
        assert act(table, 1, "call", turn=5) == [
            "called(seat=1, turn=5, valid=true, offences=[H8])",
            "discarded(seat=0, card=D4, forced=true)",
            "paid(seat=1, to=0, cards=[@0.3, @0.5])",
            "fixed(seat=0, card=H8)",
            "turn_started(seat=1, turn=6, deadline=8001)",
        ]
        assert pile(table, 0) == "C2 C3 C4 C6"


class TestAutopilot:
    def test_plays_its_discard_first_then_flips(self) -> None:
        table = position(
            piles={0: "C2", 1: "S9 D3", 2: "C5"},
            seat=1,
            left=[1],
            discards={1: "C9 H8"},
            middle={"H": 1, "S": 2, "C": 2},
        )
        assert brief(table.wake(FAR)) == [
            "placed(seat=1, card=H8, from=discard, onto=null)",
            "placed(seat=1, card=C9, from=discard, onto=null)",
            "flipped(seat=1, card=S9)",
            "placed(seat=1, card=S9, from=flipped, onto=null)",
            "flipped(seat=1, card=D3)",
            "discarded(seat=1, card=D3, forced=false)",
            "turn_started(seat=2, turn=6, deadline=1008000)",
        ]
        assert table.state.previous is not None
        assert table.state.previous.offences == ()

    def test_places_in_the_middle_first_then_on_the_first_seat_clockwise(self) -> None:
        table = position(
            piles={0: "C2", 1: "S9", 2: "C5", 3: "C6"},
            seat=1,
            left=[1],
            discards={0: "D8", 2: "S3", 3: "C8"},
            middle={"S": 2},
        )
        assert brief(table.wake(FAR))[1] == "placed(seat=1, card=S9, from=flipped, onto=null)"
        table = position(
            piles={0: "C2", 1: "S9 D3", 2: "C5", 3: "C6"}, seat=1, left=[1], discards={0: "D8", 2: "S3", 3: "C8"}
        )
        assert brief(table.wake(FAR))[1] == "placed(seat=1, card=S9, from=flipped, onto=3)"
        table = position(piles={0: "C2", 1: "S9 D3", 2: "C5", 3: "C6"}, seat=1, left=[1, 0], discards={0: "D8"})
        assert brief(table.wake(FAR))[1] == "placed(seat=1, card=S9, from=flipped, onto=0)"

    def test_turns_its_discard_over(self) -> None:
        table = position(piles={0: "C2", 1: "", 2: "C5"}, seat=1, left=[1], discards={1: "D3 S5"})
        assert brief(table.wake(FAR)) == [
            "turned_over(seat=1, count=2)",
            "flipped(seat=1, card=D3)",
            "discarded(seat=1, card=D3, forced=false)",
            "turn_started(seat=2, turn=6, deadline=1008000)",
        ]

    def test_the_last_card_does_not_win_and_it_is_passed_over_later(self) -> None:
        table = position(piles={0: "C2", 1: "H8", 2: "C5"}, seat=1, left=[1], middle={"H": 1})
        assert brief(table.wake(FAR)) == [
            "flipped(seat=1, card=H8)",
            "placed(seat=1, card=H8, from=flipped, onto=null)",
            "turn_started(seat=2, turn=6, deadline=1008000)",
        ]
        table = position(piles={0: "C2", 1: "", 2: "C5"}, flipped="D4", left=[1])
        assert act(table, 0, "discard")[1] == "turn_started(seat=2, turn=6, deadline=8001)"

    def test_with_cards_given_to_it_it_plays_again(self) -> None:
        table = position(piles={0: "C2", 1: "", 2: "C5"}, flipped="D4", discards={1: "D9"}, left=[1])
        assert act(table, 0, "discard")[1] == "turn_started(seat=1, turn=6, deadline=3001)"

    def test_its_first_flip_closes_the_turn_before_and_a_placement_does_not(self) -> None:
        table = position(piles={0: "C2", 1: "H8 C8", 2: "C5"}, seat=1, left=[1], previous=(4, 0, "C2-", ""))
        assert listed(table, 2) == ["call 4", "call 5"]
        table.wake(FAR)
        assert table.view()["board"]["callable"] == [
            {"turn": 5, "seat": 1, "callers": []},
            {"turn": 6, "seat": 2, "callers": []},
        ]

    def test_a_call_of_its_turn_is_wrong(self) -> None:
        table = position(piles={0: "C2", 1: "H8", 2: "C5"}, seat=1, left=[1], middle={"H": 1})
        assert act(table, 0, "call", turn=5) == ["called(seat=0, turn=5, valid=false, offences=[])"]

    def test_at_the_cap_only_active_seats_share_and_rank(self) -> None:
        table = position(piles={0: "C2 C3", 1: "H8", 2: "C5"}, seat=1, left=[1], turn=600)
        assert brief(table.wake(FAR))[-1] == (
            "round_over(reason=cap, final=true, ranking=[[2], [0]], shares={2:1}, scores={0:2, 2:1}, carry=null)"
        )

    def test_has_nothing_after_its_discard_was_placed(self) -> None:
        table = position(piles={0: "C2", 1: "", 2: "C5"}, seat=1, left=[1], discards={1: "H8"}, middle={"H": 1})
        assert brief(table.wake(FAR)) == [
            "placed(seat=1, card=H8, from=discard, onto=null)",
            "turn_started(seat=2, turn=6, deadline=1008000)",
        ]


class TestView:
    def middle(self) -> Table:
        return position(
            piles={0: "C2 C3", 1: "C4", 3: ""},
            discards={0: "S3", 3: "D2 D9"},
            middle={"H": 2},
            flipped="D4",
            seat=0,
            left=[3],
            offline=[1],
            blocked=[1],
            offences="S3-",
            deadline=777,
        )

    @pytest.mark.parametrize("viewer", [None, 0, 1, 3])
    def test_is_complete_and_the_same_for_all(self, viewer: int | None) -> None:
        nothing = {"top": None, "count": 0}

        def shown(pos: int, code: str) -> dict[str, object]:
            return {"gen": 0, "pos": pos, "card": f"{code}#1"}

        common = {"pile": None, "status": "active", "connected": True}
        assert self.middle().view(viewer) == {
            "game": "mongooz",
            "rules": "mongooz/1",
            "phase": "play",
            "viewer": viewer,
            "opener": 0,
            "turn": {"number": 5, "seat": 0},
            "deadline": 777,
            "actors": [0],
            "seats": [
                {**common, "seat": 0, "pile_count": 2, "discard_count": 1, "discard_top": shown(41, "S3")},
                {
                    **common,
                    "seat": 1,
                    "pile_count": 1,
                    "discard_count": 0,
                    "discard_top": None,
                    "connected": False,
                },
                {
                    **common,
                    "seat": 3,
                    "pile_count": 0,
                    "discard_count": 2,
                    "discard_top": shown(21, "D9"),
                    "status": "left",
                },
            ],
            "board": {
                "middle": {"C": nothing, "D": nothing, "H": {"top": shown(33, "H8"), "count": 2}, "S": nothing},
                "start_rank": "7",
                "flipped": shown(16, "D4"),
                "callable": [{"turn": 5, "seat": 0, "callers": []}],
                "blocked": [1],
            },
            "outcome": None,
        }

    def test_shows_the_piles_at_the_end(self) -> None:
        table = self.middle()
        table.leave(1)
        view = table.view(3)
        assert (view["phase"], view["turn"], view["deadline"], view["actors"]) == ("over", None, None, [])
        assert [faces(row["pile"]) for row in view["seats"]] == [["C2#1", "C3#1"], ["C4#1"], []]
        assert (view["board"]["callable"], view["board"]["blocked"]) == ([], [])
        assert view["board"]["flipped"]["card"] == "D4#1"
        assert view["outcome"]["reason"] == "last_seat"
        assert GAME.wake_at(table.state) is None
        assert listed(table, 0) == []
        assert table.refused(0, {"type": "discard"}) == "round_over"

    def test_is_refused_to_a_stranger(self) -> None:
        with pytest.raises(RuleError) as refusal:
            self.middle().view(2)
        assert refusal.value.code == "not_in_round"

    def test_a_loaded_state_is_equal_and_goes_on_alike(self) -> None:
        for table in (self.middle(), position(piles={0: "C2", 1: "C3"}, previous=(4, 1, "S5 H2-", "0"))):
            data = json.loads(json.dumps(GAME.dump(table.state)))
            again = GAME.load(data)
            assert again == table.state
            assert GAME.dump(again) == data
            for seat in table.state.active:
                assert GAME.legal(again, seat, 1) == GAME.legal(table.state, seat, 1)
                assert GAME.view(again, Seat(seat)) == GAME.view(table.state, Seat(seat))

    def test_the_zones_name_every_card_where_it_is(self) -> None:
        zones = self.middle().state.zones()
        assert sorted(card for cards in zones.values() for card in cards) == sorted(GAME.deck({}, 3))
        assert {name: cards for name, cards in zones.items() if cards and name != "deck"} == {
            "pile 0": ("C2#1", "C3#1"),
            "pile 1": ("C4#1",),
            "discard 0": ("S3#1",),
            "discard 3": ("D2#1", "D9#1"),
            "middle H": ("H7#1", "H8#1"),
            "flipped": ("D4#1",),
        }

    def test_the_outcome_of_a_win_ranks_the_others_by_cards(self) -> None:
        table = position(piles={0: "", 1: "C4 C5", 2: "C6", 3: "C7"}, flipped="H8", middle={"H": 1}, discards={2: "D4"})
        act(table, 0, "to_middle")
        assert told(table)[-1] == (
            "round_over(reason=out, final=true, ranking=[[0], [3], [1, 2]], shares={0:1}, "
            "scores={0:0, 1:2, 2:2, 3:1}, carry=null)"
        )
        assert discard(table, 2) == "D4"
