"""Ticks that heap up are dropped, and never by a wall clock."""

from __future__ import annotations

import pytest
from celery import Celery

from apps.core import ticks
from config.celery import app
from config.settings import base


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

    def test_every_task_of_the_schedule_exists_and_carries_no_expiry(self) -> None:
        app.loader.import_default_modules()
        for entry in base.CELERY_BEAT_SCHEDULE.values():
            task = app.tasks[entry["task"]]
            assert isinstance(task, ticks.Tick)
            assert task.rest_s == entry["schedule"] * ticks.REST
            assert "options" not in entry
