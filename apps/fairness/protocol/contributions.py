"""What seats contribute and sign: commitments, openings and entropies.

Protocol: docs/fairness/protocol.md, section 3, Contributions.  Never makes a contribution for a seat.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final, Literal

from apps.fairness.protocol import canonical, signatures
from apps.fairness.protocol.frames import frame, u8
from apps.fairness.protocol.shapes import VERSION

Kind = Literal["commit", "reveal", "entropy"]

ENTROPY_BYTES: Final = 32
"""Length of one seat's entropy."""


def commitment(*, round_: bytes, open_hash: bytes, seat: int, public_key: bytes, entropy: bytes) -> bytes:
    """Return the commitment of a seat to its entropy, 32 bytes.

    Args:
        public_key: the seat's key, empty for a seat without one.
    """
    return sha256(frame("sealdeck/1/ecommit", round_, open_hash, u8(seat), public_key, entropy)).digest()


def commit_body(
    *, round_: str, open_: str, seat: int, pk: str, commit: str, cp: dict[str, Any] | None
) -> dict[str, Any]:
    """Return what a seat signs with its ready call in a sealed round; all bytes as hex."""
    return {"v": VERSION, "round": round_, "open": open_, "seat": seat, "pk": pk, "commit": commit, "cp": cp}


def reveal_body(*, round_: str, close: str, seat: int, entropy: str, cp: dict[str, Any] | None) -> dict[str, Any]:
    """Return what a seat signs when it opens its commitment after the close record; all bytes as hex."""
    return {"v": VERSION, "round": round_, "close": close, "seat": seat, "entropy": entropy, "cp": cp}


def entropy_body(
    *, round_: str, open_: str, seat: int, pk: str, entropy: str, cp: dict[str, Any] | None
) -> dict[str, Any]:
    """Return what a seat signs with its ready call in an open round; all bytes as hex."""
    return {"v": VERSION, "round": round_, "open": open_, "seat": seat, "pk": pk, "entropy": entropy, "cp": cp}


def seat_message(kind: Kind, body: dict[str, Any]) -> bytes:
    """Return the bytes a seat signs.

    Raises:
        CanonicalError: the body has no canonical form.
    """
    return frame("sealdeck/1/seat", kind, canonical.encode(body))


def seat_sign(secret_key: bytes, kind: Kind, body: dict[str, Any]) -> bytes:
    """Return a seat's signature, 64 bytes.

    Raises:
        CanonicalError: the body has no canonical form.
        ProtocolError: the secret key has not 32 bytes.
    """
    return signatures.sign(secret_key, seat_message(kind, body))


def seat_verify(public_key: bytes, kind: Kind, body: dict[str, Any], signature: bytes) -> bool:
    """Tell whether a seat's key signed this message.

    Raises:
        CanonicalError: the body has no canonical form.
    """
    return signatures.verify(public_key, seat_message(kind, body), signature)
