"""Work spread over processes, in order and with a bound on what waits.  Never decides anything."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from typing import Final, TypeVar

WAITING_PER_JOB: Final = 3
"""Batches handed to each process ahead of time."""

A = TypeVar("A")
B = TypeVar("B")


def cores() -> int:
    """Return how many processes can run at once here."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def batches(items: Iterable[A], size: int) -> Iterator[list[A]]:
    """Give the items in lists of ``size``, the last one shorter."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def in_order(work: Callable[[A], B], items: Iterable[A], jobs: int) -> Iterator[B]:
    """Give the result for each item, in their order, worked out by several processes.

    One process, or a single item, needs no others and starts none.

    Args:
        work: a function of a module, so that other processes can find it.
        jobs: number of processes.
    """
    rest = iter(items)
    first = list(islice(rest, 2))
    if jobs <= 1 or len(first) < 2:
        for item in first:
            yield work(item)
        for item in rest:
            yield work(item)
        return
    with ProcessPoolExecutor(jobs) as pool:
        waiting: deque[Future[B]] = deque(pool.submit(work, item) for item in first)
        for item in rest:
            waiting.append(pool.submit(work, item))
            if len(waiting) >= jobs * WAITING_PER_JOB:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
