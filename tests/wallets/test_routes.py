"""The transfer wallet over HTTP."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from rest_framework.test import APIClient

from apps.accounts.services import key_create, session_create
from apps.wallets.models import Entry, LedgerTransaction
from tests.wallets.conftest import House

pytestmark = pytest.mark.django_db

BAD_AMOUNTS = (
    *("1.0", "1.5", "1e3", '"100"', "true", "false", "null", "0", "-0", "-1", "[]", "{}", "NaN", "Infinity"),
    *("9007199254740992", "-9007199254740992", "1" + "0" * 400),
)


def send(credential: str, method: str, path: str, body: Any = None, **headers: str) -> Any:
    """Send a request to /v1 and return the answer."""
    raw = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    return APIClient().generic(
        method,
        f"/v1{path}",
        raw,
        content_type="application/json",
        headers={"authorization": f"Bearer {credential}", **headers},
    )


def credit(house: House, body: dict[str, Any], key: str | None = None, verb: str = "credits") -> Any:
    """Ask for a credit with an idempotency key of its own."""
    return send(house.key, "POST", f"/wallet/{verb}", body, **{"idempotency-key": key or uuid4().hex})


def transfer(
    player_id: UUID, amount_minor: Any = 100, external_id: str = "t-1", currency: str = "PTS"
) -> dict[str, Any]:
    """Return the body of a credit or debit."""
    return {
        "player_id": str(player_id),
        "currency": currency,
        "amount_minor": amount_minor,
        "external_id": external_id,
    }


def written() -> tuple[int, int]:
    """Return how many transactions and entries there are."""
    return LedgerTransaction.objects.count(), Entry.objects.count()


class TestTransfer:
    def test_a_credit_is_answered_with_the_transaction_and_the_balance(self, house: House) -> None:
        player = house.player()
        answer = credit(house, transfer(player))
        assert answer.status_code == 201
        body = answer.json()
        assert {k: body[k] for k in ("kind", "external_id", "player_id", "currency", "amount_minor")} == {
            "kind": "credit",
            "external_id": "t-1",
            "player_id": str(player),
            "currency": "PTS",
            "amount_minor": 100,
        }
        assert body["balance_after_minor"] == 100
        assert send(house.key, "GET", "/wallet/transactions/t-1").json() == body

    def test_a_debit_takes_what_is_there_and_no_more(self, house: House) -> None:
        player = house.player(100)
        assert credit(house, transfer(player, 60, "d-1"), verb="debits").json()["balance_after_minor"] == 40
        before = written()
        refused = credit(house, transfer(player, 41, "d-2"), verb="debits")
        assert refused.status_code == 409
        assert refused.json()["code"] == "insufficient_funds"
        assert refused.json()["available_minor"] == 40
        assert written() == before

    @pytest.mark.parametrize("raw", BAD_AMOUNTS)
    @pytest.mark.parametrize("verb", ["credits", "debits"])
    def test_refuses_a_bad_amount_with_a_pointer_and_writes_nothing(self, house: House, raw: str, verb: str) -> None:
        player = house.player(1_000)
        before = written()
        text = json.dumps(transfer(player)).replace('"amount_minor": 100', f'"amount_minor": {raw}')
        answer = send(house.key, "POST", f"/wallet/{verb}", text, **{"idempotency-key": "k"})
        assert answer.status_code in (400, 422), answer.content
        assert answer.json()["errors"][0]["pointer"] == "/amount_minor"
        assert written() == before

    @pytest.mark.parametrize("member", ["player_id", "currency", "amount_minor", "external_id"])
    @pytest.mark.parametrize("value", ["missing", None, "", [], {}, True, "no such thing \u00e9"])
    def test_refuses_a_bad_member_with_a_pointer(self, house: House, member: str, value: Any) -> None:
        body = transfer(house.player())
        before = written()
        if value == "missing":
            del body[member]
        else:
            body[member] = value
        answer = credit(house, body)
        assert answer.status_code in (400, 422), answer.content
        assert answer.json()["errors"][0]["pointer"] == f"/{member}"
        assert written() == before

    def test_refuses_an_unknown_member(self, house: House) -> None:
        answer = credit(house, {**transfer(house.player()), "note": "x"})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/note")

    def test_refuses_unknown_currency_and_player(self, house: House) -> None:
        answer = credit(house, transfer(house.player(), currency="XYZ"))
        assert (answer.status_code, answer.json()["code"]) == (422, "currency_unknown")
        answer = credit(house, transfer(uuid4(), external_id="t-2"))
        assert (answer.status_code, answer.json()["code"]) == (404, "player_not_found")

    def test_needs_the_money_scope_and_an_operator(self, house: House) -> None:
        player = house.player()
        _, reader = key_create(operator_id=house.operator_id, scopes=("read",), label="reader")
        token = session_create(player_id=player, ttl_s=600).token
        for credential in (reader, token):
            answer = send(credential, "POST", "/wallet/credits", transfer(player), **{"idempotency-key": "k"})
            assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
        assert send("sk_no", "POST", "/wallet/credits", transfer(player)).status_code == 401
        assert written() == (0, 0)


class TestIdempotency:
    """The table of docs/developers/idempotency.md, row by row."""

    def test_the_first_time_is_done(self, house: House) -> None:
        assert credit(house, transfer(house.player())).status_code == 201

    def test_the_same_again_gets_the_stored_answer(self, house: House) -> None:
        body = transfer(house.player())
        first, second = (credit(house, body, "key") for _ in range(2))
        assert (second.status_code, second.content) == (first.status_code, first.content)
        assert second.headers["Idempotency-Replayed"] == "true"
        assert written() == (1, 2)

    def test_another_body_with_the_same_key_is_refused(self, house: House) -> None:
        body = transfer(house.player())
        credit(house, body, "key")
        answer = credit(house, {**body, "amount_minor": 101}, "key")
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
        assert written() == (1, 2)

    def test_a_missing_key_is_refused(self, house: House) -> None:
        answer = send(house.key, "POST", "/wallet/credits", transfer(house.player()))
        assert (answer.status_code, answer.json()["code"]) == (400, "idempotency_key_missing")

    def test_another_key_with_the_same_transaction_gets_the_original_result(self, house: House) -> None:
        body = transfer(house.player())
        first = credit(house, body, "one")
        house.credit(UUID(body["player_id"]), 7)
        second = credit(house, body, "two")
        assert (second.status_code, second.json()) == (200, first.json())

    @pytest.mark.parametrize(
        ("field", "value"), [("amount_minor", 101), ("currency", "GEM"), ("player_id", None), ("kind", "debits")]
    )
    def test_another_content_under_the_same_transaction_id_names_the_field(
        self, house: House, field: str, value: Any
    ) -> None:
        house.currency_make("GEM")
        body = transfer(house.player())
        credit(house, body)
        verb = value if field == "kind" else "credits"
        other = {**body, field: value if value is not None else str(house.player())} if field != "kind" else body
        answer = credit(house, other, verb=verb)
        assert (answer.status_code, answer.json()["code"]) == (409, "transaction_conflict")
        assert answer.json()["field"] == field
        assert written() == (1, 2)

    def test_a_refusal_for_funds_stays_though_funds_arrive(self, house: House) -> None:
        player = house.player(10)
        body = transfer(player, 50, "d-1")
        first = credit(house, body, "key", verb="debits")
        house.credit(player, 100)
        second = credit(house, body, "key", verb="debits")
        assert (second.status_code, second.json()["code"]) == (409, "insufficient_funds")
        assert second.json()["available_minor"] == first.json()["available_minor"] == 10
        assert credit(house, body, "new key", verb="debits").status_code == 201

    def test_a_refusal_for_credentials_is_not_stored(self, house: House) -> None:
        body = transfer(house.player())
        assert send("sk_no", "POST", "/wallet/credits", body, **{"idempotency-key": "key"}).status_code == 401
        assert credit(house, body, "key").status_code == 201


class TestReading:
    def test_the_balance_is_shown_to_operator_and_player_only(self, house: House, other_house: House) -> None:
        player, neighbour = house.player(70), house.player(30)
        token = session_create(player_id=player, ttl_s=600).token
        shown = {
            "player_id": str(player),
            "currency": "PTS",
            "posted_minor": 70,
            "held_minor": 0,
            "available_minor": 70,
        }
        path = f"/players/{player}/balance?currency=PTS"
        assert send(house.key, "GET", path).json() == shown
        assert send(token, "GET", path).json() == shown
        assert send(token, "GET", f"/players/{neighbour}/balance?currency=PTS").status_code == 404
        assert send(other_house.key, "GET", path).status_code == 404

    @pytest.mark.parametrize("query", ["", "?currency=", "?currency=pts", "?currency=XYZ"])
    def test_refuses_a_missing_or_unknown_currency(self, house: House, query: str) -> None:
        answer = send(house.key, "GET", f"/players/{house.player()}/balance{query}")
        assert answer.status_code in (400, 422)

    def test_another_operators_transaction_is_not_found(self, house: House, other_house: House) -> None:
        credit(house, transfer(house.player()))
        answer = send(other_house.key, "GET", "/wallet/transactions/t-1")
        assert (answer.status_code, answer.json()["code"]) == (404, "transaction_not_found")

    def test_two_operators_may_use_the_same_id(self, house: House, other_house: House) -> None:
        assert credit(house, transfer(house.player())).status_code == 201
        assert credit(other_house, transfer(other_house.player())).status_code == 201

    @pytest.mark.parametrize("query", ["cursor=!", "cursor=AAAA", "limit=0", "limit=201", "limit=x", "player_id=7"])
    def test_the_list_refuses_a_bad_query(self, house: House, query: str) -> None:
        answer = send(house.key, "GET", f"/wallet/transactions?{query}")
        assert answer.status_code in (400, 422)
