"""A house that calls rounds off when a friend is about to lose, as a source of results."""

from __future__ import annotations

import numpy as np

from apps.fairness.verify.statistics.decks import Deck
from apps.fairness.verify.statistics.voids import CONTROLS_PER_VOID, Stratum

ROUND = Deck("00" * 16, "aa" * 16, 0, "monko/1", None, "", (), None)
FRIEND = 0
FRIENDS = ((2, 25), (3, 40), (4, 75))
"""Numbers of seats, and of voids at one table, at which the friend is found: docs/fairness/auditors.md."""

Scored = tuple[Stratum, list[dict[int, float]]]


def called_off(rng: np.random.Generator, seats: int, voids: int) -> Scored:
    """Return so many voids that the friend would have lost, and finished rounds that anybody may win."""
    finished = CONTROLS_PER_VOID * voids
    stratum = Stratum("a table", tuple(range(seats)), [ROUND] * voids, [ROUND] * finished)
    winners = [*rng.integers(1, seats, size=voids).tolist(), *rng.integers(seats, size=finished).tolist()]
    return stratum, [{seat: float(seat == winner) for seat in range(seats)} for winner in winners]
