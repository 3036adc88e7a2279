"""Writing transcripts.  Entries are added by the play service in its own transaction and never change.

Source: docs/fairness/protocol.md, section 7.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

COLUMNS = "round_id, seq, at_ms, kind, seat, body, head, shown, request_key, request_sha256"
ROW = "(%s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s, %s)"


@dataclass(frozen=True, slots=True)
class NewEntry:
    """One transcript entry about to be written.

    ``body`` is its canonical JSON, ``head`` the chain hash after it, ``shown`` the places of hidden cards whose
    faces a seat learned by it.
    """

    seq: int
    at_ms: int
    kind: str
    seat: int | None
    body: str
    head: bytes
    shown: dict[str, list[list[int]]] = field(default_factory=dict)
    request_key: str | None = None
    request_sha256: bytes | None = None


def entries_insert_sql(round_id: UUID, entries: Sequence[NewEntry]) -> tuple[str, list[Any]]:
    """Return the INSERT and its parameters, for a caller that writes the round's row in the same statement."""
    parameters: list[Any] = []
    for entry in entries:
        parameters += [
            round_id,
            entry.seq,
            entry.at_ms,
            entry.kind,
            entry.seat,
            entry.body,
            entry.head,
            json.dumps(entry.shown),
            entry.request_key,
            entry.request_sha256,
        ]
    rows = ", ".join([ROW] * len(entries))
    return f"INSERT INTO history_entry ({COLUMNS}) VALUES {rows}", parameters  # noqa: S608 - constants of our own
