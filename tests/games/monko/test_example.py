"""Monko: the worked example of the rule page, event by event."""

from __future__ import annotations

from tests.games.examples import play_example
from tests.games.table import FixedChance, Table, deck_of

DECK = "RS#1 B2#1 YS#1 R2#1 GS#1 Y1#1 BS#1 Y2#1 B4#1 G1#1 BD#1 W#1 R9#1 R5#1 W4#1 R3#1 Y6#1 Y7#1 Y8#1 Y9#1 GD#1"


def test_the_worked_example_happens_as_the_page_says() -> None:
    play_example("monko", Table.start("monko", deck_of("monko", DECK), chance=FixedChance({"start-return/0": 3})))
