"""What a fair shuffle gives: the exact distributions of the figures that the battery counts.

Every order of n cards is as likely as the other.  Each function returns the probabilities of the values 0, 1, 2 and so
on of one figure of such an order.  Never looks at a deck.
"""

from __future__ import annotations

from functools import cache
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@cache
def _derangements(n: int) -> tuple[int, ...]:
    """Return the numbers of orders of 0 to n cards that leave no card in its place."""
    row = [1]
    for m in range(1, n + 1):
        row.append(m * row[-1] + (-1) ** m)
    return tuple(row)


@cache
def fixed_points(n: int) -> Floats:
    """Return how probable it is that 0, 1 .. n cards lie at their own place: rencontres numbers, near Poisson(1)."""
    moved, total = _derangements(n), factorial(n)
    return _frozen([comb(n, k) * moved[n - k] / total for k in range(n + 1)])


@cache
def adjacent_pairs(n: int) -> Floats:
    """Return how probable it is that 0, 1 .. n-1 cards are followed by their follower in canonical order."""
    moved, total = _derangements(n), factorial(n)
    return _frozen([comb(n - 1, k) * (moved[n - k] + moved[n - k - 1]) / total for k in range(n)])


@cache
def cycles(n: int) -> Floats:
    """Return how probable 0, 1 .. n cycles are: Stirling numbers of the first kind, of harmonic mean."""
    law = np.ones(1)
    for i in range(1, n + 1):
        law = np.convolve(law, (1 - 1 / i, 1 / i))
    return _frozen(law)


@cache
def descents(n: int) -> Floats:
    """Return how probable it is that 0, 1 .. n-1 cards are greater than the next one: Eulerian numbers."""
    law = np.ones(1)
    for m in range(2, n + 1):
        k = np.arange(m)
        law = ((k + 1) * np.append(law, 0.0) + (m - k) * np.insert(law, 0, 0.0)) / m
    return _frozen(law)


@cache
def inversions(n: int) -> Floats:
    """Return how probable 0, 1 .. n(n-1)/2 pairs of cards in the wrong order are: Mahonian numbers."""
    law = np.ones(1)
    for i in range(2, n + 1):
        sums = np.cumsum(np.pad(law, (0, i - 1)))
        sums[i:] -= sums[:-i].copy()
        law = np.maximum(sums, 0.0) / i
    return _frozen(law / law.sum())


def moments(law: Floats) -> tuple[float, float]:
    """Return mean and variance of a distribution over 0, 1, 2 and so on."""
    values = np.arange(len(law))
    mean = float(law @ values)
    return mean, float(law @ (values - mean) ** 2)


def _frozen(values: Any) -> Floats:
    law = np.asarray(values, dtype=np.float64)
    law.setflags(write=False)
    return law
