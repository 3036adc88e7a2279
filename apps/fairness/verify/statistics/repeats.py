"""Whether anything came twice that never may: a seed of the house, or the random bytes of a seat.

Never looks at a deck.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log
from typing import Final

from apps.fairness.verify.statistics.decks import Deck
from apps.fairness.verify.statistics.results import ALL, Result, too_little
from apps.fairness.verify.statistics.shuffle import poisson_at_least

LOG_VALUES: Final = 256 * log(2)
"""Logarithm of the number of values that 32 bytes have."""


def repeat_tests(decks: Sequence[Deck]) -> list[Result]:
    """Look for seeds and contributions that stand in more than one round."""
    seeds = (deck.seed for deck in decks)
    entropies = (entropy for deck in decks for entropy in deck.entropies)
    return [_repeated("repeated_seeds", "seeds", seeds), _repeated("repeated_nonces", "contributions", entropies)]


def _repeated(test: str, what: str, values: Iterable[str]) -> Result:
    times = Counter(values)
    count = times.total()
    if count < 2:
        return too_little(test, ALL, count, 2, what)
    pairs = sum(number * (number - 1) // 2 for number in times.values())
    p = poisson_at_least(pairs, log(count * (count - 1) / 2) - LOG_VALUES)
    text = f"no two {what} are the same"
    if pairs:
        value, number = times.most_common(1)[0]
        text = f"{pairs} pairs of {what} are the same; {value} stands there {number} times"
    return Result(test, ALL, count, 2, p, text)
