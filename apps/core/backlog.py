"""Work that is due and waits: how much of each kind, how late the oldest is, and when somebody must be told.

Each app registers the kinds that its periodic tasks do.  What is shown is asked of the database by whoever serves the
question: so it is right with any number of processes, and also while no worker runs at all.

Source: docs/developers/operations.md.  Never changes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import structlog
from django.db.models import QuerySet
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from apps.core import clock
from apps.core.health import Unhealthy

COUNT_MAX = 10_000
"""More of one kind is not counted: the number is for an alarm, not for a report."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of work: rows of a table, each due ``wait_ms`` after the time in its column ``since`` (Unix ms).

    More than ``alarm_ms`` late is an alarm; of a vital kind it makes the service not ready, since then players are told
    what is no longer so.  ``rows`` must be able to use an index on ``since``.
    """

    name: str
    rows: Callable[[], QuerySet[Any]]
    since: str
    alarm_ms: int
    wait_ms: int = 0
    is_vital: bool = False

    def due(self, now_ms: int) -> QuerySet[Any]:
        """Return the rows that are due, the oldest first."""
        return self.rows().filter(**{f"{self.since}__lte": now_ms - self.wait_ms}).order_by(self.since)


@dataclass(frozen=True, slots=True)
class Finding:
    """How many rows of a kind are due, at most COUNT_MAX, and how late the oldest is."""

    kind: Kind
    count: int
    late_ms: int

    @property
    def is_alarm(self) -> bool:
        """Tell whether somebody must look."""
        return self.late_ms > self.kind.alarm_ms


_kinds: dict[str, Kind] = {}


def register(*kinds: Kind) -> None:
    """Add kinds of work; the same name replaces."""
    _kinds.update({kind.name: kind for kind in kinds})


def findings(now_ms: int) -> list[Finding]:
    """Look at every kind, in the order of their registration."""
    return [_finding(kind, now_ms) for kind in _kinds.values()]


def _finding(kind: Kind, now_ms: int) -> Finding:
    due = kind.due(now_ms)
    oldest_ms = due.values_list(kind.since, flat=True).first()
    if oldest_ms is None:
        return Finding(kind, 0, 0)
    return Finding(kind, due[:COUNT_MAX].count(), now_ms - kind.wait_ms - oldest_ms)


def watch() -> int:
    """Write a line for every kind that is too late, and return how many are: what an alarm on logs looks for."""
    late = [finding for finding in findings(clock.now_ms()) if finding.is_alarm]
    for finding in late:
        _log.error("work_overdue", kind=finding.kind.name, due=finding.count, late_ms=finding.late_ms)
    return len(late)


def check() -> None:
    """Look at the vital kinds, for /health/ready.

    Raises:
        Unhealthy: one is late by more than its alarm.
    """
    now_ms = clock.now_ms()
    for finding in (_finding(kind, now_ms) for kind in _kinds.values() if kind.is_vital):
        if finding.is_alarm:
            raise Unhealthy(f"Of {finding.kind.name}, the oldest has been due for {finding.late_ms // 1000} s.")


class BacklogCollector(Collector):
    """The findings for Prometheus, asked for at every scrape."""

    def collect(self) -> Iterable[Metric]:
        """Yield how many are due and how late the oldest is, by kind."""
        due = GaugeMetricFamily("sealdeck_due", "Rows that are due, at most 10000 counted, by kind", labels=["kind"])
        late = GaugeMetricFamily(
            "sealdeck_due_late_seconds", "How late the oldest due row is, by kind", labels=["kind"]
        )
        alarm = GaugeMetricFamily("sealdeck_due_alarm", "1 while a kind is later than it may be", labels=["kind"])
        for finding in findings(clock.now_ms()):
            due.add_metric([finding.kind.name], finding.count)
            late.add_metric([finding.kind.name], finding.late_ms / 1000)
            alarm.add_metric([finding.kind.name], finding.is_alarm)
        return [due, late, alarm]
