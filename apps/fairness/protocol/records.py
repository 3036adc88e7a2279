"""Signed records and the entries of the public log that carry them.

Protocol: docs/fairness/protocol.md, sections 2 and 3.  Never decides whether a record fits those before it, and never
holds a secret key longer than one signature.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from apps.fairness.protocol import canonical, signatures
from apps.fairness.protocol.errors import CanonicalError, RecordError
from apps.fairness.protocol.frames import frame, u32
from apps.fairness.protocol.shapes import ROUND_TYPES, VERSION, body_check, hex8, hex64

__all__ = [
    "ENTRY_BYTES_MAX",
    "ROUND_TYPES",
    "VERSION",
    "Signed",
    "body_check",
    "entry_bytes",
    "entry_read",
    "key_id",
    "log_object",
    "record_hash",
    "record_message",
    "record_sign",
    "record_verify",
    "round_id",
    "seed_commitment",
    "signed_from_object",
]

ENTRY_BYTES_MAX: Final = 65535
"""Longest log entry, in bytes."""

_ENTRY_MEMBERS = frozenset(("body", "kid", "sig", "type"))


@dataclass(frozen=True, slots=True, eq=False)
class Signed:
    """A signed record with everything that is worked out from it once; equal where the log entries are."""

    type: str
    body: dict[str, Any]
    kid: str
    sig: str
    message: bytes
    """What the signature is over."""
    hash: bytes
    """The record hash, 32 bytes."""
    entry: bytes
    """The exact bytes of its log entry."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Signed) and self.entry == other.entry

    def __hash__(self) -> int:
        return hash(self.entry)

    @property
    def hash_hex(self) -> str:
        """The record hash as other records quote it."""
        return self.hash.hex()


def round_id(table: bytes, index: int) -> bytes:
    """Return the 16 bytes that name a round.

    Args:
        table: the 16 bytes of the table's id.

    Source: docs/fairness/protocol.md, section 3.
    """
    return sha256(frame("sealdeck/1/round", table, u32(index))).digest()[:16]


def seed_commitment(table: bytes, index: int, seed: bytes) -> bytes:
    """Return the commitment to a round's seed, 32 bytes.

    Source: docs/fairness/protocol.md, section 3.
    """
    return sha256(frame("sealdeck/1/seed", table, u32(index), seed)).digest()


def key_id(public_key: bytes) -> str:
    """Return the ``kid`` of a record or root key.

    Source: docs/fairness/protocol.md, section 2.
    """
    return sha256(frame("sealdeck/1/kid", public_key)).digest()[:8].hex()


def record_message(type_: str, body: dict[str, Any]) -> bytes:
    """Return the bytes that are hashed and signed for a record.

    Raises:
        CanonicalError: the body has no canonical form.
    """
    return frame("sealdeck/1/record", type_, canonical.encode(body))


def record_hash(type_: str, body: dict[str, Any]) -> bytes:
    """Return the record hash, 32 bytes.

    Raises:
        CanonicalError: the body has no canonical form.
    """
    return sha256(record_message(type_, body)).digest()


def record_sign(secret_key: bytes, type_: str, body: dict[str, Any]) -> Signed:
    """Sign a record and return it with its hash and its log entry.

    Args:
        secret_key: 32 bytes of an Ed25519 key.

    Raises:
        RecordError: the body is not of its form, or its log entry would be too long.
        CanonicalError: the options hold something that has no canonical form.
    """
    body_check(type_, body)
    message = record_message(type_, body)
    sig = signatures.sign(secret_key, message).hex()
    kid = key_id(signatures.public_key(secret_key))
    entry = entry_bytes(type_, body, kid, sig)
    return Signed(type_, body, kid, sig, message, sha256(message).digest(), entry)


def record_verify(public_key: bytes, record: Signed) -> bool:
    """Tell whether a record is signed with this key and names it."""
    if record.kid != key_id(public_key):
        return False
    return signatures.verify(public_key, record.message, bytes.fromhex(record.sig))


def entry_bytes(type_: str, body: dict[str, Any], kid: str, sig: str) -> bytes:
    """Return the bytes of the log entry of a signed record.

    Raises:
        RecordError: the entry is longer than 65535 bytes.
        CanonicalError: the body has no canonical form.
    """
    entry = canonical.encode({"body": body, "kid": kid, "sig": sig, "type": type_})
    if len(entry) > ENTRY_BYTES_MAX:
        raise RecordError("the log entry is longer than 65535 bytes")
    return entry


def log_object(record: Signed) -> dict[str, Any]:
    """Return a record as the object that bundles and the API show."""
    return {"body": record.body, "kid": record.kid, "sig": record.sig, "type": record.type}


def signed_from_object(value: Any) -> Signed:
    """Return the record of a log object that was read with ``canonical.decode``.

    Raises:
        VersionError: it is of another version.
        RecordError: it is not of its form, or its entry is longer than 65535 bytes.
    """
    if type(value) is not dict or value.keys() != _ENTRY_MEMBERS:
        raise RecordError("a log entry has exactly the members body, kid, sig and type")
    type_, body, kid, sig = value["type"], value["body"], value["kid"], value["sig"]
    if type(type_) is not str:
        raise RecordError("the type of a log entry is not a text")
    body_check(type_, body)
    if not hex8(kid) or not hex64(sig):
        raise RecordError(f"kid or sig of the {type_} record is not of its form")
    data = canonical.encode_checked(body)
    message = frame("sealdeck/1/record", type_, data)
    entry = b'{"body":' + data + f',"kid":"{kid}","sig":"{sig}","type":"{type_}"}}'.encode()
    if len(entry) > ENTRY_BYTES_MAX:
        raise RecordError(f"the log entry of the {type_} record is longer than 65535 bytes")
    return Signed(type_, body, kid, sig, message, sha256(message).digest(), entry)


def entry_read(data: bytes) -> Signed:
    """Read a log entry from its exact bytes.

    Raises:
        RecordError: too long, not canonical, or not of its form.
        VersionError: it is of another version.
    """
    if len(data) > ENTRY_BYTES_MAX:
        raise RecordError("the log entry is longer than 65535 bytes")
    try:
        value = canonical.decode_canonical(data)
    except CanonicalError as problem:
        raise RecordError(f"the log entry is {problem.detail}") from problem
    return signed_from_object(value)
