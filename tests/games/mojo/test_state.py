"""Mojo: states are values that can be written down and read back (docs/games/mojo.md, section State)."""

from __future__ import annotations

import json

from apps.games.contract import Seat
from apps.games.mojo import GAME
from tests.games.mojo.arranging import arranged, discard, reveal
from tests.games.staging import Table

CODES = GAME.deck({}, 2)


def middle() -> Table:
    """A round with everything in it: a seat that left, a lost connection, laid cards, a locked pile, a past round."""
    table = arranged(
        {0: "Y5#1 Y5#2 G2#1 B0#1", 3: "", 5: "R11#1", 7: ""},
        "O8#1 Y5#3",
        "R12#1",
        laid={3: "B1#1+ B1#2", 7: "G3#1"},
        totals={0: 3, 3: 4, 5: 49, 7: 6},
        face=10,
        number=4,
    )
    table.leave(7)
    table.connection(5, False)
    table.act(0, discard("Y5#1", 1))
    return table


def test_what_is_dumped_is_plain_and_loads_to_an_equal_state() -> None:
    table = middle()
    states = [table.state]
    table.act(0, discard("G2#1", 1))
    states.append(table.state)
    table.leave(5)
    table.act(3, reveal("B1#2"))
    assert table.state.outcome is not None
    states.append(table.state)
    for state in states:
        data = GAME.dump(state)
        assert json.loads(json.dumps(data)) == data
        loaded = GAME.load(json.loads(json.dumps(data)))
        assert loaded == state
        assert GAME.dump(loaded) == data
        for viewer in (None, Seat(0), Seat(3)):
            assert GAME.view(loaded, viewer) == GAME.view(state, viewer)


def test_zones_name_every_place_and_add_up_to_the_deck() -> None:
    zones = middle().state.zones()
    named = {name: " ".join(cards) for name, cards in zones.items() if name != "deck"}
    assert named == {
        "hand 0": "Y5#2 G2#1 B0#1",
        "hand 3": "",
        "hand 5": "R11#1",
        "hand 7": "",
        "aside 0": "",
        "aside 3": "",
        "aside 5": "",
        "aside 7": "G3#1",
        "pile 1": "O8#1 Y5#3 Y5#1",
        "pile 2": "R12#1",
        "laid 3": "B1#1 B1#2",
    }
    assert sorted(card for cards in zones.values() for card in cards) == sorted(CODES)


def test_a_call_leaves_the_state_it_was_given_as_it_was() -> None:
    table = middle()
    before, data = table.state, GAME.dump(table.state)
    table.act(0, discard("B0#1", 1))
    table.leave(0)
    assert GAME.dump(before) == data
    assert before != table.state
