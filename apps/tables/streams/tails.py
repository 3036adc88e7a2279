"""The newest news of each followed table, shared by all its followers in this process.

One Redis subscription feeds all tails.  A hint that does not continue what a tail has makes it read PostgreSQL, so
hints that are lost, doubled or out of order change nothing but the delay.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar
from uuid import UUID

import redis.asyncio
import structlog
from django.conf import settings
from django.db import Error

from apps.history.selectors import StoredEntry
from apps.tables.feed import Cursor, channel
from apps.tables.streams import reading
from apps.tables.streams.reading import Placed, Snapshot

log = structlog.get_logger(__name__)

ENTRIES_KEPT = 256
"""Entries a tail keeps; a follower further behind reads PostgreSQL."""

MESSAGES_KEPT = 64
"""Messages a tail keeps for the followers who have not been told yet."""

LOG_POLL_S = 0.15
LOOK_AGAIN_S = 5.0
"""A tail looks at PostgreSQL this often even without a hint, in case Redis lost one."""

READERS = ThreadPoolExecutor(max_workers=4, thread_name_prefix="reader")

T = TypeVar("T")


async def in_thread(call: Callable[..., T], *args: Any) -> T:
    """Run a blocking call of ``reading`` in a reader thread."""
    return await asyncio.get_running_loop().run_in_executor(READERS, call, *args)


class Tail:
    """One table's newest entries and snapshot, and the event that tells followers of more."""

    def __init__(self, table_id: UUID, snapshot: Snapshot, at: Cursor) -> None:
        self.table_id = table_id
        self.snapshot = snapshot
        self.at = at
        self.entries: deque[Placed] = deque(maxlen=ENTRIES_KEPT)
        self._messages: OrderedDict[tuple[UUID, int, int | None], dict[str, Any]] = OrderedDict()
        self.followers = 0
        self._news = asyncio.Event()
        self._look = asyncio.Event()
        self._table_stale = False
        self._gap = True
        self._task = asyncio.create_task(self._keep_up())

    def stop(self) -> None:
        """End the tail; nobody follows it any more."""
        self._task.cancel()

    def news(self) -> asyncio.Event:
        """Return the event of the next news; take it before looking whether there is some already."""
        return self._news

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def hint(self, hint: dict[str, Any]) -> None:
        """Take a hint from Redis; it may be late, double or missing its predecessor."""
        if hint["type"] == "table":
            self._table_stale = True
            self._look.set()
            return
        index, seq = hint["index"], hint["seq"]
        if (index, seq) <= (self.at.index, self.at.seq):
            return
        if self._gap or index != self.at.index or seq != self.at.seq + 1:
            self._gap = True
            self._look.set()
            return
        entry = StoredEntry(
            UUID(hex=hint["round"]),
            seq,
            hint["at"],
            hint["kind"],
            hint["seat"],
            hint["body"],
            bytes.fromhex(hint["head"]),
            hint["shown"],
        )
        self._add([Placed(index, entry)])

    async def message(
        self, placed: Placed, seat: int | None, make: Callable[[Placed, int | None], dict[str, Any]]
    ) -> dict[str, Any]:
        """Return an entry's message for a seat, or for spectators (None); made once for all who are told the same."""
        key = (placed.entry.round_id, placed.entry.seq, seat)
        message = self._messages.get(key)
        if message is None:
            message = self._messages[key] = await in_thread(make, placed, seat)
            if len(self._messages) > MESSAGES_KEPT:
                self._messages.popitem(last=False)
        return message

    def look(self) -> None:
        """Look at PostgreSQL for what hints may have missed."""
        self._gap = self._table_stale = True
        self._look.set()

    def _add(self, placed: list[Placed]) -> None:
        for one in placed:
            if (one.index, one.entry.seq) > (self.at.index, self.at.seq):
                self.entries.append(one)
                self.at = Cursor(self.at.version, one.index, one.entry.seq)
        self._tell()

    async def _keep_up(self) -> None:
        while True:
            try:
                await self._read()
            except Exception as error:  # The outermost edge of this task: without it the followers wait for ever.
                expected = isinstance(error, (Error, OSError))
                log.warning("tail_behind", table=str(self.table_id), error=repr(error), exc_info=not expected)
                await asyncio.sleep(1)
                self.look()
                continue
            wait = LOG_POLL_S if self.snapshot.awaits_log else LOOK_AGAIN_S
            try:
                await asyncio.wait_for(self._look.wait(), wait)
            except TimeoutError:
                self._gap = True
                self._table_stale = True

    async def _read(self) -> None:
        self._look.clear()
        while self._gap:
            self._gap = False  # Before the read: a hint meanwhile may tell of a gap behind what is read.
            found = await in_thread(reading.entries_after, self.table_id, self.at)
            if found:
                self._gap = True
                self._add(found)
        if self._table_stale:
            self._table_stale = False
            now = await in_thread(reading.snapshot, self.table_id)
            changed = now.version != self.snapshot.version or now.awaits_log != self.snapshot.awaits_log
            self.snapshot = now
            if changed:
                self._tell()

    def since(self, cursor: Cursor) -> list[Placed] | None:
        """Return the entries after a cursor, or None if they are not all here and must be read."""
        if (cursor.index, cursor.seq) >= (self.at.index, self.at.seq):
            return []
        if not self.entries or (self.entries[0].index, self.entries[0].entry.seq) > (cursor.index, cursor.seq + 1):
            return None
        return [one for one in self.entries if (one.index, one.entry.seq) > (cursor.index, cursor.seq)]


class Tails:
    """All tails of this process, and its one subscription."""

    def __init__(self) -> None:
        self._tails: dict[UUID, Tail] = {}
        self._opening = asyncio.Lock()
        self._redis = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2)
        self._pubsub = self._redis.pubsub(ignore_subscribe_messages=True)
        self._listener: asyncio.Task[None] | None = None
        self._is_deaf = False
        """Whether the subscription may have lost something, and must be made anew."""

    async def join(self, table_id: UUID) -> Tail:
        """Return the table's tail, which lives until its last follower leaves.

        Raises:
            TableNotFound: there is no such table.
        """
        async with self._opening:
            tail = self._tails.get(table_id)
            if tail is None:
                snapshot = await in_thread(reading.snapshot, table_id)
                at = await in_thread(reading.begin, table_id)
                tail = self._tails[table_id] = Tail(table_id, snapshot, at)
                await self._subscribe(table_id)
                tail.look()
            tail.followers += 1
            return tail

    async def part(self, tail: Tail) -> None:
        """Let one follower go."""
        tail.followers -= 1
        async with self._opening:  # Else a follower that joins now could lose its subscription to this one's end.
            if tail.followers or self._tails.get(tail.table_id) is not tail:
                return
            del self._tails[tail.table_id]
            tail.stop()
            try:
                await self._pubsub.unsubscribe(channel(tail.table_id))
            except (redis.RedisError, OSError) as error:
                log.warning("unsubscribe_failed", error=repr(error))

    async def _subscribe(self, table_id: UUID) -> None:
        try:
            await self._pubsub.subscribe(channel(table_id))
        except (redis.RedisError, OSError) as error:
            log.warning("subscribe_failed", error=repr(error))
            self._is_deaf = True
        if self._listener is None or self._listener.done():
            self._listener = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        """Pass hints on for ever; however long Redis was away, subscribe anew and look at everything."""
        while True:
            try:
                if self._is_deaf:
                    await self._subscribe_all()
                message = await self._pubsub.get_message(timeout=5) if self._pubsub.subscribed else None
                if message is None:
                    await asyncio.sleep(LOG_POLL_S / 10)  # Without a subscription the answer comes at once.
                    continue
                tail = self._tails.get(UUID(hex=message["channel"].decode().rsplit(":", 1)[1]))
                if tail is not None:
                    tail.hint(json.loads(message["data"]))
            except Exception as error:  # The outermost edge of this task: without it every tail would be late.
                expected = isinstance(error, (redis.RedisError, OSError))
                log.warning("hints_stopped", error=repr(error), exc_info=not expected)
                self._is_deaf = True
                await asyncio.sleep(1)

    async def _subscribe_all(self) -> None:
        """Replace the subscription by one for all tails, which then look for what they may have missed."""
        async with self._opening:
            with suppress(redis.RedisError, OSError):
                await self._pubsub.aclose()  # type: ignore[no-untyped-call]
            self._pubsub = self._redis.pubsub(ignore_subscribe_messages=True)
            if self._tails:
                await self._pubsub.subscribe(*(channel(table_id) for table_id in self._tails))
            self._is_deaf = False
            for tail in self._tails.values():
                tail.look()
