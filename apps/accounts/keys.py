"""API keys as text: how one is made, read and compared.

A key is ``sk_<prefix>_<secret>``; in a sandbox ``sk_test_<prefix>_<secret>``.  The prefix (12 characters) finds the
row, the secret (256 bits) proves possession.  Only SHA-256 of the whole text is kept: the secret has full
entropy, so a slow hash would add nothing but load.  Never stores, logs or returns a key after it was made.

Source: docs/operators/keys-and-sessions.md, section API keys.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

PREFIX_LENGTH = 12
SECRET_BYTES = 32
_PREFIX_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
_KEY = re.compile(r"sk_(?:test_)?([a-z0-9]{12})_[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made; ``plaintext`` is shown once and kept nowhere."""

    prefix: str
    plaintext: str = field(repr=False)
    secret_sha256: bytes = field(repr=False)


def key_make(*, is_sandbox: bool) -> NewKey:
    """Make a key from the operating system's generator."""
    prefix = "".join(secrets.choice(_PREFIX_ALPHABET) for _ in range(PREFIX_LENGTH))
    mark = "test_" if is_sandbox else ""
    plaintext = f"sk_{mark}{prefix}_{secrets.token_urlsafe(SECRET_BYTES)}"
    return NewKey(prefix=prefix, plaintext=plaintext, secret_sha256=key_digest(plaintext))


def key_prefix(plaintext: str) -> str | None:
    """Return the prefix of a well-formed key, else None."""
    match = _KEY.fullmatch(plaintext)
    return match[1] if match else None


def is_test_key(plaintext: str) -> bool:
    """Tell whether a key says that it is one of a sandbox."""
    return plaintext.startswith("sk_test_")


def key_digest(plaintext: str) -> bytes:
    """Return what the database keeps of a key."""
    return hashlib.sha256(plaintext.encode()).digest()


def key_matches(plaintext: str, secret_sha256: bytes) -> bool:
    """Tell whether the text is the key with this digest, in a time that does not depend on where they differ."""
    return hmac.compare_digest(key_digest(plaintext), secret_sha256)
