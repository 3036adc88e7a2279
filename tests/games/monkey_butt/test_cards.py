"""Packs, strength, and what goes on what.  Rules: docs/games/monkey_butt.md, sections Deck and Playable."""

from __future__ import annotations

import pytest

from apps.games.contract import RuleError
from apps.games.monkey_butt import GAME
from apps.games.monkey_butt.cards import Pack, pack
from apps.games.monkey_butt.playable import blocked_colours, fitting, goes
from tests.games.monkey_butt.positions import codes

ALL = "1 2 3 4 5 6 7 8 9 10 11 12 Z F G"


def four_colours() -> Pack:
    return pack({"quick": True, "devil": True}, 4)


@pytest.mark.parametrize(
    ("seats", "options", "cards", "colours", "run"),
    [
        (2, {}, 55, "PYB", 3),
        (2, {"devil": True}, 56, "PYB", 3),
        (2, {"quick": False}, 70, "PYBK", 4),
        (2, {"quick": False, "devil": True}, 71, "PYBK", 4),
        (3, {}, 70, "PYBK", 4),
        (5, {"quick": False}, 70, "PYBK", 4),
        (5, {"devil": True}, 71, "PYBK", 4),
        (6, {}, 85, "PYBKO", 4),
        (8, {"devil": True}, 86, "PYBKO", 4),
    ],
)
def test_each_number_of_seats_has_its_pack(
    seats: int, options: dict[str, bool], cards: int, colours: str, run: int
) -> None:
    deck = GAME.deck(options, seats)
    ranks = ALL.split()
    expected = [f"{colour}{rank}#1" for colour in colours for rank in ranks]
    expected += ["MF#1", "MF#2", "MF#3", "XT#1", "XT#2", "XB#1", "XB#2", "XC#1", "XC#2", "XC#3"]
    expected += ["XD#1"] if options.get("devil") else []
    assert list(deck) == expected
    assert len(deck) == cards
    assert pack({"quick": options.get("quick", True), "devil": options.get("devil", False)}, seats).run == run


def test_the_game_says_what_it_is() -> None:
    spec = GAME.spec
    assert (spec.slug, spec.title, spec.rules) == ("monkey_butt", "Monkey Butt", "monkey_butt/1")
    assert (spec.seats_min, spec.seats_max) == (2, 8)
    assert dict(spec.clocks) == {"setup_ms": 30_000, "turn_ms": 20_000, "turn_cap": 600}
    assert [(option.name, option.default) for option in spec.options] == [("quick", True), ("devil", False)]
    assert (spec.streams, spec.unsequenced, spec.refusals, spec.match_game) == ((), frozenset(), frozenset(), False)


def test_colours_are_those_of_the_code_but_for_pyros_of_all_colours_and_supers() -> None:
    its = four_colours()
    colours = {code: its.colour[card] for card, code in enumerate(its.codes)}
    assert {code for code, colour in colours.items() if not colour} == {c for c in its.codes if c[0] in "MX"}
    assert all(colour in ("", code[0]) for code, colour in colours.items())


def test_an_unknown_option_has_no_deck() -> None:
    with pytest.raises(RuleError) as refusal:
        GAME.deck({"quick": 1}, 2)
    assert refusal.value.code == "bad_option"


def test_strength_is_by_kind_then_by_index() -> None:
    its = four_colours()
    order = [its.codes[card] for card in sorted(range(len(its.codes)), key=its.strength.__getitem__)]
    kinds = ["2", "3", "4", "5", "6", "7", "9", "10", "11", "12", "1", "8", "Z", "G"]
    expected = [f"{colour}{kind}#1" for kind in kinds for colour in "PYBK"]
    expected += ["XD#1", "XC#1", "XC#2", "XC#3", "XB#1", "XB#2", "XT#1", "XT#2"]
    expected += ["PF#1", "YF#1", "BF#1", "KF#1", "MF#1", "MF#2", "MF#3"]
    assert order == expected


@pytest.mark.parametrize(
    ("top", "ranks"),
    [
        ("", ALL),
        ("1", ALL),
        ("2", "2 3 4 5 6 7 8 9 10 11 12 Z F G"),
        ("3", "3 4 5 6 7 8 9 10 11 12 Z F G"),
        ("4", "4 5 6 7 8 9 10 11 12 Z F G"),
        ("5", "5 6 7 8 9 10 11 12 Z F G"),
        ("6", "6 7 8 9 10 11 12 Z F G"),
        ("7", "7 8 9 10 11 12 Z F G"),
        ("8", "1 2 3 4 5 6 7 8 Z"),
        ("9", "8 9 10 11 12 Z F G"),
        ("10", "8 10 11 12 Z F G"),
        ("11", "8 11 12 Z F G"),
        ("12", "8 12 Z F G"),
        ("Z", ALL),
        ("G", "Z F G"),
    ],
)
def test_a_rank_goes_on_a_top_as_the_table_says(top: str, ranks: str) -> None:
    its = four_colours()
    pile = its.numbers([f"P{top}#1"]) if top else ()
    under = its.numbers(["B9#1"]) if top else ()
    assert [ALL.split()[rank - 1] for rank in fitting(its, under + pile)] == ranks.split()
    yellow = [rank for rank in ALL.split() if goes(its, under + pile, its.index[f"Y{rank}#1"])]
    assert yellow == ranks.split()


def test_a_one_blocks_its_colour_at_any_depth() -> None:
    its = four_colours()
    pile = its.numbers(codes("P1 Y1 PZ Y2"))
    assert blocked_colours(its, pile) == {"P", "Y"}
    blocked = [card for card in range(len(its.codes)) if its.rank[card] and not goes(its, pile, card)]
    assert {its.codes[card][0] for card in blocked if its.rank[card] != 1} == {"P", "Y"}
    assert goes(its, pile, its.index["MF#1"])
    assert goes(its, pile, its.index["BF#1"])
    assert not goes(its, pile, its.index["PF#1"])


def test_without_a_one_no_colour_is_blocked() -> None:
    its = four_colours()
    assert blocked_colours(its, its.numbers(codes("P2 Y3"))) == frozenset()
