"""Signing of records, and their storage for the log's writer.

Implements docs/fairness/protocol.md, section 2.  A record that was stored is never replaced: whoever needs it again
reads its bytes.  Never signs outside of a transaction, and opens a secret key only for the one signature.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.fairness import locks, sealing
from apps.fairness.errors import KeysUnavailable
from apps.fairness.models import KeyUse, Record, SigningKey
from apps.fairness.protocol.log import leaf_hash
from apps.fairness.protocol.records import Signed, record_sign


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
    key = (
        SigningKey.objects.filter(use=use, revoked__isnull=True, secret_sealed__isnull=False).order_by("-added").first()
    )
    if key is None or key.secret_sealed is None:
        raise KeysUnavailable(f"The log has no live {use} key that this server can use: run fairness_keys.")
    return sealing.signing_key_open(bytes(key.secret_sealed), use=key.use, pk=bytes(key.public_key))


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


def record_store(signed: Signed, *, round_id: UUID | None, place: int, now_ms: int, using: str = "default") -> Record:
    """Store a signed record, not merged yet."""
    return Record.objects.using(using).create(
        round_id=round_id,
        type=signed.type,
        place=place,
        kid=signed.kid,
        entry=signed.entry,
        record_hash=signed.hash,
        leaf_hash=leaf_hash(signed.entry),
        signed_at_ms=now_ms,
    )


def body_of(entry: bytes) -> dict[str, Any]:
    """Return the body of a stored entry, which is canonical JSON that this server wrote."""
    body: dict[str, Any] = json.loads(entry)["body"]
    return body
