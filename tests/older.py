"""Waiting for older transactions: tests run beside each other on one server, whose transaction numbers they share.

What stops below the oldest transaction still open (lists of money, sealed blocks) stops below another test's as well.
"""

from __future__ import annotations

import time
from uuid import UUID

from django.db import connection

from apps.wallets import sealing

WAIT_S = 2.0
PAUSE_S = 0.02


def older_ended() -> None:
    """Wait until all transactions open now have ended; for one that a test holds open itself, only a while."""
    deadline = time.monotonic() + WAIT_S
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")
        [bound] = cursor.fetchone()
        while time.monotonic() < deadline:
            cursor.execute("SELECT pg_snapshot_xmin(pg_current_snapshot()) >= %s::text::xid8", [bound])
            if cursor.fetchone()[0]:
                return
            time.sleep(PAUSE_S)


def blocks_seal(*, operator_id: UUID) -> int:
    """Seal what there is, once nothing older is open; return the number of blocks."""
    older_ended()
    return sealing.blocks_seal(operator_id=operator_id)
