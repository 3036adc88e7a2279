"""The only place where tables and rounds are locked.  Order: table, round, then accounts (apps.wallets).

The hot path locks a round with one statement that also reads everything a move needs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction

from apps.accounts.selectors import SESSION_LIVE_SQL
from apps.core.postgres.hot import Row, Transaction, integer
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


def table_lock_free(table_id: UUID) -> Table | None:
    """Lock a table that nobody has locked and return it; None where somebody has."""
    assert transaction.get_connection().in_atomic_block
    return Table.objects.select_for_update(no_key=True, of=("self",), skip_locked=True).filter(pk=table_id).first()


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
SELECT r.table_id, r.operator_id, r.index, r.game, r.status, r.seq, r.head, r.state, r.desk::text, r.last_at_ms,
       r.offset_ms, array_to_string(r.numbers, ','), s.number, ({SESSION_LIVE_SQL}), e.seq, e.request_sha256,
       (SELECT seen.seq FROM tables_round seen WHERE seen.id = r.id)
FROM tables_round r
LEFT JOIN tables_roundseat s ON s.round_id = r.id AND s.player_id = $2
LEFT JOIN history_entry e ON e.round_id = r.id AND e.seat = s.number AND e.request_key = $4
WHERE r.id = $1 FOR NO KEY UPDATE OF r
""".replace("%(session)s", "$3")  # noqa: S608 - a constant of our own

_STORED = """
SELECT seq, request_sha256 FROM history_entry WHERE round_id = %s AND seat = %s AND request_key = %s
"""


def round_lock(
    open_: Transaction,
    round_id: UUID,
    *,
    player_id: UUID | None = None,
    session_id: UUID | None = None,
    request_key: str | None = None,
    skip_locked: bool = False,
) -> Locked | None:
    """Lock a round and load it.

    Args:
        open_: the transaction, of which this is the first statement.

    Returns:
        The round, or None if ``skip_locked`` and somebody else holds it.

    Raises:
        RoundNotFound: there is none.
    """
    row = open_.first(_LOCK + (" SKIP LOCKED" if skip_locked else ""), (round_id, player_id, session_id, request_key))
    if row is None:
        if skip_locked:
            return None
        raise RoundNotFound
    seat, seq, stored_seq = integer(row[12]), integer(row[5]), integer(row[14])
    stored = None if stored_seq is None or row[15] is None else (stored_seq, row[15])
    if request_key is not None and seat is not None and seq != integer(row[16]):
        # Somebody moved while this statement waited: all but the locked row is as it was before, so ask again.
        with connection.cursor() as cursor:
            cursor.execute(_STORED, (round_id, seat, request_key))
            found = cursor.fetchone()
            stored = None if found is None else (found[0], bytes(found[1]))
    status = _text(row[4])
    return Locked(
        round_id=round_id,
        table_id=_uuid(row[0]),
        status=status,
        seat=seat,
        session_lives=row[13] == b"\x01",
        stored=stored,
        live=_live(round_id, row) if status == Round.Status.RUNNING else None,
    )


def _uuid(value: bytes | None) -> UUID:
    return UUID(bytes=value)


def _text(value: bytes | None) -> str:
    assert value is not None
    return value.decode()


def _number(value: bytes | None) -> int:
    found = integer(value)
    assert found is not None
    return found


def _live(round_id: UUID, row: Row) -> Live:
    head, seq = row[6] or b"", _number(row[5])
    game = registry.game(_text(row[3]))
    state = state_kept(round_id, head)
    if state is None:
        state = game.load(json.loads(dealer.state_open(round_id=round_id, seq=seq, sealed=row[7] or b"")))
    return Live(
        id=round_id,
        table_id=_uuid(row[0]),
        operator_id=_uuid(row[1]),
        index=_number(row[2]),
        slug=_text(row[3]),
        game=game,
        state=state,
        seq=seq,
        head=head,
        desk=Desk.load(json.loads(_text(row[8]))),
        last_at_ms=_number(row[9]),
        offset_ms=_number(row[10]),
        seats=tuple(int(number) for number in _text(row[11]).split(",") if number),
    )
