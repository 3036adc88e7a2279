"""The client signs as the published examples do."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from apps.client.signing import (
    Ed25519Signer,
    HmacSigner,
    Signer,
    key_prefix,
    request_headers,
    request_text,
    target_split,
)

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "signatures.json").read_bytes())
SIGNERS: dict[str, Signer] = {
    "ed25519": Ed25519Signer(
        Ed25519PrivateKey.from_private_bytes(bytes.fromhex(VECTORS["ed25519"]["private_key_hex"]))
    ),
    "hmac-sha256": HmacSigner(base64.b64decode(VECTORS["hmac_secret_base64"])),
}


class TestVectors:
    @pytest.mark.parametrize("host", ["", "https://cards.example", "http://127.0.0.1:8000"])
    @pytest.mark.parametrize("vector", VECTORS["requests"], ids=lambda vector: str(vector["name"]))
    def test_come_out_byte_for_byte(self, vector: dict[str, Any], host: str) -> None:
        url = host + vector["path"] + (f"?{vector['query']}" if vector["query"] else "")
        parts = {
            "prefix": vector["key_prefix"],
            "method": vector["method"],
            "url": url,
            "timestamp_s": int(vector["timestamp"]),
            "nonce": vector["nonce"],
            "body": bytes.fromhex(vector["body_hex"]),
            "idempotency_key": vector["idempotency_key"],
        }
        assert request_text(**parts) == vector["text"].encode()
        assert request_headers(signer=SIGNERS[vector["algorithm"]], **parts) == {
            "Sealdeck-Timestamp": vector["timestamp"],
            "Sealdeck-Nonce": vector["nonce"],
            "Sealdeck-Signature": vector["signature"],
        }


class TestTarget:
    @pytest.mark.parametrize(
        ("url", "path", "query"),
        [
            ("https://h", "/", ""),
            ("https://h/a%2fb%7E?x=%2f&y", "/a/b~", "x=%2f&y"),
            ("/v1/ü%41", "/v1/%C3%BCA", ""),
            ("/v1/a%0Ab", "/v1/a%0Ab", ""),
        ],
    )
    def test_is_spelled_in_one_way(self, url: str, path: str, query: str) -> None:
        assert target_split(url) == (path, query)


class TestKeyPrefix:
    def test_names_a_key(self) -> None:
        assert key_prefix("sk_a1b2c3d4e5f6_" + "A" * 43) == "a1b2c3d4e5f6"
        assert key_prefix("sk_test_a1b2c3d4e5f6_" + "-" * 43) == "a1b2c3d4e5f6"

    @pytest.mark.parametrize("text", ["", "sk_", "pt_x", "sk_a1b2c3d4e5f6_" + "A" * 42, "sk_A1B2C3D4E5F6_" + "A" * 43])
    def test_refuses_what_is_none(self, text: str) -> None:
        with pytest.raises(ValueError, match="not an API key"):
            key_prefix(text)


class TestSecrets:
    @pytest.mark.parametrize("signer", SIGNERS.values())
    def test_are_not_shown(self, signer: Any) -> None:
        assert "secret=" not in repr(signer)
        assert "private_key=" not in repr(signer)
