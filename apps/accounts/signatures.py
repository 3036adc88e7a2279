"""Signatures of requests and answers: the text that is signed, and the check.

A request is signed with Ed25519 or HMAC-SHA-256 over nine lines joined by LF::

    sealdeck-request/1 · key prefix · METHOD · path · query · timestamp · nonce · SHA-256 of the body · Idempotency-Key

The path is percent-decoded and encoded again, so that a proxy that spells it in another way breaks nothing; the query
is taken as it was sent.  No line can hold an LF, so no two requests have one text.  Answers are signed with the
server's Ed25519 key over::

    sealdeck-answer/1 · key prefix · METHOD · path · query · request nonce · timestamp · status · SHA-256 of the body

Pure but for settings; never reads a clock or the database.

Source: docs/operators/signatures.md.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from urllib.parse import quote
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings

from apps.accounts import conf
from apps.accounts.errors import SignatureInvalid
from apps.accounts.tokens import secret_derive

SKEW_S_MAX = 300
NONCE_KEPT_MS = 2 * SKEW_S_MAX * 1000
"""A timestamp may be 300 s ahead and is accepted until it is 300 s old: so long a nonce could come again."""
NONCE = re.compile(r"[A-Za-z0-9_-]{16,64}", re.ASCII)
_TIMESTAMP = re.compile(r"[1-9][0-9]{0,15}", re.ASCII)
_PATH_SAFE = "/-._~"
_HMAC_INFO = b"sealdeck/accounts/request-hmac/1/"
_ANSWER_INFO = b"sealdeck/accounts/answer-key/1"

HEADER_TIMESTAMP = "Sealdeck-Timestamp"
HEADER_NONCE = "Sealdeck-Nonce"
HEADER_SIGNATURE = "Sealdeck-Signature"
HEADER_ANSWER_TIMESTAMP = "Sealdeck-Answer-Timestamp"
HEADER_ANSWER_SIGNATURE = "Sealdeck-Answer-Signature"


class Algorithm(StrEnum):
    """How requests with a key are signed."""

    ED25519 = "ed25519"
    HMAC_SHA256 = "hmac-sha256"


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """The parts of a request that its signature covers, as they arrived."""

    key_prefix: str
    method: str
    path: bytes
    """Percent-decoded."""
    query: str
    timestamp: str
    nonce: str
    body: bytes
    idempotency_key: str = ""

    def text(self) -> bytes:
        """Return what is signed."""
        return "\n".join(
            (
                "sealdeck-request/1",
                self.key_prefix,
                self.method,
                path_text(self.path),
                self.query,
                self.timestamp,
                self.nonce,
                hashlib.sha256(self.body).hexdigest(),
                self.idempotency_key,
            )
        ).encode()


@dataclass(frozen=True, slots=True)
class SignedAnswer:
    """The parts of an answer that its signature covers, with those of the request that tell which one it answers."""

    key_prefix: str
    method: str
    path: bytes
    query: str
    nonce: str
    timestamp: str
    status: int
    body: bytes

    def text(self) -> bytes:
        """Return what is signed."""
        return "\n".join(
            (
                "sealdeck-answer/1",
                self.key_prefix,
                self.method,
                path_text(self.path),
                self.query,
                self.nonce,
                self.timestamp,
                str(self.status),
                hashlib.sha256(self.body).hexdigest(),
            )
        ).encode()


def path_text(path: bytes) -> str:
    """Return a percent-decoded path in its one spelling: letters, digits and ``/-._~`` as they are, the rest as %XX."""
    return quote(path, safe=_PATH_SAFE)


def timestamp_read(text: str) -> int:
    """Return a timestamp in Unix seconds.

    Raises:
        SignatureInvalid: it is none.
    """
    if not _TIMESTAMP.fullmatch(text):
        raise SignatureInvalid(f"{HEADER_TIMESTAMP} is Unix time in whole seconds.")
    return int(text)


def signature_check(
    *, request: SignedRequest, header: str, key_id: UUID, algorithm: Algorithm, public_key: bytes
) -> None:
    """Return if the header holds a signature of the request by the key.

    Args:
        header: ``ed25519:BASE64`` or ``hmac-sha256:BASE64``.
        public_key: 32 bytes where the algorithm is Ed25519.

    Raises:
        SignatureInvalid: it does not.
    """
    name, _, encoded = header.partition(":")
    if name != algorithm:
        raise SignatureInvalid(f"Requests with this key are signed with {algorithm}.")
    try:
        signature = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise SignatureInvalid("The signature is not base64.") from None
    match algorithm:
        case Algorithm.ED25519:
            try:
                Ed25519PublicKey.from_public_bytes(public_key).verify(signature, request.text())
            except InvalidSignature:
                raise SignatureInvalid from None
        case Algorithm.HMAC_SHA256:
            text = request.text()
            if not any(hmac.compare_digest(hmac.digest(s, text, "sha256"), signature) for s in _hmac_secrets(key_id)):
                raise SignatureInvalid


def hmac_secret(key_id: UUID) -> bytes:
    """Return the HMAC secret of an API key: derived from SECRET_KEY, so that none is stored."""
    return _hmac_secrets(key_id)[0]


def _hmac_secrets(key_id: UUID) -> list[bytes]:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [secret_derive(secret, _HMAC_INFO + key_id.bytes) for secret in secrets]


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """The key with which the server signs its answers."""

    kid: str
    """First 8 bytes of SHA-256 of the public key, as hex."""
    public_key: bytes
    private_key: Ed25519PrivateKey

    def signature(self, answer: SignedAnswer) -> str:
        """Return the header value that signs an answer."""
        return f"ed25519:{self.kid}:{base64.b64encode(self.private_key.sign(answer.text())).decode()}"


def answer_keys() -> list[AnswerKey]:
    """Return the key that signs answers, then those that did before a change of secrets."""
    configured = conf.answer_key()
    seeds = [bytes.fromhex(configured)] if configured else []
    seeds += [secret_derive(s, _ANSWER_INFO) for s in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    return [_answer_key(seed) for seed in seeds]


@lru_cache(maxsize=8)
def _answer_key(seed: bytes) -> AnswerKey:
    private_key = Ed25519PrivateKey.from_private_bytes(seed)
    public_key = private_key.public_key().public_bytes_raw()
    return AnswerKey(hashlib.sha256(public_key).hexdigest()[:16], public_key, private_key)
