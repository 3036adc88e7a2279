"""Calls: what is sent, what is repeated, and what is told about the outcome."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import time
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from apps.client.calls import Retries, call
from apps.client.errors import AnswerInvalid, ApiError, OutcomeUnknown
from apps.client.operator import AsyncOperatorClient, OperatorClient
from apps.client.player import PlayerClient
from apps.client.signing import Ed25519Signer, Exchange, HmacSigner, request_headers
from tests.client.server import Reply, Seen, serving

API_KEY = "sk_a1b2c3d4e5f6_" + "A" * 43
PREFIX = "a1b2c3d4e5f6"
FAST = Retries(attempts_max=3, wait_first_s=0.001, wait_max_s=0.002)
PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(32))
LOST = Reply(0)
CUT = Reply(cut=True)


def problem(status: int, code: str, *, retryable: bool = False, **facts: Any) -> Reply:
    """Return a problem document."""
    document = {"code": code, "title": "No.", "detail": "Why.", "trace_id": "t1", "retryable": retryable, **facts}
    return Reply(status, json.dumps(document).encode(), {"Content-Type": "application/problem+json"})


def operator(url: str, **options: Any) -> OperatorClient:
    """Return a client that retries fast."""
    return OperatorClient(url, API_KEY, retries=FAST, **options)


class TestRequest:
    def test_carries_key_body_and_idempotency_key(self) -> None:
        with serving(Reply(201, b'{"id":"x"}')) as script, operator(script.url) as client:
            assert client.credit("p", "EUR", 2500, "dep-1") == {"id": "x"}
        seen = script.seen[0]
        assert (seen.method, seen.target) == ("POST", "/v1/wallet/credits")
        assert seen.headers["authorization"] == f"Bearer {API_KEY}"
        assert seen.headers["idempotency-key"].startswith("credit:dep-1")
        assert json.loads(seen.body) == {
            "player_id": "p",
            "currency": "EUR",
            "amount_minor": 2500,
            "external_id": "dep-1",
        }

    def test_lies_below_the_path_of_the_base_address(self) -> None:
        with serving(Reply()) as script, operator(f"{script.url}/cards/") as client:
            client.transactions(cursor="a b", limit=2)
        assert script.seen[0].target == "/cards/v1/wallet/transactions?cursor=a+b&limit=2"

    @pytest.mark.parametrize("url", ["", "cards.example", "ftp://cards.example", "https://h/?a=1", "https://h/#x"])
    def test_needs_a_base_address(self, url: str) -> None:
        with pytest.raises(ValueError, match="base address"):
            operator(url)

    def test_to_everybody_carries_no_credentials(self) -> None:
        with (
            serving(Reply(200, b"note\n", {"Content-Type": "text/plain; charset=utf-8"})) as script,
            PlayerClient(script.url, "pt_x", retries=FAST) as client,
        ):
            assert client.checkpoint() == "note\n"
        assert "authorization" not in script.seen[0].headers

    def test_returns_none_for_an_empty_answer(self) -> None:
        with serving(Reply(204, b"")) as script, operator(script.url) as client:
            assert client.session_revoke("s") is None

    def test_never_shows_its_key(self) -> None:
        with serving(problem(403, "scope_missing")) as script, operator(script.url) as client:
            with pytest.raises(ApiError) as caught:
                client.keys()
            assert API_KEY not in repr(client._credentials)
        assert API_KEY not in str(caught.value)


class TestRefusal:
    def test_has_the_code_and_the_members_that_are_wrong(self) -> None:
        wrong = [{"pointer": "/amount_minor", "code": "amount_invalid", "detail": "No."}]
        with (
            serving(problem(400, "invalid", errors=wrong)) as script,
            operator(script.url) as client,
            pytest.raises(ApiError) as caught,
        ):
            client.credit("p", "EUR", 0, "dep-1")
        error = caught.value
        assert (error.code, error.status, error.trace_id, error.is_retryable) == ("invalid", 400, "t1", False)
        assert [(one.pointer, one.code) for one in error.errors] == [("/amount_minor", "amount_invalid")]
        assert len(script.seen) == 1

    @pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"code":7}', b""])
    def test_of_a_proxy_is_told_by_its_status(self, body: bytes) -> None:
        with serving(Reply(404, body)) as script, operator(script.url) as client, pytest.raises(ApiError) as caught:
            client.player_get("p")
        assert (caught.value.code, caught.value.errors) == ("http_404", ())

    def test_of_what_is_not_json_is_no_answer(self) -> None:
        with serving(Reply(200, b"<html>")) as script, operator(script.url) as client, pytest.raises(AnswerInvalid):
            client.player_get("p")


class TestRetries:
    @pytest.mark.parametrize(
        "first",
        [LOST, CUT, problem(503, "database_busy"), problem(429, "rate_limited"), Reply(502, b"<html>")],
    )
    def test_send_the_same_request_with_the_same_key(self, first: Reply) -> None:
        with serving(first, first, Reply(201, b'{"id":"x"}')) as script, operator(script.url) as client:
            assert client.credit("p", "EUR", 1, "dep-1") == {"id": "x"}
        assert len(script.seen) == 3
        assert len({(one.target, one.body, one.headers["idempotency-key"]) for one in script.seen}) == 1

    def test_wait_for_the_first_request_to_finish(self) -> None:
        running = problem(409, "request_in_progress", retryable=True)
        with serving(running, Reply()) as script, operator(script.url) as client:
            client.credit("p", "EUR", 1, "dep-1")
        assert len(script.seen) == 2

    @pytest.mark.parametrize(
        "reply",
        [problem(409, "transaction_conflict"), problem(403, "gaming_disabled", retryable=True), problem(422, "x")],
    )
    def test_stop_at_a_decision(self, reply: Reply) -> None:
        with serving(reply) as script, operator(script.url) as client, pytest.raises(ApiError):
            client.credit("p", "EUR", 1, "dep-1")
        assert len(script.seen) == 1

    def test_obey_what_the_server_says(self) -> None:
        told = problem(429, "rate_limited")
        reply = Reply(429, told.body, {**told.headers, "Retry-After": "1"})
        with (
            serving(reply, Reply()) as script,
            OperatorClient(script.url, API_KEY, retries=Retries(attempts_max=2, wait_max_s=0.05)) as client,
        ):
            began = time.monotonic()
            client.keys()
            assert time.monotonic() - began >= 0.05

    def test_never_repeat_what_could_happen_twice(self) -> None:
        with serving(LOST, Reply()) as script, operator(script.url) as client:
            with pytest.raises(OutcomeUnknown):
                client.key_create("main", ["read"])
            assert len(script.seen) == 1
        with serving(problem(503, "database_busy"), Reply()) as script, operator(script.url) as client:
            with pytest.raises(OutcomeUnknown):
                client.key_create("main", ["read"])
            assert len(script.seen) == 1

    def test_repeat_everything_that_certainly_never_left(self) -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{closed.getsockname()[1]}"
            with operator(url) as client, pytest.raises(OutcomeUnknown) as caught:
                client.key_create("main", ["read"])
        assert "ConnectError" in str(caught.value)

    @pytest.mark.parametrize(
        ("replies", "error"),
        [
            ([LOST], OutcomeUnknown),
            ([problem(500, "internal_error")], OutcomeUnknown),
            ([LOST, LOST, problem(429, "rate_limited")], OutcomeUnknown),
            ([LOST, problem(401, "key_invalid")], OutcomeUnknown),
            ([LOST, LOST, problem(409, "request_in_progress", retryable=True)], OutcomeUnknown),
            ([LOST, problem(422, "insufficient_funds")], ApiError),
            ([problem(429, "rate_limited")], ApiError),
            ([problem(401, "key_invalid")], ApiError),
        ],
    )
    def test_say_honestly_whether_it_may_have_happened(self, replies: list[Reply], error: type[Exception]) -> None:
        with serving(*replies) as script, operator(script.url) as client, pytest.raises(error) as caught:
            client.credit("p", "EUR", 1, "dep-1")
        if isinstance(caught.value, OutcomeUnknown):
            assert caught.value.idempotency_key == "credit:dep-1"

    def test_of_a_read_end_in_the_refusal(self) -> None:
        with (
            serving(problem(500, "internal_error")) as script,
            operator(script.url) as client,
            pytest.raises(ApiError) as caught,
        ):
            client.keys()
        assert (caught.value.status, len(script.seen)) == (500, 3)

    def test_grow_longer_up_to_a_bound(self) -> None:
        retries = Retries(wait_first_s=1, wait_max_s=3)
        for attempt, longest in ((1, 1), (2, 2), (3, 3), (9, 3)):
            for _ in range(20):
                assert longest / 2 <= retries.wait_s(attempt, None) <= longest
        assert retries.wait_s(1, 0) == 0
        assert retries.wait_s(1, 99) == 3


class TestSigning:
    def test_signs_every_attempt_anew(self) -> None:
        with serving(LOST, Reply()) as script, operator(script.url, signer=Ed25519Signer(PRIVATE)) as client:
            client.credit("p", "EUR", 1, "dep-1")
        first, second = script.seen
        assert first.headers["sealdeck-nonce"] != second.headers["sealdeck-nonce"]
        for seen in (first, second):
            signed = request_headers(
                signer=Ed25519Signer(PRIVATE),
                prefix=PREFIX,
                method="POST",
                url=seen.target,
                timestamp_s=int(seen.headers["sealdeck-timestamp"]),
                nonce=seen.headers["sealdeck-nonce"],
                body=seen.body,
                idempotency_key="credit:dep-1",
            )
            assert seen.headers["sealdeck-signature"] == signed["Sealdeck-Signature"]

    def test_takes_the_time_from_the_server_once(self) -> None:
        now = int(time.time())
        refused = problem(401, "timestamp_out_of_range", now_s=now + 5000)
        with serving(refused, Reply(), Reply()) as script, operator(script.url, signer=HmacSigner(b"s")) as client:
            client.keys()
            client.keys()
        offsets = [int(seen.headers["sealdeck-timestamp"]) - now for seen in script.seen]
        assert offsets[0] in (0, 1)
        assert all(4999 <= offset <= 5002 for offset in offsets[1:])
        with (
            serving(refused) as script,
            operator(script.url, signer=HmacSigner(b"s")) as client,
            pytest.raises(ApiError),
        ):
            client.keys()
        assert len(script.seen) == 2

    def test_needs_an_api_key(self) -> None:
        with (
            serving(Reply()) as script,
            OperatorClient(script.url, "sk_short", signer=HmacSigner(b"s")) as client,
            pytest.raises(ValueError, match="not an API key"),
        ):
            client.keys()


def signed_reply(seen: Seen, status: int = 200, body: bytes = b'{"a":1}', **changed: Any) -> Reply:
    """Return an answer that is signed, or would be without the change."""
    exchange = {
        "prefix": PREFIX,
        "method": seen.method,
        "url": seen.target,
        "nonce": seen.headers.get("sealdeck-nonce", ""),
        "timestamp": "1800000000",
        "status": status,
        "body": body,
    }
    signature = base64.b64encode(PRIVATE.sign(Exchange(**{**exchange, **changed}).text())).decode()
    headers = {
        "Content-Type": "application/json",
        "Sealdeck-Answer-Timestamp": "1800000000",
        "Sealdeck-Answer-Signature": f"ed25519:k1:{signature}",
    }
    return Reply(status, body, headers)


class TestSignedAnswers:
    KEYS = {"k1": PRIVATE.public_key().public_bytes_raw()}  # noqa: RUF012  # Never changed.

    def test_are_believed(self) -> None:
        with (
            serving(signed_reply) as script,
            operator(script.url, answer_keys=self.KEYS, signer=HmacSigner(b"s")) as client,
        ):
            assert client.keys() == {"a": 1}

    @pytest.mark.parametrize(
        "changed",
        [{"body": b"{}"}, {"status": 201}, {"nonce": "another"}, {"url": "/v1/keys?x=1"}, {"method": "POST"}],
    )
    def test_of_something_else_are_not(self, changed: dict[str, Any]) -> None:
        with serving(lambda seen: _forged(seen, changed)) as script, pytest.raises(AnswerInvalid):
            operator(script.url, answer_keys=self.KEYS).keys()

    @pytest.mark.parametrize("reply", [Reply(), problem(422, "insufficient_funds"), problem(404, "not_found")])
    def test_without_a_signature_are_not(self, reply: Reply) -> None:
        with (
            serving(reply) as script,
            operator(script.url, answer_keys=self.KEYS) as client,
            pytest.raises(AnswerInvalid),
        ):
            client.credit("p", "EUR", 1, "dep-1")

    def test_need_no_signature_to_say_nothing(self) -> None:
        with (
            serving(problem(401, "key_invalid")) as script,
            operator(script.url, answer_keys=self.KEYS) as client,
            pytest.raises(ApiError),
        ):
            client.keys()


def _forged(seen: Seen, changed: dict[str, Any]) -> Reply:
    """Return an answer whose signature is over something else."""
    genuine = signed_reply(seen)
    other = {"prefix": PREFIX, "method": seen.method, "url": seen.target, "nonce": "", "timestamp": "1800000000"}
    text = Exchange(**{**other, "status": 200, "body": genuine.body, **changed}).text()
    signature = base64.b64encode(PRIVATE.sign(text)).decode()
    return Reply(200, genuine.body, {**genuine.headers, "Sealdeck-Answer-Signature": f"ed25519:k1:{signature}"})


class TestAsync:
    def test_has_the_same_calls(self) -> None:
        async def run(url: str) -> Any:
            async with AsyncOperatorClient(url, API_KEY, retries=FAST) as client:
                return await client.credit("p", "EUR", 1, "dep-1")

        with serving(LOST, problem(503, "database_busy"), Reply(201, b'{"id":"x"}')) as script:
            assert asyncio.run(run(script.url)) == {"id": "x"}
        assert len({seen.headers["idempotency-key"] for seen in script.seen}) == 1

    def test_refuses_in_the_same_way(self) -> None:
        async def run(url: str) -> Any:
            async with AsyncOperatorClient(url, API_KEY, retries=FAST) as client:
                return await client.request(call("GET", "/v1/keys"))

        with serving(problem(403, "scope_missing")) as script, pytest.raises(ApiError) as caught:
            asyncio.run(run(script.url))
        assert caught.value.code == "scope_missing"


class TestRedirect:
    def test_of_a_long_poll_is_followed_without_credentials(self) -> None:
        with serving(Reply(200, b'{"messages":[],"next":"1.0.0"}')) as streams:
            to = Reply(307, b"", {"Location": f"{streams.url}/v1/tables/t/events?ticket=x"})
            with serving(to) as api, PlayerClient(api.url, "pt_x", retries=FAST) as client:
                assert client.events("t", wait_s=0) == {"messages": [], "next": "1.0.0"}
        assert streams.seen[0].target == "/v1/tables/t/events?ticket=x"
        assert "authorization" not in streams.seen[0].headers
        assert api.seen[0].headers["authorization"] == "Bearer pt_x"

    @pytest.mark.parametrize("location", ["", "/v1/elsewhere", "ftp://h/x", "http://user:pass@h/x"])
    def test_to_nowhere_is_no_answer(self, location: str) -> None:
        with (
            serving(Reply(307, b"", {"Location": location})) as api,
            PlayerClient(api.url, "pt_x", retries=FAST) as client,
            pytest.raises(AnswerInvalid),
        ):
            client.events("t", wait_s=0)

    def test_of_what_changes_something_is_not_followed(self) -> None:
        with (
            serving(Reply(307, b"", {"Location": "http://127.0.0.1:9/"})) as api,
            operator(api.url) as client,
            pytest.raises(ApiError) as caught,
        ):
            client.credit("p", "EUR", 1, "dep-1")
        assert caught.value.code == "http_307"
