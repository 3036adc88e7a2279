"""A progress line on a terminal, for many rounds or entries.  Never writes where nobody watches."""

from __future__ import annotations

import sys
import time
from typing import Final

SHOW_FROM: Final = 200
"""Fewer rounds or entries than this show no progress."""
PERIOD_S: Final = 0.2


class Progress:
    """Counts what is done and says so on standard error, a few times a second."""

    def __init__(self, what: str, total: int | None = None) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._begun = self._said = time.monotonic()
        self._shown = False

    def add(self, count: int) -> None:
        """Count some more."""
        self._done += count
        now = time.monotonic()
        if self._done < SHOW_FROM or now - self._said < PERIOD_S or not sys.stderr.isatty():
            return
        self._said, self._shown = now, True
        speed = self._done / max(now - self._begun, 0.001)
        whole, bar = "", ""
        if self._total:
            full = min(30, 30 * self._done // self._total)
            whole, bar = f" of {self._total}", f"[{'#' * full}{'.' * (30 - full)}] "
        sys.stderr.write(f"\r{bar}{self._done}{whole} {self._what}, {speed:,.0f} a second \x1b[K")
        sys.stderr.flush()

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
