"""Checking webhooks: Standard Webhooks, signed with HMAC-SHA-256 (``v1``), Ed25519 (``v1a``), or both.

The content that is signed is ``id.timestamp.body`` with the raw bytes of the body: check before parsing, and never what
was parsed and written again.  Whoever gets a webhook twice knows it by its id.

Source: docs/operators/webhooks.md.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from apps.client.errors import ClientError

TOLERANCE_S = 300
SIGNATURES_MAX = 16
"""Signatures of one webhook that are looked at; two are usual while a secret is replaced."""
HEADER_ID = "webhook-id"
HEADER_TIMESTAMP = "webhook-timestamp"
HEADER_SIGNATURE = "webhook-signature"
_SECRET = "whsec_"  # noqa: S105  # A mark before the secret, not one.
_PUBLIC = "whpk_"
_TIMESTAMP = re.compile(r"[1-9][0-9]{0,15}", re.ASCII)


class WebhookInvalid(ClientError):
    """It was not sent by the server, or not now."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook that was checked."""

    id: str
    timestamp_s: int
    data: Any


@dataclass(frozen=True, slots=True)
class WebhookChecker:
    """Believes webhooks that one of these keys signed; give the old one and the new one while keys change."""

    secrets: Sequence[str] = field(default=(), repr=False)
    """``whsec_`` and base64."""
    public_keys: Sequence[str] = ()
    """``whpk_`` and base64 of 32 bytes."""

    def __post_init__(self) -> None:
        """Refuse keys that cannot be read, before a webhook comes.

        Raises:
            ValueError: one is malformed, or there is none.
        """
        if not self.secrets and not self.public_keys:
            raise ValueError("nothing to check webhooks with")
        for secret in self.secrets:
            _key(secret, _SECRET)
        for public_key in self.public_keys:
            Ed25519PublicKey.from_public_bytes(_key(public_key, _PUBLIC))

    def check(self, body: bytes, headers: Mapping[str, str], *, now_s: int) -> Webhook:
        """Return what a webhook says.

        Args:
            body: the raw bytes.
            headers: in any case of letters.
            now_s: Unix seconds.

        Raises:
            WebhookInvalid: a header is missing, it is too old or too new, or no key of ours signed it.
        """
        lowered = {name.lower(): value for name, value in headers.items()}
        try:
            id_, timestamp = lowered[HEADER_ID], lowered[HEADER_TIMESTAMP]
            listed = lowered[HEADER_SIGNATURE].split(" ")[:SIGNATURES_MAX]
        except KeyError as missing:
            raise WebhookInvalid(f"The header {missing.args[0]} is missing.") from None
        if not _TIMESTAMP.fullmatch(timestamp):
            raise WebhookInvalid("The timestamp is not Unix time in seconds.")
        if abs(now_s - int(timestamp)) > TOLERANCE_S:
            raise WebhookInvalid("The webhook is too old, or from the future.")
        if not id_ or "." in id_:
            raise WebhookInvalid("The id is empty or holds a dot.")
        content = f"{id_}.{timestamp}.".encode() + body
        if not any(self._is_ours(signature, content) for signature in listed):
            raise WebhookInvalid("None of our keys signed this.")
        try:
            return Webhook(id_, int(timestamp), json.loads(body))
        except ValueError:
            raise WebhookInvalid("The body is not JSON.") from None

    def _is_ours(self, listed: str, content: bytes) -> bool:
        version, _, encoded = listed.partition(",")
        try:
            signature = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            return False
        match version:
            case "v1":
                made = (hmac.digest(_key(secret, _SECRET), content, "sha256") for secret in self.secrets)
                return any(hmac.compare_digest(one, signature) for one in made)
            case "v1a":
                return any(_verifies(_key(key, _PUBLIC), signature, content) for key in self.public_keys)
            case _:
                return False


def _verifies(public_key: bytes, signature: bytes, content: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, content)
    except InvalidSignature:
        return False
    return True


def _key(text: str, mark: str) -> bytes:
    if not text.startswith(mark):
        raise ValueError(f"a key that does not begin with {mark}")
    key = base64.b64decode(text[len(mark) :], validate=True)
    if len(key) < 24:
        raise ValueError("a key that is too short")
    return key
