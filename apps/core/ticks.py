"""Ticks: tasks that beat sends again and again, any of which may be late, lost, doubled or heaped up.

Messages carry no time of expiry: that would be compared with the worker's own wall clock, and a worker whose clock is
wrong would throw every tick away.  Instead a process that has just done a tick drops the next ones of its kind, by its
steady clock; so a heap that grew while no worker ran, or while one tick took long, is gone at once.
"""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

from celery import Task

REST = 0.5
"""A tick sooner after the end of the last one than this part of its interval is dropped."""


def steady_s() -> float:
    """Return seconds on a clock that nobody sets."""
    return time.monotonic()


class Tick(Task):  # type: ignore[type-arg]
    """The class of every task here; one that stands in the beat schedule is a tick."""

    abstract = True
    _ended_s: float | None = None

    @cached_property
    def rest_s(self) -> float:
        """Return how long after its end a process drops this tick: 0 for a task that beat does not send."""
        entries = self.app.conf.beat_schedule.values()
        return REST * min((entry["schedule"] for entry in entries if entry["task"] == self.name), default=0.0)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Do the task, or drop a tick that comes right after the last one."""
        if self._ended_s is not None and steady_s() - self._ended_s < self.rest_s:
            return None
        try:
            return super().__call__(*args, **kwargs)
        finally:
            self._ended_s = steady_s()
