"""Wonky: the worked example of the rule page, event by event."""

from __future__ import annotations

from tests.games.examples import play_example
from tests.games.table import FixedChance, Table, deck_of

DECK = """LP#1 MG#1 SP#1 LG#1 ANYD#1 PASS#1 REV#1 ANYR#1 AG#1 MA#1 SA#1
SB#1 MP#1 SB#2 LB#1 LB#2 LB#3 MB#1 MB#2"""
TREMORS = {"tremor/0": 17, "tremor/1": 862, "tremor/2": 9000, "tremor/3": 1500, "tremor/4": 0}


def test_the_worked_example_happens_as_the_page_says() -> None:
    play_example("wonky", Table.start("wonky", deck_of("wonky", DECK), chance=FixedChance(TREMORS)))
