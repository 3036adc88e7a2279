"""The same request many times at once: what is unique decides, and whoever comes second is told so, never 500."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from apps.accounts.models import Player
from apps.tables.models import Seat, Table
from apps.wallets.models import Hold
from apps.webhooks.models import Delivery, Endpoint
from apps.webhooks.services import ENDPOINTS_MAX, endpoint_create, events_number, outbox_add
from tests.races.test_wallets import at_once
from tests.tables.conftest import House
from tests.tables.conftest import house as house

pytestmark = pytest.mark.django_db(transaction=True)

TIMES = 6


def post(key: str, path: str, body: Any, method: str = "POST") -> Any:
    """Send a request under an idempotency key of its own and return the answer."""
    headers = {"authorization": f"Bearer {key}", "idempotency-key": uuid4().hex}
    return APIClient().generic(method, f"/v1{path}", json.dumps(body), "application/json", headers=headers)


def told(work: Callable[[], Any], times: int = TIMES) -> Counter[Any]:
    """Return how often each status, with its code where it refuses, answers the same request so many times at once."""
    answers = at_once([work] * times)
    return Counter(
        (answer.status_code, answer.json()["code"] if answer.status_code >= 400 else None) for answer in answers
    )


class TestAtOnce:
    def test_tables_of_one_private_code_are_one(self, house: House) -> None:
        body = {"game": "monko", "currency": "PTS", "buy_in_minor": 0, "code": "friends"}
        seen = told(partial(post, house.key, "/tables", body))
        assert seen == {(201, None): 1, (422, "table_setting_invalid"): TIMES - 1}
        assert Table.objects.count() == 1

    def test_players_of_one_id_are_one(self, house: House) -> None:
        assert told(partial(post, house.key, "/players", {"external_id": "u-1"})).keys() <= {(200, None), (201, None)}
        assert Player.objects.count() == 1

    def test_keys_of_one_label_are_two(self, house: House) -> None:
        seen = told(partial(post, house.key, "/keys", {"scopes": ["read"], "label": "new"}))
        assert seen == {(201, None): 2, (409, "key_limit_reached"): TIMES - 2}

    def test_endpoints_stay_within_their_number(self, house: House) -> None:
        for number in range(ENDPOINTS_MAX - 1):
            endpoint_create(operator_id=house.operator_id, url=f"https://hooks.example/{number}", topics=[])
        seen = told(partial(post, house.key, "/webhooks", {"url": "https://hooks.example/last"}))
        assert seen == {(201, None): 1, (409, "webhook_limit_reached"): TIMES - 1}
        assert Endpoint.objects.count() == ENDPOINTS_MAX

    def test_replays_send_an_event_once(self, house: House) -> None:
        with transaction.atomic():
            outbox_add(operator_id=house.operator_id, topic="round.finished", payload={})
        events_number(operator_id=house.operator_id)
        endpoint = endpoint_create(operator_id=house.operator_id, url="https://hooks.example/1", topics=[])
        seen = told(partial(post, house.key, f"/webhooks/{endpoint.pk}/replay", {"after": 0}))
        assert sum(count for (status, _), count in seen.items() if status < 300) == TIMES
        assert Delivery.objects.count() == 1

    def test_sessions_all_live(self, house: House) -> None:
        body = {"player_id": str(house.player())}
        assert told(partial(post, house.key, "/sessions", body)) == {(201, None): TIMES}

    def test_limits_and_exclusions_of_one_person_wait_for_each_other(self, house: House) -> None:
        player = house.player(person_key="h:1")
        wish = {"limits": [{"kind": "session_minutes", "value": 60}]}
        path = f"/players/{player}"
        assert told(partial(post, house.key, f"{path}/limits", wish, "PATCH")) == {(200, None): TIMES}
        assert told(partial(post, house.key, f"{path}/exclusion", {"until_ms": None})) == {(201, None): TIMES}

    def test_seats_of_one_number_are_one(self, house: House) -> None:
        place = house.table()
        tokens = [house.token(house.player()) for _ in range(TIMES)]
        answers = at_once([partial(post, token, f"/tables/{place.id}/seats", {"seat": 0}) for token in tokens])
        assert Counter(answer.status_code for answer in answers) == {201: 1, 409: TIMES - 1}
        assert Seat.objects.count() == 1

    def test_credits_of_one_id_are_one(self, house: House) -> None:
        player = house.player(0)
        body = {"player_id": str(player), "currency": "PTS", "amount_minor": 5, "external_id": "c-1"}
        seen = told(partial(post, house.key, "/wallet/credits", body))
        assert seen.keys() <= {(200, None), (201, None)}
        assert house.points(player) == 5

    def test_holds_of_one_reference_are_one(self, house: House) -> None:
        body = {
            "player_id": str(house.player(100)),
            "currency": "PTS",
            "amount_minor": 60,
            "purpose": "withdrawal",
            "reference": str(uuid4()),
            "ttl_ms": 60_000,
        }
        assert told(partial(post, house.key, "/wallet/holds", body)) == {(201, None): TIMES}
        assert Hold.objects.count() == 1
