"""Pages about the service itself: is it alive, is it ready, what does it count, what do its error codes mean."""

from __future__ import annotations

import hmac
import os
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from apps.core import backlog, health
from apps.core.errors import ApplicationError, error_classes

_log = structlog.get_logger(__name__)


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Answer: this process runs.  Looks at nothing else, so that an outage elsewhere restarts nobody."""
    return JsonResponse({"status": "ok"})


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Answer whether the service can do its work: 200, or 503 with what is missing."""
    found = health.findings()
    ok = all(finding.ok for finding in found)
    checks = {
        finding.name: {"ok": finding.ok, "detail": finding.detail, "took_ms": finding.took_ms} for finding in found
    }
    return JsonResponse({"status": "ok" if ok else "failing", "checks": checks}, status=200 if ok else 503)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Show the metrics of all processes of this machine to who knows SEALDECK_METRICS_TOKEN; 404 to others."""
    expected = settings.SEALDECK_METRICS_TOKEN
    offered = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not expected or not hmac.compare_digest(offered.encode(), expected.encode()):
        raise Http404
    registry = REGISTRY
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if folder is not None:
        _dead_forget(Path(folder))
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return HttpResponse(generate_latest(registry) + _backlog(), content_type=CONTENT_TYPE_LATEST)


def _backlog() -> bytes:
    """Return what is due, or nothing while the database does not answer: the other metrics are wanted then too."""
    asked = CollectorRegistry(auto_describe=False)
    asked.register(backlog.BacklogCollector())
    try:
        return generate_latest(asked)
    except Error as problem:
        _log.warning("backlog_unknown", error=repr(problem))
        return b""


def _dead_forget(folder: Path) -> None:
    """Forget the present values of processes that are gone; one that was killed could not do so itself."""
    for path in folder.glob("gauge_live*_*.db"):
        pid = int(path.stem.rpartition("_")[2])
        if not Path(f"/proc/{pid}").exists():
            mark_process_dead(pid)  # type: ignore[no-untyped-call]


def _entry(error: type[ApplicationError]) -> dict[str, Any]:
    return {
        "code": error.code,
        "status": error.status,
        "title": error.title,
        "money_moved": error.money_moved,
        "retry": error.retry,
        "same_key": error.same_key,
    }


@require_safe
def problems(request: HttpRequest) -> HttpResponse:
    """List every error code: did money move, may the request be repeated, with the same key."""
    return JsonResponse({"problems": [_entry(error) for _, error in sorted(error_classes().items())]})


@require_safe
def problem(request: HttpRequest, code: str) -> HttpResponse:
    """Explain one error code: where the ``type`` of a problem document leads."""
    error = error_classes().get(code)
    if error is None:
        raise Http404
    return JsonResponse(_entry(error))
