"""The one clock of the product: the database's.

Every process measures how far its steady clock is from the database's ``clock_timestamp()`` and answers from that, so
a machine whose wall clock is wrong, or is set while we run, decides nothing.  Only edges (views, tasks, commands) read
it, once per request or task; what stands below gets the time as an argument.
"""

from __future__ import annotations

import threading
import time

from django.db import connection

MEASURE_AGAIN_MS = 10_000
"""The offset is measured anew after this long, so that drift between two machines stays far below a millisecond."""

_SOURCE = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_lock = threading.Lock()
_offset_ms: int | None = None
_measured_ms = 0
_latest_ms = 0


def _steady_ms() -> int:
    """Return a clock that never jumps and, where the system has such a one, goes on while the machine sleeps."""
    return time.clock_gettime_ns(_SOURCE) // 1_000_000


def database_ms() -> int:
    """Ask the database for its time, Unix milliseconds: one round trip."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        return int(cursor.fetchone()[0])


def now_ms() -> int:
    """Return the database's time, Unix milliseconds; never less than this process has answered before."""
    global _offset_ms, _measured_ms, _latest_ms
    before = _steady_ms()
    offset = _offset_ms
    if offset is None or before - _measured_ms >= MEASURE_AGAIN_MS:
        told = database_ms()
        after = _steady_ms()
        offset = told - (before + after) // 2
        with _lock:
            _offset_ms, _measured_ms = offset, after
    with _lock:
        _latest_ms = max(_latest_ms, _steady_ms() + offset)
        return _latest_ms
