"""Webhooks: who signed them, when, and over which bytes."""

from __future__ import annotations

import base64
import hmac
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from apps.client.webhooks import WebhookChecker, WebhookInvalid

NOW = 1_800_000_000
BODY = json.dumps({"type": "round.finished", "note": "ü"}).encode()
SECRET_BYTES = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(SECRET_BYTES).decode()
OTHER = "whsec_" + base64.b64encode(bytes(range(1, 33))).decode()
PRIVATE = Ed25519PrivateKey.from_private_bytes(SECRET_BYTES)
PUBLIC = "whpk_" + base64.b64encode(PRIVATE.public_key().public_bytes_raw()).decode()


def hmac_of(body: bytes = BODY, id_: str = "msg_1", at: int = NOW) -> str:
    """Return a v1 signature."""
    made = hmac.digest(SECRET_BYTES, f"{id_}.{at}.".encode() + body, "sha256")
    return "v1," + base64.b64encode(made).decode()


def ed25519_of(body: bytes = BODY, id_: str = "msg_1", at: int = NOW) -> str:
    """Return a v1a signature."""
    return "v1a," + base64.b64encode(PRIVATE.sign(f"{id_}.{at}.".encode() + body)).decode()


def headers(signature: str, **changed: str) -> dict[str, str]:
    """Return the headers of a webhook."""
    named = {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(NOW), "Webhook-Signature": signature}
    return named | {name.replace("_", "-"): value for name, value in changed.items()}


class TestWebhookChecker:
    @pytest.mark.parametrize(
        ("checker", "signature"),
        [
            (WebhookChecker(secrets=[SECRET]), hmac_of()),
            (WebhookChecker(public_keys=[PUBLIC]), ed25519_of()),
            (WebhookChecker(secrets=[OTHER, SECRET]), hmac_of()),
            (WebhookChecker(secrets=[SECRET]), f"v1,AAAA v9,BBBB {ed25519_of()} {hmac_of()}"),
        ],
    )
    def test_believes_what_one_of_its_keys_signed(self, checker: WebhookChecker, signature: str) -> None:
        webhook = checker.check(BODY, headers(signature), now_s=NOW)
        assert (webhook.id, webhook.timestamp_s, webhook.data) == ("msg_1", NOW, json.loads(BODY))

    def test_agrees_with_the_published_example(self) -> None:
        checker = WebhookChecker(secrets=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
        sent = {
            "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "webhook-timestamp": "1614265330",
            "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        }
        assert checker.check(b'{"test": 2432232314}', sent, now_s=1_614_265_330).data == {"test": 2432232314}

    @pytest.mark.parametrize("signature", [hmac_of(), ed25519_of()])
    @pytest.mark.parametrize(
        ("body", "changed"),
        [
            (BODY + b" ", {}),
            (BODY.replace(b"finished", b"finishec"), {}),
            (BODY, {"Webhook_Id": "msg_2"}),
            (BODY, {"Webhook_Timestamp": str(NOW + 1)}),
            (BODY, {"Webhook_Id": "msg_1.1"}),
            (BODY, {"Webhook_Id": ""}),
            (BODY, {"Webhook_Timestamp": ""}),
            (BODY, {"Webhook_Timestamp": "1.8e9"}),
        ],
    )
    def test_refuses_any_change(self, signature: str, body: bytes, changed: dict[str, str]) -> None:
        checker = WebhookChecker(secrets=[SECRET], public_keys=[PUBLIC])
        with pytest.raises(WebhookInvalid):
            checker.check(body, headers(signature, **changed), now_s=NOW)

    @pytest.mark.parametrize(("age_s", "is_fine"), [(300, True), (301, False), (-300, True), (-301, False)])
    def test_refuses_what_is_too_old_or_too_new(self, age_s: int, is_fine: bool) -> None:
        checker = WebhookChecker(secrets=[SECRET])
        if is_fine:
            assert checker.check(BODY, headers(hmac_of()), now_s=NOW + age_s).id == "msg_1"
        else:
            with pytest.raises(WebhookInvalid):
                checker.check(BODY, headers(hmac_of()), now_s=NOW + age_s)

    @pytest.mark.parametrize(
        "signature",
        ["", "v1", "v1,", "v1,***", hmac_of().replace("v1,", "v1a,"), ed25519_of().replace("v1a,", "v1,"), "é"],
    )
    def test_refuses_what_is_no_signature(self, signature: str) -> None:
        checker = WebhookChecker(secrets=[SECRET], public_keys=[PUBLIC])
        with pytest.raises(WebhookInvalid):
            checker.check(BODY, headers(signature), now_s=NOW)

    @pytest.mark.parametrize("missing", ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"])
    def test_refuses_a_missing_header(self, missing: str) -> None:
        sent = headers(hmac_of())
        del sent[missing]
        with pytest.raises(WebhookInvalid):
            WebhookChecker(secrets=[SECRET]).check(BODY, sent, now_s=NOW)

    def test_looks_at_a_bounded_number_of_signatures(self) -> None:
        with pytest.raises(WebhookInvalid):
            WebhookChecker(secrets=[SECRET]).check(BODY, headers("v1,AAAA " * 16 + hmac_of()), now_s=NOW)

    def test_refuses_a_signed_body_that_is_not_json(self) -> None:
        with pytest.raises(WebhookInvalid):
            WebhookChecker(secrets=[SECRET]).check(b"{", headers(hmac_of(b"{")), now_s=NOW)

    @pytest.mark.parametrize(
        "keys",
        [
            {},
            {"secrets": ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]},
            {"secrets": ["whsec_AAAA"]},
            {"secrets": ["whsec_*"]},
            {"public_keys": ["whpk_" + base64.b64encode(bytes(31)).decode()]},
            {"public_keys": [SECRET]},
        ],
    )
    def test_refuses_keys_it_cannot_use(self, keys: dict[str, Any]) -> None:
        with pytest.raises(ValueError):  # noqa: PT011  # Of three modules, with three texts.
            WebhookChecker(**keys)
