"""Outages: seen once, told to the hooks, and never where no API ran."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db import connection

from apps.core import heartbeat
from apps.core.clock import database_ms
from apps.core.models import Heartbeat
from tools.processes import wait_for


@pytest.fixture
def gaps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record what the hooks are told; the product's own hooks are not called."""
    told: list[int] = []
    monkeypatch.setattr(heartbeat, "_hooks", [])
    heartbeat.on_gap(told.append)
    return told


def silence(role: str, ms: int) -> None:
    """Make the role's latest beat as old as this."""
    Heartbeat.objects.update_or_create(role=role, defaults={"beat_at_ms": database_ms() - ms})


@pytest.mark.django_db
class TestBeat:
    def test_the_first_ever_is_no_outage(self, gaps: list[int]) -> None:
        assert heartbeat.beat(heartbeat.API) < 500
        assert gaps == []

    def test_a_short_silence_is_no_outage(self, gaps: list[int]) -> None:
        silence(heartbeat.API, heartbeat.GAP_MS - 500)
        assert heartbeat.GAP_MS - 500 <= heartbeat.beat(heartbeat.API) <= heartbeat.GAP_MS
        assert gaps == []

    def test_an_outage_is_told_once_with_its_length(self, gaps: list[int]) -> None:
        silence(heartbeat.API, 10_000)
        gap_ms = heartbeat.beat(heartbeat.API)
        assert 10_000 <= gap_ms < 11_000
        assert heartbeat.beat(heartbeat.API) < heartbeat.GAP_MS
        assert gaps == [gap_ms]

    def test_the_silence_of_a_worker_is_nobodys_outage(self, gaps: list[int]) -> None:
        silence(heartbeat.WORKER, 10_000)
        assert heartbeat.beat(heartbeat.WORKER) >= 10_000
        assert gaps == []

    def test_a_clock_set_back_makes_no_gap_and_no_negative_one(self, gaps: list[int]) -> None:
        silence(heartbeat.API, -60_000)
        assert heartbeat.beat(heartbeat.API) == 0
        assert gaps == []

    def test_a_hook_that_fails_leaves_the_gap_to_the_next_beat(self, gaps: list[int]) -> None:
        def fail(_gap_ms: int) -> None:
            raise RuntimeError("the hook failed")

        silence(heartbeat.API, 10_000)
        heartbeat.on_gap(fail)
        with pytest.raises(RuntimeError):
            heartbeat.beat(heartbeat.API)
        assert heartbeat.api_is_away()


@pytest.mark.django_db
class TestApiIsAway:
    def test_not_where_none_ever_ran(self) -> None:
        assert not heartbeat.api_is_away()

    @pytest.mark.parametrize(("silent_ms", "away"), [(0, False), (2_000, False), (3_500, True)])
    def test_after_a_silence(self, silent_ms: int, away: bool) -> None:
        silence(heartbeat.API, silent_ms)
        assert heartbeat.api_is_away() is away


@pytest.mark.django_db
class TestEnsure:
    def test_does_nothing_in_a_process_that_serves_no_api(self) -> None:
        heartbeat.ensure()
        assert not Heartbeat.objects.exists()

    def test_beats_when_this_process_has_not_lately(self, monkeypatch: pytest.MonkeyPatch, gaps: list[int]) -> None:
        started = threading.Event()
        started.set()
        monkeypatch.setattr(heartbeat, "_started", started)
        monkeypatch.setattr(heartbeat, "_latest_s", None)
        silence(heartbeat.API, 10_000)
        heartbeat.ensure()
        assert len(gaps) == 1
        Heartbeat.objects.all().delete()
        heartbeat.ensure()
        assert not Heartbeat.objects.exists(), "a second request right after does not beat again"


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    def test_of_many_processes_one_sees_the_outage(self, gaps: list[int]) -> None:
        silence(heartbeat.API, 10_000)
        start = threading.Barrier(6)

        def go() -> None:
            start.wait(10)
            try:
                heartbeat.beat(heartbeat.API)
            finally:
                connection.close()

        with ThreadPoolExecutor(6) as pool:
            for future in [pool.submit(go) for _ in range(6)]:
                future.result()
        assert len(gaps) == 1


@pytest.mark.django_db(transaction=True)
class TestThread:
    def test_beats_on_after_its_connection_was_cut_and_a_hook_failed(
        self, monkeypatch: pytest.MonkeyPatch, gaps: list[int], administrator: psycopg.Connection
    ) -> None:
        monkeypatch.setattr(heartbeat, "INTERVAL_S", 0.05)
        failures: list[int] = []

        def fail_once(gap_ms: int) -> None:
            failures.append(gap_ms)
            if len(failures) == 1:
                raise RuntimeError("the hook failed")

        heartbeat.on_gap(fail_once)
        silence(heartbeat.API, 10_000)
        over = threading.Event()

        def beat() -> None:
            try:
                heartbeat._beat_until(over)
            finally:
                connection.close()

        thread = threading.Thread(target=beat)
        thread.start()
        try:
            wait_for("the second try of the hook", lambda: len(failures) == 2, timeout_s=10)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                mine = cursor.fetchone()[0]
            cut = administrator.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND usename = 'sealdeck_app' AND pid <> %s",
                [mine],
            ).fetchall()
            assert set(cut) == {(True,)}  # Threads of earlier tests may have left a connection too.
            cut_at_ms = database_ms()
            wait_for("a beat after the cut", lambda: latest_ms() > cut_at_ms, timeout_s=10)
        finally:
            over.set()
            thread.join(10)
        assert not thread.is_alive()


def latest_ms() -> int:
    """Return when the API last beat."""
    return Heartbeat.objects.get(role=heartbeat.API).beat_at_ms
