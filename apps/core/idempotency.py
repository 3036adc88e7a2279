"""A request with an Idempotency-Key has its effect once, however often it is sent.

The row that holds the answer is inserted in the same transaction as the effect, so both exist or neither does; a
second request with the key waits on the primary key and then finds the finished answer.  A cache could lose the key,
this cannot.

Source: docs/developers/idempotency.md, table of cases.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, overload
from uuid import UUID

from django.db import OperationalError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.api import problems
from apps.core.clock import database_ms
from apps.core.errors import ApplicationError
from apps.core.retries import retry, sqlstate
from apps.games.contract import RuleError

KEY_MAX = 255
RETENTION_MS = 30 * 24 * 3_600_000
"""Thirty days; what must never happen twice has a natural key that never expires."""
PURGE_BATCH = 5_000
LOCK_TIMEOUT = "55P03"
NOT_STORED = (401, 429)
HEADER_REPLAYED = "Idempotency-Replayed"

View = Callable[..., HttpResponseBase]


class IdempotencyKeyMissing(ApplicationError):
    """A route that moves money was called without the header."""

    code = "idempotency_key_missing"
    status = 400
    title = "This route needs an Idempotency-Key header."


class IdempotencyKeyInvalid(ApplicationError):
    """The header is not a key."""

    code = "idempotency_key_invalid"
    status = 400
    title = f"An Idempotency-Key has 1 to {KEY_MAX} printable ASCII characters."


class IdempotencyKeyReused(ApplicationError):
    """The key came before with another request."""

    code = "idempotency_key_reused"
    status = 422
    title = "This Idempotency-Key was used for a different request."


class RequestInProgress(ApplicationError):
    """The first request with this key is still being worked on."""

    code = "request_in_progress"
    status = 409
    title = "The first request with this Idempotency-Key is still in progress."
    money_moved = "unknown"
    retry = True
    same_key = True


@dataclass(frozen=True, slots=True)
class Slot:
    """Whose key it is, and what was asked."""

    operator_id: UUID
    subject_id: UUID
    key: str
    method: str
    route: str
    fingerprint: bytes


class _Undo(Exception):
    """Carries an answer that is not stored out of the transaction, which is undone."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


@overload
def idempotent(view: View) -> View: ...
@overload
def idempotent(*, required: bool) -> Callable[[View], View]: ...
def idempotent(view: View | None = None, *, required: bool = True) -> View | Callable[[View], View]:
    """Decorate a DRF handler method (``post``) so that its effect and its answer happen once per key.

    The decorator opens the outermost transaction and repeats it after a deadlock; the handler must not open a durable
    one.  What the handler does is undone when it refuses, and kept with its answer when it succeeds.  Never use it
    where the answer shows a secret: the answer is stored.

    Args:
        required: refuse a request without a key; otherwise such a request is simply done.
    """
    if view is None:
        return lambda inner: _decorated(inner, required)
    return _decorated(view, required)


def _decorated(view: View, required: bool) -> View:
    @wraps(view)
    def handler(self: Any, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        key = key_of(request)
        if key is None:
            if required:
                raise IdempotencyKeyMissing
            return retry(lambda: _in_transaction(view, self, request, *args, **kwargs))
        slot = _slot(request, key, kwargs)
        try:
            return retry(lambda: _once(slot, request, lambda: view(self, request, *args, **kwargs)))
        except _Undo as undone:
            raise undone.error from undone.error.__cause__

    handler.idempotency = required  # type: ignore[attr-defined]  # For the API document.
    return handler


def _in_transaction(view: View, *args: Any, **kwargs: Any) -> HttpResponseBase:
    with transaction.atomic():
        return view(*args, **kwargs)


def key_of(request: Request | HttpRequest) -> str | None:
    """Return the key of the request, bare or quoted, or None if there is none.

    Raises:
        IdempotencyKeyInvalid: the header is there but is no key.
    """
    value = request.headers.get("Idempotency-Key")
    if value is None:
        return None
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] == '"':
        value = value[1:-1]
    if not 1 <= len(value) <= KEY_MAX or not all(" " <= character <= "~" for character in value):
        raise IdempotencyKeyInvalid
    return value


def _slot(request: Request, key: str, parameters: dict[str, Any]) -> Slot:
    caller: Any = request.auth
    assert caller is not None, "an idempotent route needs a caller with credentials"
    match = request.resolver_match
    route = match.route if match else request.path
    method = str(request.method)
    parts = [
        method,
        route,
        json.dumps(parameters, sort_keys=True, default=str),
        request.META.get("QUERY_STRING", ""),
    ]
    digest = hashlib.sha256()
    for part in (*(part.encode() for part in parts), request._request.body):
        digest.update(len(part).to_bytes(8, "big") + part)
    subject = getattr(caller, "player_id", None) or caller.operator_id
    return Slot(caller.operator_id, subject, key, method, route, digest.digest())


def _once(slot: Slot, request: Request, view: Callable[[], HttpResponseBase]) -> HttpResponse:
    with transaction.atomic():
        stored = _claim(slot)
        if stored is not None:
            return stored
        answer = _attempt(request, view)
        _store(slot, answer)
        return answer


def _claim(slot: Slot) -> HttpResponse | None:
    """Insert the row and return None, or return the answer that is already there.

    Raises:
        RequestInProgress: the first request did not finish while this one waited.
        IdempotencyKeyReused: it was another request.
    """
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO core_idempotency"
                " (operator_id, subject_id, key, method, route, body_sha256, state, content_type, created_at_ms)"
                " VALUES (%s, %s, %s, %s, %s, %s, 'running', '', floor(extract(epoch FROM clock_timestamp()) * 1000))"
                " ON CONFLICT DO NOTHING",
                [slot.operator_id, slot.subject_id, slot.key, slot.method, slot.route, slot.fingerprint],
            )
            if cursor.rowcount == 1:
                return None
    except OperationalError as problem:
        if sqlstate(problem) == LOCK_TIMEOUT:
            raise RequestInProgress from problem
        raise
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT body_sha256, status, content_type, body FROM core_idempotency"
            " WHERE operator_id = %s AND subject_id = %s AND key = %s",
            [slot.operator_id, slot.subject_id, slot.key],
        )
        row = cursor.fetchone()
    if row is None:  # Purged between the two statements: the caller tries again and is then the first.
        raise RequestInProgress
    fingerprint, status, content_type, body = row
    if bytes(fingerprint) != slot.fingerprint:
        raise IdempotencyKeyReused
    return HttpResponse(bytes(body), status=status, content_type=content_type, headers={HEADER_REPLAYED: "true"})


def _attempt(request: Request, view: Callable[[], HttpResponseBase]) -> HttpResponse:
    """Run the handler; undo what it did when it refuses, and keep the refusal if it is one to keep.

    Raises:
        _Undo: with the error that is not stored.
    """
    try:
        with transaction.atomic():
            answer = _rendered(view())
            if answer.status_code >= 400:
                transaction.set_rollback(True)
    except (ApplicationError, RuleError) as error:
        if not _is_kept(error):
            raise _Undo(error) from error
        problem = problems.problem_of(error)
        assert problem is not None
        return problems.render(problem, request.path)
    assert answer.status_code < 500, "a handler raises what goes wrong, it does not return it"
    return answer


def _is_kept(error: ApplicationError | RuleError) -> bool:
    """Tell whether a retry gets this refusal again: a rule of the business that said no, and means it."""
    if isinstance(error, RuleError):
        return True
    return 400 <= error.status < 500 and error.status not in NOT_STORED and not (error.retry and error.same_key)


def _rendered(answer: HttpResponseBase) -> HttpResponse:
    if isinstance(answer, Response):
        data = b"" if answer.data is None else JSONRenderer().render(answer.data)
        return HttpResponse(data, status=answer.status_code, content_type="application/json")
    assert isinstance(answer, HttpResponse), "a streamed answer cannot be stored"
    return answer


def _store(slot: Slot, answer: HttpResponse) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE core_idempotency SET state = 'done', status = %s, content_type = %s, body = %s"
            " WHERE operator_id = %s AND subject_id = %s AND key = %s",
            [
                answer.status_code,
                answer.headers["Content-Type"],
                answer.content,
                slot.operator_id,
                slot.subject_id,
                slot.key,
            ],
        )


def purge() -> int:
    """Delete one batch of answers that are older than the retention; return how many."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM core_idempotency WHERE ctid = ANY (ARRAY(SELECT ctid FROM core_idempotency"
            " WHERE created_at_ms < %s ORDER BY created_at_ms LIMIT %s))",
            [database_ms() - RETENTION_MS, PURGE_BATCH],
        )
        return int(cursor.rowcount)
