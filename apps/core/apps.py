"""Django's description of the app."""

from __future__ import annotations

from django.apps import AppConfig


class CoreConfig(AppConfig):
    """Clock, ids, errors, idempotency, health, logs."""

    name = "apps.core"
    label = "core"
