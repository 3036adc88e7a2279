"""Signing requests and checking signed answers.

The text that is signed, and why it has this form, is in docs/operators/signatures.md; tests/vectors/signatures.json has
examples.  The signers hold secrets and show them to nobody.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import quote, unquote_to_bytes, urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

HEADER_TIMESTAMP = "Sealdeck-Timestamp"
HEADER_NONCE = "Sealdeck-Nonce"
HEADER_SIGNATURE = "Sealdeck-Signature"
HEADER_ANSWER_TIMESTAMP = "Sealdeck-Answer-Timestamp"
HEADER_ANSWER_SIGNATURE = "Sealdeck-Answer-Signature"
HEADER_IDEMPOTENCY = "Idempotency-Key"
_KEY = re.compile(r"sk_(?:test_)?([a-z0-9]{12})_[A-Za-z0-9_-]{43}", re.ASCII)


class Signer(Protocol):
    """Signs text in one of the agreed ways."""

    @property
    def algorithm(self) -> str:
        """Return the name of the way."""
        ...

    def sign(self, text: bytes) -> bytes:
        """Return the signature."""
        ...


@dataclass(frozen=True, slots=True)
class Ed25519Signer:
    """Signs with an Ed25519 private key, of which the server knows the public half."""

    private_key: Ed25519PrivateKey = field(repr=False)
    algorithm: str = "ed25519"

    def sign(self, text: bytes) -> bytes:
        """Return the signature."""
        return self.private_key.sign(text)


@dataclass(frozen=True, slots=True)
class HmacSigner:
    """Signs with HMAC-SHA-256 under the secret that was shown with the API key."""

    secret: bytes = field(repr=False)
    algorithm: str = "hmac-sha256"

    def sign(self, text: bytes) -> bytes:
        """Return the signature."""
        return hmac.digest(self.secret, text, "sha256")


def key_prefix(api_key: str) -> str:
    """Return the part of an API key that names it without proving anything.

    Raises:
        ValueError: it is no API key.
    """
    match = _KEY.fullmatch(api_key)
    if match is None:
        raise ValueError("not an API key")
    return match[1]


def target_split(url: str) -> tuple[str, str]:
    """Return path and query of a URL as they are signed: the path spelled in one way, the query as it is."""
    parts = urlsplit(url)
    return quote(unquote_to_bytes(parts.path or "/"), safe="/-._~"), parts.query


def request_text(
    *, prefix: str, method: str, url: str, timestamp_s: int, nonce: str, body: bytes, idempotency_key: str = ""
) -> bytes:
    """Return what is signed of a request."""
    path, query = target_split(url)
    digest = hashlib.sha256(body).hexdigest()
    lines = ("sealdeck-request/1", prefix, method, path, query, str(timestamp_s), nonce, digest, idempotency_key)
    return "\n".join(lines).encode("ascii")


def request_headers(
    *,
    signer: Signer,
    prefix: str,
    method: str,
    url: str,
    timestamp_s: int,
    nonce: str,
    body: bytes,
    idempotency_key: str = "",
) -> dict[str, str]:
    """Return the headers that sign a request.

    Args:
        timestamp_s: Unix seconds.
        nonce: 16 to 64 letters, digits, ``-`` and ``_``; never the same twice.
    """
    text = request_text(
        prefix=prefix,
        method=method,
        url=url,
        timestamp_s=timestamp_s,
        nonce=nonce,
        body=body,
        idempotency_key=idempotency_key,
    )
    return {
        HEADER_TIMESTAMP: str(timestamp_s),
        HEADER_NONCE: nonce,
        HEADER_SIGNATURE: f"{signer.algorithm}:{base64.b64encode(signer.sign(text)).decode()}",
    }


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its answer, as far as the answer's signature covers them."""

    prefix: str
    method: str
    url: str
    nonce: str
    timestamp: str
    status: int
    body: bytes

    def text(self) -> bytes:
        """Return what the server signs."""
        path, query = target_split(self.url)
        digest = hashlib.sha256(self.body).hexdigest()
        lines = ("sealdeck-answer/1", self.prefix, self.method, path, query, self.nonce)
        return "\n".join((*lines, self.timestamp, str(self.status), digest)).encode("ascii")


def key_kid(public_key: bytes) -> str:
    """Return the name of an Ed25519 key in signatures: the first 8 bytes of the SHA-256 of its public half, hex."""
    return hashlib.sha256(public_key).hexdigest()[:16]


def answer_is_signed(exchange: Exchange, header: str, keys: Mapping[str, bytes]) -> bool:
    """Tell whether the header holds a signature of the answer by one of the server's keys.

    Args:
        keys: the keys that are believed, by their ``kid``; 32 bytes each.
    """
    name, _, rest = header.partition(":")
    kid, _, encoded = rest.partition(":")
    if name != "ed25519" or kid not in keys:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(keys[kid]).verify(base64.b64decode(encoded, validate=True), exchange.text())
    except (InvalidSignature, binascii.Error, ValueError):
        return False
    return True
