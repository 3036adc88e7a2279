"""Moves over HTTP: one effect per key, seats and strangers, leaving, and what a refusal leaves behind."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from apps.accounts.services import session_create, session_revoke
from apps.core.models import Idempotency
from apps.history.models import Entry
from apps.tables.models import Round, Seat
from tests.tables.conftest import House, Place

pytestmark = pytest.mark.django_db(transaction=True)


def call(token: str, method: str, path: str, body: Any = None, **headers: str) -> Any:
    """Send a request and return the answer."""
    data = "" if body is None else json.dumps(body)
    headers = {"authorization": f"Bearer {token}", **headers}
    return APIClient().generic(method, f"/v1{path}", data, content_type="application/json", headers=headers)


@pytest.fixture
def place(house: House) -> Place:
    """Return a table with a running round of two."""
    place = house.table()
    place.deal(0, 1)
    return place


def move(place: Place) -> tuple[int, dict[str, Any]]:
    """Return the seat whose turn it is, and the body of an action it may take."""
    number = place.turn()
    action = next(a for a in place.legal(number) if a["type"] in ("draw", "take"))
    return number, {"action": action, "seen": place.round.seq}


def without_a_stack(house: House) -> Place:
    """Return a table with a running round whose first turn may draw."""
    while True:
        place = house.table()
        place.deal(0, 1)
        if {"type": "draw"} in place.legal(place.turn()):
            return place


class TestMoves:
    def test_a_move_is_answered_with_its_entry_and_the_view_after_it(self, place: Place) -> None:
        number, body = move(place)
        answer = call(place.house.token(place.players[number]), "POST", f"/rounds/{place.round.pk.hex}/actions", body)
        assert answer.status_code == 201
        told = answer.json()
        assert told["seq"] == told["entry"]["seq"] == 1
        assert told["entry"]["input"] == body["action"]
        assert told["view"]["viewer"] == number
        assert told["head"] == bytes(place.round.head).hex()

    def test_the_same_key_has_one_effect_and_the_first_answer_again(self, place: Place) -> None:
        number, body = move(place)
        token, path = place.house.token(place.players[number]), f"/rounds/{place.round.pk.hex}/actions"
        first = call(token, "POST", path, body, **{"idempotency-key": "k1"})
        place.act(number, {"type": "pass"}) if body["action"]["type"] == "draw" else None
        again = call(token, "POST", path, body, **{"idempotency-key": "k1"})
        assert again.status_code == first.status_code == 201
        assert again.json() == first.json()
        assert again["Idempotency-Replayed"] == "true"

    def test_the_same_key_works_once_even_after_stored_answers_were_purged(self, place: Place) -> None:
        number, body = move(place)
        token, path = place.house.token(place.players[number]), f"/rounds/{place.round.pk.hex}/actions"
        first = call(token, "POST", path, body, **{"idempotency-key": "k1"})
        Idempotency.objects.all().delete()
        again = call(token, "POST", path, body, **{"idempotency-key": "k1"})
        assert (again.status_code, again.json()) == (201, first.json())
        assert place.round.seq == 1

    def test_the_same_key_with_another_body_is_refused(self, place: Place) -> None:
        number, body = move(place)
        token, path = place.house.token(place.players[number]), f"/rounds/{place.round.pk.hex}/actions"
        call(token, "POST", path, body, **{"idempotency-key": "k1"})
        other = call(token, "POST", path, {**body, "seen": 1}, **{"idempotency-key": "k1"})
        assert (other.status_code, other.json()["code"]) == (422, "request_key_reused")
        assert place.round.seq == 1

    def test_one_request_sent_ten_times_at_once_is_one_move(self, place: Place) -> None:
        number, body = move(place)
        token, path = place.house.token(place.players[number]), f"/rounds/{place.round.pk.hex}/actions"
        answers: list[tuple[int, Any]] = []

        def send() -> None:
            try:
                answer = call(token, "POST", path, body, **{"idempotency-key": "k1"})
                answers.append((answer.status_code, answer.json()))
            finally:
                connection.close()

        threads = [threading.Thread(target=send) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [status for status, _ in answers] == [201] * 10
        assert all(body == answers[0][1] for _, body in answers)
        assert Entry.objects.filter(round_id=place.round.pk).count() == 2

    @pytest.mark.parametrize(
        ("body", "status", "code"),
        [
            ({"action": {"type": "fly"}, "seen": 0}, 422, "bad_action"),
            ({"action": {"type": "pass"}, "seen": 0}, 422, "must_draw_first"),
            ({"action": {"type": "draw"}, "seen": 7}, 409, "stale_seq"),
            ({"action": "draw", "seen": 0}, 400, "invalid"),
            ({"action": {"type": "draw"}, "seen": True}, 400, "invalid"),
            ({"action": {"type": "draw"}}, 400, "invalid"),
            ({"action": {"type": "draw"}, "seen": 0, "more": 1}, 400, "invalid"),
        ],
    )
    def test_a_refused_move_says_why_and_writes_nothing(
        self, house: House, body: dict[str, Any], status: int, code: str
    ) -> None:
        place = without_a_stack(house)
        number = place.turn()
        answer = call(house.token(place.players[number]), "POST", f"/rounds/{place.round.pk.hex}/actions", body)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert answer["Content-Type"] == "application/problem+json"
        assert Entry.objects.filter(round_id=place.round.pk).count() == 1

    def test_a_revoked_session_moves_nothing(self, place: Place) -> None:
        number, body = move(place)
        made = session_create(player_id=place.players[number], ttl_s=600)
        session_revoke(operator_id=place.house.operator_id, session_id=made.session_id)
        answer = call(made.token, "POST", f"/rounds/{place.round.pk.hex}/actions", body)
        assert answer.status_code == 401
        assert place.round.seq == 0

    def test_a_stranger_is_told_nothing_of_the_hands(self, place: Place) -> None:
        stranger = place.house.player()
        answer = call(place.house.token(stranger), "GET", f"/rounds/{place.round.pk.hex}")
        assert answer.status_code == 200
        assert answer.json()["view"]["viewer"] is None
        _, body = move(place)
        refused = call(place.house.token(stranger), "POST", f"/rounds/{place.round.pk.hex}/actions", body)
        assert (refused.status_code, refused.json()["code"]) == (404, "not_dealt_in")

    def test_another_operators_caller_finds_no_round(self, place: Place) -> None:
        other = House()
        for token in (other.key, other.token(other.player())):
            for path in ("", "/openings", "/proof"):
                answer = call(token, "GET", f"/rounds/{place.round.pk.hex}{path}")
                assert (answer.status_code, answer.json()["code"]) == (404, "round_not_found")
            answer = call(token, "GET", f"/tables/{place.id}")
            assert (answer.status_code, answer.json()["code"]) == (404, "table_not_found")


class TestLeaving:
    def test_who_leaves_loses_the_stake_and_the_last_seat_wins(self, place: Place) -> None:
        round_ = place.round
        answer = call(place.house.token(place.players[0]), "POST", f"/rounds/{round_.pk.hex}/leave", {})
        assert answer.status_code == 200
        ended = Round.objects.get(pk=round_.pk)
        assert ended.outcome is not None
        assert (ended.outcome["reason"], ended.outcome["payouts"]) == ("last_seat", {"0": 0, "1": 1_900})
        assert list(Seat.objects.filter(table_id=place.id).values_list("number", flat=True)) == [1]

    def test_standing_up_in_a_running_round_is_refused(self, place: Place) -> None:
        answer = call(place.house.token(place.players[0]), "DELETE", f"/tables/{place.id}/seats/me")
        assert (answer.status_code, answer.json()["code"]) == (409, "seat_in_play")

    def test_who_left_cannot_leave_again(self, house: House) -> None:
        place = house.table()
        place.deal(0, 1, 2)
        token, path = house.token(place.players[0]), f"/rounds/{place.round.pk.hex}/leave"
        assert call(token, "POST", path, {}).status_code == 200
        again = call(token, "POST", path, {})
        assert (again.status_code, again.json()["code"]) == (422, "not_in_round")


class TestReconnect:
    def test_coming_back_shows_the_same_hand_openings_and_deadline(self, place: Place) -> None:
        token, path = place.house.token(place.players[0]), f"/rounds/{place.round.pk.hex}"
        first = call(token, "GET", path).json()
        openings = call(token, "GET", f"{path}/openings").json()
        second_token = place.house.token(place.players[0])
        assert call(second_token, "GET", path).json() == first
        assert call(second_token, "GET", f"{path}/openings").json() == openings
        assert len(openings["openings"]) == 8
