"""What is due and too late is told: in the log, in readiness; and what is in time is not."""

from __future__ import annotations

from uuid import uuid4

import pytest
from structlog.testing import capture_logs

from apps.core import backlog
from apps.core.clock import database_ms
from apps.core.health import Unhealthy
from apps.core.models import Heartbeat


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no kind but those of the test: heartbeats stand for rows that are due."""
    monkeypatch.setattr(backlog, "_kinds", {})


def due(late_ms: int) -> None:
    """Make a row that has been due for so long."""
    Heartbeat.objects.create(role=uuid4().hex[:16], beat_at_ms=database_ms() - late_ms)


def kind(name: str, *, wait_ms: int = 0, is_vital: bool = False) -> backlog.Kind:
    """Return a kind that is an alarm after ten seconds."""
    return backlog.Kind(name, Heartbeat.objects.all, "beat_at_ms", 10_000, wait_ms=wait_ms, is_vital=is_vital)


@pytest.mark.django_db
@pytest.mark.usefixtures("kinds")
class TestFindings:
    def test_count_what_is_due_and_tell_how_late_the_oldest_is(self) -> None:
        for late_ms in (-60_000, 1_000, 4_000):
            due(late_ms)
        backlog.register(kind("rows"))
        [found] = backlog.findings(database_ms())
        assert found.count == 2
        assert 4_000 <= found.late_ms < 10_000
        assert not found.is_alarm

    def test_a_row_is_due_only_after_its_wait(self) -> None:
        due(30_000)
        backlog.register(kind("rows", wait_ms=29_000))
        [found] = backlog.findings(database_ms())
        assert (found.count, found.late_ms // 10_000) == (1, 0)
        backlog.register(kind("rows", wait_ms=90_000))
        assert backlog.findings(database_ms())[0].count == 0


@pytest.mark.django_db
@pytest.mark.usefixtures("kinds")
class TestAlarm:
    def test_a_kind_that_is_too_late_has_its_line_in_the_log(self) -> None:
        due(60_000)
        backlog.register(kind("late"), kind("patient", wait_ms=55_000))
        with capture_logs() as lines:
            assert backlog.watch() == 1
        [line] = lines
        assert (line["event"], line["log_level"], line["kind"], line["due"]) == ("work_overdue", "error", "late", 1)
        assert 59_000 <= line["late_ms"] < 120_000

    def test_only_a_vital_kind_makes_the_service_not_ready(self) -> None:
        due(65_000)
        backlog.register(kind("webhooks"))
        backlog.check()
        backlog.register(kind("clocks", is_vital=True))
        with pytest.raises(Unhealthy, match=r"Of clocks, the oldest has been due for 6\d s\."):
            backlog.check()
