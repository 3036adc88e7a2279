"""Routes of API keys: made, listed, rotated, revoked, used from the right place only."""

from __future__ import annotations

import base64
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import override_settings

from apps.accounts import services
from apps.accounts.keys import key_digest, key_prefix
from apps.accounts.models import ApiKey, Operator, OperatorStatus
from apps.client.signing import HmacSigner
from tests.accounts.conftest import Caller, SignedCaller, Tenant

BODY = {"label": "reports", "scopes": ["read"]}


class TestKeyCreate:
    def test_shows_the_key_once_and_keeps_its_digest_only(self, acme: Tenant) -> None:
        answer = acme.call("POST", "/keys", BODY)
        assert answer.status_code == 201
        made = answer.json()
        row = ApiKey.objects.get(pk=made["id"])
        assert bytes(row.secret_sha256) == key_digest(made["api_key"])
        assert key_prefix(made["api_key"]) == row.prefix == made["prefix"]
        assert (made["label"], made["scopes"], made["addresses"]) == ("reports", ["read"], [])
        listed = acme.call("GET", "/keys").content.decode()
        assert made["prefix"] in listed
        assert made["api_key"] not in listed
        assert made["api_key"].partition(f"{made['prefix']}_")[2] not in listed

    def test_lets_two_keys_of_a_label_live_for_a_rotation_and_no_third(self, acme: Tenant) -> None:
        first, second = (acme.call("POST", "/keys", BODY).json() for _ in range(2))
        third = acme.call("POST", "/keys", BODY)
        assert (third.status_code, third.json()["code"]) == (409, "key_limit_reached")
        assert third.json()["errors"][0]["pointer"] == "/label"
        assert ApiKey.objects.filter(label="reports").count() == 2
        assert acme.call("DELETE", f"/keys/{first['id']}").status_code == 200
        assert acme.call("POST", "/keys", BODY).status_code == 201
        assert Caller(first["api_key"])("GET", "/players/" + str(uuid4())).status_code == 401
        assert Caller(second["api_key"])("GET", "/players/" + str(uuid4())).status_code == 404

    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            ({}, "/scopes"),
            ({"scopes": []}, "/scopes"),
            ({"scopes": "read"}, "/scopes"),
            ({"scopes": ["all"]}, "/scopes/0"),
            ({"scopes": [1]}, "/scopes/0"),
            ({"scopes": ["read"], "label": ""}, "/label"),
            ({"scopes": ["read"], "label": "Ünsafe"}, "/label"),
            ({"scopes": ["read"], "label": 7}, "/label"),
            ({"scopes": ["read"], "addresses": ["10.0.0.300"]}, "/addresses/0"),
            ({"scopes": ["read"], "addresses": ["10.0.0.1/8"]}, "/addresses/0"),
            ({"scopes": ["read"], "operator": "x"}, "/operator"),
        ],
    )
    def test_refuses_a_wrong_body_with_a_pointer_and_writes_nothing(
        self, acme: Tenant, body: Any, pointer: str
    ) -> None:
        answer = acme.call("POST", "/keys", body)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
        assert ApiKey.objects.count() == 1

    def test_is_for_the_admin_scope(self, acme: Tenant, nobody: Caller) -> None:
        player = acme.as_player(acme.player())
        key_id = ApiKey.objects.get().pk
        callers = (acme.with_scopes("read", "play", "money"), player)
        for method, path in (("POST", "/keys"), ("GET", "/keys"), ("DELETE", f"/keys/{key_id}")):
            for caller in callers:
                answer = caller(method, path, BODY)
                assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing"), (method, path)
            answer = nobody(method, path, BODY)
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        assert ApiKey.objects.filter(label="reports").count() == 0
        assert ApiKey.objects.get(pk=key_id).revoked_at_ms is None


class TestKeyRevoke:
    def test_of_another_operators_key_is_not_found_and_changes_nothing(self, acme: Tenant, rival: Tenant) -> None:
        theirs = ApiKey.objects.get(operator_id=rival.id)
        answer = acme.call("DELETE", f"/keys/{theirs.pk}")
        assert (answer.status_code, answer.json()["code"]) == (404, "key_not_found")
        theirs.refresh_from_db()
        assert theirs.revoked_at_ms is None
        assert str(theirs.pk) not in acme.call("GET", "/keys").content.decode()

    def test_again_keeps_the_first_time(self, acme: Tenant) -> None:
        made = acme.call("POST", "/keys", BODY).json()
        first = acme.call("DELETE", f"/keys/{made['id']}").json()
        assert first["revoked_at_ms"] is not None
        assert acme.call("DELETE", f"/keys/{made['id']}").json() == first

    def test_of_an_unknown_key_is_not_found(self, acme: Tenant) -> None:
        assert acme.call("DELETE", f"/keys/{uuid4()}").json()["code"] == "key_not_found"


class TestAuthentication:
    @pytest.mark.parametrize(
        "header",
        ["Basic YTpi", "Bearer", "Bearer ", "Bearer abc", "sk_x", "Bearer xx_123", "Bearer\tsk_1"],
    )
    def test_refuses_what_is_no_bearer_credential(self, nobody: Caller, db: None, header: str) -> None:
        answer = nobody("GET", "/keys", authorization=header)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")

    def test_refuses_a_key_that_differs_in_one_character(self, acme: Tenant) -> None:
        last = acme.api_key[-1]
        wrong = [acme.api_key[:-1] + ("A" if last != "A" else "B"), acme.api_key + "A", acme.api_key[:-1]]
        wrong += [
            "sk_" + acme.api_key[3:].upper(),
            acme.api_key.replace("sk_", "sk_test_"),
            "sk_" + "a" * 12 + "_" + "b" * 43,
        ]
        for text in wrong:
            answer = Caller(text)("GET", "/keys")
            assert (answer.status_code, answer.json()["code"]) == (401, "key_invalid"), text
            assert text not in answer.content.decode()

    def test_refuses_the_keys_of_a_closed_operator(self, acme: Tenant) -> None:
        services.operator_status_set(operator_id=acme.id, status=OperatorStatus.CLOSED, reason="contract ended")
        assert acme.call("GET", "/keys").json()["code"] == "key_invalid"

    def test_keeps_the_keys_of_a_paused_operator(self, acme: Tenant) -> None:
        services.operator_status_set(operator_id=acme.id, status=OperatorStatus.PAUSED, reason="books do not balance")
        assert acme.call("GET", "/keys").status_code == 200

    def test_remembers_the_use_of_a_key_to_the_minute(self, acme: Tenant) -> None:
        acme.call("GET", "/keys")
        first = ApiKey.objects.get().last_used_at_ms
        assert first is not None
        acme.call("GET", "/keys")
        assert ApiKey.objects.get().last_used_at_ms == first
        ApiKey.objects.update(last_used_at_ms=first - 60_000)
        acme.call("GET", "/keys")
        last = ApiKey.objects.get().last_used_at_ms
        assert last is not None
        assert last >= first

    @pytest.mark.parametrize(
        ("networks", "remote", "forwarded", "status"),
        [
            (["10.1.0.0/16"], "10.1.2.3", "", 200),
            (["10.1.0.0/16"], "10.2.2.3", "", 403),
            (["10.1.0.0/16"], "::ffff:10.1.2.3", "", 200),
            (["2001:db8::/32"], "2001:db8::1", "", 200),
            (["2001:db8::/32"], "10.1.2.3", "", 403),
            (["10.1.0.0/16"], "", "", 403),
            (["10.1.0.0/16"], "10.9.9.9", "10.1.2.3", 403),  # The header of somebody who is no proxy.
            (["10.1.0.0/16"], "192.0.2.1", "10.1.2.3", 200),
            (["10.1.0.0/16"], "192.0.2.1", "10.1.2.3, 203.0.113.9", 403),  # The last hop that is no proxy counts.
            (["10.1.0.0/16"], "192.0.2.1", "203.0.113.9, 10.1.2.3, 192.0.2.2", 200),
            (["10.1.0.0/16"], "192.0.2.1", "unknown", 403),
        ],
    )
    @override_settings(SEALDECK_TRUSTED_PROXIES=["192.0.2.0/24"])
    def test_holds_a_key_to_its_addresses(
        self, acme: Tenant, networks: list[str], remote: str, forwarded: str, status: int, client: Any
    ) -> None:
        _key, plaintext = services.key_create(operator_id=acme.id, scopes=["admin"], label="bound", addresses=networks)
        headers = {"authorization": f"Bearer {plaintext}"} | ({"x-forwarded-for": forwarded} if forwarded else {})
        answer = client.get("/v1/keys", headers=headers, REMOTE_ADDR=remote)
        assert answer.status_code == status
        if status == 403:
            assert answer.json()["code"] == "address_not_allowed"

    @override_settings(SEALDECK_SANDBOX=True)
    def test_marks_the_keys_of_a_sandbox(self, acme: Tenant) -> None:
        _key, plaintext = services.key_create(operator_id=acme.id, scopes=["admin"], label="try")
        assert plaintext.startswith("sk_test_")
        assert Caller(plaintext)("GET", "/keys").status_code == 200


@pytest.mark.django_db
class TestOperatorCreate:
    def test_prints_the_key_once(self, capsys: pytest.CaptureFixture[str]) -> None:
        call_command("operator_create", "Acme", "--scope", "read", "--scope", "admin")
        out, _ = capsys.readouterr()
        operator = Operator.objects.get()
        plaintext = next(line.split()[1] for line in out.splitlines() if line.startswith("api_key"))
        assert str(operator.pk) in out
        assert Caller(plaintext)("GET", "/keys").status_code == 200
        assert ApiKey.objects.get().scopes == ["read", "admin"]

    @override_settings(SEALDECK_REQUIRE_SIGNATURES=True)
    def test_makes_a_key_that_signs_where_signatures_are_required(self, capsys: pytest.CaptureFixture[str]) -> None:
        call_command("operator_create", "Acme")
        told = dict(line.split()[:2] for line in capsys.readouterr().out.splitlines())
        signer = HmacSigner(base64.b64decode(told["hmac_secret"]))
        assert SignedCaller(told["api_key"], signer)("GET", "/keys").status_code == 200
        assert Caller(told["api_key"])("GET", "/keys").json()["code"] == "signature_required"

    @pytest.mark.parametrize("public_key", ["", "AAAA", "*"])
    def test_refuses_a_public_key_that_is_none(self, public_key: str) -> None:
        with pytest.raises(CommandError):
            call_command("operator_create", "Acme", "--signature", "ed25519", "--public-key", public_key)
        assert not Operator.objects.exists()

    @pytest.mark.parametrize("name", ["Acme", " ", "x" * 65])
    def test_refuses_a_name_that_is_taken_or_none(self, name: str) -> None:
        services.operator_create(name="Acme")
        with pytest.raises(CommandError):
            call_command("operator_create", name)
        assert Operator.objects.count() == 1
        assert ApiKey.objects.count() == 1
