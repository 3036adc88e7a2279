"""Every error of the API as one document: RFC 9457 ``application/problem+json``.

``code`` is stable and names the error; ``errors`` point at the members of the body that caused it; ``retryable`` says
whether the same request may succeed later.  The text never contains what its reader may not know.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework import exceptions

from apps.core.api.parsers import BodyTooLarge, pointer_part
from apps.core.errors import ApplicationError
from apps.core.logs import request_id
from apps.core.retries import sqlstate
from apps.games.contract import RuleError

CONTENT_TYPE = "application/problem+json"
TYPE_BASE = "/problems/"
RETRY_AFTER_S = 1
BUSY_STATES = ("40001", "40P01", "55P03", "57014")
"""SQLSTATE: serialisation failure, deadlock, lock timeout, statement timeout."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Problem:
    """What a problem document says, before it is rendered."""

    status: int
    code: str
    title: str
    detail: str
    retryable: bool = False
    errors: tuple[Mapping[str, str], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self, instance: str) -> dict[str, Any]:
        """Return the members of the document."""
        return {
            **self.facts,
            "type": f"{TYPE_BASE}{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "instance": instance,
            "code": self.code,
            "trace_id": request_id(),
            "retryable": self.retryable,
            "errors": [dict(error) for error in self.errors],
        }


class DatabaseBusy(ApplicationError):
    """A lock, a timeout or a serialisation failure that outlived its retries: never told as another error."""

    code = "database_busy"
    status = 503
    title = "The server is busy; nothing was changed."
    retry = True
    same_key = True


class DatabaseUnavailable(ApplicationError):
    """The database is away."""

    code = "database_unavailable"
    status = 503
    title = "The database does not answer; whether something was changed is unknown."
    money_moved = "unknown"
    retry = True
    same_key = True


def problem_of(error: BaseException) -> Problem | None:
    """Return the problem that tells of the error, or None when the error is ours."""
    match error:
        case ApplicationError():
            return _of_application(error)
        case RuleError():
            return Problem(422, error.code, "The rules refuse.", f"The rules refuse: {error.code}.", facts=error.facts)
        case RequestDataTooBig():
            return _of_application(BodyTooLarge())
        case Http404() | exceptions.NotFound():
            return Problem(404, "not_found", "Not found.", "There is no such resource, or not for you.")
        case PermissionDenied():
            return Problem(403, "permission_denied", "Not allowed.", "The credentials do not allow this.")
        case exceptions.ValidationError():
            details = tuple(_flatten(error.detail, ""))
            return Problem(400, "invalid", "The request is not valid.", details[0]["detail"], errors=details)
        case exceptions.APIException():
            return _of_api(error)
        case OperationalError() | InterfaceError() if sqlstate(error) in BUSY_STATES:
            return _of_application(DatabaseBusy())
        case OperationalError() | InterfaceError():
            return _of_application(DatabaseUnavailable())
        case DatabaseError() if sqlstate(error) in BUSY_STATES:
            return _of_application(DatabaseBusy())
        case _:
            return None


def _of_application(error: ApplicationError) -> Problem:
    errors: tuple[Mapping[str, str], ...] = ()
    if error.pointer is not None:
        errors = ({"pointer": error.pointer, "code": error.code, "detail": error.detail},)
    headers = {"Retry-After": str(RETRY_AFTER_S)} if error.retry and error.status in (409, 429, 503) else {}
    if "retry_after_s" in error.facts:
        headers = {"Retry-After": str(error.facts["retry_after_s"])}
    return Problem(error.status, error.code, error.title, error.detail, error.retry, errors, error.facts, headers)


def _of_api(error: exceptions.APIException) -> Problem:
    code = {"throttled": "rate_limited", "parse_error": "malformed_json"}.get(error.default_code, error.default_code)
    headers: dict[str, str] = {}
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = error.auth_header  # type: ignore[attr-defined]  # DRF sets it on 401 only.
    wait = getattr(error, "wait", None)
    if wait is not None:
        headers["Retry-After"] = str(math.ceil(wait))
    title = HTTPStatus(error.status_code).phrase + "."
    return Problem(error.status_code, code, title, str(error.detail), wait is not None, headers=headers)


def _flatten(detail: Any, pointer: str) -> Iterator[dict[str, str]]:
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            below = pointer if name == "non_field_errors" else f"{pointer}/{pointer_part(name)}"
            yield from _flatten(inner, below)
    elif isinstance(detail, list | tuple):
        for index, inner in enumerate(detail):
            leaf = isinstance(inner, str)
            yield from _flatten(inner, pointer if leaf else f"{pointer}/{index}")
    else:
        yield {"pointer": pointer, "code": str(getattr(detail, "code", "invalid")), "detail": str(detail)}


def render(problem: Problem, instance: str) -> HttpResponse:
    """Return the HTTP answer that carries the problem."""
    return HttpResponse(
        json.dumps(problem.body(instance), default=str, separators=(",", ":")),
        status=problem.status,
        content_type=CONTENT_TYPE,
        headers=dict(problem.headers),
    )


def handler(error: Exception, context: Mapping[str, Any]) -> HttpResponse | None:
    """Answer an error raised in a view: DRF's EXCEPTION_HANDLER.  None lets what is our fault rise."""
    problem = problem_of(error)
    if problem is None:
        return None
    if problem.status >= 500:
        _log.warning("request_failed", code=problem.code, error=repr(error), sqlstate=sqlstate(error))
    return render(problem, context["request"].path)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an address that does not exist: Django's handler404."""
    return render(Problem(404, "not_found", "Not found.", "There is no such address."), request.path)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what Django refuses before a view runs: handler400."""
    return render(Problem(400, "bad_request", "Bad request.", "The request is malformed."), request.path)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a refusal outside the API's views: handler403."""
    return render(Problem(403, "permission_denied", "Not allowed.", "The credentials do not allow this."), request.path)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer our own fault, which the log has with the same trace id: handler500."""
    problem = Problem(500, "internal_error", "Our fault.", "The server failed; whether something changed is unknown.")
    return render(problem, request.path)
