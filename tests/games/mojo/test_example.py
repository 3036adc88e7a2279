"""Mojo: the worked example of the rule page, event by event."""

from __future__ import annotations

from tests.games.examples import play_example
from tests.games.table import Table, deck_of

DECK = """Y5#2 R12#1 Y5#3 R12#2 Y5#4 O8#1 Y5#5 O9#1 Y5#6 O10#1
G2#1 Y6#1 B0#1 Y7#1 B1#1 G3#1 Y5#1 R11#1 G4#1 G4#2"""


def test_the_worked_example_happens_as_the_page_says() -> None:
    play_example("mojo", Table.start("mojo", deck_of("mojo", DECK)))
