"""Is the service able to do its work?  Each app registers what it knows about that.

A check raises ``Unhealthy`` with one sentence, or returns.  Checks read only, are cheap, and show nothing secret.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import redis as redis_library
import structlog
from django.db import Error, connection

from apps.core import heartbeat, redis

WORKER_SILENT_MS = 30_000
"""Workers beat every few seconds; silence longer than this means that none takes tasks."""

_log = structlog.get_logger(__name__)
_checks: dict[str, Callable[[], None]] = {}


class Unhealthy(Exception):
    """Something the service needs is missing; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    name: str
    ok: bool
    detail: str
    took_ms: int


def register(name: str, check: Callable[[], None]) -> None:
    """Add a check to readiness; the same name replaces."""
    _checks[name] = check


def findings() -> list[Finding]:
    """Run all checks, in the order of their registration."""
    return [_find(name, check) for name, check in _checks.items()]


def _find(name: str, check: Callable[[], None]) -> Finding:
    began = time.monotonic()
    try:
        check()
    except Unhealthy as problem:
        detail = str(problem)
    except (Error, redis_library.RedisError) as problem:
        _log.warning("health_check_failed", check=name, error=repr(problem))
        detail = "It does not answer."
    else:
        detail = ""
    return Finding(name, not detail, detail or "ok", int((time.monotonic() - began) * 1000))


def database_check() -> None:
    """Ask PostgreSQL for one row."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def redis_check() -> None:
    """Ask Redis for a sign of life."""
    redis.client().ping()


def worker_check() -> None:
    """Look when a worker last took a task.

    Raises:
        Unhealthy: none did for WORKER_SILENT_MS.
    """
    age = heartbeat.age_ms(heartbeat.WORKER)
    if age is None:
        raise Unhealthy("No worker has been seen yet.")
    if age > WORKER_SILENT_MS:
        raise Unhealthy(f"No worker has been seen for {age // 1000} s.")


register("database", database_check)
register("redis", redis_check)
register("worker", worker_check)
