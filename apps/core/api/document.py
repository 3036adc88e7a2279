"""The API document: which refusals an operation has, with an example of each, and examples of bodies and answers.

A view's method names the errors of its own with ``@refuses``; what follows from its form (it takes a body, it has an
Idempotency-Key, it is for callers with credentials) is added here, so that it cannot be forgotten.  Every code has one
example below ``components``, made from its class.

The examples of bodies and answers are data: ``examples.json`` beside this file, by operation.

Source: docs/operators/errors.md.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from drf_spectacular.openapi import AutoSchema

from apps.core.api.parsers import BodyTooLarge, MalformedJson
from apps.core.api.problems import CONTENT_TYPE, TYPE_BASE, DatabaseBusy, DatabaseUnavailable
from apps.core.errors import ApplicationError, error_classes
from apps.core.idempotency import IdempotencyKeyInvalid, IdempotencyKeyMissing, IdempotencyKeyReused, RequestInProgress
from apps.games.contract import RuleError

Method = TypeVar("Method", bound=Callable[..., Any])
Refusal = type[ApplicationError] | type[RuleError]

EXAMPLES = Path(__file__).with_name("examples.json")
HEADINGS = {
    400: "The request is malformed.",
    401: "Who calls is not known.",
    403: "Who calls may not do this.",
    404: "There is no such thing, or not for you.",
    406: "The answer is not available in the form that was asked for.",
    409: "It does not fit what is there now.",
    410: "It is gone.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "The request is well-formed and makes no sense here.",
    429: "Too many requests.",
    503: "The server cannot answer now.",
}
FRAMEWORK = {
    "invalid": (400, "The request is not valid."),
    "not_found": (404, "Not found."),
    "not_acceptable": (406, "Not Acceptable."),
    "unsupported_media_type": (415, "Unsupported Media Type."),
}
"""Codes without a class of ours, with status and title."""
SUCCESSES = ("200", "201", "202")
RULES = "rules_refuse"
PROBLEM = {
    "type": "object",
    "description": "Why a request was refused (RFC 9457). Further members belong to the code.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"type": "string", "description": "Stable; what a program decides by."},
        "trace_id": {"type": "string"},
        "retryable": {"type": "boolean", "description": "Whether the same request may succeed later."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "pointer": {"type": "string", "description": "RFC 6901, into the body or the query."},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                },
                "required": ["pointer", "code", "detail"],
            },
        },
    },
    "required": ["type", "title", "status", "detail", "instance", "code", "trace_id", "retryable", "errors"],
}


def refuses(*errors: Refusal) -> Callable[[Method], Method]:
    """Say which errors a view's method raises, beyond those that follow from its form."""

    def named(method: Method) -> Method:
        method.refusals = errors  # type: ignore[attr-defined]  # Read by the schema below.
        return method

    return named


class DocumentedSchema(AutoSchema):
    """Describes an operation with its refusals and examples."""

    caller_refusals: tuple[Refusal, ...] = ()
    """What every operation for callers with credentials may refuse with; accounts say it."""

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        """Return the operation, or None where it is not documented."""
        operation = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        told = _examples().get(operation["operationId"], {})
        if "body" in told:
            _example_set(operation["requestBody"], told["body"])
        for status, response in operation["responses"].items():
            if status in SUCCESSES and "answer" in told:
                _example_set(response, told["answer"])
        for status, codes in sorted(self._codes(operation).items()):
            operation["responses"][str(status)] = {
                "description": HEADINGS[status],
                "content": {
                    CONTENT_TYPE: {
                        "schema": {"$ref": "#/components/schemas/Problem"},
                        "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in sorted(codes)},
                    }
                },
            }
        return operation

    def _codes(self, operation: dict[str, Any]) -> dict[int, set[str]]:
        codes: dict[int, set[str]] = defaultdict(set)
        for refusal in (*self._refusals(operation), *self._handler_refusals()):
            if issubclass(refusal, RuleError):
                codes[422].add(RULES)
            else:
                codes[refusal.status].add(refusal.code)
        for code in self._framework(operation):
            codes[FRAMEWORK[code][0]].add(code)
        return codes

    def _handler(self) -> Any:
        return getattr(self.view, self.method.lower())

    def _handler_refusals(self) -> tuple[Refusal, ...]:
        found: tuple[Refusal, ...] = getattr(self._handler(), "refusals", ())
        return found

    def _refusals(self, operation: dict[str, Any]) -> Iterable[Refusal]:
        yield from (DatabaseBusy, DatabaseUnavailable)
        if self.view.authentication_classes:
            yield from self.caller_refusals
        if "requestBody" in operation:
            yield from (MalformedJson, BodyTooLarge)
        required = getattr(self._handler(), "idempotency", None)
        if required is not None:
            yield from (IdempotencyKeyInvalid, IdempotencyKeyReused, RequestInProgress)
            if required:
                yield IdempotencyKeyMissing

    def _framework(self, operation: dict[str, Any]) -> Iterable[str]:
        parameters = operation.get("parameters", [])
        yield "not_acceptable"
        if "requestBody" in operation:
            yield from ("invalid", "unsupported_media_type")
        if any(parameter["in"] == "query" for parameter in parameters):
            yield "invalid"
        if any(parameter["in"] == "path" for parameter in parameters):
            yield "not_found"


def _example_set(part: dict[str, Any], value: Any) -> None:
    for content in part.get("content", {}).values():
        content["examples"] = {"usual": {"value": value}}


def problems_append(result: dict[str, Any], **_told: Any) -> dict[str, Any]:
    """Add the shape of a problem and an example of every code that an operation names."""
    named = {
        code
        for path in result["paths"].values()
        for operation in path.values()
        for response in operation["responses"].values()
        for code in response.get("content", {}).get(CONTENT_TYPE, {}).get("examples", {})
    }
    components = result["components"]
    components["schemas"] = dict(sorted({**components["schemas"], "Problem": PROBLEM}.items()))
    components["examples"] = {code: _problem_example(code) for code in sorted(named)}
    return result


def _problem_example(code: str) -> dict[str, Any]:
    if code == RULES:
        return {
            "summary": "The rules of the game refuse; the codes are on the game's page.",
            "value": _problem("not_your_turn", 422, "The rules refuse.", retryable=False),
        }
    if code in FRAMEWORK:
        status, title = FRAMEWORK[code]
        return {"summary": title, "value": _problem(code, status, title, retryable=False)}
    error = error_classes()[code]
    return {"summary": error.title, "value": _problem(code, error.status, error.title, retryable=error.retry)}


def _problem(code: str, status: int, title: str, *, retryable: bool) -> dict[str, Any]:
    return {
        "type": f"{TYPE_BASE}{code}",
        "title": title,
        "status": status,
        "detail": title,
        "instance": "/v1/...",
        "code": code,
        "trace_id": "5f0c2e9a7b1d4c33",
        "retryable": retryable,
        "errors": [],
    }


@cache
def _examples() -> dict[str, dict[str, Any]]:
    read: dict[str, dict[str, Any]] = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return read
