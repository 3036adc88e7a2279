"""Reading transcripts and composing audit bundles.

Source: docs/fairness/protocol.md, sections 7 and 12.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.fairness import selectors as fairness
from apps.fairness.protocol.bundle import bundle_encode
from apps.history.models import Entry


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """One transcript entry as it was stored; ``body`` is its exact canonical JSON."""

    round_id: UUID
    seq: int
    at_ms: int
    kind: str
    seat: int | None
    body: str
    head: bytes
    shown: dict[str, list[list[int]]]


def transcript(*, round_id: UUID, after: int = -1, limit: int | None = None) -> list[StoredEntry]:
    """Return the entries of a round with a sequence number above ``after``, in order."""
    rows = Entry.objects.filter(round_id=round_id, seq__gt=after).order_by("seq")
    rows = rows if limit is None else rows[:limit]
    return [
        StoredEntry(row.round_id, row.seq, row.at_ms, row.kind, row.seat, row.body, bytes(row.head), row.shown)
        for row in rows
    ]


def bundle(*, round_id: UUID, with_transcript: bool = True) -> dict[str, Any]:
    """Return the audit bundle of a round, or as much of it as is published while the round runs.

    Args:
        with_transcript: False leaves the entries out, where a running round is not to be followed by everybody.

    Raises:
        RoundUnknown, LogUnavailable: no such round, or nothing is published yet.
    """
    evidence = fairness.round_evidence(round_id)
    dealt = any(record["type"] == "deck" for record in evidence["records"])
    entries = transcript(round_id=round_id) if dealt and with_transcript else []
    return {
        "format": "sealdeck-round/1",
        "records": evidence["records"],
        "keys": evidence["keys"],
        "order": evidence["order"],
        "generations": evidence["generations"],
        "transcript": [json.loads(entry.body) for entry in entries],
        "log": evidence["log"],
    }


def bundles(*, round_ids: Iterable[UUID]) -> Iterator[str]:
    """Yield the bundles of many ended rounds as JSON Lines, one at a time; canonical, which verifiers read fastest."""
    for round_id in round_ids:
        entries = [entry.body.encode() for entry in transcript(round_id=round_id)]
        yield bundle_encode(bundle(round_id=round_id, with_transcript=False), entries).decode() + "\n"
