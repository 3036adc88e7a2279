"""A scripted HTTP server on loopback: answers what a test tells it to, and remembers what it was sent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """What to answer; status 0 closes the connection without an answer, ``cut`` in the middle of the body."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    cut: bool = False


Replier = Callable[[Seen], Reply]


@dataclass
class Script:
    """Answers in order; the last one again and again."""

    replies: list[Reply | Replier]
    seen: list[Seen] = field(default_factory=list)
    url: str = ""

    def reply(self, seen: Seen) -> Reply:
        """Return the next answer."""
        self.seen.append(seen)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return reply if isinstance(reply, Reply) else reply(seen)


@contextmanager
def serving(*replies: Reply | Replier) -> Iterator[Script]:
    """Serve these answers while the block runs."""
    script = Script(list(replies))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            length = int(self.headers.get("Content-Length", "0"))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = script.reply(Seen(self.command, self.path, headers, self.rfile.read(length)))
            if reply.status == 0:
                self.close_connection = True
                return
            self.send_response_only(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body) + (10 if reply.cut else 0)))
            self.end_headers()
            self.wfile.write(reply.body)
            self.close_connection = reply.cut

        do_GET = do_POST = do_PATCH = do_DELETE = _any

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
