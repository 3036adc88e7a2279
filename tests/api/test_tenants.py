"""No operator and no player of his reaches anything of another operator's: every operation answers 404.

The operations come from the API document, so a new one is tried without being named here.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import override_settings

from tests.accounts.conftest import Caller
from tests.api.test_document import OPERATIONS
from tests.api.world import World
from tests.tables.conftest import House, house  # noqa: F401 - the fixture

OURS = (
    "player_id",
    "table_id",
    "round_id",
    "key_id",
    "session_id",
    "endpoint_id",
    "hold_id",
    "correction_id",
    "transaction_id",
    "external_id",
)
"""Members of paths and bodies that name a thing of one operator."""
MADE_ANEW = ("player_upsert", "wallet_credit", "wallet_debit")
"""Where an external_id of a body is the caller's own."""


def body_of(operation: Any, world: World) -> dict[str, Any] | None:
    """Return the example of an operation's body with ids of the world."""
    content = operation.definition.raw.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return None
    body: dict[str, Any] = json.loads(json.dumps(next(iter(content["examples"].values()))["value"]))
    operation_id = operation.definition.raw["operationId"]
    for name in set(body) & set(OURS):
        if name != "external_id" or operation_id not in MADE_ANEW:
            body[name] = world.known[name][0]
    return body


def names_of(operation: Any) -> set[str]:
    """Return which ids of ours an operation takes."""
    raw = operation.definition.raw
    named = {parameter["name"] for parameter in raw.get("parameters", []) if parameter["in"] == "path"}
    content = raw.get("requestBody", {}).get("content", {}).get("application/json")
    if content is not None and raw["operationId"] not in MADE_ANEW[:1]:
        named |= set(next(iter(content["examples"].values()))["value"])
    return named & set(OURS)


PRIVATE = [one for one in OPERATIONS if one.definition.raw.get("security") and names_of(one)]


@pytest.mark.django_db(transaction=True)
class TestAnotherOperator:
    def test_finds_nothing_on_any_route(self, house: House) -> None:  # noqa: F811
        world, rival = World(house), House()
        callers = {"operatorKey": Caller(rival.key), "player": Caller(rival.token(rival.player()))}
        currency = "currency=PTS"
        wrong = []
        with override_settings(SEALDECK_SANDBOX=True):
            for operation in PRIVATE:
                path = operation.path
                for name in OURS:
                    path = path.replace("{" + name + "}", str(world.known[name][0]))
                body = body_of(operation, world)
                if body is not None and "currency" in body:
                    body["currency"] = "PTS"
                schemes = {name for entry in operation.definition.raw["security"] for name in entry}
                for kind, caller in callers.items():
                    if any(scheme.startswith(kind) for scheme in schemes):
                        url = f"{path.removeprefix('/v1')}?{currency}"
                        answer = caller(operation.method.upper(), url, body, **{"Idempotency-Key": uuid4().hex})
                        if answer.status_code != 404:
                            wrong.append(f"{operation.label} {kind}: {answer.status_code} {answer.content[:200]!r}")
        assert wrong == [], "\n".join(wrong)

    def test_is_tried_on_all_that_names_a_thing(self) -> None:
        assert len(PRIVATE) > 30
