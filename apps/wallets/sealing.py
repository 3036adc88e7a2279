"""Sealing: an operator's transactions become blocks of a signed chain, and snapshots keep sums cheap.

Rules and invariants I12, I13: docs/auditors/ledger.md.  Only transactions below the oldest running one are sealed, so
nothing can appear inside a sealed block later.  The chain proves order and that nothing changed after sealing; that
nothing is missing follows from I6, I14 and the copies that operators keep.
"""

from __future__ import annotations

from uuid import UUID

from django.db import connection, transaction

from apps.wallets import canonical
from apps.wallets.keys import signer
from apps.wallets.models import LedgerBlock

BLOCK_TRANSACTIONS_MAX = 2_000
"""Transactions that one block takes, unless a single database transaction made more."""
BLOCKS_AT_ONCE_MAX = 20


def operators_with_news() -> list[UUID]:
    """Return the operators that have transactions which no block holds."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT o.id FROM accounts_operator o WHERE EXISTS (SELECT 1 FROM wallets_tx t WHERE t.operator_id = o.id"
            " AND t.xid < pg_snapshot_xmin(pg_current_snapshot()) AND t.xid >= coalesce("
            "(SELECT max(b.upto_xid) FROM wallets_block b WHERE b.operator_id = o.id), '0'::xid8)) ORDER BY o.id"
        )
        return [row[0] for row in cursor.fetchall()]


def blocks_seal(*, operator_id: UUID) -> int:
    """Seal what can be sealed, each block in a transaction of its own; return how many blocks were made."""
    for made in range(BLOCKS_AT_ONCE_MAX):
        if not block_seal(operator_id=operator_id):
            return made
    return BLOCKS_AT_ONCE_MAX


@transaction.atomic
def block_seal(*, operator_id: UUID) -> bool:
    """Seal the operator's next block and take the snapshots at its end; return False if there is nothing to seal."""
    with connection.cursor() as cursor:
        # One sealer at a time for an operator; the next one sees what this one did.
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"wallets seal {operator_id}"])
    last = LedgerBlock.objects.filter(operator_id=operator_id).order_by("-seq").first()
    from_xid = last.upto_xid if last else 0
    upto_xid = _bound(operator_id, from_xid)
    if upto_xid is None:
        return False
    block = canonical.Block(
        operator_id=operator_id,
        seq=last.seq + 1 if last else 0,
        prev_hash=bytes(last.hash) if last else canonical.GENESIS,
        from_xid=from_xid,
        upto_xid=upto_xid,
        entries=entries_between(operator_id, from_xid, upto_xid),
    )
    _store(block)
    _snapshots_take(operator_id, from_xid, upto_xid)
    return True


def _bound(operator_id: UUID, from_xid: int) -> int | None:
    """Return where the next block ends, or None if nothing new is complete."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT xid::text::bigint FROM wallets_tx WHERE operator_id = %s AND xid >= %s::text::xid8"
            " AND xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xid, id LIMIT %s",
            [operator_id, from_xid, BLOCK_TRANSACTIONS_MAX + 1],
        )
        xids = [int(row[0]) for row in cursor.fetchall()]
    if not xids:
        return None
    if len(xids) <= BLOCK_TRANSACTIONS_MAX or xids[0] == xids[-1]:
        return xids[-1] + 1
    # The last database transaction may go on beyond what was read: it waits for the next block as a whole.
    return xids[-1]


def entries_between(operator_id: UUID, from_xid: int, upto_xid: int) -> tuple[canonical.BlockEntry, ...]:
    """Return the entries of an operator's transactions with from_xid <= xid < upto_xid, by id."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT e.id, e.tx_id, e.account_id, e.currency, e.amount, e.account_seq, t.kind, t.external_id,"
            " t.created_at_ms FROM wallets_tx t JOIN wallets_entry e ON e.tx_id = t.id"
            " WHERE t.operator_id = %s AND t.xid >= %s::text::xid8 AND t.xid < %s::text::xid8 ORDER BY e.id",
            [operator_id, from_xid, upto_xid],
        )
        return tuple(canonical.BlockEntry(*row) for row in cursor.fetchall())


def _store(block: canonical.Block) -> None:
    key = signer()
    block_hash = block.hash()
    with connection.cursor() as cursor:
        cursor.execute("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        (sealed_at_ms,) = cursor.fetchone()
        statement = canonical.block_statement(block.operator_id, block.seq, block_hash, sealed_at_ms)
        cursor.execute(
            "INSERT INTO wallets_block (operator_id, seq, form, from_xid, upto_xid, first_entry, last_entry, n, sums,"
            " prev_hash, hash, kid, signature, sealed_at_ms)"
            " VALUES (%s, %s, %s, %s::text::xid8, %s::text::xid8, %s, %s, %s, %s::jsonb, %s, %s, %s, %s, %s)",
            [
                block.operator_id,
                block.seq,
                canonical.FORM,
                block.from_xid,
                block.upto_xid,
                block.entries[0].id,
                block.entries[-1].id,
                len(block.entries),
                canonical.json_line(block.sums()).decode("ascii"),
                block.prev_hash,
                block_hash,
                key.kid,
                key.sign(statement),
                sealed_at_ms,
            ],
        )


def _snapshots_take(operator_id: UUID, from_xid: int, upto_xid: int) -> None:
    """Write the sum of every house account that the block touches: its newest snapshot and the block's entries.

    Players and escrows need none: their balance row has the sum.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO wallets_snapshot (account_id, operator_id, upto_xid, posted)"
            " SELECT e.account_id, %(operator)s, %(upto)s::text::xid8, sum(e.amount) + coalesce((SELECT s.posted"
            " FROM wallets_snapshot s WHERE s.account_id = e.account_id ORDER BY s.upto_xid DESC LIMIT 1), 0)"
            " FROM wallets_tx t JOIN wallets_entry e ON e.tx_id = t.id JOIN wallets_account a ON a.id = e.account_id"
            " WHERE t.operator_id = %(operator)s AND a.kind NOT IN ('player', 'escrow')"
            " AND t.xid >= %(from)s::text::xid8 AND t.xid < %(upto)s::text::xid8 GROUP BY e.account_id",
            {"operator": operator_id, "from": from_xid, "upto": upto_xid},
        )
