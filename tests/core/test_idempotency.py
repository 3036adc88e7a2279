"""Every row of the table of cases in docs/developers/idempotency.md."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import Group
from django.db import connection
from rest_framework.test import APIClient

from apps.core import idempotency
from apps.core.models import Idempotency
from tests.core import routes

pytestmark = [pytest.mark.urls("tests.core.routes")]


def send(how: str = "make", name: str = "one", key: str | None = "key-1", **headers: str) -> Any:
    """Post once and return the answer."""
    more = {} if key is None else {"Idempotency-Key": key}
    client = APIClient(raise_request_exception=False)
    return client.post(f"/effect/{how}", {"name": name}, headers={**more, **headers})


@pytest.mark.django_db
class TestOneAfterAnother:
    def test_a_first_request_is_done_and_stored(self) -> None:
        answer = send()
        assert answer.status_code == 201
        assert "Idempotency-Replayed" not in answer.headers
        assert Idempotency.objects.get().state == "done"
        assert Group.objects.count() == 1

    def test_a_repeated_request_gets_the_same_answer_and_no_second_effect(self) -> None:
        first, second = send(), send()
        assert (second.status_code, second.content) == (first.status_code, first.content)
        assert second.headers["Content-Type"] == first.headers["Content-Type"] == "application/json"
        assert second.headers["Idempotency-Replayed"] == "true"
        assert Group.objects.count() == 1

    @pytest.mark.parametrize("quoted", ['"key-1"', " key-1 "])
    def test_a_quoted_key_is_the_same_key(self, quoted: str) -> None:
        send()
        assert send(key=quoted).headers["Idempotency-Replayed"] == "true"

    @pytest.mark.parametrize("other", [{"name": "two"}, {"how": "other"}])
    def test_a_key_with_another_request_is_refused(self, other: dict[str, str]) -> None:
        send()
        answer = send(**other)
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
        assert Group.objects.count() == 1

    def test_the_query_belongs_to_the_request(self) -> None:
        send()
        answer = APIClient().post("/effect/make?x=1", {"name": "one"}, headers={"Idempotency-Key": "key-1"})
        assert answer.status_code == 422

    def test_a_missing_key_is_refused_where_money_moves(self) -> None:
        answer = send(key=None)
        assert (answer.status_code, answer.json()["code"]) == (400, "idempotency_key_missing")
        assert Group.objects.count() == 0

    @pytest.mark.parametrize("key", ["", '""', "k" * 256, "clé"])
    def test_what_is_no_key_is_refused(self, key: str) -> None:
        answer = send(key=key)
        assert (answer.status_code, answer.json()["code"]) == (400, "idempotency_key_invalid")

    def test_keys_of_two_players_never_meet(self) -> None:
        first = send(**{"X-Player": "00000000-0000-0000-0000-00000000000a"})
        second = send(name="two", **{"X-Player": "00000000-0000-0000-0000-00000000000b"})
        assert (first.status_code, second.status_code) == (201, 201)

    @pytest.mark.parametrize(
        ("how", "status", "code"), [("refuse", 409, "refused_for_good"), ("rule", 422, "not_your_turn")]
    )
    def test_a_refusal_by_rule_is_stored_and_its_effect_undone(self, how: str, status: int, code: str) -> None:
        first, second = send(how), send(how)
        assert (first.status_code, first.json()["code"]) == (status, code)
        assert first.headers["Content-Type"] == "application/problem+json"
        assert (second.status_code, second.content) == (first.status_code, first.content)
        assert second.headers["Idempotency-Replayed"] == "true"
        assert Group.objects.count() == 0

    def test_a_stored_refusal_keeps_its_pointer_and_facts(self) -> None:
        send("refuse")
        told = send("refuse").json()
        assert told["limit"] == 3
        assert told["errors"] == [{"pointer": "/name", "code": "refused_for_good", "detail": "Refused."}]

    @pytest.mark.parametrize(("how", "status"), [("later", 409), ("fail", 500)])
    def test_what_may_succeed_later_is_not_stored(self, how: str, status: int) -> None:
        assert send(how).status_code == status
        assert Idempotency.objects.count() == 0
        assert Group.objects.count() == 0
        assert "Idempotency-Replayed" not in send(how).headers

    def test_a_body_of_the_wrong_shape_is_not_stored(self) -> None:
        answer = send(name="")
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["pointer"] == "/name"
        assert Idempotency.objects.count() == 0

    def test_an_optional_key_may_be_left_out(self) -> None:
        client = APIClient()
        assert client.post("/optional", {"name": "one"}).status_code == 201
        keyed = [client.post("/optional", {"name": "two"}, headers={"Idempotency-Key": "k"}) for _ in range(2)]
        assert keyed[0].content == keyed[1].content
        assert Group.objects.count() == 2

    def test_an_old_answer_is_forgotten_and_a_young_one_kept(self) -> None:
        send(), send(name="two", key="key-2")
        Idempotency.objects.filter(key="key-1").update(created_at_ms=0)
        assert idempotency.purge() == 1
        assert Idempotency.objects.get().key == "key-2"


@pytest.fixture
def _closing() -> Iterator[None]:
    routes.Effect.entered.clear()
    routes.Effect.may_go_on.clear()
    yield
    routes.Effect.may_go_on.set()


def _in_thread(how: str) -> Any:
    try:
        return send(how)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_closing")
class TestAtOnce:
    def test_a_second_request_waits_and_gets_the_first_ones_answer(self, administrator: psycopg.Connection) -> None:
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(_in_thread, "wait")
            assert routes.Effect.entered.wait(10)
            second = pool.submit(_in_thread, "wait")
            _until_one_waits_for_a_lock(administrator)
            routes.Effect.may_go_on.set()
            assert first.result().content == second.result().content
        assert second.result().headers["Idempotency-Replayed"] == "true"
        assert Group.objects.count() == 1

    def test_a_second_request_that_waited_too_long_is_told_so(self) -> None:
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(_in_thread, "wait")
            assert routes.Effect.entered.wait(10)
            second = pool.submit(_in_thread, "wait").result()
            routes.Effect.may_go_on.set()
            assert first.result().status_code == 201
        assert (second.status_code, second.json()["code"]) == (409, "request_in_progress")
        assert second.headers["Retry-After"] == "1"

    def test_many_at_once_have_one_effect_and_one_answer(self) -> None:
        routes.Effect.may_go_on.set()
        start = threading.Barrier(8)

        def go() -> Any:
            start.wait(10)
            return _in_thread("make")

        with ThreadPoolExecutor(8) as pool:
            answers = [future.result() for future in [pool.submit(go) for _ in range(8)]]
        assert {(answer.status_code, answer.content) for answer in answers} == {(201, answers[0].content)}
        assert sum("Idempotency-Replayed" not in answer.headers for answer in answers) == 1
        assert Group.objects.count() == 1


def _until_one_waits_for_a_lock(administrator: psycopg.Connection) -> None:
    """Return once PostgreSQL reports a session that waits for another's lock."""
    for _ in range(2_000):
        waiting = administrator.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        ).fetchone()
        if waiting != (0,):
            return
        administrator.execute("SELECT pg_sleep(0.005)")
    raise AssertionError("nobody waits for a lock")
