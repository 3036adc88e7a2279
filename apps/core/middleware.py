"""What happens around every request: its id, its line in the log, its metrics, the headers of every answer."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import cast

import structlog
from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from apps.core import logs, metrics

ID_HEADER = "X-Request-Id"
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
    " form-action 'self'; frame-ancestors 'none'"
)
"""Content security policy of our own pages: nothing from another host, nothing inline."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
}
PRIVATE = "no-store"
"""Cache-Control of every answer below /v1/ that does not say otherwise."""
QUIET = ("/health/", "/metrics", "/static/")

_log = structlog.get_logger("sealdeck.access")

Sync = Callable[[HttpRequest], HttpResponseBase]
Async = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def request_context(get_response: Sync | Async) -> Sync | Async:
    """Give the request an id, and its answer the headers, the log line and the metrics."""
    if iscoroutinefunction(get_response):
        later = cast("Async", get_response)

        async def around_later(request: HttpRequest) -> HttpResponseBase:
            request_id, began_s = _begin(request)
            return _end(request, await later(request), request_id, began_s)

        return around_later

    now = cast("Sync", get_response)

    def around(request: HttpRequest) -> HttpResponseBase:
        request_id, began_s = _begin(request)
        return _end(request, now(request), request_id, began_s)

    return around


def _begin(request: HttpRequest) -> tuple[str, float]:
    return logs.request_begin(request.headers.get(ID_HEADER)), time.monotonic()


def _end(request: HttpRequest, answer: HttpResponseBase, request_id: str, began_s: float) -> HttpResponseBase:
    answer.headers[ID_HEADER] = request_id
    for name, value in HEADERS.items():
        answer.headers.setdefault(name, value)
    if request.path.startswith("/v1/"):
        answer.headers.setdefault("Cache-Control", PRIVATE)
    took_s = time.monotonic() - began_s
    # The route, never the path: paths have no bound, and a metric for each would fill the memory.
    route = request.resolver_match.route if request.resolver_match else "none"
    method = request.method if request.method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "?"
    metrics.REQUESTS.labels(method, route, answer.status_code).inc()
    metrics.SECONDS.labels(route).observe(took_s)
    if not request.path.startswith(QUIET):
        _log.info("request", method=method, route=route, status=answer.status_code, took_ms=int(took_s * 1000))
    return answer
