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
        """Register the system checks of the key settings, and tell readiness how the public log is."""
        from apps.core import health
        from apps.fairness import checks, readiness  # noqa: F401

        health.register("log", readiness.log_check)
