"""The only place where tables and rounds are locked.  Order: table, round, then accounts (apps.wallets).

The hot path locks a round with one statement that also reads everything a move needs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from apps.accounts.selectors import SESSION_LIVE_SQL
from apps.fairness import dealer
from apps.games import registry
from apps.tables.desk import Desk
from apps.tables.errors import RoundNotFound, TableNotFound
from apps.tables.live import Live, state_kept
from apps.tables.models import Round, Table


def table_lock(table_id: UUID) -> Table:
    """Lock a table and return it as it is now.

    Raises:
        TableNotFound: there is none.
    """
    assert transaction.get_connection().in_atomic_block
    try:
        return Table.objects.select_for_update(no_key=True, of=("self",)).get(pk=table_id)
    except Table.DoesNotExist:
        raise TableNotFound from None


@dataclass(frozen=True, slots=True)
class Locked:
    """A round under its lock: what a caller needs to decide before it touches the engine.

    ``live`` is None unless the round runs.  ``seat`` is of the player who asked, ``session_lives`` tells of that
    session; ``stored`` is the entry that an earlier request with the same key made: (seq, request hash).
    """

    round_id: UUID
    table_id: UUID
    status: str
    seat: int | None
    session_lives: bool
    stored: tuple[int, bytes] | None
    live: Live | None


_LOCK = f"""
SELECT r.table_id, r.operator_id, r.index, r.game, r.status, r.seq, r.head, r.state, r.desk, r.last_at_ms,
r.offset_ms,
       r.numbers,
       (SELECT s.number FROM tables_roundseat s WHERE s.round_id = r.id AND s.player_id = %(player)s),
       ({SESSION_LIVE_SQL})
FROM tables_round r WHERE r.id = %(round)s FOR NO KEY UPDATE
"""  # noqa: S608 - a constant of our own

_STORED = """
SELECT seq, request_sha256 FROM history_entry WHERE round_id = %s AND seat = %s AND request_key = %s
"""


def round_lock(
    round_id: UUID,
    *,
    player_id: UUID | None = None,
    session_id: UUID | None = None,
    request_key: str | None = None,
    skip_locked: bool = False,
) -> Locked | None:
    """Lock a round and load it.

    Returns:
        The round, or None if ``skip_locked`` and somebody else holds it.

    Raises:
        RoundNotFound: there is none.
    """
    assert transaction.get_connection().in_atomic_block
    with connection.cursor() as cursor:
        sql = _LOCK + (" SKIP LOCKED" if skip_locked else "")
        cursor.execute(sql, {"round": round_id, "player": player_id, "session": session_id})
        row = cursor.fetchone()
        if row is None:
            if skip_locked:
                return None
            raise RoundNotFound
        seat, stored = row[12], None
        if request_key is not None and seat is not None:
            cursor.execute(_STORED, (round_id, seat, request_key))
            found = cursor.fetchone()
            stored = None if found is None else (found[0], bytes(found[1]))
    return Locked(
        round_id=round_id,
        table_id=row[0],
        status=row[4],
        seat=seat,
        session_lives=row[13],
        stored=stored,
        live=_live(round_id, row) if row[4] == Round.Status.RUNNING else None,
    )


def _live(round_id: UUID, row: tuple[Any, ...]) -> Live:
    head = bytes(row[6])
    game = registry.game(row[3])
    state = state_kept(round_id, head)
    if state is None:
        state = game.load(json.loads(dealer.state_open(round_id=round_id, seq=row[5], sealed=bytes(row[7]))))
    return Live(
        id=round_id,
        table_id=row[0],
        operator_id=row[1],
        index=row[2],
        slug=row[3],
        game=game,
        state=state,
        seq=row[5],
        head=head,
        desk=Desk.load(json.loads(row[8]) if isinstance(row[8], str) else row[8]),
        last_at_ms=row[9],
        offset_ms=row[10],
        seats=tuple(row[11]),
    )
