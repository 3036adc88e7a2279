"""Signing of records, and their storage for the log's writer.

Implements docs/fairness/protocol.md, section 2.  A record that was stored is never replaced: whoever needs it again
reads its bytes.  Never signs outside of a transaction, and opens a secret key only for the one signature.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, connections

from apps.fairness import locks, sealing
from apps.fairness.errors import KeysUnavailable
from apps.fairness.models import KeyUse
from apps.fairness.protocol.log import leaf_hash
from apps.fairness.protocol.records import Signed, record_sign

# Every round signs three or four records, so these two statements are written out.
_LIVE_KEY = (
    "SELECT public_key, secret_sealed FROM fairness_signing_key"
    " WHERE use = %s AND revoked_id IS NULL AND secret_sealed IS NOT NULL ORDER BY added_id DESC LIMIT 1"
)
_INSERT = (
    "INSERT INTO fairness_record (round_id, type, place, kid, entry, record_hash, leaf_hash, signed_at_ms)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s) RETURNING id"
)


@dataclass(frozen=True, slots=True)
class RecordRef:
    """A stored record, as other parts of the server name it."""

    type: str
    record_hash: str
    signed_at_ms: int


def live_secret(use: KeyUse) -> bytes:
    """Return the secret half of the newest live key of a use.

    Raises:
        KeysUnavailable: there is none, or this process cannot open it.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LIVE_KEY, [use.value])
        row = cursor.fetchone()
    if row is None:
        raise KeysUnavailable(f"The log has no live {use.value} key that this server can use: run fairness_keys.")
    return sealing.signing_key_open(bytes(row[1]), use=use.value, pk=bytes(row[0]))


def record_add(*, round_id: UUID, place: int, type_: str, body: dict[str, Any], now_ms: int) -> Signed:
    """Sign a record of a round and store it; the log's writer merges it.

    Args:
        place: position among the records of the round, from 0.
        now_ms: Unix time, milliseconds.

    Raises:
        KeysUnavailable: this process cannot sign.
        RecordError: the body is not of its form.
    """
    locks.keys_share()
    signed = record_sign(live_secret(KeyUse.RECORDS), type_, body)
    record_store(signed, round_id=round_id, place=place, now_ms=now_ms)
    return signed


def record_store(signed: Signed, *, round_id: UUID | None, place: int, now_ms: int, using: str = "default") -> int:
    """Store a signed record, not merged yet, and return its row's id."""
    row = (
        round_id,
        signed.type,
        place,
        signed.kid,
        signed.entry,
        signed.hash,
        leaf_hash(signed.entry),
        now_ms,
    )
    with connections[using].cursor() as cursor:
        cursor.execute(_INSERT, row)
        return int(cursor.fetchone()[0])


def body_of(entry: bytes) -> dict[str, Any]:
    """Return the body of a stored entry, which is canonical JSON that this server wrote."""
    body: dict[str, Any] = json.loads(entry)["body"]
    return body
