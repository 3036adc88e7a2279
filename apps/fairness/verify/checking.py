"""Bundles checked by all cores, in their order.  Never decides anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from apps.fairness.verify.progress import Progress
from apps.fairness.verify.sources import Line
from apps.fairness.verify.workers import batches, in_order

BATCH: Final = 32
"""Bundles handed to a process at once."""

T = TypeVar("T")


def lines_checked(
    lines: Iterable[Line], check: Callable[[list[bytes]], list[T]], jobs: int
) -> tuple[list[Line], list[T]]:
    """Check each bundle alone; of the lines only their places are kept.

    Args:
        check: a function of a module, so that other processes can find it.
        jobs: number of processes.
    """
    places: list[Line] = []
    checked: list[T] = []
    progress = Progress("rounds")

    def noted() -> Iterator[list[bytes]]:
        for batch in batches(lines, BATCH):
            places.extend(Line(line.source, line.number, b"") for line in batch)
            yield [line.data for line in batch]

    for results in in_order(check, noted(), jobs):
        checked += results
        progress.add(len(results))
    progress.end()
    return places, checked
