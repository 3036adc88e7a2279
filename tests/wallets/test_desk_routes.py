"""The routes of holds, corrections, alarms and currencies."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction

from apps.wallets import services
from apps.wallets.models import Approval, Hold
from tests.accounts.conftest import Caller
from tests.wallets.conftest import House

pytestmark = pytest.mark.django_db


def ask(house: House, method: str, path: str, body: Any = None, **headers: str) -> Any:
    """Send a request with the house's key, under a fresh Idempotency-Key."""
    headers = {"Idempotency-Key": uuid4().hex} | headers
    return Caller(house.key)(method, path, body, **headers)


def hold(house: House, player: Any, **facts: Any) -> Any:
    """Place a hold of 60 points."""
    body = {
        "player_id": str(player),
        "currency": "PTS",
        "amount_minor": 60,
        "purpose": "withdrawal",
        "reference": str(uuid4()),
        "ttl_ms": 60_000,
    }
    return ask(house, "POST", "/wallet/holds", body | facts)


class TestHolds:
    def test_are_placed_seen_and_captured_once(self, house: House) -> None:
        player = house.player(100)
        made = hold(house, player)
        assert (made.status_code, made.json()["state"], house.available(player)) == (201, "active", 40)
        path = f"/wallet/holds/{made.json()['id']}"
        assert ask(house, "GET", path).json() == made.json()
        for _ in range(2):
            taken = ask(house, "POST", f"{path}/capture")
            assert (taken.status_code, taken.json()["state"]) == (200, "captured")
        assert taken.json()["transaction_id"]
        assert house.available(player) == 40
        assert ask(house, "POST", f"{path}/release").json()["code"] == "hold_not_active"

    def test_are_released_and_then_not_captured(self, house: House) -> None:
        player = house.player(100)
        path = f"/wallet/holds/{hold(house, player).json()['id']}"
        for _ in range(2):
            assert ask(house, "POST", f"{path}/release").json()["state"] == "released"
        assert house.available(player) == 100
        assert ask(house, "POST", f"{path}/capture").json()["code"] == "hold_not_active"

    def test_with_one_purpose_and_reference_are_one(self, house: House) -> None:
        player, reference = house.player(100), str(uuid4())
        first, second = (hold(house, player, reference=reference) for _ in range(2))
        assert first.json()["id"] == second.json()["id"]
        assert hold(house, player, reference=reference, amount_minor=1).json()["code"] == "transaction_conflict"
        assert house.available(player) == 40

    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"amount_minor": 101}, 409, "insufficient_funds"),
            ({"amount_minor": 0}, 422, "amount_invalid"),
            ({"amount_minor": True}, 422, "amount_invalid"),
            ({"amount_minor": 1.0}, 400, "malformed_json"),
            ({"currency": "ZZZ"}, 422, "currency_unknown"),
            ({"player_id": str(uuid4())}, 404, "player_not_found"),
            ({"ttl_ms": 1}, 400, "invalid"),
            ({"purpose": "With Spaces"}, 400, "invalid"),
        ],
    )
    def test_are_refused_and_nothing_is_written(self, house: House, facts: Any, status: int, code: str) -> None:
        answer = hold(house, house.player(100), **facts)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert not Hold.objects.exists()

    def test_of_a_test_player_hold_no_money(self, house: House) -> None:
        services.currency_create(code="EUR", exponent=2, is_money=True)
        answer = hold(house, house.player(is_test=True), currency="EUR")
        assert answer.json()["code"] == "test_player_money"


class TestCorrections:
    def test_are_asked_for_and_move_nothing(self, house: House) -> None:
        player = house.player(100)
        body = {"player_id": str(player), "currency": "PTS", "amount_minor": -30, "reason": "ticket 1"}
        made = ask(house, "POST", "/corrections/adjustments", body)
        assert made.status_code == 202
        told = made.json()
        assert (told["state"], told["transaction_id"], house.available(player)) == ("requested", None, 100)
        assert {(line["account"], line["amount_minor"]) for line in told["lines"]} == {
            ("player", -30),
            ("adjustment", 30),
        }
        assert ask(house, "GET", f"/corrections/{told['id']}").json() == told
        assert ask(house, "GET", "/corrections").json()["items"] == [told]
        with transaction.atomic():
            tx_id = services.correction_decide(
                operator_id=house.operator_id, approval_id=told["id"], approve=True, decided_by="staff:1"
            )
        done = ask(house, "GET", f"/corrections/{told['id']}").json()
        assert (done["state"], done["transaction_id"]) == ("executed", str(tx_id))
        assert house.available(player) == 70

    def test_of_a_transaction_are_its_opposite(self, house: House) -> None:
        player = house.player()
        house.credit(player, 50, external_id="deposit-1")
        credit = ask(house, "GET", "/wallet/transactions/deposit-1").json()
        made = ask(house, "POST", "/corrections/reversals", {"transaction_id": credit["id"], "reason": "twice"}).json()
        assert made["reverses_id"] == credit["id"]
        assert {(line["account"], line["amount_minor"]) for line in made["lines"]} == {("player", -50), ("funding", 50)}

    def test_of_a_round_pay_it_anew(self, house: House) -> None:
        first, second, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, first, second)
        wrong = house.settle(round_id, (first, 190), fee_minor=10)
        payout = {"player_id": str(second), "amount_minor": 200}
        body = {"round_id": str(round_id), "payouts": [payout], "fee_minor": 0, "reason": "ticket 2"}
        early = ask(house, "POST", "/corrections/resettlements", body)
        assert (early.status_code, early.json()["code"]) == (409, "round_not_reversed")
        asked = ask(house, "POST", "/corrections/reversals", {"transaction_id": str(wrong), "reason": "ticket 2"})
        for answer in (asked, None):
            made = answer or ask(house, "POST", "/corrections/resettlements", body)
            assert (made.status_code, made.json()["state"]) == (202, "requested")
            services.correction_decide(
                operator_id=house.operator_id, approval_id=made.json()["id"], approve=True, decided_by="staff:1"
            )
        assert (house.available(first), house.available(second)) == (0, 200)
        over = ask(house, "POST", "/corrections/resettlements", body | {"payouts": [payout | {"amount_minor": 0}]})
        assert (over.status_code, over.json()["code"]) == (422, "amount_invalid")
        assert ask(house, "POST", "/corrections/resettlements", body).json()["code"] == "round_not_reversed"

    def test_are_listed_newest_first_page_by_page(self, house: House, other_house: House) -> None:
        player = str(house.player())
        body = {"player_id": player, "currency": "PTS", "amount_minor": 5, "reason": "x"}
        made = [ask(house, "POST", "/corrections/adjustments", body).json()["id"] for _ in range(5)]
        seen, cursor, has_more = [], "", True
        while has_more:
            page = ask(house, "GET", f"/corrections?limit=2&cursor={cursor}").json()
            seen += [item["id"] for item in page["items"]]
            cursor, has_more = page["next_cursor"], page["has_more"]
        assert (len(seen), set(seen)) == (5, set(made))
        times = [ask(house, "GET", f"/corrections/{one}").json()["requested_at_ms"] for one in seen]
        assert times == sorted(times, reverse=True)
        assert ask(house, "GET", f"/corrections?cursor={cursor}").json()["items"] == []
        assert ask(house, "GET", "/corrections?cursor=x").json()["code"] == "cursor_invalid"
        assert ask(other_house, "GET", "/corrections").json()["items"] == []

    @pytest.mark.parametrize("amount", [0, "1", True, 2**53, None])
    def test_refuse_what_is_no_amount(self, house: House, amount: Any) -> None:
        body = {"player_id": str(house.player()), "currency": "PTS", "amount_minor": amount, "reason": "x"}
        answer = ask(house, "POST", "/corrections/adjustments", body)
        assert answer.status_code in (400, 422)
        assert not Approval.objects.exists()

    def test_are_never_decided_with_a_key(self, house: House) -> None:
        body = {"player_id": str(house.player()), "currency": "PTS", "amount_minor": 5, "reason": "x"}
        path = f"/corrections/{ask(house, 'POST', '/corrections/adjustments', body).json()['id']}"
        assert ask(house, "POST", path, {"state": "approved"}).status_code == 405
        assert ask(house, "PATCH", path, {"state": "approved"}).status_code == 405


class TestOthers:
    def test_alarms_are_listed_while_they_are_open(self, house: House, other_house: House) -> None:
        with transaction.atomic():
            services.alarm_raise(operator_id=house.operator_id, code="ledger_invariant", detail="I2")
        assert [alarm["code"] for alarm in ask(house, "GET", "/alarms").json()] == ["ledger_invariant"]
        assert ask(other_house, "GET", "/alarms").json() == []

    def test_currencies_are_listed(self, house: House) -> None:
        assert {"code": "PTS", "exponent": 0, "is_money": False, "min_buy_in_minor": 1} in ask(
            house, "GET", "/currencies"
        ).json()

    def test_another_operators_holds_and_corrections_are_not_found(self, house: House, other_house: House) -> None:
        player = house.player(100)
        hold_id = hold(house, player).json()["id"]
        body = {"player_id": str(player), "currency": "PTS", "amount_minor": 5, "reason": "x"}
        correction = ask(house, "POST", "/corrections/adjustments", body).json()["id"]
        for method, path in (
            ("GET", f"/wallet/holds/{hold_id}"),
            ("POST", f"/wallet/holds/{hold_id}/capture"),
            ("POST", f"/wallet/holds/{hold_id}/release"),
            ("GET", f"/corrections/{correction}"),
        ):
            assert ask(other_house, method, path).status_code == 404
        assert ask(other_house, "POST", "/corrections/adjustments", body).status_code == 404
        assert house.available(player) == 40
