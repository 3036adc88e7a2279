"""``sealdeck-verify --statistics``: bundles checked, their decks counted, and what came out told.

Exit status: 0 every bundle and every test passed, 1 a bundle failed or a test is suspicious, 2 otherwise.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from apps.fairness.protocol.verdict import STATUS_PASS
from apps.fairness.protocol.verify import Checked, Settings, round_checked, tables_check
from apps.fairness.verify import report as verdict_report
from apps.fairness.verify.checking import lines_checked
from apps.fairness.verify.sources import Line, SourceError
from apps.fairness.verify.statistics.battery import battery
from apps.fairness.verify.statistics.decks import Deck, deck_of
from apps.fairness.verify.statistics.picture import picture
from apps.fairness.verify.statistics.report import Summary, write_json, write_text
from apps.fairness.verify.statistics.simulated import simulated_batch
from apps.fairness.verify.workers import batches, in_order
from apps.games import registry

SIMULATED_AT_ONCE: Final = 256
"""Simulated rounds handed to a process at once."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to test and how to tell it."""

    alpha: float
    jobs: int
    json: bool
    picture: str | None


def bundles_test(lines: Iterable[Line], settings: Settings, options: Options, *, complete: bool) -> int:
    """Check the bundles, test the decks of those that pass, tell both, and return the exit status."""
    places, rows = lines_checked(lines, partial(_check_batch, settings), options.jobs)
    checked = [row[0] for row in rows]
    tables_check(checked, complete=complete, rules=settings.rules)
    verdicts = [result.verdict() for result in checked]
    decks = [deck for (_, deck), verdict in zip(rows, verdicts, strict=True) if deck is not None and not verdict.codes]
    if not options.json:
        verdict_report.write_text(sys.stdout, places, verdicts, trusted=settings.trust is not None)
        sys.stdout.write("\n")
    return _tell(decks, options, "bundles", verdict_report.status(verdicts), len(verdicts) - len(decks))


def simulated_test(rounds: int, secret: bytes, options: Options) -> int:
    """Test so many simulated rounds of each game, tell it, and return the exit status."""
    numbers = ((slug, number) for slug in registry.slugs() for number in range(rounds))
    decks: list[Deck] = []
    for made in in_order(partial(simulated_batch, secret), batches(numbers, SIMULATED_AT_ONCE), options.jobs):
        decks += made
    return _tell(decks, options, "simulated", STATUS_PASS, 0)


def _check_batch(settings: Settings, batch: list[bytes]) -> list[tuple[Checked, Deck | None]]:
    rows = []
    for data in batch:
        result, round_ = round_checked(data, settings)
        rows.append((result, None if round_ is None or result.verdict().codes else deck_of(round_)))
    return rows


def _tell(decks: Sequence[Deck], options: Options, source: str, bundles_status: int, left_out: int) -> int:
    found = battery(decks, alpha=options.alpha, jobs=options.jobs)
    summary = Summary(
        source=source,
        bundles_status=bundles_status,
        left_out=left_out,
        rounds=len(found.decks),
        voids=dict(Counter(deck.void for deck in found.decks if deck.void is not None)),
        unknown=sum(deck.dealt is None for deck in found.decks),
        groups=found.groups,
        alpha=options.alpha,
        results=found.results,
    )
    (write_json if options.json else write_text)(sys.stdout, summary)
    if options.picture is not None:
        try:
            Path(options.picture).write_text(picture(summary.title, summary.results, summary.alpha, found.places))
        except OSError as problem:
            raise SourceError(f"{options.picture}: {problem.strerror or problem}") from problem
    return summary.status
