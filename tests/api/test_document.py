"""The running API does what its document says: random requests of every operation, by every kind of caller.

Whatever is sent, the answer is one that the document names: its status, its content type, its form, and the code of a
refusal.  And every operation shows how it is used: examples of bodies and answers, each of the form it belongs to.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
import requests
import schemathesis
from django.test import override_settings
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from apps.core.api.problems import CONTENT_TYPE
from tests.api.world import World
from tests.tables.conftest import House, house  # noqa: F401 - the fixture
from tools.check import OPENAPI

EXAMPLES = 2
"""Requests of every operation by every kind of caller."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
SCHEMA = schemathesis.openapi.from_path(OPENAPI)
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)]
UNLIMITED = "read=0/60,write=0/60,money=0/60,player=0/60"
RULES = "rules_refuse"


def cases(operation: Any, known: dict[str, list[Any]]) -> st.SearchStrategy[Any]:
    """Return random requests of an operation, most of them with ids of things that exist."""
    valid = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    invalid = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)

    @st.composite
    def drawn(draw: st.DrawFn) -> Any:
        case = draw(invalid if draw(st.integers(0, 2)) == 2 else valid)
        for part in (case.path_parameters, case.query, case.body):
            for name in sorted(set(part) & set(known)) if isinstance(part, dict) else ():
                if draw(st.integers(0, 3)):
                    part[name] = draw(st.sampled_from(known[name]))
        if draw(st.booleans()):
            case.headers["Idempotency-Key"] = draw(st.uuids().map(str))
        return case

    return drawn()


def undocumented(case: Any, answer: requests.Response) -> set[str]:
    """Return what the document does not tell of a refusal."""
    if answer.headers.get("Content-Type") != CONTENT_TYPE:
        return set()
    problem = answer.json()
    told = case.operation.definition.raw["responses"][str(answer.status_code)]["content"][CONTENT_TYPE]["examples"]
    if problem["code"] in told or RULES in told:
        return set()
    return {f"{case.operation.label}: {problem['code']} is not documented: {problem['detail']}"}


def faults(operation: Any, world: World, url: str) -> set[str]:
    """Send random requests of an operation, each by every kind of caller; return what was wrong with the answers."""
    found: set[str] = set()
    callers = [{"Authorization": f"Bearer {credential}"} for credential in (world.token, world.key)]

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(operation, world.known))
    def run(case: Any) -> None:
        for headers in ({}, *callers):
            answer = case.call(base_url=url, session=session, headers=headers, allow_redirects=False)
            try:
                case.validate_response(answer, checks=CHECKS)
            except FailureGroup as group:
                found.update(f"{operation.label}: {one.title}: {one.message}"[:600] for one in group.exceptions)
            else:
                found.update(undocumented(case, answer))

    with requests.Session() as session:
        run()
    return found


@pytest.mark.django_db(transaction=True)
class TestRunningApi:
    def test_answers_as_its_document_says(self, live_server: Any, house: House) -> None:  # noqa: F811
        world = World(house)
        with override_settings(SEALDECK_RATE_LIMITS=UNLIMITED):
            found = [fault for one in OPERATIONS for fault in faults(one, world, live_server.url)]
        assert found == [], "\n".join(found)


def _parts(operation: Any) -> dict[str, dict[str, Any]]:
    """Return the bodies and answers of an operation that have a form: where they stand, to their media type's entry."""
    raw = operation.definition.raw
    found = {"body": raw["requestBody"]["content"]} if "requestBody" in raw else {}
    found |= {status: answer.get("content", {}) for status, answer in raw["responses"].items()}
    return {f"{where} {kind}": told for where, content in found.items() for kind, told in content.items()}


@cache
def _validator(schema: str) -> Any:
    return jsonschema_rs.validator_for({**json.loads(schema), "components": SCHEMA.raw_schema["components"]})


class TestDocument:
    def test_is_read_as_a_whole(self) -> None:
        assert len(OPERATIONS) == sum(len(operations) for operations in SCHEMA.raw_schema["paths"].values())

    @pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.label)
    def test_shows_every_body_and_answer_by_examples_of_its_form(self, operation: Any) -> None:
        for where, told in _parts(operation).items():
            if "octet-stream" in where:
                continue
            assert told.get("examples"), f"{where}: add an example of {operation.label} to apps/core/api/examples.json"
            for name, example in told["examples"].items():
                if "$ref" in example:
                    example = SCHEMA.raw_schema["components"]["examples"][example["$ref"].rpartition("/")[2]]
                wrong = [str(error) for error in _validator(json.dumps(told["schema"])).iter_errors(example["value"])]
                assert wrong == [], f"{where} {name}"

    def test_is_not_content_with_an_answer_of_another_form(self) -> None:
        told = _parts(next(one for one in OPERATIONS if one.label == "GET /v1/players/{player_id}"))
        assert not _validator(json.dumps(told["200 application/json"]["schema"])).is_valid({"id": 7})
