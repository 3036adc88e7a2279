"""Health, metrics, error catalogue, API document, and the headers of every answer."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from apps.core import health, heartbeat, idempotency
from apps.core.clock import database_ms
from apps.core.models import Idempotency


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave only core's own checks: what apps register is tested there."""
    own = {name: health._checks[name] for name in ("database", "redis", "worker")}
    monkeypatch.setattr(health, "_checks", own)


def refuse(sentence: str) -> Any:
    """Return a check that finds something."""

    def check() -> None:
        raise health.Unhealthy(sentence)

    return check


@pytest.mark.django_db
@pytest.mark.usefixtures("findings")
class TestReady:
    def test_is_200_when_all_is_there(self, client: Client) -> None:
        heartbeat.beat(heartbeat.WORKER)
        answer = client.get("/health/ready")
        assert answer.status_code == 200
        assert {name: check["ok"] for name, check in answer.json()["checks"].items()} == {
            "database": True,
            "redis": True,
            "worker": True,
        }

    def test_is_503_while_no_worker_was_seen(self, client: Client) -> None:
        answer = client.get("/health/ready")
        assert answer.status_code == 503
        assert answer.json()["checks"]["worker"]["detail"] == "No worker has been seen yet."

    def test_is_503_with_what_an_app_registered(self, client: Client) -> None:
        heartbeat.beat(heartbeat.WORKER)
        health.register("deadlines", refuse("A deadline is 12 s late."))
        answer = client.get("/health/ready")
        assert answer.status_code == 503
        assert answer.json()["checks"]["deadlines"]["detail"] == "A deadline is 12 s late."


class TestLive:
    def test_needs_no_database(self, client: Client) -> None:
        assert client.get("/health/live").json() == {"status": "ok"}


@pytest.mark.django_db
class TestMetrics:
    @pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer "}])
    def test_do_not_exist_without_the_token(self, client: Client, settings: Any, headers: dict[str, str]) -> None:
        settings.SEALDECK_METRICS_TOKEN = "right"
        assert client.get("/metrics", headers=headers).status_code == 404

    def test_do_not_exist_where_no_token_is_set(self, client: Client, settings: Any) -> None:
        settings.SEALDECK_METRICS_TOKEN = ""
        assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404

    def test_count_requests_by_route(self, client: Client, settings: Any) -> None:
        settings.SEALDECK_METRICS_TOKEN = "right"
        client.get("/health/live")
        text = client.get("/metrics", headers={"Authorization": "Bearer right"}).content.decode()
        assert 'sealdeck_http_requests_total{method="GET",route="health/live",status="200"}' in text

    def test_tell_what_is_due_and_how_late_it_is(self, client: Client, settings: Any) -> None:
        settings.SEALDECK_METRICS_TOKEN = "right"
        old_ms = database_ms() - idempotency.RETENTION_MS - 5_000
        Idempotency.objects.create(
            operator_id=uuid4(),
            subject_id=uuid4(),
            key="k",
            method="POST",
            route="r",
            body_sha256=b"0" * 32,
            state="running",
            created_at_ms=old_ms,
        )
        text = client.get("/metrics", headers={"Authorization": "Bearer right"}).content.decode()
        assert 'sealdeck_due{kind="idempotency_keys"} 1.0' in text
        [late] = re.findall(r'sealdeck_due_late_seconds\{kind="idempotency_keys"\} ([0-9.]+)', text)
        assert 5 <= float(late) < 60
        assert 'sealdeck_due_alarm{kind="idempotency_keys"} 0.0' in text

    def test_of_a_process_that_was_killed_are_forgotten(
        self, client: Client, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.SEALDECK_METRICS_TOKEN = "right"
        script = (
            "import os, signal\n"
            "from prometheus_client import Gauge\n"
            "Gauge('open_now', 'Streams', multiprocess_mode='livesum').inc(3)\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        env = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
        killed = subprocess.run([sys.executable, "-c", script], env=env, check=False)
        assert killed.returncode == -signal.SIGKILL
        assert list(tmp_path.glob("gauge_livesum_*.db"))
        monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
        text = client.get("/metrics", headers={"Authorization": "Bearer right"}).content.decode()
        assert "open_now" not in text


class TestHeaders:
    def test_of_every_answer(self, client: Client) -> None:
        answer = client.get("/no/such/page", headers={"X-Request-Id": "mine-1"})
        assert answer.status_code == 404
        assert answer.headers["X-Request-Id"] == "mine-1"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        assert "unsafe" not in answer.headers["Content-Security-Policy"]

    def test_an_unknown_address_is_a_problem_with_the_requests_id(self, client: Client) -> None:
        answer = client.get("/v1/no-such-thing", headers={"X-Request-Id": "mine-1"})
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.json() == {
            "type": "/problems/not_found",
            "title": "Not found.",
            "status": 404,
            "detail": "There is no such address.",
            "instance": "/v1/no-such-thing",
            "code": "not_found",
            "trace_id": "mine-1",
            "retryable": False,
            "errors": [],
        }


class TestProblemPages:
    def test_say_what_a_code_means(self, client: Client) -> None:
        told = client.get("/problems/request_in_progress").json()
        assert told == {
            "code": "request_in_progress",
            "status": 409,
            "title": "The first request with this Idempotency-Key is still in progress.",
            "money_moved": "unknown",
            "retry": True,
            "same_key": True,
        }

    def test_list_every_code_once(self, client: Client) -> None:
        codes = [entry["code"] for entry in client.get("/problems").json()["problems"]]
        assert codes == sorted(set(codes))
        assert all(re.fullmatch(r"[a-z][a-z0-9_]*", code) for code in codes)

    def test_do_not_know_what_is_no_code(self, client: Client) -> None:
        assert client.get("/problems/no_such_code").status_code == 404


class TestDocs:
    def test_the_page_loads_nothing_from_another_host_and_nothing_inline(self, client: Client) -> None:
        page = client.get("/docs")
        text = page.content.decode()
        assert page.status_code == 200
        sources = re.findall(r"""(?:src|href)=["']([^"']+)""", text)
        assert sources
        assert all(source.startswith(("/", "data:")) for source in sources)
        assert not re.findall(r"<script(?![^>]*\bsrc=)[^>]*>\s*\S|<style|\bstyle=|\bon\w+=", text)

    def test_every_file_of_the_page_is_served_here(self, client: Client) -> None:
        text = client.get("/docs").content.decode()
        for source in re.findall(r"""(?:src|href)=["'](/[^"']+)""", text):
            answer = client.get(source.replace("&amp;", "&"))
            assert answer.status_code == 200, source
