"""Reading transcripts and composing audit bundles.

Source: docs/fairness/protocol.md, sections 7 and 12.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from apps.fairness import selectors as fairness
from apps.fairness.protocol.bundle import FORMAT, bundle_encode
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


@dataclass(frozen=True, slots=True)
class Bundle:
    """The audit bundle of a round, or as much of it as is published while the round runs."""

    data: bytes
    """Canonical, which verifiers read fastest; the same bytes each time once it is final."""
    is_final: bool


def bundle(*, round_id: UUID, with_transcript: bool = True) -> Bundle:
    """Return the audit bundle of a round.

    Args:
        with_transcript: False leaves the entries out, where a running round is not to be followed by everybody.

    Raises:
        RoundUnknown, LogUnavailable: no such round, or nothing is published yet.
    """
    evidence = fairness.round_evidence(round_id)
    dealt = any(record["type"] == "deck" for record in evidence["records"])
    entries = transcript(round_id=round_id) if dealt and with_transcript else []
    whole = {"format": FORMAT, **evidence, "transcript": []}
    data = bundle_encode(whole, [entry.body.encode() for entry in entries])
    return Bundle(data, fairness.evidence_is_final(evidence))


def bundles(*, round_ids: Iterable[UUID]) -> Iterator[bytes]:
    """Yield the bundles of many ended rounds as JSON Lines, one at a time."""
    for round_id in round_ids:
        yield bundle(round_id=round_id).data + b"\n"
