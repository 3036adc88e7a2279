"""The published examples of signed calls and answers are right, and the page shows one of them byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from apps.client import signing
from apps.client.wallet.signed import Operator, Request
from apps.wallets.seamless.protocol import Call, Outcome, verdict

ROOT = Path(__file__).parent.parent.parent.parent
VECTORS: dict[str, Any] = json.loads((ROOT / "tests" / "vectors" / "wallet_calls.json").read_bytes())
PAGE = (ROOT / "docs" / "operators" / "seamless-wallet.md").read_text()
CALLER, ANSWERER = (
    Ed25519PrivateKey.from_private_bytes(bytes.fromhex(VECTORS[f"{who}_private_key"])) for who in ("caller", "answer")
)
OPERATOR = Operator({VECTORS["sealdeck_key"]: bytes.fromhex(VECTORS["caller_public_key"])}, ANSWERER)

each = pytest.mark.parametrize("example", VECTORS["examples"], ids=lambda example: example["title"])


def request(example: dict[str, Any]) -> Request:
    """Return an example's call as it arrives."""
    headers = {name.lower(): value for name, value in example["headers"].items()}
    return Request(example["url"], headers, example["body"].encode())


class TestExamples:
    @each
    def test_a_call_has_its_text_and_signature(self, example: dict[str, Any]) -> None:
        headers = example["headers"]
        parts: dict[str, Any] = {
            "prefix": headers["Sealdeck-Key"],
            "method": "POST",
            "url": example["url"],
            "timestamp_s": int(headers["Sealdeck-Timestamp"]),
            "nonce": headers["Sealdeck-Nonce"],
            "body": example["body"].encode(),
            "idempotency_key": headers.get("Idempotency-Key", ""),
        }
        assert signing.request_text(**parts).decode() == example["text"]
        made = signing.request_headers(signer=signing.Ed25519Signer(CALLER), **parts)
        assert made.items() <= headers.items()
        assert OPERATOR.request_is_signed(request(example), parts["timestamp_s"])

    @each
    def test_an_answer_has_its_text_and_signature(self, example: dict[str, Any]) -> None:
        answer = example["answer"]
        timestamp = answer["headers"]["Sealdeck-Answer-Timestamp"]
        made = OPERATOR.answer_headers(request(example), answer["status"], answer["body"].encode(), int(timestamp))
        assert made == answer["headers"]
        exchange = signing.Exchange(
            prefix=VECTORS["sealdeck_key"],
            method="POST",
            url=example["url"],
            nonce=example["headers"]["Sealdeck-Nonce"],
            timestamp=timestamp,
            status=answer["status"],
            body=answer["body"].encode(),
        )
        assert exchange.text().decode() == answer["text"]
        public = bytes.fromhex(VECTORS["answer_public_key"])
        signature = answer["headers"]["Sealdeck-Answer-Signature"]
        assert signing.answer_is_signed(exchange, signature, {signing.key_kid(public): public})

    @each
    def test_an_answer_decides_its_call(self, example: dict[str, Any]) -> None:
        answer, call = example["answer"], Call(example["url"].rpartition("/")[2])
        said = verdict(call=call, sent=example["body"].encode(), status=answer["status"], body=answer["body"].encode())
        assert said.outcome is (Outcome.DONE if answer["status"] == 200 else Outcome.REFUSED)

    def test_the_page_shows_the_bet(self) -> None:
        bet = VECTORS["examples"][1]
        assert bet["title"] == "a bet that is taken"
        lines = [f"{name}: {value}" for name, value in (bet["headers"] | bet["answer"]["headers"]).items()]
        texts = (bet["body"], bet["text"], bet["answer"]["body"], bet["answer"]["text"])
        for text in (*lines, *texts):
            assert text in PAGE


class TestCheckOfCalls:
    @pytest.mark.parametrize(
        ("header", "value"),
        [
            ("sealdeck-key", "00000000-0000-0000-0000-000000000000.34750f98bd59fcfc"),
            ("sealdeck-key", ""),
            ("sealdeck-timestamp", "1800000002"),
            ("sealdeck-timestamp", "soon"),
            ("sealdeck-timestamp", "²"),
            ("sealdeck-nonce", "short"),
            ("sealdeck-nonce", "n0117d26e969b56ba4478a9"),
            ("sealdeck-signature", ""),
            ("sealdeck-signature", "ed25519:!"),
            ("sealdeck-signature", "ed25519:" + "A" * 86 + "=="),
            ("sealdeck-signature", "hmac-sha256:AAAA"),
            ("idempotency-key", "b-1"),
            ("idempotency-key", "é"),
        ],
    )
    def test_refuses_another_header(self, header: str, value: str) -> None:
        right = request(VECTORS["examples"][1])
        wrong = Request(right.url, {**right.headers, header: value}, right.body)
        assert OPERATOR.request_is_signed(right, 1_800_000_001)
        assert not OPERATOR.request_is_signed(wrong, 1_800_000_001)

    def test_refuses_another_body_address_and_time(self) -> None:
        right = request(VECTORS["examples"][1])
        assert not OPERATOR.request_is_signed(Request(right.url, right.headers, right.body + b" "), 1_800_000_001)
        assert not OPERATOR.request_is_signed(Request(right.url + "/", right.headers, right.body), 1_800_000_001)
        for now_s in (1_800_000_001 - 301, 1_800_000_001 + 301):
            assert not OPERATOR.request_is_signed(right, now_s)
