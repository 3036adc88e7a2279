"""Ed25519 (RFC 8032) over raw 32-byte keys, the only signature of the protocol.

Protocol: docs/fairness/protocol.md, section 1.  Never makes a key and never reads one from anywhere.
"""

from __future__ import annotations

from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from apps.fairness.protocol.errors import ProtocolError

KEY_BYTES = 32
"""Length of a secret and of a public key."""
SIGNATURE_BYTES = 64
"""Length of a signature."""


@lru_cache(maxsize=4096)
def _public(public_key: bytes) -> Ed25519PublicKey | None:
    try:
        return Ed25519PublicKey.from_public_bytes(public_key)
    except ValueError:
        return None


def _private(secret_key: bytes) -> Ed25519PrivateKey:
    try:
        return Ed25519PrivateKey.from_private_bytes(secret_key)
    except ValueError as problem:
        raise ProtocolError("a secret key has 32 bytes") from problem


def public_key(secret_key: bytes) -> bytes:
    """Return the public key of a secret key.

    Raises:
        ProtocolError: the secret key has not 32 bytes.
    """
    return _private(secret_key).public_key().public_bytes_raw()


def sign(secret_key: bytes, message: bytes) -> bytes:
    """Return the signature of a message.

    Raises:
        ProtocolError: the secret key has not 32 bytes.
    """
    return _private(secret_key).sign(message)


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Tell whether a signature is that of the key over the message."""
    key = _public(public_key)
    if key is None:
        return False
    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True
