"""The clock of a table in a sandbox: what would be due a while from now happens now.

Only deadlines move: the deal, the cards and the log are those of any round, and its bundle verifies like any other.

Source: docs/operators/sandbox.md.
"""

from __future__ import annotations

from uuid import UUID

from django.db.models import F

from apps.core.sandbox import is_sandbox
from apps.tables.errors import TableNotFound
from apps.tables.models import Round, Table
from apps.tables.services import advance, play

ADVANCE_MS_MAX = 600_000


def table_clock_advance(*, table_id: UUID, ms: int, now_ms: int) -> None:
    """Let everything happen at a table that is due within so many milliseconds, until its round ends.

    Raises:
        TableNotFound: there is none, or this is no sandbox.
    """
    if not is_sandbox():
        raise TableNotFound
    table = Table.objects.select_related("round").get(pk=table_id)
    if table.round is not None and table.round.status == Round.Status.RUNNING:
        _round_advance(table.round, ms, now_ms)
        return
    then_ms = now_ms + ms if table.start_at_ms is None else min(max(table.start_at_ms, now_ms), now_ms + ms)
    advance.table_tick(table_id=table_id, now_ms=then_ms)
    dealt = Round.objects.filter(table_id=table_id, status=Round.Status.RUNNING).first()
    if dealt is not None:
        _deadlines_move(dealt, max(dealt.last_at_ms + dealt.offset_ms - now_ms, 0))


def _round_advance(round_: Round, left_ms: int, now_ms: int) -> None:
    """Let one clock after the other run out, each at its own time, as far as the time that is left goes."""
    while round_.status == Round.Status.RUNNING and round_.wake_at_ms is not None:
        wait_ms = max(round_.wake_at_ms - now_ms, 0)
        if wait_ms > left_ms:
            return
        if _deadlines_move(round_, wait_ms):
            left_ms -= wait_ms
            play.round_wake(round_id=round_.pk, now_ms=now_ms)
        round_.refresh_from_db()


def _deadlines_move(round_: Round, earlier_ms: int) -> bool:
    """Let the round's own time run ahead, so that its next deadline comes earlier; False if a move came in between."""
    unmoved = Round.objects.filter(pk=round_.pk, status=Round.Status.RUNNING, wake_at_ms=round_.wake_at_ms)
    return bool(unmoved.update(offset_ms=F("offset_ms") - earlier_ms, wake_at_ms=F("wake_at_ms") - earlier_ms))
