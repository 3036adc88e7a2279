"""Ticks: tasks that beat sends again and again, any of which may be late, lost, doubled or heaped up.

Messages carry no time of expiry: that would be compared with the worker's own wall clock, and a worker whose clock is
wrong would throw every tick away.  Instead a process does one tick of a kind at a time, and drops those that come while
it is at it or right after, by its steady clock; so a heap that grew while no worker ran, or while one tick took long,
is gone at once, and no slow kind of work takes the threads of the others.

A watch is a tick for what players wait for: it looks several times a second until the next one relieves it.  A message
for each look would cost more than the look.
"""

from __future__ import annotations

import threading
import time
from functools import cached_property
from typing import Any

from celery import Task

REST = 0.5
"""A tick sooner after the end of the last one than this part of its interval is dropped."""
WATCH = 1.5
"""A watch that nobody relieves ends after so many intervals: one late tick leaves no gap."""


def steady_s() -> float:
    """Return seconds on a clock that nobody sets."""
    return time.monotonic()


class Tick(Task):  # type: ignore[type-arg]
    """The class of every task here; one that stands in the beat schedule is a tick."""

    abstract = True

    def __init__(self) -> None:
        self._at_work = threading.Lock()
        self._ended_s: float | None = None

    @cached_property
    def interval_s(self) -> float:
        """Return how often beat sends this tick: 0 for a task that it does not send."""
        entries = self.app.conf.beat_schedule.values()
        return min((entry["schedule"] for entry in entries if entry["task"] == self.name), default=0.0)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Do the task; a tick is dropped where one of its kind is at work or has just ended."""
        if not self.interval_s:
            return super().__call__(*args, **kwargs)
        if not self._at_work.acquire(blocking=False):
            return None
        try:
            if self._ended_s is not None and steady_s() - self._ended_s < REST * self.interval_s:
                return None
            try:
                return super().__call__(*args, **kwargs)
            finally:
                self._ended_s = steady_s()
        finally:
            self._at_work.release()


class Watch(Tick):
    """A task that looks again and again until another of its kind begins, or none has come for too long.

    A look that fails ends the watch, and with it what was wrong with this thread's connections.
    """

    abstract = True
    pause_s: float
    """Seconds between the end of one look and the next."""

    def __init__(self) -> None:
        super().__init__()
        self._relief = threading.Condition()
        self._begun = 0

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Look until relieved."""
        with self._relief:
            self._begun += 1
            mine = self._begun
            self._relief.notify_all()
        until_s = steady_s() + WATCH * self.interval_s
        while True:
            Task.__call__(self, *args, **kwargs)
            with self._relief:
                if self._relief.wait_for(lambda: self._begun != mine, self.pause_s) or steady_s() >= until_s:
                    return
