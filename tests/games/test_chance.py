"""Seeded chance of simulations: named streams that do not touch each other, every order possible."""

from __future__ import annotations

from collections import Counter

import pytest

from apps.games.chance import Dice, SeededChance


def test_a_stream_gives_the_same_again_whatever_else_was_drawn() -> None:
    first, second = SeededChance(3), SeededChance(3)
    second.shuffle("deck", ["A#1", "B#1"])
    second.uniform("tremor/0", 10_000)
    assert first.uniform("tremor/1", 10_000) == second.uniform("tremor/1", 10_000)
    assert first.uniform("tremor/1", 10_000) == first.uniform("tremor/1", 10_000)


def test_seed_stream_and_label_each_matter() -> None:
    drawn = {
        SeededChance(seed, label).uniform(stream, 65_536)
        for seed in (1, 2)
        for label in ("", "x")
        for stream in ("a", "b")
    }
    assert len(drawn) == 8


KNOWN = [5166, 6849, 4105, 7493]
KNOWN_ORDER = tuple("HBFDEGAC")


def test_known_values_stay_the_same_for_ever() -> None:
    chance = SeededChance(7)
    assert [chance.uniform(f"tremor/{number}", 10_000) for number in range(4)] == KNOWN
    assert chance.shuffle("deck", list("ABCDEFGH")) == KNOWN_ORDER


def test_uniform_hits_every_number_and_no_other() -> None:
    counts = Counter(SeededChance(seed).uniform("x", 6) for seed in range(6_000))
    assert sorted(counts) == list(range(6))
    assert max(counts.values()) < 1_150
    assert min(counts.values()) > 850
    assert SeededChance(1).uniform("x", 1) == 0
    with pytest.raises(AssertionError):
        SeededChance(1).uniform("x", 65_537)


def test_shuffle_gives_every_order_about_equally_often() -> None:
    counts = Counter(SeededChance(seed).shuffle("deck", ["A", "B", "C"]) for seed in range(6_000))
    assert len(counts) == 6
    assert max(counts.values()) < 1_150


def test_dice_are_even_and_repeat() -> None:
    dice, again = Dice(5), Dice(5)
    drawn = [dice.below(10) for _ in range(10_000)]
    assert drawn == [again.below(10) for _ in range(10_000)]
    assert set(drawn) == set(range(10))
    assert max(Counter(drawn).values()) < 1_150
    assert [Dice(1).below(1_000) for _ in range(3)] != [Dice(2).below(1_000) for _ in range(3)]
