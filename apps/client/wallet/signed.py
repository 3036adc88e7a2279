"""The signatures of the seamless wallet, from the operator's side: checking calls, signing answers.

The texts are those of docs/operators/signatures.md, with ``Sealdeck-Key`` in the place of an API key's prefix.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from apps.client import signing

HEADER_KEY = "Sealdeck-Key"
SKEW_S_MAX = 300
_NONCE = re.compile(r"[A-Za-z0-9_-]{16,64}", re.ASCII)
_TIMESTAMP = re.compile(r"[1-9][0-9]{0,15}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Request:
    """A call as it arrived; header names are lowercase."""

    url: str
    headers: Mapping[str, str]
    body: bytes

    def header(self, name: str) -> str:
        """Return a header, '' if it is not there."""
        return self.headers.get(name.lower(), "")


@dataclass(frozen=True, slots=True)
class Operator:
    """Whom calls must be for, whose calls are believed, and the key that signs the answers."""

    caller_keys: Mapping[str, bytes]
    """By the value of ``Sealdeck-Key``, ``<operator id>.<kid>``: the public key, 32 bytes."""
    answer_key: Ed25519PrivateKey = field(repr=False)

    def request_is_signed(self, request: Request, now_s: int) -> bool:
        """Tell whether a call is signed, for us and now; its nonce is the caller's to look at."""
        name, algorithm_and_signature = request.header(HEADER_KEY), request.header(signing.HEADER_SIGNATURE)
        timestamp, nonce = request.header(signing.HEADER_TIMESTAMP), request.header(signing.HEADER_NONCE)
        algorithm, _, encoded = algorithm_and_signature.partition(":")
        if name not in self.caller_keys or algorithm != "ed25519" or not _NONCE.fullmatch(nonce):
            return False
        if not _TIMESTAMP.fullmatch(timestamp) or abs(int(timestamp) - now_s) > SKEW_S_MAX:
            return False
        try:
            text = signing.request_text(
                prefix=name,
                method="POST",
                url=request.url,
                timestamp_s=int(timestamp),
                nonce=nonce,
                body=request.body,
                idempotency_key=request.header(signing.HEADER_IDEMPOTENCY),
            )
            public = Ed25519PublicKey.from_public_bytes(self.caller_keys[name])
            public.verify(base64.b64decode(encoded, validate=True), text)
        except (InvalidSignature, binascii.Error, ValueError):
            return False
        return True

    def answer_headers(self, request: Request, status: int, body: bytes, now_s: int) -> dict[str, str]:
        """Return the headers that sign an answer to a call."""
        exchange = signing.Exchange(
            prefix=request.header(HEADER_KEY),
            method="POST",
            url=request.url,
            nonce=request.header(signing.HEADER_NONCE),
            timestamp=str(now_s),
            status=status,
            body=body,
        )
        kid = signing.key_kid(self.answer_key.public_key().public_bytes_raw())
        signature = base64.b64encode(self.answer_key.sign(exchange.text())).decode()
        return {
            signing.HEADER_ANSWER_TIMESTAMP: str(now_s),
            signing.HEADER_ANSWER_SIGNATURE: f"ed25519:{kid}:{signature}",
        }
