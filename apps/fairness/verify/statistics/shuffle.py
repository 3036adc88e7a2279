"""The tests of one group of decks: are they what a fair shuffle gives, and is each one new?

Each test compares a figure with its exact distribution (nulls.py), or a sum of squares with its exact mean and
variance.  Every deck counts that was fixed, dealt or void.  Never looks at who played or won.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import lgamma, log
from typing import Final

import numpy as np
from scipy.special import bdtr, gammainc, gammaincc

from apps.fairness.verify.statistics import figures, nulls
from apps.fairness.verify.statistics.figures import Decks, Ints
from apps.fairness.verify.statistics.nulls import Floats
from apps.fairness.verify.statistics.results import Result, too_little

DECKS_MIN: Final = 200
"""With fewer decks, or pairs of rounds, in a group nothing is said about them."""
EXPECTED_MIN: Final = 5.0
"""Values are taken together until a fair shuffle gives that many of each."""
BINS_MAX: Final = 16
"""Into how many parts a distribution is split at most."""
FIRST_CARDS: Final = 5
CHUNK: Final = 8192
"""Decks that are worked on at once."""
CARDS_MIN: Final = 5
CARDS_MAX: Final = 1000
"""Decks of fewer or more cards than these are only looked at for repeats."""


@dataclass(slots=True)
class Counts:
    """What was counted in the decks of a group, or in the changes from one round to the next."""

    n: int
    decks: int
    values: dict[str, Ints]
    """Figure to how often it had each value."""
    places: Ints
    followers: Ints


FIGURES: Final[dict[str, tuple[Callable[[Decks], Ints], Callable[[int], Floats]]]] = {
    "fixed_points": (figures.fixed_points, nulls.fixed_points),
    "cycles": (figures.cycles, nulls.cycles),
    "adjacent_pairs": (figures.adjacent_pairs, nulls.adjacent_pairs),
    "descents": (figures.descents, nulls.descents),
    "inversions": (figures.inversions, nulls.inversions),
}
"""How a figure is counted, and its distribution."""
LAGS: Final = {"lag_places": "fixed_points", "lag_neighbours": "adjacent_pairs", "lag_order": "inversions"}
"""Test of a round against the one before it to the figure of the change between them."""


def counted(decks: Decks, names: Sequence[str] = tuple(FIGURES)) -> Counts:
    """Count everything that the tests look at."""
    n = decks.shape[1]
    counts = Counts(
        n,
        len(decks),
        {name: np.zeros(len(FIGURES[name][1](n)), dtype=np.int64) for name in names},
        np.zeros((n, n), dtype=np.int64),
        np.zeros((n, n), dtype=np.int64),
    )
    for begin in range(0, len(decks), CHUNK):
        part = decks[begin : begin + CHUNK]
        for name, values in counts.values.items():
            values += np.bincount(FIGURES[name][0](part), minlength=len(values))
        counts.places += figures.place_counts(part, n)
        counts.followers += figures.follower_counts(part)
    return counts


def shuffle_tests(group: str, decks: Decks, before: Ints, after: Ints) -> list[Result]:
    """Test the decks of a group.

    Args:
        group: what the report calls it.
        decks: one row for each deck.
        before: rows of decks whose next round at the same table is in the group too.
        after: the rows of those next rounds.
    """
    n = decks.shape[1]
    results = [_repeated_decks(group, decks)]
    if not CARDS_MIN <= n <= CARDS_MAX:
        return results
    counts = counted(decks)
    results += [
        _position_by_card(group, counts),
        _first_cards(group, counts),
        _successor_order(group, counts),
        *(_figure(name, group, counts, name, "decks") for name in FIGURES),
        _parity(group, counts),
    ]
    change = counted(figures.relative(decks[before], decks[after]), tuple(LAGS.values()))
    results += [_figure(name, group, change, figure, "pairs of rounds") for name, figure in LAGS.items()]
    return results


def goodness(observed: Ints, law: Floats) -> tuple[float, int]:
    """Return the p-value of the chi-square test of counts against their distribution, and the number of parts."""
    total = int(observed.sum())
    least = max(EXPECTED_MIN, total / BINS_MAX)
    expected, found = [0.0], [0]
    for probability, count in zip(law.tolist(), observed.tolist(), strict=True):
        if expected[-1] >= least:
            expected.append(0.0)
            found.append(0)
        expected[-1] += total * probability
        found[-1] += count
    if len(expected) > 1 and expected[-1] < least:
        expected[-2:] = [sum(expected[-2:])]
        found[-2:] = [sum(found[-2:])]
    statistic = sum((count - mean) ** 2 / mean for count, mean in zip(found, expected, strict=True))
    return chi_square(statistic, len(expected) - 1), len(expected)


def chi_square(statistic: float, freedom: float) -> float:
    """Return the probability of a chi-square at least this great."""
    return float(gammaincc(freedom / 2, statistic / 2))


def squares(statistic: float, mean: float, variance: float) -> float:
    """Return the two-sided p-value of a sum of squares of known mean and variance, as a gamma distribution has it.

    Two-sided, since decks that are too even were chosen as well.
    """
    shape, scaled = mean * mean / variance, statistic * mean / variance
    return min(1.0, 2 * min(float(gammaincc(shape, scaled)), float(gammainc(shape, scaled))))


def places_p(counts: Ints, decks: int, copies: Ints) -> float:
    """Return the p-value of how often each kind of card lay at each of the first places.

    Args:
        counts: a row for each place, a column for each kind.
        copies: how many cards of each kind the deck has.
    """
    n, places, kinds = int(copies.sum()), len(counts), len(copies)
    share = copies / n
    statistic = float(((counts - decks * share) ** 2 / (decks * share)).sum())
    both = (np.outer(copies, copies) - np.diag(copies)) / (n * (n - 1))
    together = float((both**2 / np.outer(share, share)).sum()) - 1
    pair = places * (kinds - 1) + places * (places - 1) * together
    alone = places * float(share @ (1 / share - kinds) ** 2) * (n - places) / (n - 1)
    return squares(statistic, places * (kinds - 1), (2 * (decks - 1) * pair + alone) / decks)


def _position_by_card(group: str, counts: Counts) -> Result:
    name, copies = "position_by_card", np.ones(counts.n, dtype=np.int64)
    if counts.decks < DECKS_MIN:
        return too_little(name, group, counts.decks, DECKS_MIN, "decks")
    place, card = _strangest(counts.places, counts.decks / counts.n)
    text = (
        f"most unusual: card {card} at place {place}, {counts.places[place, card]} times "
        f"where {counts.decks / counts.n:.1f} are expected"
    )
    return Result(name, group, counts.decks, DECKS_MIN, places_p(counts.places, counts.decks, copies), text)


def _first_cards(group: str, counts: Counts) -> Result:
    name, copies = "first_cards", np.ones(counts.n, dtype=np.int64)
    if counts.decks < DECKS_MIN:
        return too_little(name, group, counts.decks, DECKS_MIN, "decks")
    first = counts.places[:FIRST_CARDS]
    place, card = _strangest(first, counts.decks / counts.n)
    text = f"of the first {FIRST_CARDS} places, most unusual: card {card} at place {place}, {first[place, card]} times"
    return Result(name, group, counts.decks, DECKS_MIN, places_p(first, counts.decks, copies), text)


def _successor_order(group: str, counts: Counts) -> Result:
    name, n, decks = "successor_order", counts.n, counts.decks
    if decks < DECKS_MIN:
        return too_little(name, group, decks, DECKS_MIN, "decks")
    difference = counts.followers - decks / n
    np.fill_diagonal(difference, 0.0)
    _, variance = nulls.moments(nulls.adjacent_pairs(n))
    statistic = float((difference**2).sum()) / decks
    p = squares(statistic, (n - 1) ** 2 / n, 2 * (decks - 1) * variance / decks)
    front, behind = np.unravel_index(int(np.abs(difference).argmax()), difference.shape)
    text = (
        f"most unusual: card {behind} right behind card {front}, {counts.followers[front, behind]} times "
        f"where {decks / n:.1f} are expected"
    )
    return Result(name, group, decks, DECKS_MIN, p, text)


def _figure(test: str, group: str, counts: Counts, figure: str, what: str) -> Result:
    if counts.decks < DECKS_MIN:
        return too_little(test, group, counts.decks, DECKS_MIN, what)
    law, observed = FIGURES[figure][1](counts.n), counts.values[figure]
    p, _ = goodness(observed, law)
    mean, _ = nulls.moments(law)
    text = f"{observed @ np.arange(len(observed)) / counts.decks:.3f} on average, {mean:.3f} expected"
    return Result(test, group, counts.decks, DECKS_MIN, p, text)


def _parity(group: str, counts: Counts) -> Result:
    if counts.decks < DECKS_MIN:
        return too_little("parity", group, counts.decks, DECKS_MIN, "decks")
    by_cycles = counts.values["cycles"]
    even = int(by_cycles[counts.n % 2 :: 2].sum())
    p = min(1.0, 2 * float(bdtr(min(even, counts.decks - even), counts.decks, 0.5)))
    text = f"{even} of {counts.decks} orders are even, a fair coin gives {counts.decks / 2:g}"
    return Result("parity", group, counts.decks, DECKS_MIN, p, text)


def _repeated_decks(group: str, decks: Decks) -> Result:
    count = len(decks)
    if count < 2:
        return too_little("repeated_decks", group, count, 2, "decks")
    rows = np.ascontiguousarray(decks).view(np.dtype((np.void, decks.dtype.itemsize * decks.shape[1])))
    times = np.unique(rows.ravel(), return_counts=True)[1]
    pairs = int((times * (times - 1) // 2).sum())
    # Two decks are alike with probability 1/n!; pairs of few are independent, so their number is near Poisson.
    log_mean = log(count * (count - 1) / 2) - lgamma(decks.shape[1] + 1)
    text = f"{pairs} pairs of decks are the same" if pairs else "no two decks are the same"
    return Result("repeated_decks", group, count, 2, poisson_at_least(pairs, log_mean), text)


def poisson_at_least(count: int, log_mean: float) -> float:
    """Return the probability that a Poisson figure, of this logarithm of its mean, is at least ``count``."""
    return float(gammainc(count, np.exp(log_mean))) if count else 1.0


def _strangest(counts: Ints, expected: float) -> tuple[int, int]:
    place, card = np.unravel_index(int(np.abs(counts - expected).argmax()), counts.shape)
    return int(place), int(card)
