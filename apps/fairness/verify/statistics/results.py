"""What a test of the battery says, and the verdict over all of them together.

The family-wise error is held by Holm's step-down method: over all tests of a report, an honest house is suspected with
a probability of at most alpha.  Never runs a test.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from apps.fairness.protocol.verdict import STATUS_CANNOT, STATUS_FAILURE, STATUS_PASS

ALPHA: Final = 0.01
"""How often an honest house may be suspected, unless the command says otherwise."""

PASSED: Final = "pass"
SUSPICIOUS: Final = "suspicious"
TOO_LITTLE: Final = "too_little_data"

ALL: Final = "all rounds"
"""Where a test stands that looks at every round, whatever the game."""


@dataclass(frozen=True, slots=True)
class Result:
    """One test of one group of decks."""

    test: str
    group: str
    count: int
    """Decks, pairs of rounds, or voids, whatever the test counts."""
    needed: int
    """With fewer of them nothing can be said."""
    p: float | None
    """How often a fair shuffle gives something at least as strange; None where there is too little data."""
    text: str
    """What was found, in words."""
    p_adjusted: float | None = None
    """Holm's p-value: the test is suspicious where it is at most alpha."""
    verdict: str = TOO_LITTLE

    @property
    def status(self) -> int:
        """0 passed, 1 suspicious, 2 too little data."""
        return {PASSED: STATUS_PASS, SUSPICIOUS: STATUS_FAILURE}.get(self.verdict, STATUS_CANNOT)


def too_little(test: str, group: str, count: int, needed: int, what: str) -> Result:
    """Return the result of a test that has not enough to look at."""
    return Result(test, group, count, needed, None, f"{count} {what}, needs at least {needed}")


def judged(results: Sequence[Result], alpha: float) -> list[Result]:
    """Return the results with Holm's p-values over all of them and their verdicts, in the order given."""
    tested = sorted((p, number) for number, result in enumerate(results) if (p := result.p) is not None)
    adjusted: dict[int, float] = {}
    least = 0.0
    for rank, (p, number) in enumerate(tested):
        least = max(least, min(1.0, p * (len(tested) - rank)))
        adjusted[number] = least
    return [
        replace(result, p_adjusted=adjusted[n], verdict=SUSPICIOUS if adjusted[n] <= alpha else PASSED)
        if n in adjusted
        else result
        for n, result in enumerate(results)
    ]


def worst(statuses: Iterable[int]) -> int:
    """Return 1 where anything failed, else 2 where anything could not be checked, else 0."""
    found = set(statuses)
    return next((each for each in (STATUS_FAILURE, STATUS_CANNOT) if each in found), STATUS_PASS)
