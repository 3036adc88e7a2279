"""Shufflers that are known to be bad, and an honest one, as sources of many decks at once.

Each gives rows of the numbers 0 to n-1, top first; row k is the deck of round k of one table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Decks = NDArray[np.integer[Any]]
CARDS = 52
Shuffler = Callable[[np.random.Generator, int, int], Decks]
"""Gives so many decks of so many cards."""


def _sorted(decks: int, cards: int) -> Decks:
    return np.tile(np.arange(cards, dtype=np.uint16), (decks, 1))


def _swap(made: Decks, place: int, others: NDArray[np.integer[Any]]) -> None:
    """Swap the card at one place of each deck with one at a place of its own."""
    rows = np.arange(len(made))
    kept = made[:, place].copy()
    made[:, place] = made[rows, others]
    made[rows, others] = kept


def honest(rng: np.random.Generator, decks: int, cards: int) -> Decks:
    """Shuffle as one should."""
    return rng.permuted(_sorted(decks, cards), axis=1)


def sattolo(rng: np.random.Generator, decks: int, cards: int) -> Decks:
    """Fisher-Yates that never swaps a card with itself: only orders of one cycle."""
    made = _sorted(decks, cards)
    for place in range(cards - 1, 0, -1):
        _swap(made, place, rng.integers(place, size=decks))
    return made


def naive_swap(rng: np.random.Generator, decks: int, cards: int) -> Decks:
    """Swap each place with any place: n to the n ways, which n! does not divide."""
    made = _sorted(decks, cards)
    for place in range(cards):
        _swap(made, place, rng.integers(cards, size=decks))
    return made


def byte_modulo(rng: np.random.Generator, decks: int, cards: int) -> Decks:
    """Fisher-Yates with a random byte modulo m: small results come more often."""
    made = _sorted(decks, cards)
    for place in range(cards - 1, 0, -1):
        _swap(made, place, rng.integers(256, size=decks) % (place + 1))
    return made


def seeds_16_bit(rng: np.random.Generator, decks: int, cards: int) -> Decks:
    """An honest shuffle of one of 65536 seeds."""
    return _seeded(rng, decks, cards, 1 << 16)


def seeds_31_bit(rng: np.random.Generator, decks: int, cards: int) -> Decks:
    """An honest shuffle of one of 2147483648 seeds."""
    return _seeded(rng, decks, cards, 1 << 31)


def _seeded(rng: np.random.Generator, decks: int, cards: int, seeds: int) -> Decks:
    drawn, which = np.unique(rng.integers(seeds, size=decks), return_inverse=True)
    return honest(rng, len(drawn), cards)[which]


def random_comparator(rng: np.random.Generator, decks: int, cards: int) -> Decks:
    """Insertion sort that tosses a coin where it should compare."""
    made = _sorted(decks, cards)
    places = np.arange(cards)
    for last in range(1, cards):
        target = np.maximum(0, last - (rng.geometric(0.5, size=decks) - 1))[:, None]
        moved = np.where((places > target) & (places <= last), places - 1, places)
        made = np.take_along_axis(made, np.where(places == target, last, moved), axis=1)
    return made


def overhand(rng: np.random.Generator, decks: int, cards: int) -> Decks:
    """One overhand pass: packets of about six cards, the last one on top."""
    packet = np.cumsum(rng.random((decks, cards)) < 1 / 6, axis=1)
    return np.argsort(cards - packet, axis=1, kind="stable").astype(np.uint16)


def _riffled(rng: np.random.Generator, made: Decks) -> Decks:
    """Riffle each deck once, as Gilbert, Shannon and Reeds have it."""
    lower = rng.integers(2, size=made.shape)
    # Cards of the upper packet, in order, go where there is a 0, those of the lower one where there is a 1.
    source = np.argsort(np.argsort(lower, axis=1, kind="stable"), axis=1, kind="stable")
    return np.take_along_axis(made, source, axis=1)


def three_riffles(rng: np.random.Generator, decks: int, cards: int) -> Decks:
    """Three riffles; seven would be needed."""
    made = _sorted(decks, cards)
    for _ in range(3):
        made = _riffled(rng, made)
    return made


def last_stays(rng: np.random.Generator, decks: int, cards: int) -> Decks:
    """Fisher-Yates that begins one place too early: the last card never moves."""
    made = _sorted(decks, cards)
    for place in range(cards - 2, 0, -1):
        _swap(made, place, rng.integers(place + 1, size=decks))
    return made


def cut(rng: np.random.Generator, decks: int, cards: int) -> Decks:
    """A single cut: the deck is turned round, not mixed."""
    begin = rng.integers(cards, size=decks)[:, None]
    return ((np.arange(cards) + begin) % cards).astype(np.uint16)


def lcg_low_bits(rng: np.random.Generator, decks: int, cards: int) -> Decks:
    """Fisher-Yates with the low bits of a linear congruential generator, which alternate."""
    made = _sorted(decks, cards)
    state = rng.integers(1 << 32, size=decks, dtype=np.uint64)
    for place in range(cards - 1, 0, -1):
        state = (state * np.uint64(1103515245) + np.uint64(12345)) % np.uint64(1 << 31)
        _swap(made, place, (state % np.uint64(place + 1)).astype(np.int64))
    return made


def former_deck(rng: np.random.Generator, decks: int, cards: int) -> Decks:
    """Each deck is the one before it, riffled three times; the first one is fair, so each alone is."""
    made = [honest(rng, 1, cards)]
    for _ in range(decks - 1):
        after = made[-1]
        for _ in range(3):
            after = _riffled(rng, after)
        made.append(after)
    return np.concatenate(made)


class Bad(NamedTuple):
    """A bad shuffler, the number of decks of 52 cards at which it is found, and the tests that find it."""

    shuffle: Shuffler
    decks: int
    found_by: frozenset[str]


BAD = {
    "sattolo": Bad(sattolo, 200, frozenset(("fixed_points", "cycles", "parity"))),
    "naive_swap": Bad(naive_swap, 500, frozenset(("inversions", "cycles"))),
    "byte_modulo": Bad(byte_modulo, 4_000, frozenset(("inversions",))),
    "seeds_16_bit": Bad(seeds_16_bit, 1_000, frozenset(("repeated_decks",))),
    "seeds_31_bit": Bad(seeds_31_bit, 100_000, frozenset(("repeated_decks",))),
    "random_comparator": Bad(random_comparator, 200, frozenset(("position_by_card", "first_cards"))),
    "overhand": Bad(overhand, 200, frozenset(("successor_order", "adjacent_pairs"))),
    "three_riffles": Bad(three_riffles, 200, frozenset(("adjacent_pairs", "descents", "inversions"))),
    "last_stays": Bad(last_stays, 200, frozenset(("position_by_card", "fixed_points", "cycles"))),
    "cut": Bad(cut, 200, frozenset(("successor_order", "descents", "repeated_decks"))),
    "lcg_low_bits": Bad(lcg_low_bits, 200, frozenset(("cycles", "inversions"))),
    "former_deck": Bad(former_deck, 250, frozenset(("lag_neighbours", "lag_order"))),
}
