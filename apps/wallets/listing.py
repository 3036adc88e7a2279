"""The list of an operator's transactions: complete, in one order, and never with a hole that fills up later.

The order is that of the database transactions' numbers, and the list ends below the oldest one that still runs.  So
whatever is listed is final, and nothing can turn up before it afterwards; an order by time or id could not say that.
Rule L13 and invariant I13: docs/auditors/ledger.md.
"""

from __future__ import annotations

import base64
import binascii
from collections import defaultdict
from uuid import UUID

from django.db import connection

from apps.wallets.errors import CursorInvalid
from apps.wallets.models import Entry
from apps.wallets.values import Line, Movement, Page

LIMIT_MAX = 200
CURSOR_BYTES = 24

_PAGE = """
SELECT t.id, t.xid::text::bigint, t.kind, t.external_id, t.round_id, t.reverses_id, t.reason, t.created_at_ms
FROM wallets_tx t
WHERE t.operator_id = %(operator)s AND (t.xid, t.id) > (%(xid)s::text::xid8, %(id)s)
    AND t.xid < pg_snapshot_xmin(pg_current_snapshot())
    AND (%(player)s::uuid IS NULL OR EXISTS (
        SELECT 1 FROM wallets_entry e JOIN wallets_account a ON a.id = e.account_id
        WHERE e.tx_id = t.id AND a.kind = 'player' AND a.owner_ref = %(player)s::uuid))
ORDER BY t.xid, t.id LIMIT %(limit)s
"""


def cursor_make(xid: int, tx_id: UUID) -> str:
    """Return the opaque cursor that goes on after a transaction."""
    return base64.urlsafe_b64encode(xid.to_bytes(8, "big") + tx_id.bytes).decode("ascii")


def cursor_read(cursor: str) -> tuple[int, UUID]:
    """Return what a cursor says; the empty one begins at the beginning.

    Raises:
        CursorInvalid: it is not a cursor.
    """
    if not cursor:
        return 0, UUID(int=0)
    try:
        raw = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise CursorInvalid(pointer="/cursor") from None
    xid = int.from_bytes(raw[:8], "big")
    if len(raw) != CURSOR_BYTES or xid >= 1 << 63:
        raise CursorInvalid(pointer="/cursor")
    return xid, UUID(bytes=raw[8:])


def movements(*, operator_id: UUID, cursor: str, limit: int, player_id: UUID | None = None) -> Page:
    """Return the operator's transactions after the cursor, oldest first, with all their lines.

    Args:
        limit: at most LIMIT_MAX.
        player_id: only those with a line of this player.

    Raises:
        CursorInvalid: the cursor is not one.
    """
    assert 1 <= limit <= LIMIT_MAX, "the edge bounds a page"
    xid, after = cursor_read(cursor)
    with connection.cursor() as database:
        database.execute(
            _PAGE, {"operator": operator_id, "xid": xid, "id": after, "player": player_id, "limit": limit + 1}
        )
        rows = database.fetchall()
    has_more = len(rows) > limit
    rows = rows[:limit]
    lines = _lines([row[0] for row in rows])
    items = tuple(
        Movement(
            id=row[0],
            kind=row[2],
            external_id=row[3],
            round_id=row[4],
            reverses_id=row[5],
            reason=row[6],
            currency=lines[row[0]][0],
            created_at_ms=row[7],
            lines=tuple(lines[row[0]][1]),
        )
        for row in rows
    )
    return Page(items, cursor_make(rows[-1][1], rows[-1][0]) if rows else cursor, has_more)


def _lines(tx_ids: list[UUID]) -> dict[UUID, tuple[str, list[Line]]]:
    """Return the currency and the lines of each transaction; one transaction has one currency."""
    found: dict[UUID, tuple[str, list[Line]]] = defaultdict(lambda: ("", []))
    rows = (
        Entry.objects.filter(tx_id__in=tx_ids)
        .order_by("id")
        .values_list("tx_id", "currency", "amount", "balance_after", "account__kind", "account__owner_ref")
    )
    for tx_id, currency, amount, balance_after, kind, owner in rows:
        is_player = kind == "player"
        line = Line(kind, owner if is_player else None, amount, balance_after if is_player else None)
        found[tx_id] = (currency, [*found[tx_id][1], line])
    return found
