"""The Celery app: workers and beat."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")
app = Celery("sealdeck")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def logs_are_ours(**kwargs: Any) -> None:
    """Keep Celery from setting up its own logs: Django's settings have done it, with redaction."""
