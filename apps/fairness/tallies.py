"""How rounds ended, counted as their last records are merged, so that nobody has to count the whole log.

Implements the statistics that docs/fairness/protocol.md, section 9, asks the operator to publish.  ``fsck_fairness``
counts anew and compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any

from django.db import connection

from apps.fairness import metrics
from apps.fairness.entries import Ending
from apps.fairness.models import Record
from apps.fairness.services.deadlines import MERGE_MS

Key = tuple[date, str, str, str, str, str, str]
"""Day, game, entropy, ending, stage, reason, fault."""


def key_of(type_: str, body: dict[str, Any], game: str, entropy: str) -> Key:
    """Return the row of the statistics that a terminal record belongs to."""
    if type_ == "reveal":
        return _day(body["ended_ms"]), game, entropy, "reveal", "deck", "", ""
    fault = "seat" if body["fault"].startswith("seat:") else body["fault"]
    return _day(body["voided_ms"]), game, entropy, "void", body["stage"], body["reason"], fault


def count(pending: Sequence[Record], endings: Iterable[Ending], now_ms: int) -> None:
    """Add the terminal records of one batch to the counters."""
    signed_ms = {record.pk: record.signed_at_ms for record in pending}
    rows: dict[Key, list[int]] = {}
    for ending in endings:
        delay_ms = max(0, now_ms - signed_ms[ending.record_id])
        key = key_of(ending.type, ending.body, ending.game, ending.entropy)
        row = rows.setdefault(key, [0, 0, 0, 0])
        row[0] += 1
        row[1] += delay_ms
        row[2] = max(row[2], delay_ms)
        row[3] += delay_ms > MERGE_MS
        metrics.ENDINGS.labels(ending.type, key[5]).inc()
    with connection.cursor() as cursor:
        for key in sorted(rows):
            cursor.execute(
                "INSERT INTO fairness_tally (day, game, entropy, ending, stage, reason, fault,"
                " rounds, delay_sum_ms, delay_max_ms, late) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
                " ON CONFLICT (day, game, entropy, ending, stage, reason, fault) DO UPDATE SET"
                " rounds = fairness_tally.rounds + excluded.rounds,"
                " delay_sum_ms = fairness_tally.delay_sum_ms + excluded.delay_sum_ms,"
                " delay_max_ms = greatest(fairness_tally.delay_max_ms, excluded.delay_max_ms),"
                " late = fairness_tally.late + excluded.late",
                [*key, *rows[key]],
            )


def _day(time_ms: int) -> date:
    return datetime.fromtimestamp(time_ms // 1000, UTC).date()
