"""Try a transaction again when the database asks for it, and only then.

Serialisation failures and deadlocks undo the whole transaction, so the outermost caller, and nobody else, may repeat
it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

import structlog
from django.db import DatabaseError, connection

T = TypeVar("T")

TRIES = 4
"""The first one and three more."""
REPEATABLE = ("40001", "40P01")
"""SQLSTATE: serialisation failure, deadlock."""
PAUSE_S = 0.02

_log = structlog.get_logger(__name__)


def sqlstate(error: BaseException) -> str | None:
    """Return the SQLSTATE of a database error, where the server sent one."""
    return getattr(error.__cause__, "sqlstate", None)


def constraint(error: BaseException) -> str | None:
    """Return the name of the constraint that a database error is about, where the server named one."""
    return getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)


def retry(work: Callable[[], T]) -> T:
    """Run ``work``, which opens its own outermost transaction, and repeat it where that can help.

    Raises:
        DatabaseError: it failed for another reason, or every time.
    """
    for attempt in range(1, TRIES + 1):
        try:
            return work()
        except DatabaseError as problem:
            # Inside somebody else's transaction there is nothing left to repeat: it is undone as a whole.
            if sqlstate(problem) not in REPEATABLE or attempt == TRIES or connection.in_atomic_block:
                raise
            _log.info("transaction_repeated", attempt=attempt, sqlstate=sqlstate(problem))
            time.sleep(random.uniform(0, PAUSE_S * 2**attempt))  # noqa: S311  # Jitter, not a secret.
    raise AssertionError("unreachable: the last try returns or raises")
