"""What each viewer sees, and the state as a value.  Rules: docs/games/monkey_butt.md, section View."""

from __future__ import annotations

import json

import pytest

from apps.games.contract import RuleError, Seat
from apps.games.monkey_butt import GAME
from tests.games.monkey_butt.positions import position
from tests.games.staging import Table, faces


def middle() -> Table:
    return position(
        hands={0: "P9 XT", 1: "B2", 2: "", 4: ""},
        rows={0: "P2 - P4", 1: "- - -"},
        down={0: "P5", 1: "B5"},
        pile="Y2 Y9",
        burn="K2 K3",
        deck="Y3 Y4",
        aside={2: "B8 B9"},
        out=[4],
        turn=7,
        deadline=777,
        offline=[1],
    )


def test_a_players_view_is_complete() -> None:
    table = middle()
    view = table.view(0)
    removed = view["board"].pop("removed")
    assert {card["card"] for card in removed} == set(table.state.deal.cards.texts(table.state.removed))

    def shown(pos: int, code: str) -> dict[str, object]:
        return {"gen": 0, "pos": pos, "card": f"{code}#1"}

    def hidden(pos: int) -> dict[str, object]:
        return {"gen": 0, "pos": pos}

    nothing: dict[str, object] = {
        "hand": [],
        "a": None,
        "b": None,
        "c": None,
        "down": None,
        "aside": [],
        "locked": False,
    }
    assert view == {
        "game": "monkey_butt",
        "rules": "monkey_butt/1",
        "phase": "play",
        "viewer": 0,
        "opener": 0,
        "turn": {"number": 7, "seat": 0},
        "deadline": 777,
        "actors": [0],
        "seats": [
            {
                **nothing,
                "seat": 0,
                "status": "active",
                "connected": True,
                "hand": [shown(8, "P9"), shown(63, "XT")],
                "a": shown(1, "P2"),
                "c": shown(3, "P4"),
                "down": hidden(4),
            },
            {
                **nothing,
                "seat": 1,
                "status": "active",
                "connected": False,
                "hand": [hidden(31)],
                "down": hidden(34),
            },
            {
                **nothing,
                "seat": 2,
                "status": "left",
                "connected": True,
                "aside": [hidden(37), hidden(38)],
            },
            {**nothing, "seat": 4, "status": "out", "connected": True},
        ],
        "board": {
            "deck_count": 2,
            "pile": [shown(16, "Y2"), shown(23, "Y9")],
            "burn": [shown(46, "K2"), shown(47, "K3")],
            "out": [4],
            "zone": "hand",
            "lowest": None,
            "victim": None,
            "in_play": None,
        },
        "outcome": None,
    }


def test_everybody_else_sees_hands_and_face_down_cards_hidden() -> None:
    table = middle()
    for viewer in (None, 1, 2, 4):
        assert faces(table.row(0, viewer)["hand"]) == [None, None]
        assert table.row(0, viewer)["down"] == {"gen": 0, "pos": 4}
        assert table.view(viewer)["viewer"] == viewer
    assert faces(table.row(1, viewer=1)["hand"]) == ["B2#1"]
    assert faces(table.row(2, viewer=2)["aside"]) == [None, None]
    with pytest.raises(RuleError) as refusal:
        table.view(3)
    assert refusal.value.code == "not_in_round"


def test_set_up_has_no_turn() -> None:
    view = Table.start(GAME, seats=(0, 1)).view(0)
    assert (view["phase"], view["turn"], view["deadline"], view["actors"]) == ("ab", None, 30_000, [0, 1])
    assert len(view["seats"][0]["hand"]) == 6
    assert view["board"] == {
        "deck_count": 41,
        "pile": [],
        "burn": [],
        "removed": [],
        "out": [],
        "zone": None,
        "lowest": None,
        "victim": None,
        "in_play": None,
    }


def test_a_hand_is_seen_by_a_picker_only_while_the_picker_is_active() -> None:
    table = Table.start(GAME, seats=(0, 1, 2))
    table.wake(30_000)
    assert None not in faces(table.row(1, viewer=0)["hand"])
    table.leave(0, now=30_001)
    assert set(faces(table.row(1, viewer=0)["hand"])) == {None}
    assert None not in faces(table.row(2, viewer=1)["hand"])


@pytest.mark.parametrize(
    "table",
    [
        middle(),
        position(hands={0: "P9", 1: "B2"}, phase="use", in_play=("XB", "down"), acted=True),
        position(hands={0: "P9", 1: "B2"}, phase="steal", victim=1),
        position(hands={0: "P9", 1: "B2"}, lowest=9, turn=1),
        position(hands={0: "P9", 1: "B2"}, phase="c", targets={0: 1, 1: 0}, locks={0: "B2"}, turn=0),
    ],
)
def test_a_loaded_state_is_equal_and_goes_on_alike(table: Table) -> None:
    data = json.loads(json.dumps(GAME.dump(table.state)))
    again = GAME.load(data)
    assert again == table.state
    assert GAME.dump(again) == data
    for seat in table.state.active:
        assert GAME.legal(again, seat, 1) == GAME.legal(table.state, seat, 1)
        assert GAME.view(again, Seat(seat)) == GAME.view(table.state, Seat(seat))


def test_the_zones_name_every_card_where_it_is() -> None:
    table = middle()
    zones = table.state.zones()
    assert sorted(card for cards in zones.values() for card in cards) == sorted(GAME.deck({}, 4))
    assert {name: cards for name, cards in zones.items() if cards and name != "removed"} == {
        "deck": ("Y3#1", "Y4#1"),
        "hand 0": ("P9#1", "XT#1"),
        "hand 1": ("B2#1",),
        "aside 2": ("B8#1", "B9#1"),
        "pile": ("Y2#1", "Y9#1"),
        "burn": ("K2#1", "K3#1"),
        "open 0": ("P2#1", "P4#1"),
        "down 0": ("P5#1",),
        "down 1": ("B5#1",),
    }
    table = position(hands={0: "P9", 1: "B2"}, phase="use", in_play=("XB", "down"))
    assert table.state.zones()["in_play"] == ("XB#1",)


def test_an_act_leaves_the_old_state_as_it_was() -> None:
    table = middle()
    before = GAME.dump(table.state)
    old = table.state
    table.act(0, {"type": "play", "cards": ["P9#1"]})
    assert GAME.dump(old) == before
    assert table.state != old
