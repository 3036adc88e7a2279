"""Tasks of accounts: forgetting old nonces.  Safe to run twice or never."""

from __future__ import annotations

from celery import shared_task

from apps.accounts import services
from apps.core.clock import now_ms


@shared_task(name="accounts.nonces_purge", ignore_result=True)
def nonces_purge() -> int:
    """Forget nonces whose timestamps cannot pass any more, one bounded batch a run."""
    return services.nonces_purge(now=now_ms())
