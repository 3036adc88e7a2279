"""The sweeper: lets happen what is due when nobody else does.

Deadlines are columns on the database's clock.  A tick looks for due rows, and calls for each the same service that
a player's request would call; rows that somebody works on are skipped.  Any number of ticks may run at once, twice,
late or never: requests let overdue deadlines happen too, so a late move never wins.

Source: docs/developers/architecture.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import structlog
from django.db import DatabaseError
from django.db.models import F, Min

from apps.core import clock, heartbeat
from apps.core.errors import ApplicationError
from apps.core.health import Unhealthy
from apps.tables import metrics, presence
from apps.tables.models import Round, Table
from apps.tables.services import play, tables

log = structlog.get_logger(__name__)

BATCH_MAX = 500
"""Rows of one kind a tick takes."""

RUNNING_MAX_MS = int(5.75 * 3_600_000)
"""A round that runs this long is void; the protocol allows six hours."""

LATE_ALARM_MS = 10_000
"""A deadline overdue by more than this makes the service not ready."""


def sweep() -> dict[str, int]:
    """Let everything due happen once; return how much of each kind was due."""
    if heartbeat.api_is_away():
        # Nobody can play while the service is away, so nobody's clock runs out; the outage is added to all clocks.
        return {}
    now = clock.now_ms()
    done = {
        "rounds": _rounds_wake(now),
        "rounds_overlong": _overlong_void(now),
        "tables": _tables_tick(now),
        "leases": presence.leases_lapse(now_ms=now, limit=BATCH_MAX),
    }
    for kind, count in done.items():
        metrics.DUE.labels(kind=kind).set(count)
    return done


def _each(ids: list[Any], what: str, call: Callable[[Any], object]) -> int:
    """Call a service for each row; one that fails stays due and does not stop the others."""
    for pk in ids:
        try:
            call(pk)
        except (DatabaseError, ApplicationError) as error:
            log.warning("deadline_postponed", what=what, id=str(pk), error=repr(error))
    return len(ids)


def _rounds_wake(now: int) -> int:
    due = list(
        Round.objects.filter(status=Round.Status.RUNNING, wake_at_ms__lte=now)
        .order_by("wake_at_ms")
        .values_list("id", "wake_at_ms")[:BATCH_MAX]
    )
    for _, wake_at_ms in due:
        assert wake_at_ms is not None
        metrics.SWEEP_LATENESS.observe((now - wake_at_ms) / 1000)
    # Each round reads the clock anew: a long batch must not date a clock that ran out during it too early.
    return _each(
        [pk for pk, _ in due],
        "round",
        lambda pk: play.round_wake(round_id=pk, now_ms=clock.now_ms(), skip_locked=True),
    )


def _overlong_void(now: int) -> int:
    ids = list(
        Round.objects.filter(status=Round.Status.RUNNING, dealt_ms__lte=now - RUNNING_MAX_MS).values_list(
            "id", flat=True
        )[:BATCH_MAX]
    )
    return _each(
        ids, "overlong", lambda pk: tables.round_give_up(round_id=pk, reason="operator_fault", now_ms=clock.now_ms())
    )


def _tables_tick(now: int) -> int:
    ids = list(
        Table.objects.filter(wake_at_ms__lte=now).order_by("wake_at_ms").values_list("id", flat=True)[:BATCH_MAX]
    )
    ended = Round.objects.filter(advanced=False, status__in=[Round.Status.FINISHED, Round.Status.VOID])
    ids += list(ended.order_by("ended_ms").values_list("table_id", flat=True)[:BATCH_MAX])
    return _each(ids, "table", lambda pk: tables.table_tick(table_id=pk, now_ms=clock.now_ms()))


def outage_add(gap_ms: int) -> None:
    """Add an outage of the service to every running clock, in the transaction that noticed it.

    Engine time stands still during the outage, so no seat loses a turn by it; the transcript's times show it.
    """
    Round.objects.filter(status=Round.Status.RUNNING).update(
        offset_ms=F("offset_ms") + gap_ms, wake_at_ms=F("wake_at_ms") + gap_ms
    )
    Table.objects.filter(start_at_ms__isnull=False).update(start_at_ms=F("start_at_ms") + gap_ms)
    log.warning("outage_added", gap_ms=gap_ms)


def lateness_check() -> None:
    """Look at the oldest due deadline, for /health/ready.

    Raises:
        Unhealthy: it has been due for longer than LATE_ALARM_MS.
    """
    now = clock.now_ms()
    oldest = Round.objects.filter(status=Round.Status.RUNNING).aggregate(oldest=Min("wake_at_ms"))["oldest"]
    if oldest is not None and now - oldest > LATE_ALARM_MS:
        raise Unhealthy(f"The oldest deadline has been due for {(now - oldest) // 1000} s.")
