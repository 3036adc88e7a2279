"""The key that signs the ledger's blocks and daily files.

From the setting SEALDECK_LEDGER_KEY, or derived from SECRET_KEY where that is empty.  Public keys are kept in the
database and published, so that what an older key signed can still be checked.  Never logs or stores a private key.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import connection

from apps.wallets.canonical import kid_of

_INFO = b"sealdeck wallets ledger key 1"


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key with its public part and short name."""

    kid: str
    public_key: bytes
    private_key: Ed25519PrivateKey

    def sign(self, statement: bytes) -> bytes:
        """Return the signature of a statement."""
        return self.private_key.sign(statement)


def signer() -> Signer:
    """Return the key that signs now, after making sure that its public part is on record."""
    current = _signer(str(getattr(settings, "SEALDECK_LEDGER_KEY", "")), settings.SECRET_KEY)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO wallets_key (kid, public_key) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            [current.kid, current.public_key],
        )
    return current


@lru_cache(maxsize=4)
def _signer(configured: str, secret: str) -> Signer:
    seed = bytes.fromhex(configured) if configured else HKDF(hashes.SHA256(), 32, None, _INFO).derive(secret.encode())
    private_key = Ed25519PrivateKey.from_private_bytes(seed)
    public_key = private_key.public_key().public_bytes_raw()
    return Signer(kid_of(public_key), public_key, private_key)


def signature_is_valid(public_key: bytes, signature: bytes, statement: bytes) -> bool:
    """Tell whether a signature is of this key and statement."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, statement)
    except InvalidSignature:
        return False
    return True
