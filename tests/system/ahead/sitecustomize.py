"""Makes a Python process believe that it is an hour later than it is; the steady clocks stay as they are.

Python imports this by itself when the folder is in PYTHONPATH: for a worker whose machine has a wrong wall clock.
"""

from __future__ import annotations

import datetime
import time

AHEAD_S = 3_600
_time, _time_ns, _clock_gettime = time.time, time.time_ns, time.clock_gettime


class Later(datetime.datetime):
    """A datetime whose present is an hour ahead."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Later:
        """Return the present, an hour ahead."""
        return cls.fromtimestamp(_time() + AHEAD_S, tz)

    @classmethod
    def utcnow(cls) -> Later:
        """Return the present in UTC without saying so, an hour ahead."""
        return cls.fromtimestamp(_time() + AHEAD_S, datetime.UTC).replace(tzinfo=None)


time.time = lambda: _time() + AHEAD_S
time.time_ns = lambda: _time_ns() + AHEAD_S * 1_000_000_000
time.clock_gettime = lambda clock: _clock_gettime(clock) + AHEAD_S * (clock == time.CLOCK_REALTIME)
datetime.datetime = Later  # type: ignore[misc]
