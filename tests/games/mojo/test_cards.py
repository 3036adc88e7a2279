"""Mojo: the deck and what cards cost (docs/games/mojo.md, section Deck; J-13, J-14, J-27)."""

from __future__ import annotations

import pytest

from apps.games.mojo import GAME
from apps.games.mojo.cards import VALUE, raw_points
from tests.games.mojo.arranging import zone

DECK = GAME.deck({}, 2)


def test_the_deck_has_78_cards_for_all_options_and_seats() -> None:
    assert len(DECK) == len(set(DECK)) == 78
    assert GAME.deck({"piles": 2}, 8) == DECK


@pytest.mark.parametrize(
    ("index", "code"),
    [
        (0, "B0#1"), (3, "B0#4"), (4, "B1#1"), (7, "B1#4"), (8, "G2#1"), (13, "G3#1"), (18, "G4#1"), (22, "G4#5"),
        (23, "Y5#1"), (29, "Y6#1"), (35, "Y7#1"), (40, "Y7#6"), (41, "O8#1"), (48, "O9#1"), (55, "O10#1"),
        (61, "O10#7"), (62, "R11#1"), (69, "R11#8"), (70, "R12#1"), (77, "R12#8"),
    ],
)  # fmt: skip
def test_canonical_order(index: int, code: str) -> None:
    assert DECK[index] == code
    assert VALUE[index] == int(code[1:].partition("#")[0])


@pytest.mark.parametrize(
    ("cards", "points"),
    [
        ("", 0),
        ("B0#1", 0),
        ("B0#1 B1#1 B1#2", 1),
        ("Y5#1 Y7#1 G2#1 G2#2", 9),
        ("R12#1 R11#1 O10#1 O8#1 Y6#1 G4#1 B1#1", 33),
        ("R11#1 R11#2", 11),
    ],
)
def test_only_the_highest_card_of_each_colour_counts(cards: str, points: int) -> None:
    assert raw_points(zone(cards)) == points


def test_the_constants_of_the_rules_version() -> None:
    spec = GAME.spec
    assert (spec.slug, spec.title, spec.rules) == ("mojo", "Mojo", "mojo/1")
    assert (spec.seats_min, spec.seats_max) == (2, 8)
    assert spec.clocks == {"turn_ms": 15_000, "turn_cap": 500, "round_cap": 30, "target": 50}
    assert [(option.name, option.default, option.allowed) for option in spec.options] == [("piles", 1, (1, 2))]
    assert spec.streams == ("reshuffle/n",)
    assert spec.unsequenced == frozenset()
    assert spec.match_game
