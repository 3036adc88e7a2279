"""Wonky: states are values that can be written down and read back (docs/games/wonky.md, State and stability)."""

from __future__ import annotations

import json

from apps.games.contract import Seat
from apps.games.wonky import GAME
from tests.games.staging import Table
from tests.games.wonky.arranging import DRAW, KEEP, arranged, stack

CODES = GAME.deck({}, 2)


def middle() -> Table:
    """A round with everything in it: a tower, discards, a drawn card, a seat that left, a lost connection."""
    table = arranged(
        {0: "SP#1", 2: "LB#1", 4: "MG#1 MG#2"},
        "LPf0 SPc-3",
        discard="REV#1 LP#1",
        placements=6,
        direction=-1,
        option="steady",
        tremor=0,
    )
    table.leave(4)
    table.connection(2, False)
    table.act(0, DRAW)
    return table


def test_what_is_dumped_is_plain_and_loads_to_an_equal_state() -> None:
    table = middle()
    states = [table.state]
    assert table.state.drawn is not None
    table.act(0, DRAW)
    table.act(0, DRAW)
    table.act(0, KEEP)
    table.connection(2, True)
    table.act(2, stack("LB#1", "LB", "curved", 5), 2)
    assert table.state.rebuilding
    states.append(table.state)
    table.leave(2, now=3)
    assert table.state.outcome is not None
    states.append(table.state)
    for state in states:
        data = GAME.dump(state)
        assert json.loads(json.dumps(data)) == data
        loaded = GAME.load(json.loads(json.dumps(data)))
        assert loaded == state
        assert GAME.dump(loaded) == data
        for viewer in (None, Seat(0), Seat(2)):
            assert GAME.view(loaded, viewer) == GAME.view(state, viewer)


def test_zones_name_every_place_and_add_up_to_the_deck() -> None:
    zones = middle().state.zones()
    named = {name: " ".join(cards) for name, cards in zones.items() if name != "deck"}
    assert named == {
        "hand 0": "SP#1 SP#2",
        "hand 2": "LB#1",
        "hand 4": "",
        "aside 0": "",
        "aside 2": "",
        "aside 4": "MG#1 MG#2",
        "discard": "REV#1 LP#1",
    }
    assert sorted(card for cards in zones.values() for card in cards) == sorted(CODES)


def test_a_call_leaves_the_state_it_was_given_as_it_was() -> None:
    table = middle()
    before, data = table.state, GAME.dump(table.state)
    table.act(0, DRAW)
    table.leave(0)
    assert GAME.dump(before) == data
    assert before != table.state
