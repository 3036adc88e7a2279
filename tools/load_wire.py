"""The least HTTP/1.1 client that can drive the API: what apps.client decides to send, over plain asyncio.

A load generator shares the machine with what it measures, and httpx needs more processor time for a request than the
server does (``python -m tools.load --client httpx`` shows it).  Only for a trusted server on this machine: keep-alive,
answers with a length, no TLS, no redirects.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any
from urllib.parse import urlsplit

from apps.client.calls import Answer, Lost, Send
from apps.client.player import AsyncPlayerClient

TIMEOUT_S = 30.0


class Connection(asyncio.Protocol):
    """One connection; one request at a time."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.waiting: asyncio.Future[Answer] | None = None
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Take bytes; once the answer is whole, hand it on."""
        self._data = self._data + data if self._data else data
        end = self._data.find(b"\r\n\r\n")
        if end < 0 or self.transport is None:
            return
        first, *lines = self._data[:end].decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        if "content-length" not in headers:
            self.transport.abort()  # An answer in another form: whoever waits is told that it was lost.
            return
        whole = end + 4 + int(headers["content-length"])
        if len(self._data) < whole:
            return
        answer = Answer(int(first.split(" ", 2)[1]), headers, self._data[end + 4 : whole])
        self._data = self._data[whole:]
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell who waits."""
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_exception(exc or ConnectionResetError("the server closed the connection"))
        self.transport = None


class Wire:
    """Connections to one server, as many as there are requests at once."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        self.host, self.port = str(parts.hostname), int(parts.port or 80)
        self._idle: deque[Connection] = deque()
        self._head = f"Host: {self.host}:{self.port}\r\n"
        self.requests = 0

    async def ask(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Answer:
        """Send a request and return the answer.

        Raises:
            OSError, TimeoutError: it failed; whether the server has done it is unknown.
        """
        self.requests += 1
        connection = await self._connection()
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"{method} {target} HTTP/1.1\r\n{self._head}{lines}Content-Length: {len(body)}\r\n\r\n"
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[Answer] = loop.create_future()
        connection.waiting = waiting
        assert connection.transport is not None
        connection.transport.write(head.encode("latin-1") + body)
        timer = loop.call_later(TIMEOUT_S, _give_up, waiting)
        try:
            answer = await waiting
        finally:
            timer.cancel()
            if waiting.cancelled() or waiting.exception() is not None:
                if connection.transport is not None:
                    connection.transport.abort()
            else:
                self._idle.append(connection)
        return answer

    async def _connection(self) -> Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.transport is not None and not connection.transport.is_closing():
                return connection
        _, connection = await asyncio.get_running_loop().create_connection(Connection, self.host, self.port)
        return connection

    def close(self) -> None:
        """Close the connections."""
        while self._idle:
            transport = self._idle.pop().transport
            if transport is not None:
                transport.close()


def _give_up(waiting: asyncio.Future[Answer]) -> None:
    if not waiting.done():
        waiting.set_exception(TimeoutError(f"no answer for {TIMEOUT_S:.0f} s"))


class WirePlayer(AsyncPlayerClient):
    """The player's client over a Wire; whatever it does not override, streams above all, goes over httpx."""

    def __init__(self, base_url: str, token: str, wire: Wire, **more: Any) -> None:
        super().__init__(base_url, token, **more)
        self._wire = wire

    async def _sent(self, sending: Send) -> Answer | Lost:
        try:
            return await self._wire.ask(sending.method, sending.target, dict(sending.headers), sending.body)
        except (OSError, TimeoutError) as error:
            return Lost(f"{type(error).__name__}: {error}", True)
