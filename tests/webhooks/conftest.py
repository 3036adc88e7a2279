"""An operator with events, and a receiver on loopback that keeps what it gets and answers as it is told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from apps.accounts.services import operator_create
from apps.webhooks.services import outbox_add


@dataclass(frozen=True, slots=True)
class Owner:
    """An operator that has events."""

    id: UUID
    key: str

    def event(self, topic: str = "round.finished", **payload: Any) -> None:
        """Write an event and commit it."""
        with transaction.atomic():
            outbox_add(operator_id=self.id, topic=topic, payload=payload)


@pytest.fixture
def owner(db: None) -> Owner:
    """Return an operator."""
    operator, key = operator_create(name="Acme")
    return Owner(operator.pk, key)


@pytest.fixture
def rival(owner: Owner) -> Owner:
    """Return another operator."""
    operator, key = operator_create(name="Rival")
    return Owner(operator.pk, key)


@dataclass(slots=True)
class Receiver:
    """What an operator's server got, and what it answers: the next of ``answers``, or 204."""

    port: int = 0
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Return the address that events are delivered to."""
        return f"http://127.0.0.1:{self.port}/hooks?x=1"


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """Start a receiver; deliveries to loopback are allowed while it runs."""
    settings.SEALDECK_WEBHOOK_NETWORKS = ["127.0.0.1/32"]
    kept = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            status, headers = kept.answers.pop(0) if kept.answers else (204, {})
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    kept.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
