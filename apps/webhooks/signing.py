"""Signatures of deliveries: Standard Webhooks 1.0.0, HMAC-SHA-256 (``v1``) and Ed25519 (``v1a``).

The content is ``id.timestamp.body``.  An endpoint's HMAC secret is derived from the process secret, so none is stored;
after a rotation the one before signs too until its time is over.  Source: docs/operators/webhooks.md.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence
from functools import lru_cache
from uuid import UUID

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from apps.webhooks import conf

_SECRET_INFO = b"sealdeck webhooks endpoint secret 1"
_KEY_INFO = b"sealdeck webhooks signing key 1"


def _derive(secret: str, info: bytes) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=info).derive(secret.encode())


def _secrets(endpoint_id: UUID, version: int) -> list[bytes]:
    info = _SECRET_INFO + endpoint_id.bytes + version.to_bytes(4, "big")
    return [_derive(secret, info) for secret in conf.process_secrets()]


def secret_text(endpoint_id: UUID, version: int) -> str:
    """Return an endpoint's secret as its owner gets it: ``whsec_`` and base64."""
    return "whsec_" + base64.b64encode(_secrets(endpoint_id, version)[0]).decode("ascii")


def public_key_text() -> str:
    """Return the public key of all deliveries: ``whpk_`` and base64."""
    return "whpk_" + base64.b64encode(_private_keys()[0].public_key().public_bytes_raw()).decode("ascii")


def _private_keys() -> list[Ed25519PrivateKey]:
    configured = conf.signing_key()
    seeds = [bytes.fromhex(configured)] if configured else []
    seeds += [_derive(secret, _KEY_INFO) for secret in conf.process_secrets()]
    return [_private_key(seed) for seed in seeds]


@lru_cache(maxsize=8)
def _private_key(seed: bytes) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(seed)


def headers(
    *, endpoint_id: UUID, versions: Sequence[int], webhook_id: str, timestamp_s: int, body: bytes
) -> dict[str, str]:
    """Return the headers that identify and sign a delivery.

    Args:
        versions: of the endpoint's secret, those that sign now.
        timestamp_s: Unix seconds of this try.
    """
    content = f"{webhook_id}.{timestamp_s}.".encode("ascii") + body
    signatures = [
        "v1," + base64.b64encode(hmac.digest(secret, content, "sha256")).decode("ascii")
        for version in versions
        for secret in _secrets(endpoint_id, version)
    ]
    signatures += ["v1a," + base64.b64encode(key.sign(content)).decode("ascii") for key in _private_keys()]
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": " ".join(signatures),
    }
