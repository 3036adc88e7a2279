"""Following a table: its messages in order, each once, over any number of connections.

Server-Sent Events where they can be had (``follow``), long polls elsewhere (``poll``).  Both give the same messages and
go on from the last cursor after a break, so nothing is missed and nothing comes twice.

Source: docs/players/streams.md.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.client.calls import Call, Retries, call
from apps.client.errors import ApiError, StreamInvalid, StreamLost
from apps.client.player import AsyncPlayerClient, PlayerClient
from apps.client.sse import EventParser, ServerEvent

SILENCE_MAX_S = 30.0
"""The server sends something every ten seconds; a connection that is silent for longer is dead."""
GIVE_UP = Retries(attempts_max=20, wait_first_s=0.2, wait_max_s=5.0)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a table; ``cursor`` is where to go on after it."""

    cursor: str
    type: str
    data: dict[str, Any]


@dataclass(slots=True)
class _Progress:
    """How far a follower has read, and how often in a row connecting has failed."""

    table_id: UUID | str
    cursor: str
    retries: Retries
    failures: int = 0

    def call(self) -> Call:
        """Return how to ask for the stream from here."""
        query = {"after": self.cursor or None}
        return call("GET", f"/v1/tables/{self.table_id}/stream", query=query, read_s=SILENCE_MAX_S)

    def took(self, event: ServerEvent) -> Message:
        """Note an event and return its message."""
        message = message_read(event)
        self.cursor, self.failures = message.cursor or self.cursor, 0
        return message

    def wait_s(self, error: ApiError | StreamLost | None) -> float:
        """Return how long to wait before connecting again.

        Raises:
            ApiError: the server will not serve this follower, or has not for too long.
            StreamLost: connecting has failed too often.
        """
        if isinstance(error, ApiError) and error.status < 500 and error.status not in (401, 429):
            raise error
        self.failures += 1
        if self.failures >= self.retries.attempts_max or (isinstance(error, ApiError) and error.status == 401):
            raise error or StreamLost("the stream ends again and again")
        return self.retries.wait_s(self.failures, None)


def message_read(event: ServerEvent) -> Message:
    """Return the message of an event.

    Raises:
        StreamInvalid: it holds none.
    """
    try:
        data = json.loads(event.data)
    except ValueError:
        raise StreamInvalid("the stream sent what is not JSON") from None
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise StreamInvalid("the stream sent what is no message")
    return Message(event.id, data["type"], data)


def follow(
    client: PlayerClient, table_id: UUID | str, *, after: str = "", retries: Retries = GIVE_UP
) -> Iterator[Message]:
    """Give a table's messages for ever, from a cursor or from the present round on.

    Args:
        retries: how often in a row to connect in vain before giving up, and how long to wait in between.

    Raises:
        ApiError: the server refuses.
        StreamLost: it cannot be reached for a long time.
        StreamInvalid: it sends what is no message.
    """
    progress = _Progress(table_id, after, retries)
    while True:
        error: ApiError | StreamLost | None = None
        try:
            with client.streamed(progress.call()) as chunks:
                parser = EventParser()
                for chunk in chunks:
                    for event in parser.feed(chunk):
                        yield progress.took(event)
        except (ApiError, StreamLost) as problem:
            error = problem
        time.sleep(progress.wait_s(error))


async def follow_async(
    client: AsyncPlayerClient, table_id: UUID | str, *, after: str = "", retries: Retries = GIVE_UP
) -> AsyncIterator[Message]:
    """Give a table's messages for ever, as ``follow`` does."""
    progress = _Progress(table_id, after, retries)
    while True:
        error: ApiError | StreamLost | None = None
        try:
            async with client.streamed(progress.call()) as chunks:
                parser = EventParser()
                async for chunk in chunks:
                    for event in parser.feed(chunk):
                        yield progress.took(event)
        except (ApiError, StreamLost) as problem:
            error = problem
        await asyncio.sleep(progress.wait_s(error))


def poll(client: PlayerClient, table_id: UUID | str, *, after: str = "", wait_s: int = 25) -> Iterator[Message]:
    """Give a table's messages for ever by long polls.

    Whoever stops in the middle of an answer and goes on from the cursor is told that answer again.

    Raises:
        ApiError: the server refuses.
        OutcomeUnknown: it cannot be reached.
    """
    cursor = after
    while True:
        answer = client.events(table_id, after=cursor or None, wait_s=wait_s)
        *earlier, last = answer["messages"] or [None]
        for data in earlier:
            yield Message(cursor, data["type"], data)
        cursor = str(answer["next"])
        if last is not None:
            yield Message(cursor, last["type"], last)
