"""Django's description of the app."""

from __future__ import annotations

from django.apps import AppConfig
from django.core.exceptions import ImproperlyConfigured


class CoreConfig(AppConfig):
    """Clock, ids, errors, idempotency, health, logs."""

    name = "apps.core"
    label = "core"

    def ready(self) -> None:
        """Refuse to start without assertions, in servers and workers too, which run no system checks."""
        from apps.core import backlog, checks, health, idempotency
        from apps.core.models import Idempotency

        health.register("backlog", backlog.check)
        backlog.register(
            backlog.Kind(
                "idempotency_keys",
                Idempotency.objects.all,
                "created_at_ms",
                alarm_ms=86_400_000,
                wait_ms=idempotency.RETENTION_MS,
            )
        )
        for message in checks.assertions_are_on(None):
            raise ImproperlyConfigured(message.msg)
