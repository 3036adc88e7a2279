"""What readiness says of the public log: it is there, its writer is not stopped, and nothing waits for long.

Reads three indexed rows; shows nothing secret.
"""

from __future__ import annotations

from apps.core.clock import now_ms
from apps.core.health import Unhealthy
from apps.fairness.models import LOG_ROW_ID, Log, Record

WAITING_MS = 10_000
"""A signed record that is not merged after this long means that nobody writes the log."""


def log_check() -> None:
    """Look at the log and its oldest waiting record.

    Raises:
        Unhealthy: there is no log, its writer is stopped, or a record waits for too long.
    """
    log = Log.objects.filter(pk=LOG_ROW_ID).first()
    if log is None:
        raise Unhealthy("There is no public log yet: run fairness_keys init.")
    if log.stopped_at_ms is not None:
        raise Unhealthy(f"The public log's writer is stopped: {log.stopped_reason}.")
    oldest = Record.objects.filter(log_index__isnull=True).order_by("id").values_list("signed_at_ms", flat=True).first()
    if oldest is not None and now_ms() - oldest > WAITING_MS:
        raise Unhealthy(f"A signed record has waited for the public log for {(now_ms() - oldest) // 1000} s.")
