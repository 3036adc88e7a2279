"""Nonces of signed requests: each works once.

Source: docs/operators/signatures.md, section Replay.
"""

from __future__ import annotations

from uuid import UUID

from django.db import connection

from apps.accounts.errors import NonceReused
from apps.accounts.models import RequestNonce
from apps.accounts.signatures import NONCE_KEPT_MS

PURGE_BATCH = 5_000


def nonce_use(*, key_id: UUID, nonce: str, now: int) -> None:
    """Use up a nonce of a key.  Two requests with one nonce at the same moment wait for each other, and one is refused.

    Raises:
        NonceReused: it was used before.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_requestnonce (key_id, nonce, seen_at_ms) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            [key_id, nonce, now],
        )
        if cursor.rowcount == 0:
            raise NonceReused


def nonces_purge(*, now: int) -> int:
    """Forget a batch of nonces whose timestamps cannot pass any more; return how many."""
    old = RequestNonce.objects.filter(seen_at_ms__lt=now - NONCE_KEPT_MS).order_by("seen_at_ms")
    deleted, _ = RequestNonce.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:PURGE_BATCH])).delete()
    return deleted
