"""Tasks of core: the workers' sign of life, telling what is late, forgetting old answers.

Each is safe to run twice or never.
"""

from __future__ import annotations

from celery import shared_task

from apps.core import backlog, heartbeat, idempotency


@shared_task(name="core.worker_beat", ignore_result=True)
def worker_beat() -> None:
    """Show that a worker takes tasks."""
    heartbeat.beat(heartbeat.WORKER)


@shared_task(name="core.idempotency_purge", ignore_result=True)
def idempotency_purge() -> int:
    """Forget answers older than the published retention, one bounded batch a run."""
    return idempotency.purge()


@shared_task(name="core.backlog_watch", ignore_result=True)
def backlog_watch() -> int:
    """Write a log line for every kind of work that is too late."""
    return backlog.watch()
