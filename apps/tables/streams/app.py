"""HTTP of the stream process: an ASGI application with two routes and nothing else.

``GET /v1/tables/{id}/stream`` sends Server-Sent Events for ever, ``GET /v1/tables/{id}/events`` answers once there
is something, or after ``wait`` seconds.  Both give the same messages, and both need a ticket (apps.tables.tickets),
which the API hands out by redirecting.  A follower that does not take its messages is dropped and may come back
with its cursor.

Source: docs/players/streams.md.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import structlog
from django.db import Error

from apps.core.api.problems import CONTENT_TYPE, Problem, problem_of
from apps.core.errors import ApplicationError
from apps.tables import feed, metrics, tickets
from apps.tables.feed import Cursor
from apps.tables.presence import POLL_SLACK_MS, STREAM_LEASE_MS
from apps.tables.streams import reading
from apps.tables.streams.reading import Placed
from apps.tables.streams.tails import Tail, Tails, in_thread

log = structlog.get_logger(__name__)

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

ROUTE = re.compile(r"/v1/tables/([0-9a-f-]{36})/(stream|events)\Z")
STREAMS_MAX = 5_000
"""Streams one process serves; more are sent away and try another process."""
HEARTBEAT_S = 10.0
RENEW_S = 5.0
SEND_MAX_S = 15.0
"""A follower who takes longer for one message is dropped."""
WAIT_MAX_S = 25
DELAY_POLL_S = 0.5


class StreamsFull(ApplicationError):
    """This process follows as many tables as it can."""

    code = "streams_full"
    status = 503
    title = "Too many streams are open; try again in a moment."
    retry = True


class CursorInvalid(ApplicationError):
    """The cursor was not given out here."""

    code = "cursor_invalid"
    status = 422
    title = "This is not a cursor that was given out here."


class WaitInvalid(ApplicationError):
    """``wait`` is out of range."""

    code = "wait_invalid"
    status = 400
    title = f"wait is a number of seconds from 0 to {WAIT_MAX_S}."


class Gone(Exception):
    """The follower has closed the connection, or does not take its messages."""


class Follower:
    """One viewer of one table, and how far it has read."""

    def __init__(self, tail: Tail, player_id: UUID | None, session_id: UUID | None, cursor: Cursor) -> None:
        self.tail = tail
        self.player_id = player_id
        self.session_id = session_id
        self.cursor = cursor
        self.revoked = asyncio.Event()
        self._told_table: tuple[int, bool] | None = None
        self._dealt: dict[UUID, int | None] = {}

    @property
    def seat_id(self) -> UUID | None:
        """The follower's seat at the table, if it has one now."""
        seat = self.tail.snapshot.seats.get(self.player_id) if self.player_id else None
        return None if seat is None else seat[1]

    async def messages(self) -> list[tuple[Cursor, dict[str, Any]]]:
        """Return what the follower has not had yet, each with the cursor after it.

        A new follower is told the table first; later, entries come before a table that changed with them.
        """
        told = self._table_message() if self.cursor.version < 0 else []
        news = self.tail.since(self.cursor)
        if news is None:
            news = await in_thread(reading.entries_after, self.tail.table_id, self.cursor)
        for placed in await self._seen_by_now(news):
            seat = await self._dealt_seat(placed.entry.round_id)
            message = await self.tail.message(placed, seat, _entry_message)
            self.cursor = Cursor(self.cursor.version, placed.index, placed.entry.seq)
            told.append((self.cursor, message))
        return told + self._table_message()

    def has_more(self) -> bool:
        """Tell whether ``messages`` would return something, spectators' delay aside."""
        news = self.tail.since(self.cursor)
        return news is None or bool(news) or self._told_table != self._table_now()

    def _table_now(self) -> tuple[int, bool]:
        return self.tail.snapshot.version, self.tail.snapshot.awaits_log

    def _table_message(self) -> list[tuple[Cursor, dict[str, Any]]]:
        snapshot, now = self.tail.snapshot, self._table_now()
        if self._told_table is None and self.cursor.version == snapshot.version:
            self._told_table = now  # The cursor says that this follower was told in an earlier stream.
        if self._told_table == now:
            return []
        self._told_table = now
        self.cursor = Cursor(snapshot.version, self.cursor.index, self.cursor.seq)
        seat = snapshot.seats.get(self.player_id) if self.player_id else None
        view = snapshot.view | {"your_seat": None if seat is None else seat[0]}
        return [(self.cursor, {"type": "table", "table": view})]

    async def _seen_by_now(self, news: list[Placed]) -> list[Placed]:
        """Hold back what spectators of this table see later."""
        delay_ms = self.tail.snapshot.spectator_delay_ms
        if not delay_ms or not news:
            return news
        now_ms = await in_thread(reading.now_ms)
        shown = []
        for placed in news:
            if now_ms - placed.entry.at_ms < delay_ms and await self._dealt_seat(placed.entry.round_id) is None:
                break
            shown.append(placed)
        return shown

    async def _dealt_seat(self, round_id: UUID) -> int | None:
        if self.player_id is None:
            return None
        if round_id not in self._dealt:
            self._dealt = {round_id: await in_thread(reading.dealt_seat, round_id, self.player_id)}
        return self._dealt[round_id]

    async def more(self, wait_s: float) -> None:
        """Wait until there may be more, at most this long."""
        news = self.tail.news()
        if self.tail.snapshot.spectator_delay_ms:
            wait_s = min(wait_s, DELAY_POLL_S)
        elif self.has_more():
            return
        try:
            await asyncio.wait_for(news.wait(), wait_s)
        except TimeoutError:
            return


def _entry_message(placed: Placed, seat: int | None) -> dict[str, Any]:
    return feed.entry_message(placed.entry, index=placed.index, seat=seat)


class Streams:
    """The ASGI application."""

    def __init__(self) -> None:
        self._tails: Tails | None = None
        self._open: dict[Follower, None] = {}
        self._renewing: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        if scope["path"] == "/health/live":
            await _answer(send, 200, "application/json", b'{"status":"live"}')
            return
        try:
            await self._serve(scope, receive, send)
        except Gone:
            return
        except (ApplicationError, Error) as error:
            problem = problem_of(error)
            if problem is None:
                raise
            await _problem(send, problem, scope["path"])

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        matched = ROUTE.fullmatch(scope["path"])
        if matched is None or scope["method"] != "GET":
            await _problem(send, Problem(404, "not_found", "Not found.", "There is no such address."), scope["path"])
            return
        table_id, route = UUID(matched[1]), matched[2]
        query = {name: values[-1] for name, values in parse_qs(scope["query_string"].decode("latin-1")).items()}
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        now_ms = await in_thread(reading.now_ms)
        ticket = tickets.ticket_read(query.get("ticket", ""), table_id=table_id, now_ms=now_ms)
        wait_s = _wait(query.get("wait", str(WAIT_MAX_S)))
        after = headers.get(b"last-event-id") or query.get("after", "")
        if len(self._open) >= STREAMS_MAX:
            raise StreamsFull
        if self._tails is None:
            self._tails = Tails()
        tail = await self._tails.join(table_id)
        try:
            cursor = _cursor(after) if after else await in_thread(reading.begin, table_id)
            follower = Follower(tail, ticket.player_id, ticket.session_id, cursor)
            if route == "stream":
                await self._stream(follower, receive, send)
            else:
                await self._poll(follower, wait_s, receive, send)
        finally:
            await self._tails.part(tail)

    async def _stream(self, follower: Follower, receive: Receive, send: Send) -> None:
        await _send(
            send,
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [
                    (b"content-type", b"text/event-stream"),
                    (b"cache-control", b"no-store"),
                    (b"x-accel-buffering", b"no"),
                ],
            },
        )
        closed = asyncio.ensure_future(_closed(receive, follower.revoked))
        self._open[follower] = None
        metrics.STREAMS.set(len(self._open))
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew())
        try:
            if follower.seat_id is not None:
                await in_thread(reading.seen, [follower.seat_id], STREAM_LEASE_MS)
            while not closed.done():
                told = await follower.messages()
                for cursor, message in told:
                    await _send_part(send, _event(cursor, message))
                if not told:
                    waiting = asyncio.ensure_future(follower.more(HEARTBEAT_S))
                    await asyncio.wait({waiting, closed}, return_when=asyncio.FIRST_COMPLETED)
                    if not waiting.done():
                        waiting.cancel()
                    if not closed.done() and not follower.has_more():
                        await _send_part(send, b": still here\n\n")
        except Error as error:
            # The answer has begun, so it can only end: the follower comes back with its cursor.
            log.warning("stream_broken", table=str(follower.tail.table_id), error=repr(error))
            raise Gone from None
        finally:
            closed.cancel()
            self._open.pop(follower, None)
            metrics.STREAMS.set(len(self._open))
            still = any(other.seat_id == follower.seat_id for other in self._open)
            if follower.seat_id is not None and not still:
                with suppress(Error):  # Unless it is told, its lease lapses a few seconds later.
                    await in_thread(reading.unseen, follower.seat_id)

    async def _poll(self, follower: Follower, wait_s: int, receive: Receive, send: Send) -> None:
        if follower.seat_id is not None:
            await in_thread(reading.seen, [follower.seat_id], wait_s * 1000 + POLL_SLACK_MS)
        deadline = asyncio.get_running_loop().time() + wait_s
        told = await follower.messages()
        while not told:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                break
            await follower.more(left)
            told = await follower.messages()
        body = {"messages": [message for _, message in told], "next": str(follower.cursor)}
        await _answer(send, 200, "application/json", json.dumps(body, separators=(",", ":")).encode())

    async def _renew(self) -> None:
        """Renew the leases of all seats that are followed, and end the streams of revoked sessions."""
        while self._open:
            sessions = {follower.session_id for follower in self._open if follower.session_id}
            try:
                live = await in_thread(reading.sessions_live, sessions)
                for follower in self._open:
                    if follower.session_id and follower.session_id in sessions - live:
                        follower.revoked.set()
                seats = {follower.seat_id for follower in self._open if not follower.revoked.is_set()}
                await in_thread(reading.seen, [seat for seat in seats if seat is not None], STREAM_LEASE_MS)
            except Exception as error:  # The outermost edge of this task: what fails now is done next time.
                log.warning("leases_not_renewed", error=repr(error))
            await asyncio.sleep(RENEW_S)


def _cursor(text: str) -> Cursor:
    try:
        return Cursor.read(text)
    except ValueError:
        raise CursorInvalid from None


def _wait(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 2 and int(text) <= WAIT_MAX_S):
        raise WaitInvalid
    return int(text)


def _event(cursor: Cursor, message: dict[str, Any]) -> bytes:
    data = json.dumps(message, separators=(",", ":"))
    return f"id: {cursor}\nevent: {message['type']}\ndata: {data}\n\n".encode()


async def _closed(receive: Receive, revoked: asyncio.Event) -> None:
    """Wait until the follower has gone, or its session was revoked."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    waiting = [asyncio.ensure_future(gone()), asyncio.ensure_future(revoked.wait())]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()


async def _send(send: Send, message: dict[str, Any]) -> None:
    try:
        await asyncio.wait_for(send(message), SEND_MAX_S)
    except (TimeoutError, OSError, RuntimeError):
        raise Gone from None


async def _send_part(send: Send, data: bytes) -> None:
    await _send(send, {"type": "http.response.body", "body": data, "more_body": True})


async def _answer(send: Send, status: int, content_type: str, body: bytes) -> None:
    headers = [(b"content-type", content_type.encode()), (b"cache-control", b"no-store")]
    await _send(send, {"type": "http.response.start", "status": status, "headers": headers})
    await _send(send, {"type": "http.response.body", "body": body})


async def _problem(send: Send, problem: Problem, path: str) -> None:
    await _answer(send, problem.status, CONTENT_TYPE, json.dumps(problem.body(path)).encode())


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await send({"type": "lifespan.shutdown.complete"})
            return
