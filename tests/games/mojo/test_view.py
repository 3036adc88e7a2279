"""Mojo: what each viewer is told (docs/games/mojo.md, section View; J-23)."""

from __future__ import annotations

from apps.games.mojo import GAME
from tests.games.mojo.arranging import arranged, discard, reveal
from tests.games.staging import Table, faces


def test_the_whole_view_of_a_seat_at_the_start() -> None:
    table = Table.start(GAME, "B0#1 R12#1 B0#2 R12#2", seats=(1, 4), opener=4, options={"piles": 2}, now=70)
    view = table.view(1)
    hands = [view["seats"][0].pop("hand"), view["seats"][1].pop("hand")]
    assert hands[0][:2] == [{"gen": 0, "pos": 1, "card": "R12#1"}, {"gen": 0, "pos": 3, "card": "R12#2"}]
    assert hands[1][:2] == [{"gen": 0, "pos": 0}, {"gen": 0, "pos": 2}]
    assert [len(hand) for hand in hands] == [8, 8]
    row = {"status": "active", "connected": True, "laid": None, "aside": [], "total": 0}
    assert view == {
        "game": "mojo",
        "rules": "mojo/1",
        "phase": "play",
        "viewer": 1,
        "opener": 4,
        "turn": {"number": 1, "seat": 4},
        "deadline": 15_070,
        "actors": [4],
        "seats": [{"seat": 1, **row}, {"seat": 4, **row}],
        "board": {
            "round": 1,
            "face": 0,
            "direction": 1,
            "threshold": 2,
            "deck_count": 60,
            "piles": [[{"gen": 0, "pos": 16, "card": "G3#2"}], [{"gen": 0, "pos": 17, "card": "G3#3"}]],
            "locked": None,
        },
        "outcome": None,
    }


def test_laid_cards_show_their_face_to_the_owner_and_once_up_to_all() -> None:
    table = arranged({0: "Y7#1", 1: ""}, "Y5#1", laid={1: "B0#1+ B1#1"})
    for viewer, expected in ((1, ["B0#1", "B1#1"]), (0, ["B0#1", None]), (None, ["B0#1", None])):
        laid = table.row(1, viewer)["laid"]
        assert faces([entry["card"] for entry in laid]) == expected
        assert [entry["up"] for entry in laid] == [True, False]
    assert table.row(0, 0)["laid"] is None


def test_cards_set_aside_are_hidden_even_from_their_owner() -> None:
    table = arranged({0: "Y7#1", 1: "B0#1 B1#1", 2: "G2#1"}, "Y5#1")
    table.leave(1)
    assert faces(table.row(1, 1)["aside"]) == [None, None]


def test_everything_is_shown_to_everybody_once_the_round_is_over() -> None:
    table = arranged({0: "", 1: "O8#1 O9#1", 2: "", 3: "G2#1"}, "Y5#1", laid={0: "B1#1", 2: "Y6#1+ Y7#1"}, face=10)
    table.leave(3)
    table.act(0, reveal("B1#1"))
    for viewer in (None, 0, 1, 3):
        view = table.view(viewer)
        assert (view["phase"], view["turn"], view["deadline"], view["actors"]) == ("over", None, None, [])
        assert faces(table.row(1, viewer)["hand"]) == ["O8#1", "O9#1"]
        laid = table.row(2, viewer)["laid"]
        assert faces([entry["card"] for entry in laid]) == ["Y6#1", "Y7#1"]
        assert [entry["up"] for entry in laid] == [True, False]
        assert faces(table.row(3, viewer)["aside"]) == ["G2#1"]
        assert (view["board"]["face"], view["board"]["direction"]) == (10, -1)
        assert [row["total"] for row in view["seats"]] == [0, 9, 7, 0]
        assert view["outcome"] == {
            "final": False,
            "reason": "round",
            "ranking": [[0], [2], [1]],
            "shares": {},
            "scores": {"0": 0, "1": 9, "2": 7},
            "carry": {"round": 2, "totals": {"0": 0, "1": 9, "2": 7}, "face": 0, "lead": 0},
        }


def test_locked_shows_the_pile_of_an_equal_discard_also_with_one_pile() -> None:
    table = arranged({0: "Y5#2 G2#1", 1: "O8#1"}, "Y5#1")
    table.act(0, discard("Y5#2"))
    assert table.view()["board"]["locked"] == 1


def test_a_lost_connection_shows() -> None:
    table = arranged({0: "Y5#2 G2#1", 1: "O8#1"}, "Y5#1")
    assert table.connection(0, False, 11) == [
        "connection_changed(seat=0, connected=false)",
        "clock_changed(seat=0, deadline=5011)",
    ]
    assert table.row(0)["connected"] is False
    assert table.view()["deadline"] == 5_011
