"""The Celery app: workers and beat."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging, task_postrun, task_prerun
from django.db import close_old_connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")
app = Celery("sealdeck", task_cls="apps.core.ticks:Tick")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def logs_are_ours(**kwargs: Any) -> None:
    """Keep Celery from setting up its own logs: Django's settings have done it, with redaction."""


@task_prerun.connect
@task_postrun.connect
def connections_are_kept(task: Any, **kwargs: Any) -> None:
    """Close the connections of this thread that broke or are too old, as Django does around requests."""
    if not task.request.is_eager:
        close_old_connections()


@task_prerun.connect
def lines_name_their_task(task_id: str, task: Any, **kwargs: Any) -> None:
    """Give every log line of a task its id and its name."""
    from apps.core import logs

    logs.request_begin(task_id)
    logs.bind(task=task.name)
