"""Wonky: what each viewer is told (docs/games/wonky.md, section View; W-20)."""

from __future__ import annotations

from apps.games.wonky import GAME
from tests.games.staging import Table, faces
from tests.games.wonky.arranging import DRAW, arranged, place_of, stack


def test_the_whole_view_of_a_seat_at_the_start() -> None:
    table = Table.start(GAME, "SP#1 LB#1 PASS#1", seats=(2, 5), opener=5, now=70)
    view = table.view(2)
    hands = [row.pop("hand") for row in view["seats"]]
    assert hands[0][0] == {"gen": 0, "pos": 1, "card": "LB#1"}
    assert hands[1][:2] == [{"gen": 0, "pos": 0}, {"gen": 0, "pos": 2}]
    assert [len(hand) for hand in hands] == [7, 7]
    row = {"status": "active", "connected": True, "aside": []}
    assert view == {
        "game": "wonky",
        "rules": "wonky/1",
        "phase": "play",
        "viewer": 2,
        "opener": 5,
        "turn": {"number": 1, "seat": 5},
        "deadline": 20_070,
        "actors": [5],
        "seats": [{"seat": 2, **row}, {"seat": 5, **row}],
        "board": {
            "deck_count": 40,
            "direction": 1,
            "placements": 0,
            "discard": [],
            "tower": [],
            "free": ["SP", "SG", "SB", "MP", "MG", "MB", "LP", "LG", "LB"],
            "drawn": None,
        },
        "outcome": None,
    }


def test_hands_are_for_their_owner_and_the_discard_pile_for_all() -> None:
    table = arranged({0: "SP#1", 1: "LB#1 LG#1"}, discard="MP#1 MG#1")
    assert faces(table.row(1, 1)["hand"]) == ["LB#1", "LG#1"]
    assert faces(table.row(1, 0)["hand"]) == [None, None]
    assert faces(table.row(1)["hand"]) == [None, None]
    assert faces(table.view()["board"]["discard"]) == ["MP#1", "MG#1"]


def test_the_drawn_card_is_shown_to_the_seat_that_drew_it() -> None:
    table = arranged({0: "SP#1", 1: "LB#1"}, "SPf0", deck="SG#1")
    table.act(0, DRAW)
    assert table.view(0)["board"]["drawn"] == {**place_of(table, "SG#1"), "card": "SG#1"}
    for viewer in (1, None):
        assert table.view(viewer)["board"]["drawn"] == place_of(table, "SG#1")


def test_cards_set_aside_are_hidden_even_from_their_owner() -> None:
    table = arranged({0: "SP#1", 1: "LB#1", 2: "LG#1"})
    table.leave(1)
    assert table.row(1, 1)["hand"] == []
    assert table.row(1, 1)["aside"] == [place_of(table, "LB#1")]


def test_everything_is_shown_to_everybody_once_the_round_is_over() -> None:
    table = arranged({0: "MG#1", 1: "LB#1", 2: "LG#1"}, "LPf0", placements=3)
    table.leave(2)
    table.act(0, stack("MG#1", "MG", "curved", -2))
    for viewer in (None, 0, 1, 2):
        view = table.view(viewer)
        assert (view["phase"], view["turn"], view["deadline"], view["actors"]) == ("over", None, None, [])
        assert faces(table.row(1, viewer)["hand"]) == ["LB#1"]
        assert faces(table.row(2, viewer)["aside"]) == ["LG#1"]
        assert view["board"]["drawn"] is None
        assert view["board"]["placements"] == 4
        assert view["board"]["tower"] == [
            {"block": "LP", "down": "flat", "x": 0},
            {"block": "MG", "down": "curved", "x": -2},
        ]
        assert view["outcome"] == {
            "final": True,
            "reason": "out",
            "ranking": [[0], [1]],
            "shares": {"0": 1},
            "scores": {"0": 0, "1": 1},
            "carry": None,
        }


def test_the_constants_of_the_rules_version() -> None:
    spec = GAME.spec
    assert (spec.slug, spec.title, spec.rules) == ("wonky", "Wonky", "wonky/1")
    assert (spec.seats_min, spec.seats_max) == (2, 8)
    assert spec.clocks == {"turn_ms": 20_000, "turn_cap": 300}
    assert [(o.name, o.default, o.allowed) for o in spec.options] == [("tower", "shaky", ("shaky", "steady"))]
    assert spec.streams == ("tremor/n", "reshuffle/n")
    assert not spec.match_game
