"""All tests over many rounds: the decks in their groups, what repeats, and the voids.

Groups are rules version and number of cards; copies of one face are cards of their own.  Never reads a bundle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from apps.fairness.verify.progress import Progress
from apps.fairness.verify.statistics.decks import Deck
from apps.fairness.verify.statistics.figures import Decks, Ints, place_counts
from apps.fairness.verify.statistics.repeats import repeat_tests
from apps.fairness.verify.statistics.results import Result, judged
from apps.fairness.verify.statistics.shuffle import CARDS_MAX, shuffle_tests
from apps.fairness.verify.statistics.voids import Stratum, rate_tests, result_tests, strata, void_decks_test
from apps.fairness.verify.statistics.would_be import shares_of
from apps.fairness.verify.workers import batches, in_order

PLAYED_AT_ONCE: Final = 16
"""Rounds handed to a process at once to be played."""
DRAWS_SEED: Final = 1
"""Random choices of the tests are the same each time, so that a report can be repeated."""


@dataclass(frozen=True, slots=True)
class Battery:
    """What came out of all tests."""

    decks: Sequence[Deck]
    """The rounds that were counted, each once."""
    groups: Mapping[str, int]
    """Group to its number of decks."""
    places: Mapping[str, Ints]
    """Group to how often each card lay at each place."""
    results: Sequence[Result]


def battery(given: Sequence[Deck], *, alpha: float, jobs: int) -> Battery:
    """Run all tests.

    Args:
        given: ended rounds; one that is there twice counts once.
        alpha: probability with which an honest house may be suspected by any of the tests.
        jobs: number of processes.
    """
    decks = list({deck.round: deck for deck in given}.values())
    groups: dict[str, list[Deck]] = defaultdict(list)
    for deck in decks:
        if deck.dealt is not None:
            groups[deck.group].append(deck)
    results: list[Result] = []
    places: dict[str, Ints] = {}
    for group in sorted(groups):
        members = groups[group]
        rows = as_rows(members)
        results += shuffle_tests(group, rows, *consecutive(members))
        if rows.shape[1] <= CARDS_MAX:
            places[group] = place_counts(rows, rows.shape[1])
        if any(deck.void is not None for deck in members):
            results.append(_void_decks(group, members, rows))
    results += repeat_tests(decks)
    if any(deck.void is not None for deck in decks):
        rng = np.random.default_rng(DRAWS_SEED)
        results += rate_tests(decks, rng)
        results += result_tests(_played(strata(decks), jobs), rng)
    sizes = {group: len(groups[group]) for group in sorted(groups)}
    return Battery(decks, sizes, places, judged(results, alpha))


def as_rows(decks: Sequence[Deck]) -> Decks:
    """Return the decks of one group as rows of canonical numbers."""
    cards = b"".join(deck.dealt.cards for deck in decks if deck.dealt is not None)
    return np.frombuffer(cards, dtype=np.uint16).reshape(len(decks), -1)


def consecutive(decks: Sequence[Deck]) -> tuple[Ints, Ints]:
    """Return the rows of decks that have their table's next round in the group, and the rows of those."""
    row = {(deck.table, deck.index): number for number, deck in enumerate(decks)}
    pairs = [(number, row.get((table, index + 1))) for (table, index), number in row.items()]
    found = np.array([pair for pair in pairs if pair[1] is not None], dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _void_decks(group: str, decks: Sequence[Deck], rows: Decks) -> Result:
    """Test the voided decks of a group, by face."""
    faces: dict[str, int] = {}
    orders = {deck.dealt.order for deck in decks if deck.dealt is not None and deck.void is not None}
    # Options may change the deck but keep its length: then cards are told apart by number alone.
    order = orders.pop() if len(orders) == 1 else tuple(map(str, range(rows.shape[1])))
    kind_of = np.array([faces.setdefault(card.partition("#")[0], len(faces)) for card in order], dtype=np.int64)
    void = np.array([deck.void is not None for deck in decks])
    return void_decks_test(group, rows[void], kind_of)


def _played(found: Sequence[Stratum], jobs: int) -> list[tuple[Stratum, Sequence[Mapping[int, float]]]]:
    """Play the rounds of each stratum, on all cores."""
    progress = Progress("rounds played", sum(len(stratum.compared()) for stratum in found))
    rounds = (deck for stratum in found for deck in stratum.compared())
    shares: list[dict[int, float]] = []
    for played in in_order(_play_batch, batches(rounds, PLAYED_AT_ONCE), jobs):
        shares += played
        progress.add(len(played))
    progress.end()
    rest = iter(shares)
    return [(stratum, [next(rest) for _ in stratum.compared()]) for stratum in found]


def _play_batch(batch: list[Deck]) -> list[dict[int, float]]:
    return [shares_of(deck) for deck in batch]
