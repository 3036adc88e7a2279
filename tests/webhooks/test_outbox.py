"""Events: written with their fact, numbered without a gap, the same to pull and to get."""

from __future__ import annotations

import threading
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from apps.accounts.services import player_upsert
from apps.wallets.services import currency_create, wallet_credit
from apps.webhooks import selectors, services
from apps.webhooks.models import Event
from tests.wallets.test_routes import send
from tests.webhooks.conftest import Owner

commits = pytest.mark.django_db(transaction=True)


def numbers(owner: Owner) -> list[int | None]:
    """Return the operator's numbers in order."""
    return [event.seq for event in selectors.events(operator_id=owner.id, after=0, limit=200)]


@transaction.atomic
def _tell_and_fall(owner: Owner) -> None:
    services.outbox_add(operator_id=owner.id, topic="round.failed", payload={})
    raise ZeroDivisionError


class TestWriting:
    def test_an_event_goes_with_its_fact(self, owner: Owner) -> None:
        with pytest.raises(ZeroDivisionError):
            _tell_and_fall(owner)
        assert not Event.objects.exists()

    @commits
    def test_needs_the_transaction_of_its_fact(self, owner: Owner) -> None:
        with pytest.raises(AssertionError, match="transaction of its fact"):
            services.outbox_add(operator_id=owner.id, topic="round.finished", payload={})

    def test_is_thin(self, owner: Owner) -> None:
        with pytest.raises(AssertionError, match="thin"):
            owner.event(text="x" * 20_001)

    @pytest.mark.parametrize("topic", ["", "round", "Round.finished", "round.", "round finished"])
    def test_has_a_well_formed_topic(self, owner: Owner, topic: str) -> None:
        with pytest.raises(IntegrityError, match="webhooks_event_topic"):
            owner.event(topic)

    def test_a_transaction_of_the_ledger_has_one(self, owner: Owner) -> None:
        currency_create(code="PTS", exponent=0, is_money=False)
        player = player_upsert(operator_id=owner.id, external_id="p")
        with transaction.atomic():
            made = wallet_credit(
                operator_id=owner.id,
                player_id=player.pk,
                currency="PTS",
                amount_minor=5,
                external_id="c-1",
                actor="test",
            )
        (event,) = selectors.events(operator_id=owner.id, after=0, limit=10)
        assert (event.topic, event.tx_id) == ("transaction.posted", made.id)
        assert event.payload == {
            "transaction_id": str(made.id),
            "kind": "credit",
            "external_id": "c-1",
            "round_id": None,
            "created_at_ms": made.created_at_ms,
        }

    def test_is_final_once_numbered(self, owner: Owner, administrator: Any) -> None:
        owner.event()
        assert numbers(owner) == [1]
        for change, error, message in (
            ("seq = 2", IntegrityError, "final"),
            ("payload = '{}'", ProgrammingError, "permission denied"),
        ):
            with pytest.raises(error, match=message), transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"UPDATE webhooks_event SET {change}")


class TestNumbers:
    @commits
    def test_have_no_gap_though_transactions_fail_and_overlap(self, owner: Owner, rival: Owner) -> None:
        began, go_on = threading.Event(), threading.Event()

        def slow() -> None:
            with transaction.atomic():
                services.outbox_add(operator_id=owner.id, topic="round.slow", payload={})
                began.set()
                assert go_on.wait(20)
            connection.close()

        thread = threading.Thread(target=slow)
        thread.start()
        assert began.wait(20)
        owner.event("round.fast")
        rival.event("round.other")
        with pytest.raises(ZeroDivisionError):
            _tell_and_fall(owner)
        assert numbers(owner) == [1]
        go_on.set()
        thread.join()
        owner.event("round.last")
        found = selectors.events(operator_id=owner.id, after=0, limit=10)
        assert [(event.seq, event.topic) for event in found] == [
            (1, "round.fast"),
            (2, "round.slow"),
            (3, "round.last"),
        ]
        assert numbers(rival) == [1]

    @commits
    def test_many_who_number_at_once_give_each_number_once(self, owner: Owner) -> None:
        for _ in range(50):
            owner.event()

        def number() -> None:
            services.events_number(operator_id=owner.id)
            connection.close()

        threads = [threading.Thread(target=number) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert numbers(owner) == list(range(1, 51))


class TestPull:
    def test_pages_go_on_after_a_number(self, owner: Owner) -> None:
        for place in range(5):
            owner.event(place=place)
        page = send(owner.key, "GET", "/events?limit=2").json()
        assert [item["seq"] for item in page["items"]] == [1, 2]
        rest = send(owner.key, "GET", f"/events?after={page['next_after']}").json()
        assert [(item["seq"], item["data"]["place"]) for item in rest["items"]] == [(3, 2), (4, 3), (5, 4)]
        end = send(owner.key, "GET", f"/events?after={rest['next_after']}").json()
        assert end == {"items": [], "next_after": 5}

    def test_is_for_its_operator_only(self, owner: Owner, rival: Owner) -> None:
        owner.event()
        assert send(rival.key, "GET", "/events").json() == {"items": [], "next_after": 0}
        assert send("", "GET", "/events").status_code == 401

    @pytest.mark.parametrize("query", ["after=-1", "after=x", "limit=0", "limit=201", "after=9007199254740993"])
    def test_refuses_a_bad_query(self, owner: Owner, query: str) -> None:
        assert send(owner.key, "GET", f"/events?{query}").status_code == 400


class TestEndpointRoutes:
    def test_the_secret_is_shown_on_creation_and_rotation_only(self, owner: Owner) -> None:
        made = send(owner.key, "POST", "/webhooks", {"url": "https://hooks.example.com/x", "topics": ["round.void"]})
        assert made.status_code == 201
        body = made.json()
        assert body["secret"].startswith("whsec_")
        assert body["public_key"].startswith("whpk_")
        path = f"/webhooks/{body['id']}"
        rotated = send(owner.key, "POST", f"{path}/rotate").json()
        assert rotated["secret"] not in ("", body["secret"])
        for shown in (send(owner.key, "GET", path).json(), send(owner.key, "GET", "/webhooks").json()[0]):
            assert "secret" not in shown
            assert (shown["url"], shown["topics"], shown["state"]) == (body["url"], ["round.void"], "active")

    @pytest.mark.parametrize(
        "url",
        [
            "http://hooks.example.com/",
            "ftp://hooks.example.com/",
            "https://user:pass@hooks.example.com/",
            "https://hooks.example.com/#x",
            "https://",
            "https:///path",
            "https://hooks.example.com:22/",
            "https://hooks.example.com:99999/",
            "https://127.0.0.1/",
            "https://10.1.2.3/",
            "https://169.254.169.254/latest",
            "https://[::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[fe80::1]/",
            "https://[2002:7f00:1::]/",
            "https://0.0.0.0/",
            "https://hooks.example.com\\@evil.example/",
            "https://hooks.example.com/ x",
            "https://h\u00f6\u00f6ks.example.com/",
            "",
            7,
            None,
        ],
    )
    def test_refuses_an_address_that_is_not_public(self, owner: Owner, url: Any) -> None:
        answer = send(owner.key, "POST", "/webhooks", {"url": url})
        assert answer.status_code in (400, 422)
        assert answer.json()["errors"][0]["pointer"] == "/url"

    def test_another_operators_endpoint_is_not_found(self, owner: Owner, rival: Owner) -> None:
        path = f"/webhooks/{send(owner.key, 'POST', '/webhooks', {'url': 'https://hooks.example.com/'}).json()['id']}"
        calls = [
            ("GET", path, None),
            ("PATCH", path, {"state": "disabled"}),
            ("DELETE", path, None),
            ("POST", f"{path}/rotate", None),
            ("POST", f"{path}/test", None),
            ("POST", f"{path}/replay", {"after": 0}),
            ("GET", f"{path}/deliveries", None),
        ]
        for method, where, body in calls:
            answer = send(rival.key, method, where, body)
            assert (answer.status_code, answer.json()["code"]) == (404, "webhook_not_found"), where
        assert send(owner.key, "GET", path).json()["state"] == "active"

    def test_a_deleted_endpoint_is_gone_and_a_disabled_one_takes_no_test(self, owner: Owner) -> None:
        path = f"/webhooks/{send(owner.key, 'POST', '/webhooks', {'url': 'https://hooks.example.com/'}).json()['id']}"
        assert send(owner.key, "PATCH", path, {"state": "disabled"}).json()["state_reason"] == "operator"
        assert send(owner.key, "POST", f"{path}/test").json()["code"] == "webhook_disabled"
        assert send(owner.key, "DELETE", path).status_code == 204
        assert send(owner.key, "GET", path).status_code == 404
        assert send(owner.key, "GET", "/webhooks").json() == []
        assert send(owner.key, "GET", f"/webhooks/{uuid4()}").status_code == 404

    def test_an_operator_has_ten_at_most(self, owner: Owner) -> None:
        for _ in range(10):
            assert send(owner.key, "POST", "/webhooks", {"url": "https://hooks.example.com/"}).status_code == 201
        answer = send(owner.key, "POST", "/webhooks", {"url": "https://hooks.example.com/"})
        assert (answer.status_code, answer.json()["code"]) == (409, "webhook_limit_reached")
