"""Encryption at rest: seeds, signing keys, generation sources and state snapshots, under the key-encryption keys.

Implements docs/fairness/protocol.md, section 10 for seeds.  Everything else is AES-256-GCM under a key derived for its
one purpose and owner, so that a key-encryption key itself encrypts seeds only and stays far below its limit of uses.
Every sealed value names its key-encryption key and is bound to what it belongs to: moved elsewhere, it does not open.

Never writes, logs or caches an opened value.
"""

from __future__ import annotations

import os
from hmac import digest as hmac_digest
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from apps.fairness import conf
from apps.fairness.errors import KeysUnavailable, SealBroken
from apps.fairness.protocol import canonical, sealed
from apps.fairness.protocol.errors import CanonicalError, SealedError
from apps.fairness.protocol.frames import frame, u16, u64

VERSION = 1
"""First byte of every sealed value."""
NONCE_BYTES = 12

_KEY_LABEL = "sealdeck/at-rest/signing-key"
_CARDS_LABEL = "sealdeck/at-rest/generation"
_STATE_LABEL = "sealdeck/at-rest/state"


_parsed: tuple[object, dict[str, bytes]] = (object(), {})


def _keks() -> dict[str, bytes]:
    """Return the key-encryption keys, parsed once for each value of the setting."""
    global _parsed
    raw = getattr(settings, "SEALDECK_KEKS", None)
    known = _parsed
    if known[0] is not raw:
        known = _parsed = (raw, conf.keks())
    return known[1]


def current_kek_id() -> str:
    """Return the id of the key that seals from now on.

    Raises:
        KeysUnavailable: this process has no such key.
    """
    kek_id = str(getattr(settings, "SEALDECK_KEK_ID", "") or "")
    if kek_id not in _keks():
        raise KeysUnavailable
    return kek_id


def kek_id_of(value: bytes) -> str:
    """Return the id of the key-encryption key that a sealed value names.

    Raises:
        SealBroken: the value is not a sealed one.
    """
    try:
        if value[0] != VERSION:
            raise SealBroken
        return value[2 : 2 + value[1]].decode("ascii")
    except (IndexError, UnicodeDecodeError) as problem:
        raise SealBroken from problem


def _kek(kek_id: str) -> bytes:
    try:
        return _keks()[kek_id]
    except KeyError as problem:
        raise KeysUnavailable(kek_id=kek_id) from problem


def seed_seal(seed: bytes, *, table: bytes, index: int, seed_commit: bytes) -> bytes:
    """Seal a round's seed under the newest key.

    Raises:
        KeysUnavailable: this process has no key to seal with.

    Source: docs/fairness/protocol.md, section 10.
    """
    kek_id = current_kek_id()
    return sealed.seed_seal(
        kek=_kek(kek_id),
        kek_id=kek_id,
        nonce=os.urandom(NONCE_BYTES),
        table=table,
        index=index,
        seed_commit=seed_commit,
        seed=seed,
    )


def seed_open(value: bytes, *, table: bytes, index: int, seed_commit: bytes) -> bytes:
    """Open a round's seed.

    Raises:
        KeysUnavailable: this process does not have the key the value names.
        SealBroken: the value was altered or belongs to another round.
    """
    kek = _kek(kek_id_of(value))
    try:
        return sealed.seed_open(kek=kek, sealed=value, table=table, index=index, seed_commit=seed_commit)
    except SealedError as problem:
        raise SealBroken from problem


def signing_key_seal(secret: bytes, *, use: str, pk: bytes) -> bytes:
    """Seal the secret half of a signing key under the newest key."""
    return _seal(_KEY_LABEL, frame(_KEY_LABEL, use, pk), secret)


def signing_key_open(value: bytes, *, use: str, pk: bytes) -> bytes:
    """Open the secret half of a signing key.

    Raises:
        KeysUnavailable: this process does not have the key the value names.
        SealBroken: the value was altered or belongs to another key.
    """
    return _open(_KEY_LABEL, frame(_KEY_LABEL, use, pk), value)


def cards_seal(codes: tuple[str, ...], *, round_id: UUID, gen: int) -> bytes:
    """Seal the source of a generation, which is secret while its round runs."""
    return _seal(_CARDS_LABEL, frame(_CARDS_LABEL, round_id.bytes, u16(gen)), canonical.encode(list(codes)))


def cards_open(value: bytes, *, round_id: UUID, gen: int) -> tuple[str, ...]:
    """Open the source of a generation.

    Raises:
        KeysUnavailable: this process does not have the key the value names.
        SealBroken: the value was altered or belongs to another generation.
    """
    data = _open(_CARDS_LABEL, frame(_CARDS_LABEL, round_id.bytes, u16(gen)), value)
    try:
        return tuple(canonical.decode(data))
    except CanonicalError as problem:
        raise SealBroken from problem


def state_seal(data: bytes, *, round_id: UUID, seq: int) -> bytes:
    """Seal a state snapshot, which holds hidden cards.  The key is the round's own."""
    return _seal(_STATE_LABEL, frame(_STATE_LABEL, round_id.bytes), data, u64(seq))


def state_open(value: bytes, *, round_id: UUID, seq: int) -> bytes:
    """Open a state snapshot.

    Raises:
        KeysUnavailable: this process does not have the key the value names.
        SealBroken: the value was altered, or is of another round or sequence number.
    """
    return _open(_STATE_LABEL, frame(_STATE_LABEL, round_id.bytes), value, u64(seq))


def _derived(kek_id: str, owner: bytes) -> AESGCM:
    """Return the cipher for one purpose and owner; a PRF of the key-encryption key, never the key itself."""
    return AESGCM(hmac_digest(_kek(kek_id), owner, "sha256"))


def _seal(label: str, owner: bytes, data: bytes, place: bytes = b"") -> bytes:
    kek_id = current_kek_id()
    nonce = os.urandom(NONCE_BYTES)
    head = bytes((VERSION, len(kek_id))) + kek_id.encode("ascii")
    return head + nonce + _derived(kek_id, owner).encrypt(nonce, data, frame(label, owner, place, kek_id))


def _open(label: str, owner: bytes, value: bytes, place: bytes = b"") -> bytes:
    kek_id = kek_id_of(value)
    start = 2 + len(kek_id)
    nonce, cipher = value[start : start + NONCE_BYTES], value[start + NONCE_BYTES :]
    try:
        return _derived(kek_id, owner).decrypt(nonce, cipher, frame(label, owner, place, kek_id))
    except (InvalidTag, ValueError) as problem:
        raise SealBroken from problem
