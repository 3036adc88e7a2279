"""The keys of the test suite's public log.  Real ones are never written down in a repository."""

from __future__ import annotations

from django.conf import settings

from apps.fairness.ceremony import Ceremony

ROOT_SECRET = bytes(range(32))
BEGUN_MS = 1_776_190_000_000


def ceremony(now_ms: int = BEGUN_MS) -> Ceremony:
    """Return a ceremony with the suite's root key."""
    return Ceremony(root_secret=ROOT_SECRET, now_ms=now_ms, using="owner")


def log_begin() -> None:
    """Start the log of a fresh test database."""
    ceremony().begin(origin=settings.SEALDECK_LOG_ORIGIN)
