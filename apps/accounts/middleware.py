"""What is added to every answer once the view is done: rate-limit headers, a challenge, and the signature.

Answers to operators are signed, so that one can show later what the server said.  Streams are not.

Source: docs/operators/signatures.md, section Answers, and docs/operators/rate-limits.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from apps.accounts.callers import caller_of, rate_of
from apps.accounts.paths import path_of
from apps.accounts.signatures import (
    HEADER_ANSWER_SIGNATURE,
    HEADER_ANSWER_TIMESTAMP,
    HEADER_NONCE,
    SignedAnswer,
    answer_keys,
)
from apps.core.clock import now_ms


@sync_and_async_middleware
def answer_headers(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Add our headers to an answer."""
    if iscoroutinefunction(get_response):

        async def in_loop(request: HttpRequest) -> HttpResponseBase:
            answer: HttpResponseBase = await _awaited(get_response(request))
            return _with_headers(request, answer)

        return in_loop

    def in_thread(request: HttpRequest) -> HttpResponseBase:
        return _with_headers(request, get_response(request))

    return in_thread


async def _awaited(answer: Awaitable[HttpResponseBase]) -> HttpResponseBase:
    return await answer


def _with_headers(request: HttpRequest, answer: HttpResponseBase) -> HttpResponseBase:
    rate = rate_of(request)
    if rate is not None:
        answer.headers["RateLimit-Policy"] = f'"{rate.policy}";q={rate.quota};w={rate.window_s}'
        answer.headers["RateLimit"] = f'"{rate.policy}";r={rate.remaining};t={rate.reset_s}'
    if answer.status_code == 401:
        answer.headers.setdefault("WWW-Authenticate", "Bearer")
    if isinstance(answer, HttpResponse):
        _sign(request, answer)
    return answer


def _sign(request: HttpRequest, answer: HttpResponse) -> None:
    caller = caller_of(request)
    if caller is None:
        return
    timestamp = str(now_ms() // 1000)
    signed = SignedAnswer(
        key_prefix=caller.key_prefix,
        method=str(request.method),
        path=path_of(request),
        query=request.META.get("QUERY_STRING", ""),
        nonce=request.headers.get(HEADER_NONCE, ""),
        timestamp=timestamp,
        status=answer.status_code,
        body=answer.content,
    )
    answer.headers[HEADER_ANSWER_TIMESTAMP] = timestamp
    answer.headers[HEADER_ANSWER_SIGNATURE] = answer_keys()[0].signature(signed)
