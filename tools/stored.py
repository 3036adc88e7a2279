"""Made-up ended rounds, in bulk: what a long-lived installation has stored, for benchmarks and tests of plans."""

from __future__ import annotations

from uuid import UUID

from django.db import connection, transaction

ENTRIES = 5
"""Transcript entries of each."""

_ROUNDS = """
INSERT INTO tables_round (id, table_id, operator_id, index, game, rules, numbers, match_id, status, seq, head, desk,
    last_at_ms, offset_ms, advanced, pot_minor, fee_minor, opened_ms, dealt_ms, ended_ms, outcome)
SELECT made.id, t.id, t.operator_id, -made.number, t.game, t.rules, '{0,1}', made.id, 'finished', %(last)s,
    decode(repeat('ab', 32), 'hex'), '{}', made.number, 0, true, 0, 0, made.number, made.number, made.number,
    '{"final": true}'
FROM tables_table t,
    (SELECT gen_random_uuid() AS id, number FROM generate_series(%(first)s, %(end)s) number) made
WHERE t.id = %(table)s
RETURNING id
"""
_SEATS = """
INSERT INTO tables_roundseat (round_id, number, player_id, buy_in_minor, payout_minor, left_reason)
SELECT id, 0, %(player)s, 0, 0, '' FROM unnest(%(ids)s::uuid[]) id
"""
_ENTRIES = """
INSERT INTO history_entry (round_id, seq, at_ms, kind, seat, body, head, shown)
SELECT id, seq, 0, 'act', 0, repeat('x', 300), decode(repeat('ab', 32), 'hex'), '{}'
FROM unnest(%(ids)s::uuid[]) id, generate_series(0, %(last)s) seq
"""
_BATCH = 10_000


def rounds_store(*, table_id: UUID, player_id: UUID, count: int) -> None:
    """Store so many ended rounds of a table, with one seat and ENTRIES entries each; their indices are negative."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("SELECT coalesce(-min(index), 0) FROM tables_round WHERE table_id = %s", [table_id])
        stored = max(int(cursor.fetchone()[0]), 0)
        for first in range(stored + 1, stored + count + 1, _BATCH):
            end = min(first + _BATCH, stored + count + 1) - 1
            cursor.execute(_ROUNDS, {"table": table_id, "first": first, "end": end, "last": ENTRIES - 1})
            ids = [row[0] for row in cursor.fetchall()]
            cursor.execute(_SEATS, {"player": player_id, "ids": ids})
            cursor.execute(_ENTRIES, {"ids": ids, "last": ENTRIES - 1})
