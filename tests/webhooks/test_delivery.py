"""Deliveries: signed, tried again on schedule, given up in the end, never lost and never sent inside a transaction."""

from __future__ import annotations

import json
import threading
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from apps.client.webhooks import WebhookChecker, WebhookInvalid
from apps.core import egress
from apps.core.clock import now_ms
from apps.webhooks import delivery, services, signing
from apps.webhooks.models import Delivery, Endpoint, Event
from tests.wallets.test_routes import send
from tests.webhooks.conftest import Owner, Receiver

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def endpoint(owner: Owner, receiver: Receiver) -> UUID:
    """Return an endpoint at the receiver for everything."""
    return services.endpoint_create(operator_id=owner.id, url=receiver.url, topics=[]).pk


def due_now() -> None:
    """Let every waiting delivery be due, as if its time had come."""
    Delivery.objects.filter(state="due").update(next_try_at_ms=0)
    Endpoint.objects.update(not_before_ms=0)


def checker(endpoint_id: UUID, version: int = 1) -> WebhookChecker:
    """Return a receiver's check with an endpoint's secret."""
    return WebhookChecker(secrets=[signing.secret_text(endpoint_id, version)])


class TestSignatures:
    def test_either_key_alone_is_enough_to_check(self, owner: Owner, receiver: Receiver, endpoint: UUID) -> None:
        owner.event(round_id="r1")
        assert delivery.run() == 1
        headers, body = receiver.got[0]
        now_s = now_ms() // 1000
        by_secret = checker(endpoint).check(body, headers, now_s=now_s)
        by_key = WebhookChecker(public_keys=[signing.public_key_text()]).check(body, headers, now_s=now_s)
        assert by_secret == by_key
        assert by_secret.data == send(owner.key, "GET", "/events").json()["items"][0]
        assert by_secret.id == by_secret.data["id"]
        assert headers["content-type"] == "application/json"

    def test_a_changed_body_fails_the_check(self, owner: Owner, receiver: Receiver, endpoint: UUID) -> None:
        owner.event(round_id="r1")
        delivery.run()
        headers, body = receiver.got[0]
        for checks in (checker(endpoint), WebhookChecker(public_keys=[signing.public_key_text()])):
            with pytest.raises(WebhookInvalid):
                checks.check(body + b" ", headers, now_s=now_ms() // 1000)

    def test_after_a_rotation_both_secrets_sign_until_the_old_ones_time_is_over(
        self, owner: Owner, receiver: Receiver, endpoint: UUID
    ) -> None:
        services.endpoint_rotate(operator_id=owner.id, endpoint_id=endpoint)
        owner.event()
        delivery.run()
        Endpoint.objects.update(previous_until_ms=0)
        owner.event()
        delivery.run()
        now_s = now_ms() // 1000
        for version in (1, 2):
            checker(endpoint, version).check(receiver.got[0][1], receiver.got[0][0], now_s=now_s)
        checker(endpoint, 2).check(receiver.got[1][1], receiver.got[1][0], now_s=now_s)
        with pytest.raises(WebhookInvalid):
            checker(endpoint, 1).check(receiver.got[1][1], receiver.got[1][0], now_s=now_s)

    def test_a_new_process_secret_signs_beside_the_one_before(
        self, owner: Owner, receiver: Receiver, endpoint: UUID, settings: Any
    ) -> None:
        old = checker(endpoint)
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "another secret of this process"
        owner.event()
        delivery.run()
        headers, body = receiver.got[0]
        for checks in (old, checker(endpoint)):
            checks.check(body, headers, now_s=now_ms() // 1000)


class TestWhoGetsWhat:
    def test_in_order_once_and_only_wanted_topics(self, owner: Owner, rival: Owner, receiver: Receiver) -> None:
        services.endpoint_create(operator_id=owner.id, url=receiver.url, topics=["round.finished"])
        for place in range(30):
            owner.event("round.finished" if place % 3 else "round.void", place=place)
        rival.event()
        assert delivery.run() == 20
        assert delivery.run() == 0
        places = [json.loads(body)["data"]["place"] for _, body in receiver.got]
        assert places == [place for place in range(30) if place % 3]

    def test_an_endpoint_gets_what_happens_after_it_was_added(self, owner: Owner, receiver: Receiver) -> None:
        owner.event(place=1)
        services.events_number(operator_id=owner.id)
        endpoint = services.endpoint_create(operator_id=owner.id, url=receiver.url, topics=[]).pk
        owner.event(place=2)
        delivery.run()
        assert [json.loads(body)["data"]["place"] for _, body in receiver.got] == [2]
        assert services.endpoint_replay(operator_id=owner.id, endpoint_id=endpoint, after=0) == 2
        delivery.run()
        assert [json.loads(body)["data"]["place"] for _, body in receiver.got] == [2, 1, 2]
        assert receiver.got[0][0]["webhook-id"] == receiver.got[2][0]["webhook-id"]
        assert receiver.got[0][1] == receiver.got[2][1]

    def test_a_test_goes_to_its_endpoint_whatever_it_wants(self, owner: Owner, receiver: Receiver) -> None:
        mine = services.endpoint_create(operator_id=owner.id, url=receiver.url, topics=["round.void"]).pk
        services.endpoint_create(operator_id=owner.id, url=receiver.url, topics=[])
        services.endpoint_test(operator_id=owner.id, endpoint_id=mine)
        assert delivery.run() == 1
        assert json.loads(receiver.got[0][1])["data"] == {"webhook_id": str(mine)}


class TestRetries:
    def test_are_ten_over_three_days_and_then_the_endpoint_is_disabled(
        self, owner: Owner, receiver: Receiver, endpoint: UUID
    ) -> None:
        owner.event()
        receiver.answers = [(500, {})] * delivery.TRIES
        waits = []
        for tries in range(1, delivery.TRIES + 1):
            due_now()
            assert delivery.run() == 0
            row = Delivery.objects.get()
            assert (row.attempts, row.last_status) == (tries, 500)
            assert row.last_try_at_ms is not None
            waits.append(row.next_try_at_ms - row.last_try_at_ms)
        for wait, planned in zip(waits, delivery.RETRY_S, strict=False):
            assert planned * 900 <= wait <= planned * 1_100
        assert 3 * 86_400 < sum(delivery.RETRY_S) < 4 * 86_400
        assert len(receiver.got) == 10
        assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
        assert Delivery.objects.get().state == "failed"
        found = Endpoint.objects.get()
        assert (found.state, found.state_reason) == ("disabled", "retries_exhausted")

    def test_one_event_that_is_never_taken_does_not_disable_a_living_endpoint(
        self, owner: Owner, receiver: Receiver, endpoint: UUID
    ) -> None:
        owner.event()
        delivery.run()
        owner.event()
        receiver.answers = [(500, {})] * delivery.TRIES
        for _ in range(delivery.TRIES):
            due_now()
            delivery.run()
        assert Delivery.objects.filter(state="failed").count() == 1
        assert Endpoint.objects.get().state == "active"

    def test_gone_disables_at_once(self, owner: Owner, receiver: Receiver, endpoint: UUID) -> None:
        owner.event()
        owner.event()
        receiver.answers = [(410, {})]
        assert delivery.run() == 0
        assert Endpoint.objects.get().state_reason == "gone"
        due_now()
        assert delivery.run() == 0
        assert len(receiver.got) == 1

    @pytest.mark.parametrize("status", [301, 302, 307, 400, 404, 429, 500, 503])
    def test_anything_but_2xx_is_a_failure(self, owner: Owner, receiver: Receiver, endpoint: UUID, status: int) -> None:
        owner.event()
        receiver.answers = [(status, {})]
        assert delivery.run() == 0
        due_now()
        assert delivery.run() == 1

    def test_retry_after_is_honoured(self, owner: Owner, receiver: Receiver, endpoint: UUID) -> None:
        owner.event()
        receiver.answers = [(503, {"Retry-After": "3600"})]
        delivery.run()
        row = Delivery.objects.get()
        assert row.last_try_at_ms is not None
        assert row.next_try_at_ms - row.last_try_at_ms == 3_600_000
        assert Endpoint.objects.get().not_before_ms == row.next_try_at_ms

    def test_what_follows_a_failure_waits_untried(self, owner: Owner, receiver: Receiver, endpoint: UUID) -> None:
        for _ in range(3):
            owner.event()
        receiver.answers = [(204, {}), (500, {})]
        assert delivery.run() == 1
        assert [row.attempts for row in Delivery.objects.order_by("event_id")] == [1, 1, 0]
        assert len(receiver.got) == 2
        due_now()
        assert delivery.run() == 2

    def test_one_endpoint_that_fails_does_not_hold_up_another(self, owner: Owner, receiver: Receiver) -> None:
        services.endpoint_create(operator_id=owner.id, url="http://127.0.0.1:1024/closed", topics=[])
        services.endpoint_create(operator_id=owner.id, url=receiver.url, topics=[])
        owner.event()
        assert delivery.run() == 1
        states = {row.endpoint.url: (row.state, row.last_error) for row in Delivery.objects.select_related("endpoint")}
        assert states == {
            "http://127.0.0.1:1024/closed": ("due", "connection_failed"),
            receiver.url: ("delivered", ""),
        }


class TestCrashes:
    def test_a_process_that_dies_after_sending_sends_again_with_the_same_id(
        self, owner: Owner, receiver: Receiver, endpoint: UUID
    ) -> None:
        owner.event()
        services.events_number_all()
        (batch,) = delivery._claim()
        delivery._send(batch, resolver=egress.resolve)
        assert delivery.run() == 0
        due_now()
        assert delivery.run() == 1
        ids = [headers["webhook-id"] for headers, _ in receiver.got]
        assert len(ids) == 2
        assert ids[0] == ids[1]

    def test_two_processes_send_nothing_twice(self, owner: Owner, receiver: Receiver, administrator: Any) -> None:
        administrator.execute("INSERT INTO webhooks_slot (number, until_ms) VALUES (1, 0), (2, 0)")
        for _ in range(4):
            services.endpoint_create(operator_id=owner.id, url=receiver.url, topics=[])
        for _ in range(25):
            owner.event()

        def deliver() -> None:
            delivery.run()
            connection.close()

        threads = [threading.Thread(target=deliver) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        due = Delivery.objects.filter(state="due")
        assert not due.exists()
        assert len(receiver.got) == 100

    def test_no_more_processes_deliver_than_there_are_slots(
        self, owner: Owner, receiver: Receiver, endpoint: UUID
    ) -> None:
        owner.event()
        slot = delivery._slot_take()
        assert slot is not None
        assert delivery.run() == 0
        delivery._slot_give(slot)
        assert delivery.run() == 1

    def test_nothing_is_sent_while_a_transaction_is_open(
        self, owner: Owner, receiver: Receiver, endpoint: UUID, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[int] = []

        def resolver(_host: str, _port: int) -> list[str]:
            seen.append(_open_transactions())
            return ["127.0.0.1"]

        owner.event()
        assert delivery.run(resolver=resolver) == 1
        assert seen == [0]


def _open_transactions() -> int:
    """Return how many other connections of this database are inside a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND state LIKE 'idle in transaction%'"
        )
        count = int(cursor.fetchone()[0])
    connection.close()
    return count


class TestRoutes:
    def test_deliveries_are_shown_to_their_operator(self, owner: Owner, receiver: Receiver, endpoint: UUID) -> None:
        owner.event()
        receiver.answers = [(500, {})]
        delivery.run()
        (shown,) = send(owner.key, "GET", f"/webhooks/{endpoint}/deliveries").json()
        event = Event.objects.get()
        assert shown["event_id"] == f"evt_{event.public_id.hex}"
        assert (shown["seq"], shown["state"], shown["attempts"], shown["last_status"]) == (1, "due", 1, 500)

    def test_a_disabled_endpoint_misses_events_and_catches_up_by_replay(
        self, owner: Owner, receiver: Receiver, endpoint: UUID
    ) -> None:
        path = f"/webhooks/{endpoint}"
        send(owner.key, "PATCH", path, {"state": "disabled"})
        owner.event()
        assert delivery.run() == 0
        assert send(owner.key, "POST", f"{path}/replay", {"after": 0}).json()["code"] == "webhook_disabled"
        send(owner.key, "PATCH", path, {"state": "active"})
        answer = send(owner.key, "POST", f"{path}/replay", {"after": 0})
        assert (answer.status_code, answer.json()) == (202, {"events": 1})
        assert delivery.run() == 1
