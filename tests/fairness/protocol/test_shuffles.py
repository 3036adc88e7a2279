"""The shuffle is fair: every order is reached by the same number of words, and real decks look like chance.

The bounds of the statistics are five standard deviations of what a fair shuffle gives, so that none of them fails by
luck in the lifetime of the project; the seeds are fixed all the same.  Source: docs/fairness/protocol.md, section 5.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from math import factorial, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.fairness.protocol.streams import KeySchedule, Stream, insert_back
from tests.fairness.protocol.house import secret

DECKS = 20_000
CARDS = 52
SIGMAS = 5


class Words(Stream):
    """A stream of given words."""

    def __init__(self, words: tuple[int, ...]) -> None:
        super().__init__(bytes(32))
        self._words = list(words[::-1])


@pytest.mark.parametrize("n", range(1, 7))
def test_every_order_comes_from_exactly_one_list_of_draws(n: int) -> None:
    orders = Counter(Words(draws).shuffle(range(n)) for draws in product(*(range(m) for m in range(n, 1, -1))))
    assert len(orders) == factorial(n)
    assert set(orders.values()) == {1}


@pytest.mark.parametrize("m", [1, 2, 3, 7, 52, 108, 10_000, 32_769, 65_535, 65_536])
def test_every_result_of_a_draw_comes_from_the_same_number_of_words(m: int) -> None:
    whole = 65_536 // m
    kept = Counter(word % m for word in range(65_536) if _kept(word, m))
    assert set(kept.values()) == {whole}
    assert len(kept) == m


def _kept(word: int, m: int) -> bool:
    """Tell whether a draw takes this word: if not, it takes the next, which is 0 here."""
    stream = Words((word, 0))
    return m == 1 or (stream.uniform(m), stream.used) == (word % m, 1)


@given(st.lists(st.text(max_size=3), max_size=80), st.binary(min_size=32, max_size=32))
def test_a_shuffle_loses_and_doubles_nothing(items: list[str], key: bytes) -> None:
    assert Counter(Stream(key).shuffle(items)) == Counter(items)


@given(st.lists(st.integers(), min_size=1, max_size=40), st.data())
def test_putting_back_moves_one_item_and_keeps_the_others_in_order(items: list[int], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(items) - 1))
    result = insert_back(items, index)
    assert result[index] == items[-1]
    assert [*result[:index], *result[index + 1 :]] == items[:-1]


@pytest.fixture(scope="module")
def decks() -> list[tuple[int, ...]]:
    return [Stream(secret(f"deck {number}")).shuffle(range(CARDS)) for number in range(DECKS)]


def close(found: float, expected: float, variance: float) -> bool:
    """Tell whether a mean over all decks is as near as chance allows."""
    return abs(found - expected) <= SIGMAS * sqrt(variance / DECKS)


def test_fixed_points(decks: list[tuple[int, ...]]) -> None:
    counts = [sum(at == card for at, card in enumerate(deck)) for deck in decks]
    assert close(sum(counts) / DECKS, 1, 1)
    none = counts.count(0) / DECKS
    assert close(none, 0.367879, 0.2325), "a shuffle that always moves every card has no deck with a fixed point"


def test_parity_and_cycles(decks: list[tuple[int, ...]]) -> None:
    cycles = [_cycles(deck) for deck in decks]
    even = sum((CARDS - count) % 2 == 0 for count in cycles) / DECKS
    assert close(even, 0.5, 0.25)
    mean = sum(1 / size for size in range(1, CARDS + 1))
    variance = sum((1 / size) * (1 - 1 / size) for size in range(1, CARDS + 1))
    assert close(sum(cycles) / DECKS, mean, variance)


def _cycles(deck: tuple[int, ...]) -> int:
    seen, cycles = bytearray(len(deck)), 0
    for start in range(len(deck)):
        if not seen[start]:
            cycles += 1
            at = start
            while not seen[at]:
                seen[at] = 1
                at = deck[at]
    return cycles


def test_neighbours_in_the_box_do_not_stay_together(decks: list[tuple[int, ...]]) -> None:
    after = [sum(b - a == 1 for a, b in pairwise(deck)) for deck in decks]
    expected = (CARDS - 1) / CARDS
    assert close(sum(after) / DECKS, expected, 1)


def test_every_card_is_on_top_as_often_as_the_others(decks: list[tuple[int, ...]]) -> None:
    for place in (0, 1, CARDS // 2, CARDS - 1):
        counts = Counter(deck[place] for deck in decks)
        chi_square = sum((counts[card] - DECKS / CARDS) ** 2 / (DECKS / CARDS) for card in range(CARDS))
        assert abs(chi_square - (CARDS - 1)) <= SIGMAS * sqrt(2 * (CARDS - 1))


def test_descents(decks: list[tuple[int, ...]]) -> None:
    counts = [sum(a > b for a, b in pairwise(deck)) for deck in decks]
    assert close(sum(counts) / DECKS, (CARDS - 1) / 2, (CARDS + 1) / 12)


def schedule(seed: bytes, entropy: bytes = bytes(32)) -> KeySchedule:
    rows = [(0, b"", entropy), (1, b"", secret("second seat"))]
    return KeySchedule.derive(seed=seed, rows=rows, round_=bytes(16), open_hash=bytes(32))


def flips(data: bytes) -> list[bytes]:
    """Return all byte strings that differ in one bit."""
    whole = int.from_bytes(data, "big")
    return [(whole ^ 1 << bit).to_bytes(len(data), "big") for bit in range(8 * len(data))]


def test_every_bit_of_seed_and_entropy_counts() -> None:
    seed, entropy = secret("seed"), secret("entropy")
    keys = {schedule(seed, entropy).prk}
    keys |= {schedule(other, entropy).prk for other in flips(seed)}
    keys |= {schedule(seed, other).prk for other in flips(entropy)}
    assert len(keys) == 1 + 256 + 256
    decks = {schedule(other).chance().shuffle("deck", range(30)) for other in flips(seed)}
    assert len(decks) == 256


def test_without_the_seats_entropy_the_seed_says_nothing_about_the_deck() -> None:
    tops = Counter(
        schedule(secret("seed"), secret(f"entropy {number}")).chance().shuffle("deck", range(10))[0]
        for number in range(2000)
    )
    chi_square = sum((tops[card] - 200) ** 2 / 200 for card in range(10))
    assert abs(chi_square - 9) <= SIGMAS * sqrt(18)
