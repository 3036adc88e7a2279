"""What followers of a table are sent: transcript entries with their openings, and the table as it is now.

A message is one JSON object.  ``entry`` messages replay from PostgreSQL for ever, the ``table`` message is a
snapshot of which only the latest matters.  Redis carries hints without secrets: losing them delays a follower,
nothing else.

Source: docs/players/streams.md; docs/fairness/protocol.md, sections 6 and 7.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import redis
import structlog

from apps.core.redis import one_way
from apps.fairness import dealer
from apps.history.selectors import StoredEntry
from apps.tables import metrics
from apps.tables.live import Live, places

log = structlog.get_logger(__name__)


def channel(table_id: UUID) -> str:
    """Return the Redis channel of a table's hints."""
    return f"sealdeck:table:{table_id.hex}"


def entries_publish(live: Live) -> None:
    """Hint the fresh entries of a committed round to its followers."""
    hints = [
        {
            "type": "entry",
            "round": live.id.hex,
            "index": live.index,
            "seq": entry.seq,
            "at": entry.at_ms,
            "kind": entry.kind,
            "seat": entry.seat,
            "body": entry.body,
            "head": entry.head.hex(),
            "shown": entry.shown,
        }
        for entry in live.fresh
    ]
    _publish(live.table_id, hints)


def table_publish(table_id: UUID) -> None:
    """Hint that a table changed."""
    _publish(table_id, [{"type": "table"}])


def _publish(table_id: UUID, hints: Iterable[dict[str, Any]]) -> None:
    try:
        for hint in hints:
            one_way().publish(channel(table_id), json.dumps(hint, separators=(",", ":")))
    except redis.RedisError as error:
        metrics.HINTS_LOST.inc()
        log.warning("hint_lost", table=str(table_id), error=str(error))


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a follower has read: the table's version, and the last entry by its round's index and number."""

    version: int = -1
    index: int = -1
    seq: int = -1

    def __str__(self) -> str:
        return f"{self.version}.{self.index}.{self.seq}"

    @classmethod
    def read(cls, text: str) -> Cursor:
        """Return the cursor that was written so.

        Raises:
            ValueError: it was not.
        """
        version, index, seq = text.split(".")
        if max(len(version), len(index), len(seq)) > 19:
            raise ValueError(text)
        return cls(int(version), int(index), int(seq))


def entry_message(entry: StoredEntry, *, index: int, seat: int | None) -> dict[str, Any]:
    """Return the message of one entry for a seat, or for a spectator.

    ``openings`` holds the opening of every card that the entry shows to everybody, and of those hidden cards whose
    faces this seat, and nobody else, learns by it.
    """
    body = json.loads(entry.body)
    told = [(gen, pos) for gen, pos, shown in places(body["events"]) if shown]
    if seat is not None:
        told += [(gen, pos) for gen, pos in entry.shown.get(str(seat), [])]
    return {
        "type": "entry",
        "round_id": entry.round_id.hex,
        "index": index,
        "seq": entry.seq,
        "entry": body,
        "head": entry.head.hex(),
        "openings": dealer.openings(round_id=entry.round_id, places=sorted(set(told))) if told else [],
    }
