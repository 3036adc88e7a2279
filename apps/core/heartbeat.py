"""Signs of life, and what an outage does: nobody loses time because the service was away.

Every API process beats the role ``api`` once a second.  When a beat finds the one before it older than GAP_MS, the
service (or the database) was away meanwhile, and the registered hooks run in the same transaction; tables add the gap
to the clocks of running rounds.  The row's lock lets exactly one process see a gap.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog
from django.db import Error, connection, transaction

API = "api"
WORKER = "worker"
INTERVAL_S = 1.0
GAP_MS = 3_000
"""A silence longer than this is an outage."""
ENSURE_AFTER_MS = 2_000
"""A request beats itself when its process has not for this long; less than GAP_MS, more than INTERVAL_S."""

_NOW_MS = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_log = structlog.get_logger(__name__)
_hooks: list[Callable[[int], None]] = []
_started = threading.Event()
_latest_s: float | None = None


def on_gap(hook: Callable[[int], None]) -> None:
    """Call ``hook(gap_ms)`` inside the transaction of the first beat after an outage of the API or the database."""
    if hook not in _hooks:
        _hooks.append(hook)


def beat(role: str) -> int:
    """Record that the role is alive; return the milliseconds since the beat before, 0 for the first one ever."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO core_heartbeat (role, beat_at_ms) VALUES (%s, {_NOW_MS}) ON CONFLICT DO NOTHING",  # noqa: S608
            [role],
        )
        cursor.execute("SELECT beat_at_ms FROM core_heartbeat WHERE role = %s FOR UPDATE", [role])
        before = int(cursor.fetchone()[0])
        # Read after the lock was waited for, so that two processes never count the same silence.
        cursor.execute(
            f"UPDATE core_heartbeat SET beat_at_ms = greatest(beat_at_ms, {_NOW_MS})"  # noqa: S608
            " WHERE role = %s RETURNING beat_at_ms",
            [role],
        )
        gap_ms = int(cursor.fetchone()[0]) - before
        if role == API and gap_ms > GAP_MS:
            for hook in _hooks:
                hook(gap_ms)
            _log.warning("outage_ended", gap_ms=gap_ms)
    return gap_ms


def _api_beat() -> None:
    global _latest_s
    began_s = time.monotonic()
    beat(API)
    _latest_s = began_s


def ensure() -> None:
    """Beat now if this API process has not done so lately; nothing in a process that serves no API.

    Called by every request before it looks at a clock: the first one after an outage finds the clocks extended.
    """
    if _started.is_set() and (_latest_s is None or (time.monotonic() - _latest_s) * 1000 > ENSURE_AFTER_MS):
        _api_beat()


def age_ms(role: str) -> int | None:
    """Return the milliseconds since the role's latest beat, None if it never beat."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_NOW_MS} - beat_at_ms FROM core_heartbeat WHERE role = %s", [role])  # noqa: S608
        row = cursor.fetchone()
        return None if row is None else int(row[0])


def api_is_away() -> bool:
    """Tell whether players cannot act now, so that no clock of theirs may run out; False if no API ever ran."""
    age = age_ms(API)
    return age is not None and age > GAP_MS


def _beat_until(over: threading.Event) -> None:
    while True:
        try:
            _api_beat()
        except Error as problem:
            # The database is away: the next beat connects anew, and finds the gap.
            _log.warning("heartbeat_failed", error=repr(problem))
            connection.close()
        except Exception:
            # The outermost edge: a hook that fails must not end the beats, or clocks would stand still for ever.
            _log.exception("heartbeat_hook_failed")
        if over.wait(INTERVAL_S):
            return


def service_start() -> None:
    """Begin to beat for this API process, in a thread of its own with a connection of its own."""
    if not _started.is_set():
        _started.set()
        threading.Thread(target=_beat_until, args=(threading.Event(),), name="heartbeat", daemon=True).start()
