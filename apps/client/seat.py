"""A seat's own part of the fairness protocol: its key, its 32 bytes, and what it signs when it gets ready.

Protocol: docs/fairness/protocol.md, section 3, Contributions.  The entropy comes from the operating system's generator,
or from whoever trusts dice more; it is never derived from anything the server said.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from apps.fairness.protocol import contributions

ENTROPY_BYTES = contributions.ENTROPY_BYTES
Body = dict[str, Any]
Checkpoint = Mapping[str, Any]
"""``size`` and ``root`` (hex) of a checkpoint that the client has seen and checked."""


@dataclass(frozen=True, slots=True)
class SeatKey:
    """An Ed25519 key for one sitting, so that nothing links the sittings of a player in the public log."""

    secret: bytes = field(repr=False)

    @classmethod
    def make(cls) -> SeatKey:
        """Make a fresh key."""
        return cls(Ed25519PrivateKey.generate().private_bytes_raw())

    @property
    def pk(self) -> str:
        """Return the public key, hex."""
        return Ed25519PrivateKey.from_private_bytes(self.secret).public_key().public_bytes_raw().hex()


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a seat put into a round; kept until the round was checked."""

    mode: str
    """``none``, ``open`` or ``sealed``."""
    round_id: str
    open_hash: str
    seat: int
    entropy: bytes = field(repr=False)
    key: SeatKey | None
    cp: dict[str, Any] | None

    @property
    def pk(self) -> str:
        """Return the seat's public key, hex, or ''."""
        return self.key.pk if self.key and self.mode != "none" else ""

    @property
    def commit(self) -> str:
        """Return the commitment to the entropy, hex."""
        return contributions.commitment(
            round_=bytes.fromhex(self.round_id),
            open_hash=bytes.fromhex(self.open_hash),
            seat=self.seat,
            public_key=bytes.fromhex(self.pk),
            entropy=self.entropy,
        ).hex()

    def ready_body(self) -> Body:
        """Return the body of the ready call."""
        match self.mode:
            case "none":
                return {"round_id": self.round_id}
            case "open":
                signed = contributions.entropy_body(
                    round_=self.round_id,
                    open_=self.open_hash,
                    seat=self.seat,
                    pk=self.pk,
                    entropy=self.entropy.hex(),
                    cp=self.cp,
                )
                value = {"entropy": self.entropy.hex()}
                return {"round_id": self.round_id, **value, **self._signed("entropy", signed)}
            case _:
                signed = contributions.commit_body(
                    round_=self.round_id,
                    open_=self.open_hash,
                    seat=self.seat,
                    pk=self.pk,
                    commit=self.commit,
                    cp=self.cp,
                )
                return {"round_id": self.round_id, "commit": self.commit, **self._signed("commit", signed)}

    def opening_body(self, *, close_hash: str, cp: Checkpoint | None) -> Body:
        """Return the body of the opening call of a sealed round, once the close record is in a published checkpoint.

        Args:
            cp: a checkpoint that contains the close record.
        """
        assert self.mode == "sealed", "only a sealed contribution is opened"
        seen = _quoted(cp) if self.key else None
        body = contributions.reveal_body(
            round_=self.round_id, close=close_hash, seat=self.seat, entropy=self.entropy.hex(), cp=seen
        )
        sig = contributions.seat_sign(self.key.secret, "reveal", body).hex() if self.key else ""
        return {"round_id": self.round_id, "entropy": self.entropy.hex(), "cp": seen, "sig": sig}

    def _signed(self, kind: contributions.Kind, body: dict[str, Any]) -> Body:
        sig = contributions.seat_sign(self.key.secret, kind, body).hex() if self.key else ""
        return {"pk": self.pk, "cp": self.cp, "sig": sig}


def contribute(
    *,
    mode: str,
    round_id: str,
    open_hash: str,
    seat: int,
    key: SeatKey | None,
    cp: Checkpoint | None = None,
    entropy: bytes | None = None,
) -> Contribution:
    """Make a seat's contribution to a round.

    Args:
        mode: ``entropy`` of the open record.
        open_hash: hash of the open record, hex, worked out from the record rather than taken from the server.
        key: the seat's key for this sitting, or None for a seat without one, which cannot prove what it sent.
        cp: a checkpoint that contains the open record; quoted and signed, it proves what the client was shown.
        entropy: 32 bytes of the player's own choice; fresh ones where it is None.

    Raises:
        ValueError: the entropy has not 32 bytes.
    """
    own = secrets.token_bytes(ENTROPY_BYTES) if entropy is None else entropy
    if len(own) != ENTROPY_BYTES:
        raise ValueError("a seat's entropy has 32 bytes")
    return Contribution(
        mode=mode,
        round_id=round_id,
        open_hash=open_hash,
        seat=seat,
        entropy=own,
        key=key,
        cp=_quoted(cp) if key else None,
    )


def _quoted(cp: Checkpoint | None) -> dict[str, Any] | None:
    return None if cp is None else {"size": cp["size"], "root": cp["root"]}
