"""Whether rounds were called off for what their decks held.

A void gives everybody the money back, so it earns the house nothing from the pot, but it can help a friend who is
losing.  Its seed is public, so its deck can be compared with those of finished rounds.  The finished rounds of the same
table with the same seats are the measure: were the voids drawn among them by chance?  Never judges a reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from scipy.special import ndtr

from apps.fairness.verify.statistics.decks import Deck
from apps.fairness.verify.statistics.figures import Decks, place_counts
from apps.fairness.verify.statistics.nulls import Floats
from apps.fairness.verify.statistics.results import ALL, Result, too_little
from apps.fairness.verify.statistics.shuffle import places_p
from apps.fairness.verify.statistics.would_be import is_playable

VOIDS_MIN: Final = 10
"""With fewer voids nothing is said about their tables, indexes and results."""
VOID_DECKS_MIN: Final = 20
"""With fewer voided decks in a group nothing is said about their cards."""
PLACES: Final = 32
"""Places from the top at which the cards of voided decks are looked at: what is dealt and drawn soon."""
PLAYED_MAX: Final = 500
"""Voids that are played, at most."""
CONTROLS_PER_VOID: Final = 10
"""Finished rounds that are played again for each void of the same table and seats, at most."""
DRAWS_MAX: Final = 20_000
"""Random choices of voids that the real ones are compared with, at most."""
DRAWS_AT_ONCE: Final = 500
ENOUGH: Final = 20
"""Random choices as strange as the real one after which its p-value is known well enough."""
NOT_STARTED: Final = "not_started"
"""Reason of a void that nobody chose: the seats did not get ready in time."""

Shares = Mapping[int, float]
"""Seat to its part of the pot."""


@dataclass(slots=True)
class Stratum:
    """Rounds of one table with the same rules and seats: voids first, then finished rounds to compare them with."""

    table: str
    seats: tuple[int, ...]
    voids: list[Deck] = field(default_factory=list)
    finished: list[Deck] = field(default_factory=list)

    def compared(self) -> list[Deck]:
        """Return the rounds that are played, the voids first."""
        return self.voids + _some(self.finished, CONTROLS_PER_VOID * len(self.voids))


def strata(decks: Sequence[Deck]) -> list[Stratum]:
    """Return the tables and seats that have both voids and finished rounds, of decks that can be played."""
    found: dict[tuple[str, str, tuple[int, ...]], Stratum] = {}
    playable = [deck for deck in decks if is_playable(deck)]
    voids = _some([deck for deck in playable if deck.void is not None], PLAYED_MAX)
    for deck in voids + [deck for deck in playable if deck.void is None]:
        if deck.dealt is not None:
            seats = tuple(map(int, deck.dealt.seats))
            stratum = found.setdefault((deck.table, deck.rules, seats), Stratum(deck.table, seats))
            (stratum.finished if deck.void is None else stratum.voids).append(deck)
    return [stratum for stratum in found.values() if stratum.voids and stratum.finished]


def _some(decks: Sequence[Deck], most: int) -> list[Deck]:
    """Return at most so many rounds: those of the smallest ids, which are hashes that nobody can choose."""
    return sorted(decks, key=lambda deck: deck.round)[:most]


def rate_tests(decks: Sequence[Deck], rng: np.random.Generator) -> list[Result]:
    """Test whether voids fall on tables, if there are several, and on their indexes, as chance would have it."""
    tables: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for deck in decks:
        if deck.void != NOT_STARTED:
            tables[deck.table].append((deck.index, deck.void is not None))
    voids = sum(void for rows in tables.values() for _, void in rows)
    by_index = _by_index(tables, voids)
    return [_by_table(tables, voids, rng), by_index] if len(tables) > 1 else [by_index]


def _by_table(tables: Mapping[str, list[tuple[int, bool]]], voids: int, rng: np.random.Generator) -> Result:
    if voids < VOIDS_MIN:
        return too_little("void_tables", ALL, voids, VOIDS_MIN, "voids")
    names = list(tables)
    sizes = np.array([len(tables[name]) for name in names])
    found = np.array([sum(void for _, void in tables[name]) for name in names])
    expected = voids * sizes / sizes.sum()
    drawn = rng.multivariate_hypergeometric(sizes, voids, size=DRAWS_MAX, method="marginals")
    strange = ((drawn - expected) ** 2 / expected).sum(axis=1)
    real = float(((found - expected) ** 2 / expected).sum())
    p = (1 + int((strange >= real * (1 - 1e-9)).sum())) / (1 + DRAWS_MAX)
    most = int(((found - expected) / np.sqrt(expected)).argmax())
    text = f"most: table {names[most]}, {found[most]} of {sizes[most]} rounds where {expected[most]:.1f} are expected"
    return Result("void_tables", ALL, voids, VOIDS_MIN, p, text)


def _by_index(tables: Mapping[str, list[tuple[int, bool]]], voids: int) -> Result:
    if voids < VOIDS_MIN:
        return too_little("void_indexes", ALL, voids, VOIDS_MIN, "voids")
    difference = variance = 0.0
    for rows in tables.values():
        ranks = [rank for rank, (_, void) in enumerate(sorted(rows), 1) if void]
        n, m = len(rows), len(ranks)
        difference += sum(ranks) - m * (n + 1) / 2
        variance += m * (n - m) * (n + 1) / 12
    if variance == 0:
        return too_little("void_indexes", ALL, 0, VOIDS_MIN, "voids beside finished rounds")
    z = difference / variance**0.5
    text = f"voids come {'later' if z > 0 else 'earlier'} at their tables than the middle, by {abs(z):.1f} deviations"
    return Result("void_indexes", ALL, voids, VOIDS_MIN, 2 * float(ndtr(-abs(z))), text)


def void_decks_test(group: str, decks: Decks, kind_of: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Result:
    """Test the cards near the top of the voided decks of a group against a fair shuffle.

    Args:
        decks: the voided ones.
        kind_of: canonical number to kind of card, 0, 1 and so on; copies of one face are of one kind.
    """
    name = "void_decks"
    if len(decks) < VOID_DECKS_MIN:
        return too_little(name, group, len(decks), VOID_DECKS_MIN, "voids with a known deck")
    copies = np.bincount(kind_of)
    counts = place_counts(kind_of[decks[:, :PLACES]], len(copies))
    text = f"cards at the first {counts.shape[0]} places of voided decks, by face"
    return Result(name, group, len(decks), VOID_DECKS_MIN, places_p(counts, len(decks), copies), text)


@dataclass(frozen=True, slots=True)
class _Scored:
    """The shares of a stratum, and where its seats stand in the row of all cells."""

    shares: Floats
    """One row for each round, the voids first; one column for each seat."""
    voids: int
    cells: list[int]


def result_tests(scored: Sequence[tuple[Stratum, Sequence[Shares]]], rng: np.random.Generator) -> list[Result]:
    """Test whether voided decks would have brought the seats what finished ones bring them.

    Args:
        scored: each stratum with the shares of its rounds, in the order of ``Stratum.compared``.
    """
    names = ("void_results", "void_seat")
    voids = sum(len(stratum.voids) for stratum, _ in scored)
    if voids < VOIDS_MIN:
        what = "voids with a known deck beside finished rounds"
        return [too_little(name, ALL, voids, VOIDS_MIN, what) for name in names]
    cells: dict[tuple[str, int], int] = {}
    rows: list[_Scored] = []
    for stratum, shares in scored:
        table = np.array([[row[seat] for seat in stratum.seats] for row in shares])
        places = [cells.setdefault((stratum.table, seat), len(cells)) for seat in stratum.seats]
        rows.append(_Scored(table - table.mean(axis=0), len(stratum.voids), places))
    real, variance = np.zeros(len(cells)), np.zeros(len(cells))
    for row in rows:
        n, m = len(row.shares), row.voids
        real[row.cells] += row.shares[:m].sum(axis=0)
        variance[row.cells] += m * (n - m) / (n - 1) * (row.shares**2).mean(axis=0)
    moving = variance > 0
    if not moving.any():
        return [too_little(name, ALL, 0, VOIDS_MIN, "voids whose results could differ") for name in names]
    scale = np.sqrt(np.where(moving, variance, np.inf))
    strange = (real / scale) ** 2
    ps = _drawn_ps(rows, scale, (float(strange.sum()), float(strange.max())), rng)
    cell = int(strange.argmax())
    table_id, seat = list(cells)[cell]
    text = (
        f"most unusual: seat {seat} of table {table_id}, voided decks "
        f"{'good' if real[cell] > 0 else 'bad'} for it by {abs(real[cell] / scale[cell]):.1f} deviations"
    )
    return [Result(name, ALL, voids, VOIDS_MIN, p, text) for name, p in zip(names, ps, strict=True)]


def _drawn_ps(
    rows: Sequence[_Scored], scale: Floats, real: tuple[float, float], rng: np.random.Generator
) -> list[float]:
    """Return how often voids drawn by chance are as strange as the real ones, in sum and at most."""
    hits: list[list[int]] = [[], []]
    done = 0
    for drawn in _draws(rows, len(scale), rng):
        strange = (drawn / scale) ** 2
        for which, values in enumerate((strange.sum(axis=1), strange.max(axis=1))):
            hits[which] += (np.flatnonzero(values >= real[which] * (1 - 1e-9)) + done + 1).tolist()
        done += len(drawn)
        if min(map(len, hits)) >= ENOUGH:
            break
    # Stopping at the twentieth hit keeps the p-value exact: Besag and Clifford, Biometrika 78 (1991).
    return [ENOUGH / found[ENOUGH - 1] if len(found) >= ENOUGH else (len(found) + 1) / (done + 1) for found in hits]


def _draws(rows: Sequence[_Scored], cells: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Give sums over randomly drawn voids: a row for each draw, a column for each seat of each table."""
    for _ in range(DRAWS_MAX // DRAWS_AT_ONCE):
        drawn = np.zeros((DRAWS_AT_ONCE, cells))
        for row in rows:
            order = rng.random((DRAWS_AT_ONCE, len(row.shares)))
            chosen = np.argpartition(order, row.voids - 1, axis=1)[:, : row.voids]
            drawn[:, row.cells] += row.shares[chosen].sum(axis=1)
        yield drawn
