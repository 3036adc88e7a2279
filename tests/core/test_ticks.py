"""Ticks that heap up are dropped, and never by a wall clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from celery import Celery

from apps.core import ticks
from config.celery import app
from config.settings import base

PATIENCE_S = 30.0


class Over(Exception):
    """Ends a watch."""


def wait(ready: Callable[[], bool]) -> None:
    """Wait until it is so."""
    until_s = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < until_s
        time.sleep(0.001)


class TestTick:
    def test_one_right_after_another_is_dropped_and_a_later_one_is_done(self, monkeypatch: pytest.MonkeyPatch) -> None:
        own = Celery("ticks", task_cls=ticks.Tick, set_as_current=False)
        own.conf.beat_schedule = {"a": {"task": "a.tick", "schedule": 10.0}}
        done: list[int] = []

        def one() -> None:
            done.append(1)

        def two() -> None:
            done.append(2)

        tick, other = own.task(name="a.tick")(one), own.task(name="not.sent.by.beat")(two)
        now_s = [100.0]
        monkeypatch.setattr(ticks, "steady_s", lambda: now_s[0])
        for _ in range(1_000):
            tick()
        assert done == [1]
        now_s[0] += 5.1
        tick()
        other()
        other()
        assert done == [1, 1, 2, 2]

    def test_the_rest_counts_from_the_end_of_a_slow_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        own = Celery("ticks", task_cls=ticks.Tick, set_as_current=False)
        own.conf.beat_schedule = {"b": {"task": "b.tick", "schedule": 1.0}}
        now_s, done = [100.0], []

        def slow() -> None:
            done.append(now_s[0])
            now_s[0] += 60

        tick = own.task(name="b.tick")(slow)
        monkeypatch.setattr(ticks, "steady_s", lambda: now_s[0])
        for _ in range(60):
            tick()
        assert done == [100.0]

    def test_one_beside_another_is_dropped(self) -> None:
        own = Celery("ticks", task_cls=ticks.Tick, set_as_current=False)
        own.conf.beat_schedule = {"c": {"task": "c.tick", "schedule": 1.0}}
        begun, over, done = threading.Event(), threading.Event(), []

        def slow() -> None:
            done.append(1)
            begun.set()
            over.wait(PATIENCE_S)

        tick = own.task(name="c.tick")(slow)
        thread = threading.Thread(target=tick)
        thread.start()
        assert begun.wait(PATIENCE_S)
        tick()
        over.set()
        thread.join()
        assert done == [1]

    def test_every_task_of_the_schedule_exists_and_carries_no_expiry(self) -> None:
        app.loader.import_default_modules()
        for entry in base.CELERY_BEAT_SCHEDULE.values():
            task = app.tasks[entry["task"]]
            assert isinstance(task, ticks.Tick)
            assert task.interval_s == entry["schedule"]
            assert "options" not in entry


class TestWatch:
    def watch(self, look: Callable[[], None], *, interval_s: float) -> Callable[[], None]:
        own = Celery("watches", task_cls=ticks.Tick, set_as_current=False)
        own.conf.beat_schedule = {"w": {"task": "w.watch", "schedule": interval_s}}
        return own.task(name="w.watch", base=ticks.Watch, pause_s=0.001)(look)

    def test_looks_until_the_next_relieves_it_and_a_heap_leaves_one(self) -> None:
        looks: list[int | None] = []
        over = threading.Event()

        def look() -> None:
            looks.append(threading.get_ident())
            if over.is_set():
                raise Over

        watch = self.watch(look, interval_s=PATIENCE_S)

        def keep() -> None:
            with suppress(Over):
                watch()

        threads = [threading.Thread(target=keep) for _ in range(20)]
        for thread in threads:
            thread.start()
        wait(lambda: sum(thread.is_alive() for thread in threads) == 1)
        known = len(looks)
        wait(lambda: len(looks) > known + 5)
        over.set()
        for thread in threads:
            thread.join()
        assert set(looks) == {thread.ident for thread in threads}, "each looked before it was relieved"
        assert len(set(looks[known:])) == 1, "one goes on looking"

    def test_ends_by_itself_where_nobody_comes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now_s, looks = [100.0], []

        def look() -> None:
            looks.append(now_s[0])
            now_s[0] += 4

        monkeypatch.setattr(ticks, "steady_s", lambda: now_s[0])
        self.watch(look, interval_s=10)()
        assert looks == [100.0, 104.0, 108.0, 112.0]

    def test_a_look_that_fails_ends_it_and_the_next_looks_again(self) -> None:
        def look() -> None:
            raise Over

        watch = self.watch(look, interval_s=PATIENCE_S)
        for _ in range(2):
            with pytest.raises(Over):
                watch()
