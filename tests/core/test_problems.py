"""Errors of the API: one form, stable codes, pointers, and nothing told as what it is not."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.test import APIClient

from apps.core.api.problems import problem_of
from apps.core.errors import ApplicationError
from apps.core.models import Idempotency
from apps.core.retries import TRIES
from apps.games.contract import RuleError
from tests.core import routes

pytestmark = [pytest.mark.urls("tests.core.routes")]


class Taken(ApplicationError):
    """A seat is taken."""

    code = "seat_taken_here"
    status = 409
    title = "The seat is taken."


class TestProblemOf:
    def test_an_application_error_carries_code_pointer_and_facts(self) -> None:
        problem = problem_of(Taken("Seat 3 is taken.", pointer="/seat", seat=3))
        assert problem is not None
        assert problem.body("/v1/x") | {"trace_id": ""} == {
            "type": "/problems/seat_taken_here",
            "title": "The seat is taken.",
            "status": 409,
            "detail": "Seat 3 is taken.",
            "instance": "/v1/x",
            "code": "seat_taken_here",
            "trace_id": "",
            "retryable": False,
            "errors": [{"pointer": "/seat", "code": "seat_taken_here", "detail": "Seat 3 is taken."}],
            "seat": 3,
        }

    def test_facts_cannot_overwrite_the_document(self) -> None:
        problem = problem_of(RuleError("not_your_turn", status="lost", type="other"))
        assert problem is not None
        body = problem.body("/v1/x")
        assert (body["status"], body["type"]) == (422, "/problems/not_your_turn")

    @pytest.mark.parametrize(
        ("error", "status", "code"),
        [
            (RuleError("round_over"), 422, "round_over"),
            (Http404(), 404, "not_found"),
            (exceptions.NotFound(), 404, "not_found"),
            (PermissionDenied(), 403, "permission_denied"),
            (exceptions.PermissionDenied(), 403, "permission_denied"),
            (exceptions.NotAuthenticated(), 401, "not_authenticated"),
            (exceptions.AuthenticationFailed(), 401, "authentication_failed"),
            (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
            (exceptions.UnsupportedMediaType("text/plain"), 415, "unsupported_media_type"),
            (exceptions.Throttled(wait=3), 429, "rate_limited"),
            (exceptions.ParseError(), 400, "malformed_json"),
            (OperationalError("connection refused"), 503, "database_unavailable"),
        ],
    )
    def test_every_other_error_has_its_status_and_code(self, error: Exception, status: int, code: str) -> None:
        problem = problem_of(error)
        assert problem is not None
        assert (problem.status, problem.code) == (status, code)

    @pytest.mark.parametrize("error", [AssertionError(), KeyError("x"), ValueError()])
    def test_what_is_our_fault_is_not_explained_away(self, error: Exception) -> None:
        assert problem_of(error) is None

    def test_a_throttled_caller_is_told_when_to_come_back(self) -> None:
        problem = problem_of(exceptions.Throttled(wait=2.3))
        assert problem is not None
        assert (problem.headers["Retry-After"], problem.retryable) == ("3", True)


def known(**headers: str) -> Any:
    """Return a client whose errors do not rise into the test."""
    return APIClient(raise_request_exception=False, headers=headers)


class TestShape:
    def test_every_wrong_member_is_pointed_at(self) -> None:
        answer = known().post("/shape", {"amount_minor": 0, "seats": [1, 12], "inner": {}})
        assert answer.status_code == 400
        assert answer.headers["Content-Type"] == "application/problem+json"
        told = {(error["pointer"], error["code"]) for error in answer.json()["errors"]}
        assert told == {("/amount_minor", "min_value"), ("/seats/1", "max_value"), ("/inner/name", "required")}

    def test_a_body_that_is_not_strict_json_is_pointed_at(self) -> None:
        answer = known().post("/shape", data='{"amount_minor": 1.5}', content_type="application/json")
        assert (answer.status_code, answer.json()["code"]) == (400, "malformed_json")
        assert answer.json()["errors"][0]["pointer"] == "/amount_minor"

    def test_a_body_too_large_is_refused_unread(self) -> None:
        answer = known().post("/shape", data=b" " * 70_000 + b"{}", content_type="application/json")
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")

    def test_another_media_type_is_refused(self) -> None:
        answer = known().post("/shape", data="a=1", content_type="application/x-www-form-urlencoded")
        assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")

    def test_another_method_is_refused(self) -> None:
        answer = known().put("/shape", {})
        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


@pytest.mark.django_db(transaction=True)
class TestDatabaseErrors:
    @pytest.fixture(autouse=True)
    def _count_anew(self) -> None:
        routes.Database.tries = 0

    def send(self, sqlstate: str, times: int) -> Any:
        """Fail so many times with an SQLSTATE."""
        return known().post("/database", {"sqlstate": sqlstate, "times": times}, headers={"Idempotency-Key": "k"})

    @pytest.mark.parametrize("sqlstate", ["40001", "40P01"])
    def test_a_transaction_that_may_be_repeated_is(self, sqlstate: str) -> None:
        answer = self.send(sqlstate, TRIES - 1)
        assert (answer.status_code, answer.json()) == (201, {"tries": TRIES})
        assert Group.objects.filter(name="tried").count() == 1

    @pytest.mark.parametrize(("sqlstate", "tries"), [("40001", TRIES), ("40P01", TRIES), ("55P03", 1), ("57014", 1)])
    def test_what_goes_on_failing_is_busy_and_nothing_else(self, sqlstate: str, tries: int) -> None:
        answer = self.send(sqlstate, 99)
        assert (answer.status_code, answer.json()["code"]) == (503, "database_busy")
        assert answer.json()["retryable"] is True
        assert answer.headers["Retry-After"] == "1"
        assert routes.Database.tries == tries
        assert not Group.objects.exists()
        assert not Idempotency.objects.exists()

    def test_a_constraint_that_fails_is_our_fault(self) -> None:
        answer = self.send("23514", 99)
        assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
        assert not Group.objects.exists()
