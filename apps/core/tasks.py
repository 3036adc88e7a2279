"""Tasks of core: the workers' sign of life, and forgetting old answers.  Each is safe to run twice or never."""

from __future__ import annotations

from celery import shared_task

from apps.core import heartbeat, idempotency


@shared_task(name="core.worker_beat", ignore_result=True)
def worker_beat() -> None:
    """Show that a worker takes tasks."""
    heartbeat.beat(heartbeat.WORKER)


@shared_task(name="core.idempotency_purge", ignore_result=True)
def idempotency_purge() -> int:
    """Forget answers older than the published retention, one bounded batch a run."""
    return idempotency.purge()
