"""Seeds at rest: AES-256-GCM with the round's facts bound to it.

Protocol: docs/fairness/protocol.md, section 10.  Never chooses a key or a nonce.
"""

from __future__ import annotations

from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from apps.fairness.protocol.errors import SealedError
from apps.fairness.protocol.frames import frame, u8, u32

FORMAT: Final = 0x01
KEK_BYTES: Final = 32
NONCE_BYTES: Final = 12
SEED_BYTES: Final = 32
TAG_BYTES: Final = 16
KEK_USES_MAX: Final = 2**31
"""How many seeds one key-encryption key may seal."""


def bound_data(*, table: bytes, index: int, seed_commit: bytes, kek_id: str) -> bytes:
    """Return the facts that a sealed seed is tied to.

    Raises:
        ProtocolError: the key's id is not ASCII.
    """
    return frame("sealdeck/1/at-rest", table, u32(index), seed_commit, kek_id)


def seed_seal(
    *, kek: bytes, kek_id: str, nonce: bytes, table: bytes, index: int, seed_commit: bytes, seed: bytes
) -> bytes:
    """Seal a seed for storage.

    Args:
        kek: key-encryption key, 32 bytes.
        kek_id: its name, 1 to 255 ASCII characters.
        nonce: 12 random bytes, never used with this key before.

    Raises:
        SealedError: a length is wrong.
    """
    if len(kek) != KEK_BYTES or len(nonce) != NONCE_BYTES or len(seed) != SEED_BYTES:
        raise SealedError("a key has 32 bytes, a nonce 12 and a seed 32")
    if not 1 <= len(kek_id) <= 255 or not kek_id.isascii():
        raise SealedError("the id of a key has 1 to 255 ASCII characters")
    data = bound_data(table=table, index=index, seed_commit=seed_commit, kek_id=kek_id)
    return bytes((FORMAT,)) + u8(len(kek_id)) + kek_id.encode() + nonce + AESGCM(kek).encrypt(nonce, seed, data)


def sealed_kek_id(sealed: bytes) -> str:
    """Return the id of the key that a sealed seed needs.

    Raises:
        SealedError: not a sealed seed.
    """
    return _parts(sealed)[0]


def seed_open(*, kek: bytes, sealed: bytes, table: bytes, index: int, seed_commit: bytes) -> bytes:
    """Return the seed of a sealed one, 32 bytes.

    Raises:
        SealedError: malformed, another key, or sealed for another round.
    """
    kek_id, nonce, box = _parts(sealed)
    if len(kek) != KEK_BYTES:
        raise SealedError("a key has 32 bytes")
    data = bound_data(table=table, index=index, seed_commit=seed_commit, kek_id=kek_id)
    try:
        return AESGCM(kek).decrypt(nonce, box, data)
    except InvalidTag as problem:
        raise SealedError("the sealed seed does not open with this key for this round") from problem


def _parts(sealed: bytes) -> tuple[str, bytes, bytes]:
    if len(sealed) < 2 or sealed[0] != FORMAT:
        raise SealedError("not a sealed seed of this format")
    end = 2 + sealed[1]
    if sealed[1] == 0 or len(sealed) != end + NONCE_BYTES + SEED_BYTES + TAG_BYTES or not sealed[2:end].isascii():
        raise SealedError("the sealed seed is malformed")
    return sealed[2:end].decode(), sealed[end : end + NONCE_BYTES], sealed[end + NONCE_BYTES :]
