"""Monko: what each viewer is shown, key by key."""

from __future__ import annotations

from typing import Any

import pytest

from tests.games.monko.positions import position, window
from tests.games.table import Table


def hidden(pos: int) -> dict[str, Any]:
    """Return ``<h>``; in a position the place of a card is its canonical index."""
    return {"gen": 0, "pos": pos}


def shown(pos: int, card: str) -> dict[str, Any]:
    """Return ``<s>``."""
    return {"gen": 0, "pos": pos, "card": card}


def running() -> Table:
    """A round with something in every key."""
    return position(
        {0: "R1 B2", 3: "RD", 7: "G4"},
        pile="W R9",
        deck="Y1 Y2",
        seat=3,
        direction=-1,
        stack=4,
        plus4=True,
        pending=(0,),
        drawn="RD",
        windows=[window(3, exposed=True)],
        left=(7,),
        offline=(0,),
        opener=3,
    )


BOARD: dict[str, Any] = {
    "deck_count": 2,
    "pile": [shown(100, "W#1"), shown(17, "R9#1")],
    "colour": "R",
    "direction": -1,
    "stack": {"size": 4, "plus4": True},
    "drawn": hidden(23),
    "pending": [0],
    "windows": [{"window": 1, "seat": 3, "exposed": True, "exposed_at": 4_000, "closes_at": 7_000}],
}
HAND_0 = [shown(1, "R1#1"), shown(78, "B2#1")]
HAND_3 = [shown(23, "RD#1")]


@pytest.mark.parametrize(
    ("viewer", "hand_0", "hand_3", "drawn"),
    [
        (None, [hidden(1), hidden(78)], [hidden(23)], hidden(23)),
        (0, HAND_0, [hidden(23)], hidden(23)),
        (3, [hidden(1), hidden(78)], HAND_3, shown(23, "RD#1")),
        (7, [hidden(1), hidden(78)], [hidden(23)], hidden(23)),
    ],
)
def test_each_viewer_sees_its_own_hand(viewer: int | None, hand_0: Any, hand_3: Any, drawn: Any) -> None:
    assert running().view(viewer) == {
        "game": "monko",
        "rules": "monko/1",
        "phase": "play",
        "viewer": viewer,
        "opener": 3,
        "turn": {"number": 5, "seat": 3},
        "deadline": 10_000,
        "actors": [3],
        "seats": [
            {"seat": 0, "status": "active", "connected": False, "hand": hand_0, "aside": []},
            {"seat": 3, "status": "active", "connected": True, "hand": hand_3, "aside": []},
            {"seat": 7, "status": "left", "connected": True, "hand": [], "aside": [hidden(57)]},
        ],
        "board": {**BOARD, "drawn": drawn},
        "outcome": None,
    }


@pytest.mark.parametrize("viewer", [None, 0, 3, 7])
def test_after_the_end_every_card_is_shown_to_everybody(viewer: int | None) -> None:
    table = running()
    table.leave(3, 0)
    assert table.view(viewer) == {
        "game": "monko",
        "rules": "monko/1",
        "phase": "over",
        "viewer": viewer,
        "opener": 3,
        "turn": None,
        "deadline": None,
        "actors": [],
        "seats": [
            {"seat": 0, "status": "active", "connected": False, "hand": HAND_0, "aside": []},
            {"seat": 3, "status": "left", "connected": True, "hand": [], "aside": HAND_3},
            {"seat": 7, "status": "left", "connected": True, "hand": [], "aside": [shown(57, "G4#1")]},
        ],
        "board": {**BOARD, "drawn": None, "windows": []},
        "outcome": {
            "final": True,
            "reason": "last_seat",
            "ranking": [[0]],
            "shares": {"0": 1},
            "scores": {"0": 3},
            "carry": None,
        },
    }


def test_a_state_with_everything_in_it_survives_a_dump() -> None:
    for table in (running(), _over()):
        data = table.game.dump(table.state)
        assert table.game.load(data) == table.state
        assert table.game.dump(table.game.load(data)) == data


def _over() -> Table:
    table = running()
    table.leave(3, 0)
    return table


def test_the_zones_name_every_card() -> None:
    assert running().state.zones() == {
        "deck": ("Y1#1", "Y2#1"),
        "pile": ("W#1", "R9#1"),
        "hand 0": ("R1#1", "B2#1"),
        "hand 3": ("RD#1",),
        "hand 7": (),
        "aside 0": (),
        "aside 3": (),
        "aside 7": ("G4#1",),
    }
