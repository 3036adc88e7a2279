"""The sweeper: lets happen what is due when nobody else does.

Deadlines are columns on the database's clock.  A look asks in one statement whether anything is due, and calls for each
due row the same service that a player's request would call; rows that somebody works on are skipped.  Any number of
looks may happen at once, twice, late or never: requests let overdue deadlines happen too, so a late move never wins.

Source: docs/developers/architecture.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import structlog
from django.db import DatabaseError, connection
from django.db.models import F

from apps.core import clock, heartbeat
from apps.core.backlog import Kind
from apps.core.errors import ApplicationError
from apps.tables import metrics, presence
from apps.tables.models import Round, Seat, Table
from apps.tables.services import advance, play, seats

log = structlog.get_logger(__name__)

BATCH_MAX = 500
"""Rows of one kind a tick takes."""

KIND_MAX_S = 1.0
"""A tick takes no further row of a kind after so long; the next tick goes on.  So no kind waits long for another."""

RUNNING_MAX_MS = int(5.75 * 3_600_000)
"""A round that runs this long is void; the protocol allows six hours."""

ALARM_MS = 10_000
"""What players wait for, overdue by more than this, makes the service not ready."""

QUIET_ALARM_MS = 60_000
"""What nobody at a table waits for, overdue by more than this, only raises the alarm."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """One kind of due rows, the column that names what ``run`` is called with, and the service that ``run`` calls."""

    kind: Kind
    run: Callable[[Any, int], object]
    key: str = "pk"


SWEEPS = (
    # Turns, calls, set-up, and the time to come back: a round has one clock, the next of them all.
    Sweep(
        Kind(
            "clocks", lambda: Round.objects.filter(status=Round.Status.RUNNING), "wake_at_ms", ALARM_MS, is_vital=True
        ),
        lambda pk, now_ms: play.round_wake(round_id=pk, now_ms=now_ms, skip_locked=True),
    ),
    Sweep(
        Kind("tables", Table.objects.all, "wake_at_ms", ALARM_MS, is_vital=True),
        lambda pk, now_ms: advance.table_tick(table_id=pk, now_ms=now_ms, skip_locked=True),
    ),
    Sweep(
        Kind(
            "ended_rounds",
            lambda: Round.objects.filter(advanced=False, status__in=[Round.Status.FINISHED, Round.Status.VOID]),
            "ended_ms",
            ALARM_MS,
            is_vital=True,
        ),
        lambda pk, now_ms: advance.table_tick(table_id=pk, now_ms=now_ms, skip_locked=True),
        key="table_id",
    ),
    Sweep(
        Kind(
            "overdue_reveals",
            lambda: Round.objects.filter(status=Round.Status.RUNNING),
            "dealt_ms",
            QUIET_ALARM_MS,
            wait_ms=RUNNING_MAX_MS,
        ),
        lambda pk, now_ms: advance.round_give_up(round_id=pk, reason="operator_fault", now_ms=now_ms),
    ),
    Sweep(
        Kind("connections", lambda: Seat.objects.filter(connected=True), "seen_until_ms", QUIET_ALARM_MS),
        lambda pk, now_ms: presence.lease_lapse(seat_id=pk, now_ms=now_ms),
    ),
    Sweep(
        Kind(
            "idle_seats",
            lambda: Seat.objects.filter(is_ready=False, in_match=False).exclude(table__status=Table.Status.PAUSED),
            "active_ms",
            QUIET_ALARM_MS,
            wait_ms=seats.IDLE_MAX_MS,
        ),
        lambda pk, now_ms: seats.seat_give_away(seat_id=pk, now_ms=now_ms),
    ),
)


def sweep() -> dict[str, int]:
    """Let everything due happen once; return how many rows of each kind were taken."""
    now_ms = clock.now_ms()
    due = [since_ms is not None and since_ms + each.kind.wait_ms <= now_ms for each, since_ms in _oldest()]
    if any(due) and heartbeat.api_is_away():
        # Nobody can play while the service is away, so nobody's clock runs out; the outage is added to all clocks.
        return {}
    return {
        each.kind.name: _take(each, clock.now_ms()) if is_due else 0 for each, is_due in zip(SWEEPS, due, strict=True)
    }


def _oldest() -> Iterator[tuple[Sweep, int | None]]:
    """Yield every kind with the time of its oldest row, None where it has no rows."""
    with connection.cursor() as cursor:
        cursor.execute(*_oldest_statement())
        yield from zip(SWEEPS, cursor.fetchone(), strict=True)


@cache
def _oldest_statement() -> tuple[str, tuple[Any, ...]]:
    """Return the statement that asks for them and its parameters, written once: that takes longer than to run it."""
    parts: list[str] = []
    parameters: list[Any] = []
    for each in SWEEPS:
        since = each.kind.since
        oldest = each.kind.rows().filter(**{f"{since}__isnull": False}).order_by(since).values_list(since)[:1]
        sql, values = oldest.query.sql_with_params()
        parts.append(f"({sql})")
        parameters += values
    return f"SELECT {', '.join(parts)}", tuple(parameters)


def _take(each: Sweep, now_ms: int) -> int:
    """Call the service for each due row until the time is up; what fails stays due and does not stop the others."""
    kind, over_s = each.kind, time.monotonic() + KIND_MAX_S
    rows = list(kind.due(now_ms).values_list(each.key, kind.since)[:BATCH_MAX])
    for taken, (key, since_ms) in enumerate(rows):
        if time.monotonic() > over_s:
            return taken
        # The clock is read anew for each: a long batch must not date a clock that ran out during it too early.
        now_ms = clock.now_ms()
        metrics.SWEEP_LATENESS.labels(kind=kind.name).observe((now_ms - kind.wait_ms - since_ms) / 1000)
        try:
            each.run(key, now_ms)
        except (DatabaseError, ApplicationError) as error:
            log.warning("deadline_postponed", kind=kind.name, id=str(key), error=repr(error))
    return len(rows)


def outage_add(gap_ms: int) -> None:
    """Add an outage of the service to every running clock, in the transaction that noticed it.

    Engine time stands still during the outage, so no seat loses a turn by it; the transcript's times show it.  Nobody
    could show a sign of life either: leases and the time of idle seats go on where they were.
    """
    Round.objects.filter(status=Round.Status.RUNNING).update(
        offset_ms=F("offset_ms") + gap_ms, wake_at_ms=F("wake_at_ms") + gap_ms
    )
    Table.objects.filter(start_at_ms__isnull=False).update(start_at_ms=F("start_at_ms") + gap_ms)
    Seat.objects.update(seen_until_ms=F("seen_until_ms") + gap_ms, active_ms=F("active_ms") + gap_ms)
    log.warning("outage_added", gap_ms=gap_ms)
