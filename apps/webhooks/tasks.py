"""Tasks of webhooks.  Safe to run twice, at once, or late."""

from __future__ import annotations

from celery import shared_task

from apps.webhooks import delivery


@shared_task(name="webhooks.deliver", ignore_result=True)
def deliver() -> int:
    """Deliver what is due."""
    return delivery.run()
