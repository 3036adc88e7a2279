"""Waiting for older transactions: tests run beside each other on one server, whose transaction numbers they share.

What stops below the oldest transaction still open (lists of money, sealed blocks) stops below another test's as well.
"""

from __future__ import annotations

import os
import time
from typing import Any
from uuid import UUID

import psycopg
from django.db import connection

from apps.wallets import sealing

OWN_WAIT_S = 2.0
"""How long to wait for transactions in this test's own database: it may hold one open on purpose."""
WAIT_S = 90.0
"""How long to wait for those of other tests, which end by themselves."""
PAUSE_S = 0.02
_OPEN = """
SELECT count(*) FILTER (WHERE datname <> %(own)s) > 0, count(*) FILTER (WHERE datname = %(own)s) > 0
FROM pg_stat_activity WHERE backend_xid::text::bigint < %(bound)s
"""


def older_ended() -> None:
    """Wait until all transactions open now have ended."""
    began = time.monotonic()
    own = connection.settings_dict["NAME"]
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as administrator:
        bound = _row(administrator.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"))[0]
        while True:
            others, ours = _row(administrator.execute(_OPEN, {"own": own, "bound": bound}))
            waited_s = time.monotonic() - began
            if not (others and waited_s < WAIT_S) and not (ours and waited_s < OWN_WAIT_S):
                return
            time.sleep(PAUSE_S)


def _row(cursor: psycopg.Cursor) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = cursor.fetchone()
    assert row is not None
    return row


def blocks_seal(*, operator_id: UUID) -> int:
    """Seal what there is, once nothing older is open; return the number of blocks."""
    older_ended()
    return sealing.blocks_seal(operator_id=operator_id)
