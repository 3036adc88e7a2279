"""The witness over HTTP: ``POST /add-checkpoint`` and nothing else.

Protocol: C2SP tlog-witness.  Serves plain HTTP, a bounded number of connections at once; whoever shows it to the world
puts a proxy with TLS before it.  Never reads more than a request may have.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import Any, Final

from apps.fairness.witness.requests import BODY_BYTES_MAX
from apps.fairness.witness.witness import Answer, Witness

CONNECTIONS_MAX: Final = 64
"""Connections at once; more wait until one ends."""
IDLE_S: Final = 10
"""A connection that says nothing for so long is closed."""
PATH: Final = "/add-checkpoint"


class WitnessServer(ThreadingHTTPServer):
    """Listens for logs."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], witness: Witness) -> None:
        self.witness = witness
        self._free = BoundedSemaphore(CONNECTIONS_MAX)
        super().__init__(address, _Request)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Take a connection once there is room for it."""
        self._free.acquire()
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, and make room."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "sealdeck-witness"
    sys_version = ""
    timeout = IDLE_S
    server: WitnessServer

    def do_POST(self) -> None:
        """Answer a log."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self._say(Answer(HTTPStatus.LENGTH_REQUIRED, "say how long the request is\n"), close=True)
        elif len(length) > 6 or int(length) > BODY_BYTES_MAX:
            self._say(Answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the request is too long\n"), close=True)
        else:
            body = self.rfile.read(int(length))
            self._say(self._answer(body) if len(body) == int(length) else _CUT, close=len(body) != int(length))

    def _answer(self, body: bytes) -> Answer:
        if self.path != PATH:
            return Answer(HTTPStatus.NOT_FOUND, f"there is only {PATH}\n")
        try:
            return self.server.witness.add_checkpoint(body, now_s=int(time.time()))
        except sqlite3.Error as problem:
            # What is not on the disk was not cosigned; the log may ask again.
            self.log_error("the memory failed: %s", problem)
            return Answer(HTTPStatus.SERVICE_UNAVAILABLE, "ask again later\n")

    def _say(self, answer: Answer, *, close: bool) -> None:
        data = answer.body.encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(data)))
        if close:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
        if answer.about:
            self.log_message("%s %s", answer.status.value, answer.about)

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        """Say nothing of requests that no log stands behind."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say one line with the time, UTC."""
        sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {format % args}\n")


_CUT = Answer(HTTPStatus.BAD_REQUEST, "the request ends early\n")
