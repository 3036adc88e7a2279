"""The clock of a table in a sandbox: what would be due a while from now happens now.

Only deadlines move: the deal, the cards and the log are those of any round, and its bundle verifies like any other.

Source: docs/operators/sandbox.md.
"""

from __future__ import annotations

from uuid import UUID

from apps.core.sandbox import is_sandbox
from apps.tables.errors import TableNotFound
from apps.tables.models import Round, Table
from apps.tables.services import play, tables

ADVANCE_MS_MAX = 600_000


def table_clock_advance(*, table_id: UUID, ms: int, now_ms: int) -> None:
    """Let everything happen at a table that is due within so many milliseconds.

    Raises:
        TableNotFound: there is none, or this is no sandbox.
    """
    if not is_sandbox():
        raise TableNotFound
    then_ms = now_ms + ms
    round_ = Table.objects.select_related("round").get(pk=table_id).round
    if round_ is not None and round_.status == Round.Status.RUNNING:
        play.round_wake(round_id=round_.pk, now_ms=then_ms)
    tables.table_tick(table_id=table_id, now_ms=then_ms)
