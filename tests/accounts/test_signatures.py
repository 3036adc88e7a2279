"""Signed requests: the published examples, what a signature covers, replay, clocks, and who must sign."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.test import override_settings

from apps.accounts import services
from apps.accounts.errors import SignatureInvalid, SignatureKeyInvalid
from apps.accounts.models import ApiKey, Player, RequestNonce
from apps.accounts.services import Signing
from apps.accounts.signatures import (
    NONCE_KEPT_MS,
    Algorithm,
    SignedRequest,
    answer_keys,
    hmac_secret,
    signature_check,
)
from apps.client.signing import Ed25519Signer, Exchange, HmacSigner, answer_is_signed, key_prefix
from apps.core.clock import now_ms
from tests.accounts.conftest import Caller, SignedCaller, Tenant

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "signatures.json").read_bytes())
PUBLIC_KEY = base64.b64decode(VECTORS["ed25519"]["public_key_base64"])
PRIVATE_KEY = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(VECTORS["ed25519"]["private_key_hex"]))
PLAYER = {"external_id": "u-1"}


def request_of(vector: dict[str, Any]) -> SignedRequest:
    """Return the request of a published example as the server sees it."""
    return SignedRequest(
        key_prefix=vector["key_prefix"],
        method=vector["method"],
        path=unquote_to_bytes(vector["path"]),
        query=vector["query"],
        timestamp=vector["timestamp"],
        nonce=vector["nonce"],
        body=bytes.fromhex(vector["body_hex"]),
        idempotency_key=vector["idempotency_key"],
    )


class TestVectors:
    def test_are_ten(self) -> None:
        assert len(VECTORS["requests"]) == 10
        assert len({vector["text"] for vector in VECTORS["requests"]}) == 10

    @pytest.mark.parametrize("vector", VECTORS["requests"], ids=lambda vector: str(vector["name"]))
    def test_give_the_text_and_the_signature(self, vector: dict[str, Any]) -> None:
        request = request_of(vector)
        assert request.text() == vector["text"].encode()
        signer = (
            Ed25519Signer(PRIVATE_KEY)
            if vector["algorithm"] == "ed25519"
            else HmacSigner(base64.b64decode(VECTORS["hmac_secret_base64"]))
        )
        made = base64.b64encode(signer.sign(request.text())).decode()
        assert vector["signature"] == f"{vector['algorithm']}:{made}"

    @pytest.mark.parametrize(
        "vector", [v for v in VECTORS["requests"] if v["algorithm"] == "ed25519"], ids=lambda v: str(v["name"])
    )
    def test_of_ed25519_pass_the_servers_check(self, vector: dict[str, Any]) -> None:
        signature_check(
            request=request_of(vector),
            header=vector["signature"],
            key_id=uuid4(),
            algorithm=Algorithm.ED25519,
            public_key=PUBLIC_KEY,
        )


@pytest.fixture(params=["ed25519", "hmac-sha256"])
def signed(request: pytest.FixtureRequest, acme: Tenant) -> SignedCaller:
    """Return a caller that signs, once with each way."""
    if request.param == "ed25519":
        signing = Signing(Algorithm.ED25519, PUBLIC_KEY)
        _key, plaintext = services.key_create(
            operator_id=acme.id, scopes=["read", "play", "admin"], label="signed", signing=signing
        )
        return SignedCaller(plaintext, Ed25519Signer(PRIVATE_KEY))
    key, plaintext = services.key_create(
        operator_id=acme.id, scopes=["read", "play", "admin"], label="signed", signing=Signing(Algorithm.HMAC_SHA256)
    )
    return SignedCaller(plaintext, HmacSigner(hmac_secret(key.pk)))


class TestSignedRequest:
    def test_is_accepted_once(self, signed: SignedCaller) -> None:
        body = json.dumps(PLAYER).encode()
        headers = signed.headers("POST", "/players", body)
        send = Caller(signed.api_key)
        assert send("POST", "/players", body, **headers).status_code == 200
        again = send("POST", "/players", body, **headers)
        assert (again.status_code, again.json()["code"]) == (401, "nonce_reused")
        assert Player.objects.count() == RequestNonce.objects.count() == 1

    @pytest.mark.parametrize(
        "sent",
        [
            {"method": "PUT"},
            {"path": "/players/"},
            {"path": "/players?a=1"},
            {"body": b'{"external_id":"u-2"}'},
            {"body": b'{"external_id":"u-1"} '},
            {"timestamp": 1},
            {"nonce": "another-nonce-1234567"},
            {"key": "other"},
        ],
    )
    def test_covers_every_part(self, signed: SignedCaller, sent: dict[str, Any]) -> None:
        body = b'{"external_id":"u-1"}'
        headers = signed.headers("POST", "/players", body)
        if "timestamp" in sent:
            headers["Sealdeck-Timestamp"] = str(int(headers["Sealdeck-Timestamp"]) + sent["timestamp"])
        if "nonce" in sent:
            headers["Sealdeck-Nonce"] = sent["nonce"]
        if "key" in sent:
            headers["Idempotency-Key"] = sent["key"]
        answer = Caller(signed.api_key)(
            sent.get("method", "POST"), sent.get("path", "/players"), sent.get("body", body), **headers
        )
        if sent.get("path") == "/players/":
            assert answer.status_code == 404
        else:
            assert (answer.status_code, answer.json()["code"]) == (401, "signature_invalid")
        assert not Player.objects.exists()
        assert not RequestNonce.objects.exists()

    def test_fails_with_any_bit_of_the_signature_flipped(self, signed: SignedCaller) -> None:
        body = b'{"external_id":"u-1"}'
        headers = signed.headers("POST", "/players", body)
        name, encoded = headers["Sealdeck-Signature"].split(":")
        signature = base64.b64decode(encoded)
        for bit in range(0, len(signature) * 8, 29):
            flipped = bytearray(signature)
            flipped[bit // 8] ^= 1 << bit % 8
            headers["Sealdeck-Signature"] = f"{name}:{base64.b64encode(flipped).decode()}"
            answer = Caller(signed.api_key)("POST", "/players", body, **headers)
            assert answer.json()["code"] == "signature_invalid"
        assert not Player.objects.exists()

    @pytest.mark.parametrize(
        ("header", "value"),
        [
            ("Sealdeck-Signature", ""),
            ("Sealdeck-Signature", "x"),
            ("Sealdeck-Signature", "ed25519:***"),
            ("Sealdeck-Signature", "ed25519:"),
            ("Sealdeck-Signature", "none:AAAA"),
            ("Sealdeck-Signature", "ed25519:é"),
            ("Sealdeck-Timestamp", ""),
            ("Sealdeck-Timestamp", "1.5"),
            ("Sealdeck-Timestamp", "-1"),
            ("Sealdeck-Timestamp", "99999999999999999"),
            ("Sealdeck-Nonce", ""),
            ("Sealdeck-Nonce", "short"),
            ("Sealdeck-Nonce", "a" * 65),
            ("Sealdeck-Nonce", "with spaces in the nonce"),
            ("Idempotency-Key", "é"),
        ],
    )
    def test_refuses_malformed_headers(self, signed: SignedCaller, header: str, value: str) -> None:
        body = b'{"external_id":"u-1"}'
        headers = {**signed.headers("POST", "/players", body), header: value}
        answer = Caller(signed.api_key)("POST", "/players", body, **headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "signature_invalid")
        assert not Player.objects.exists()

    @pytest.mark.parametrize(("skew_s", "status"), [(-302, 401), (-298, 200), (298, 200), (302, 401)])
    def test_is_held_to_the_databases_clock(self, signed: SignedCaller, skew_s: int, status: int) -> None:
        body = b'{"external_id":"u-1"}'
        now_s = now_ms() // 1000
        headers = signed.headers("POST", "/players", body, timestamp_s=now_s + skew_s)
        answer = Caller(signed.api_key)("POST", "/players", body, **headers)
        assert answer.status_code == status
        if status == 401:
            assert answer.json()["code"] == "timestamp_out_of_range"
            assert abs(answer.json()["now_s"] - now_s) <= 2
            assert not RequestNonce.objects.exists()

    def test_may_repeat_a_nonce_of_another_key(self, acme: Tenant, signed: SignedCaller) -> None:
        body = b'{"external_id":"u-1"}'
        _key, plaintext = services.key_create(
            operator_id=acme.id, scopes=["play"], label="two", signing=Signing(Algorithm.ED25519, PUBLIC_KEY)
        )
        other = SignedCaller(plaintext, Ed25519Signer(PRIVATE_KEY))
        for caller in (signed, other):
            headers = caller.headers("POST", "/players", body, nonce="the-same-nonce-for-both")
            assert Caller(caller.api_key)("POST", "/players", body, **headers).status_code == 200

    def test_of_one_key_is_none_of_another(self, acme: Tenant, signed: SignedCaller) -> None:
        body = b'{"external_id":"u-1"}'
        _key, plaintext = services.key_create(
            operator_id=acme.id, scopes=["play"], label="two", signing=Signing(Algorithm.ED25519, PUBLIC_KEY)
        )
        headers = signed.headers("POST", "/players", body)
        assert Caller(plaintext)("POST", "/players", body, **headers).json()["code"] == "signature_invalid"

    def test_is_refused_where_no_way_of_signing_is_agreed(self, acme: Tenant) -> None:
        answer = SignedCaller(acme.api_key, Ed25519Signer(PRIVATE_KEY))("POST", "/players", PLAYER)
        assert (answer.status_code, answer.json()["code"]) == (401, "signature_invalid")

    def test_survives_a_change_of_the_servers_secret(self, signed: SignedCaller) -> None:
        with override_settings(SECRET_KEY="new", SECRET_KEY_FALLBACKS=["test-only-not-secret"]):
            assert signed("POST", "/players", PLAYER).status_code == 200


class TestWhoMustSign:
    def test_a_key_with_a_signature_signs_what_administers(self, signed: SignedCaller) -> None:
        answer = Caller(signed.api_key)("GET", "/keys")
        assert (answer.status_code, answer.json()["code"]) == (401, "signature_required")
        assert signed("GET", "/keys").status_code == 200
        assert Caller(signed.api_key)("POST", "/players", PLAYER).status_code == 200

    def test_a_key_without_one_is_useless_for_it_where_signatures_are_required(self, acme: Tenant) -> None:
        with override_settings(SEALDECK_REQUIRE_SIGNATURES=True):
            answer = acme.call("POST", "/keys", {"scopes": ["money"], "label": "mine"})
            assert (answer.status_code, answer.json()["code"]) == (401, "signature_required")
            assert acme.call("POST", "/players", PLAYER).status_code == 200
        assert ApiKey.objects.count() == 1


class TestKeyCreate:
    def test_takes_a_public_key_or_makes_a_secret(self, acme: Tenant) -> None:
        signature = {"algorithm": "ed25519", "public_key": VECTORS["ed25519"]["public_key_base64"]}
        made = acme.call("POST", "/keys", {"scopes": ["play"], "label": "a", "signature": signature}).json()
        assert (made["signature_algorithm"], made["hmac_secret"]) == ("ed25519", None)
        assert SignedCaller(made["api_key"], Ed25519Signer(PRIVATE_KEY))("POST", "/players", PLAYER).status_code == 200
        body = {"scopes": ["play"], "label": "b", "signature": {"algorithm": "hmac-sha256"}}
        made = acme.call("POST", "/keys", body).json()
        signer = HmacSigner(base64.b64decode(made["hmac_secret"]))
        assert SignedCaller(made["api_key"], signer)("POST", "/players", PLAYER).status_code == 200
        assert made["hmac_secret"] not in acme.call("GET", "/keys").content.decode()

    @pytest.mark.parametrize(
        ("signature", "status", "code", "pointer"),
        [
            ({"algorithm": "ed25519"}, 422, "signature_key_invalid", "/signature/public_key"),
            ({"algorithm": "hmac-sha256", "public_key": "A" * 43 + "="}, 422, "signature_key_invalid", None),
            ({"algorithm": "rsa"}, 400, "invalid", "/signature/algorithm"),
            ({"algorithm": "ed25519", "public_key": "short"}, 400, "invalid", "/signature/public_key"),
            ({}, 400, "invalid", "/signature/algorithm"),
            ("ed25519", 400, "invalid", "/signature"),
        ],
    )
    def test_refuses_what_does_not_fit(
        self, acme: Tenant, signature: Any, status: int, code: str, pointer: str | None
    ) -> None:
        answer = acme.call("POST", "/keys", {"scopes": ["play"], "signature": signature})
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert answer.json()["errors"][0]["pointer"] == (pointer or "/signature/public_key")
        assert ApiKey.objects.count() == 1

    def test_of_the_command_too(self, db: None) -> None:
        with pytest.raises(SignatureKeyInvalid):
            services.operator_create(name="Acme", signing=Signing(Algorithm.ED25519, b"short"))


class TestNoncesPurge:
    def test_forgets_only_what_cannot_pass_again(self, acme: Tenant) -> None:
        key = ApiKey.objects.get()
        now = now_ms()
        for age, nonce in ((NONCE_KEPT_MS + 1, "old"), (NONCE_KEPT_MS, "kept")):
            RequestNonce.objects.create(key=key, nonce=nonce, seen_at_ms=now - age)
        assert services.nonces_purge(now=now) == 1
        assert [row.nonce for row in RequestNonce.objects.all()] == ["kept"]


class TestSignedAnswer:
    def test_is_checked_with_the_published_key(self, acme: Tenant, nobody: Caller) -> None:
        published = nobody("GET", "/answer-keys").json()
        keys = {key["kid"]: base64.b64decode(key["public_key"]) for key in published}
        for path, status in (("/keys?x=%20y", 200), (f"/players/{uuid4()}", 404)):
            answer = acme.call("GET", path)
            assert answer.status_code == status
            exchange = Exchange(
                prefix=key_prefix(acme.api_key),
                method="GET",
                url=f"/v1{path}",
                nonce="",
                timestamp=answer.headers["Sealdeck-Answer-Timestamp"],
                status=status,
                body=answer.content,
            )
            header = answer.headers["Sealdeck-Answer-Signature"]
            assert answer_is_signed(exchange, header, keys)
            for changed in (
                {"prefix": "x"},
                {"method": "POST"},
                {"url": "/v1/keys"},
                {"nonce": "n"},
                {"timestamp": "1"},
                {"status": 201},
                {"body": exchange.body + b" "},
            ):
                fields = {name: getattr(exchange, name) for name in exchange.__slots__} | changed
                assert not answer_is_signed(Exchange(**fields), header, keys)
            assert not answer_is_signed(exchange, header, {})
            assert not answer_is_signed(exchange, header.replace("ed25519", "hmac"), keys)
            assert not answer_is_signed(exchange, header[:-4] + "AAAA", keys)

    def test_is_for_operators_who_proved_who_they_are(self, acme: Tenant, nobody: Caller) -> None:
        player = acme.player()
        for caller in (nobody, Caller(acme.api_key[:-1] + "!"), acme.as_player(player)):
            answer = caller("GET", f"/players/{player.pk}")
            assert "Sealdeck-Answer-Signature" not in answer.headers
        assert nobody("GET", f"/players/{player.pk}").headers["WWW-Authenticate"] == "Bearer"

    def test_tells_a_caller_with_a_valid_key_that_his_signature_is_not(self, signed: SignedCaller) -> None:
        keys = {key.kid: key.public_key for key in answer_keys()}
        late = signed.headers("GET", "/keys", b"", timestamp_s=now_ms() // 1000 - 301)
        wrong = signed.headers("GET", "/keys", b"") | {"Sealdeck-Signature": "ed25519:" + "A" * 86 + "=="}
        for headers, code in ((late, "timestamp_out_of_range"), (wrong, "signature_invalid")):
            answer = Caller(signed.api_key)("GET", "/keys", None, **headers)
            assert (answer.status_code, answer.json()["code"]) == (401, code)
            exchange = Exchange(
                prefix=key_prefix(signed.api_key),
                method="GET",
                url="/v1/keys",
                nonce=headers["Sealdeck-Nonce"],
                timestamp=answer.headers["Sealdeck-Answer-Timestamp"],
                status=401,
                body=answer.content,
            )
            assert answer_is_signed(exchange, answer.headers["Sealdeck-Answer-Signature"], keys)

    def test_can_have_a_key_of_its_own(self, acme: Tenant) -> None:
        derived = answer_keys()[0]
        with override_settings(SEALDECK_ANSWER_KEY=VECTORS["ed25519"]["private_key_hex"]):
            assert [key.public_key for key in answer_keys()] == [PUBLIC_KEY, derived.public_key]


class TestSignatureCheck:
    def test_refuses_the_other_way_of_signing(self) -> None:
        vector = VECTORS["requests"][0]
        with pytest.raises(SignatureInvalid):
            signature_check(
                request=request_of(vector),
                header=vector["signature"],
                key_id=uuid4(),
                algorithm=Algorithm.HMAC_SHA256,
                public_key=b"",
            )


class TestPage:
    def test_has_a_program_that_signs_as_the_server_checks(self) -> None:
        page = (Path(__file__).parents[2] / "docs" / "operators" / "signatures.md").read_text(encoding="utf-8")
        program = page.split("```python\n")[1].split("```")[0]
        names: dict[str, Any] = {"HMAC_SECRET": VECTORS["hmac_secret_base64"]}
        exec(compile(program, "signatures.md", "exec"), names)
        request = SignedRequest(
            key_prefix="a1b2c3d4e5f6",
            method="POST",
            path=b"/v1/wallet/credits",
            query="",
            timestamp=names["timestamp"],
            nonce=names["nonce"],
            body=names["body"],
            idempotency_key="dep-1",
        )
        signer = HmacSigner(base64.b64decode(VECTORS["hmac_secret_base64"]))
        assert names["signature"] == f"hmac-sha256:{base64.b64encode(signer.sign(request.text())).decode()}"
