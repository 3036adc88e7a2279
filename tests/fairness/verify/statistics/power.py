"""Measure how often the battery finds each bad shuffler: the table of docs/fairness/auditors.md.

python -m tests.fairness.verify.statistics.power 50     so many repetitions each, other seeds than the tests have
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np

from apps.fairness.verify.statistics.results import ALPHA, SUSPICIOUS, judged
from apps.fairness.verify.statistics.shuffle import shuffle_tests
from apps.fairness.verify.statistics.voids import result_tests
from tests.fairness.verify.statistics.friends import FRIENDS, called_off
from tests.fairness.verify.statistics.shufflers import BAD, CARDS, Bad, Shuffler, honest

TESTS = 20
"""Tests of a report over one game, with voids."""


def suspicious(shuffler: Shuffler, decks: int, seed: int) -> list[str]:
    """Return the tests that find one run of a shuffler suspicious."""
    made = shuffler(np.random.default_rng(seed), decks, CARDS)
    before = np.arange(decks - 1)
    results = judged(shuffle_tests("one group", made, before, before + 1), ALPHA)
    return [result.test for result in results if result.verdict == SUSPICIOUS]


def friend_found(seats: int, voids: int, seed: int) -> bool:
    """Tell whether rounds called off for a friend are found, in a report of twenty tests."""
    rng = np.random.default_rng(seed)
    results = result_tests([called_off(rng, seats, voids)], rng)
    return any(result.p is not None and result.p <= ALPHA / TESTS for result in results)


def main(repetitions: int) -> None:
    """Print a row for each shuffler, at its stated number of decks and at half of it."""
    for name, bad in {**BAD, "honest": Bad(honest, 1_000, frozenset())}.items():
        for number in (bad.decks // 2, bad.decks):
            runs = [suspicious(bad.shuffle, number, 1000 + seed) for seed in range(repetitions)]
            tests = Counter(test for run in runs for test in run)
            said = ", ".join(test for test, _ in tests.most_common(4))
            sys.stdout.write(f"| {name} | {number} | {sum(map(bool, runs))} of {repetitions} | {said} |\n")
            sys.stdout.flush()
    for seats, voids in FRIENDS:
        for number in (voids // 2, voids):
            found = sum(friend_found(seats, number, 1000 + seed) for seed in range(repetitions))
            sys.stdout.write(f"| a friend, {seats} seats | {number} voids | {found} of {repetitions} | |\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
