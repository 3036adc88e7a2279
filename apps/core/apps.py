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
        from apps.core import checks

        for message in checks.assertions_are_on(None):
            raise ImproperlyConfigured(message.msg)
