"""Registration of the fairness application and its system checks.

Never opens a key or a connection at import time.
"""

from __future__ import annotations

from django.apps import AppConfig


class FairnessConfig(AppConfig):
    """Commitments, the public log and its keys: the server's part of docs/fairness/protocol.md."""

    name = "apps.fairness"
    label = "fairness"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the system checks of the key settings, and tell core how the public log is and what it waits for."""
        from apps.core import backlog, health
        from apps.fairness import checks, readiness  # noqa: F401
        from apps.fairness.models import Record

        health.register("log", readiness.log_check)
        backlog.register(
            backlog.Kind(
                "log_records",
                lambda: Record.objects.filter(log_index__isnull=True),
                "signed_at_ms",
                alarm_ms=readiness.WAITING_MS,
            )
        )
