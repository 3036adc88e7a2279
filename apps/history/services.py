"""Writing transcripts.  Entries are added by the play service in its own transaction and never change.

Source: docs/fairness/protocol.md, section 7.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from uuid import UUID

COLUMNS = "round_id, seq, at_ms, kind, seat, body, head, shown, request_key, request_sha256"
WIDTH = COLUMNS.count(",") + 1


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


@cache
def entries_insert_sql(count: int) -> str:
    """Return the INSERT of so many entries, for a caller that writes the round's row in the same statement.

    Its parameters are ``$1`` and so on, in the order of ``entries_parameters``.
    """
    rows = (", ".join(f"${row * WIDTH + column + 1}" for column in range(WIDTH)) for row in range(count))
    return f"INSERT INTO history_entry ({COLUMNS}) VALUES ({'), ('.join(rows)})"  # noqa: S608 - of our own


def entries_parameters(round_id: UUID, entries: Sequence[NewEntry]) -> list[UUID | bytes | str | int | None]:
    """Return what goes into the columns of the entries."""
    parameters: list[UUID | bytes | str | int | None] = []
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
    return parameters
