"""Sending what apps.client.calls yields, with httpx: one class that blocks and one that awaits.

Source: docs/operators/README.md.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import TracebackType
from typing import Any, Generic, Self, TypeVar
from urllib.parse import urlsplit

import httpx

from apps.client.calls import (
    BODY_MAX_BYTES,
    READ_S,
    REDIRECTS,
    Answer,
    Call,
    Credentials,
    Lost,
    Retries,
    Send,
    Wait,
    exchange,
    location_of,
    refusal,
)
from apps.client.errors import StreamLost

R = TypeVar("R")
EVENT_STREAM = "text/event-stream"
CONNECT_S = 3.0
NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


class Caller(ABC, Generic[R]):
    """What every client has: somebody who does its calls.  R is what a call gives: the answer, or a wait for it."""

    _host: str
    _base_path: str
    _credentials: Credentials
    _retries: Retries

    @abstractmethod
    def _call(self, call: Call) -> R:
        """Do a call."""

    def _address(self, target: str) -> str:
        return target if target.startswith(("http://", "https://")) else self._host + target

    def _stream_call(self, call: Call) -> tuple[str, dict[str, str]]:
        """Return the address and the headers with which a stream is asked for."""
        headers = {"Accept": EVENT_STREAM, "Authorization": f"Bearer {self._credentials.token}"}
        return self._host + self._base_path + call.target, headers

    def request(self, call: Call) -> R:
        """Do a call that has no method of its own here."""
        return self._call(call)


def _timeout(read_s: float = READ_S) -> httpx.Timeout:
    return httpx.Timeout(read_s, connect=CONNECT_S)


def _host_and_path(base_url: str) -> tuple[str, str]:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise ValueError("the base address is a URL such as https://cards.example")
    return f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")


def _lost(error: httpx.HTTPError) -> Lost:
    return Lost(f"{type(error).__name__}: {error}", not isinstance(error, NEVER_SENT))


class Blocking(Caller[Any]):
    """Does calls one after the other.  Safe to share between threads."""

    def __init__(
        self,
        base_url: str,
        credentials: Credentials,
        *,
        retries: Retries | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        self._host, self._base_path = _host_and_path(base_url)
        self._credentials = credentials
        self._retries = retries or Retries()
        self._http = http or httpx.Client(timeout=_timeout(), follow_redirects=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _call(self, call: Call) -> Any:
        steps = exchange(call, self._credentials, self._retries, self._base_path)
        came: Answer | Lost | None = None
        while True:
            try:
                step = steps.send(came)
            except StopIteration as done:
                return done.value
            match step:
                case Wait(seconds):
                    time.sleep(seconds)
                    came = None
                case Send():
                    came = self._sent(step)

    @contextmanager
    def streamed(self, call: Call) -> Iterator[Iterator[bytes]]:
        """Give the chunks of a stream, after at most one redirect.

        Raises:
            ApiError: the server refused.
            StreamLost: the connection failed, or does while the chunks are read.
        """
        address, headers = self._stream_call(call)
        try:
            for _ in range(2):
                with self._http.stream("GET", address, headers=headers, timeout=_timeout(call.read_s)) as response:
                    if response.status_code == 200:
                        yield response.iter_bytes()
                        return
                    answer = Answer(response.status_code, _lowered(response.headers), response.read())
                if answer.status not in REDIRECTS:
                    break
                address, headers = location_of(answer), {"Accept": EVENT_STREAM}
            raise refusal(answer)
        except httpx.HTTPError as error:
            raise StreamLost(f"{type(error).__name__}: {error}") from error

    def _sent(self, sending: Send) -> Answer | Lost:
        try:
            with self._http.stream(
                sending.method,
                self._address(sending.target),
                headers=dict(sending.headers),
                content=sending.body,
                timeout=_timeout(sending.read_s),
            ) as response:
                body = b""
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > BODY_MAX_BYTES:
                        return Lost("The answer is too long.", True)
                return Answer(response.status_code, _lowered(response.headers), body)
        except httpx.HTTPError as error:
            return _lost(error)


class Awaiting(Caller[Awaitable[Any]]):
    """Does calls as coroutines."""

    def __init__(
        self,
        base_url: str,
        credentials: Credentials,
        *,
        retries: Retries | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._host, self._base_path = _host_and_path(base_url)
        self._credentials = credentials
        self._retries = retries or Retries()
        self._http = http or httpx.AsyncClient(timeout=_timeout(), follow_redirects=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _call(self, call: Call) -> Any:
        steps = exchange(call, self._credentials, self._retries, self._base_path)
        came: Answer | Lost | None = None
        while True:
            try:
                step = steps.send(came)
            except StopIteration as done:
                return done.value
            match step:
                case Wait(seconds):
                    await asyncio.sleep(seconds)
                    came = None
                case Send():
                    came = await self._sent(step)

    @asynccontextmanager
    async def streamed(self, call: Call) -> AsyncIterator[AsyncIterator[bytes]]:
        """Give the chunks of a stream; as Blocking.streamed."""
        address, headers = self._stream_call(call)
        try:
            for _ in range(2):
                async with self._http.stream(
                    "GET", address, headers=headers, timeout=_timeout(call.read_s)
                ) as response:
                    if response.status_code == 200:
                        yield response.aiter_bytes()
                        return
                    answer = Answer(response.status_code, _lowered(response.headers), await response.aread())
                if answer.status not in REDIRECTS:
                    break
                address, headers = location_of(answer), {"Accept": EVENT_STREAM}
            raise refusal(answer)
        except httpx.HTTPError as error:
            raise StreamLost(f"{type(error).__name__}: {error}") from error

    async def _sent(self, sending: Send) -> Answer | Lost:
        try:
            async with self._http.stream(
                sending.method,
                self._address(sending.target),
                headers=dict(sending.headers),
                content=sending.body,
                timeout=_timeout(sending.read_s),
            ) as response:
                body = b""
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > BODY_MAX_BYTES:
                        return Lost("The answer is too long.", True)
                return Answer(response.status_code, _lowered(response.headers), body)
        except httpx.HTTPError as error:
            return _lost(error)


def _lowered(headers: httpx.Headers) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
