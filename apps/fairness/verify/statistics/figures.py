"""Figures of decks: what is counted in each of them, for many at once.

A deck is a row of canonical numbers, top first: the numbers 0 to n-1 in some order.  Never judges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Decks = NDArray[np.integer[Any]]
"""One row for each deck, one column for each place."""
Ints = NDArray[np.int64]


def fixed_points(decks: Decks) -> Ints:
    """Count the cards that lie at their own place."""
    return np.asarray((decks == np.arange(decks.shape[1])).sum(axis=1), dtype=np.int64)


def adjacent_pairs(decks: Decks) -> Ints:
    """Count the cards that are followed by their follower in canonical order."""
    return np.asarray((decks[:, 1:] == decks[:, :-1] + 1).sum(axis=1), dtype=np.int64)


def descents(decks: Decks) -> Ints:
    """Count the cards that are greater than the next one."""
    return np.asarray((decks[:, :-1] > decks[:, 1:]).sum(axis=1), dtype=np.int64)


def cycles(decks: Decks) -> Ints:
    """Count the cycles of each order, by following all cards twice as far at each step."""
    places = np.arange(decks.shape[1])
    step = decks.astype(np.int64)
    least = np.minimum(step, places)
    for _ in range(max(1, decks.shape[1] - 1).bit_length()):
        least = np.minimum(least, np.take_along_axis(least, step, axis=1))
        step = np.take_along_axis(step, step, axis=1)
    return np.asarray((least == places).sum(axis=1), dtype=np.int64)


def inversions(decks: Decks) -> Ints:
    """Count the pairs of cards that lie in the wrong order."""
    columns = np.ascontiguousarray(decks.T)
    found = np.zeros(len(decks), dtype=np.int64)
    for place in range(decks.shape[1] - 1):
        found += (columns[place] > columns[place + 1 :]).sum(axis=0, dtype=np.int16)
    return found


def relative(before: Decks, after: Decks) -> Decks:
    """Return where each card of a deck lay in the deck before it: for fair decks an order as fair as any."""
    where = np.empty_like(before)
    np.put_along_axis(where, before.astype(np.int64), np.arange(before.shape[1], dtype=before.dtype)[None, :], axis=1)
    return np.take_along_axis(where, after.astype(np.int64), axis=1)


def place_counts(decks: Decks, kinds: int) -> Ints:
    """Count how often each kind of card lay at each place: a row for each place."""
    places = decks.shape[1]
    cells = decks.astype(np.int64) + kinds * np.arange(places)
    return np.bincount(cells.ravel(), minlength=places * kinds).reshape(places, kinds)


def follower_counts(decks: Decks) -> Ints:
    """Count how often each card was followed by each other: a row for the card in front."""
    n = decks.shape[1]
    cells = decks[:, :-1].astype(np.int64) * n + decks[:, 1:]
    return np.bincount(cells.ravel(), minlength=n * n).reshape(n, n)
