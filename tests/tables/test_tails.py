"""Followers are told whatever happens meanwhile: Redis was away, a read failed, the database is gone."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

import pytest
import redis
from django.db import OperationalError, connection

from apps.tables.feed import Cursor, channel
from apps.tables.streams import reading
from apps.tables.streams.app import Streams
from apps.tables.streams.tails import READERS, Tail, Tails
from apps.tables.tickets import Ticket, address
from tests.tables.conftest import House, Place
from tools.services import redis_start

pytestmark = pytest.mark.django_db(transaction=True)

T = TypeVar("T")
AWAY_S = 2.5
"""Longer than a first try to subscribe again takes, so that at least one of them fails."""


async def heard(server: redis.Redis, name: str) -> None:
    """Return when somebody has subscribed to the channel."""
    async with asyncio.timeout(30):
        while True:
            try:
                if dict(server.pubsub_numsub(name))[name.encode()] == 1:
                    return
            except redis.RedisError:
                pass
            await asyncio.sleep(0.1)


def readers_hang_up() -> None:
    """Close the connections of all reader threads: their threads stay."""
    together = threading.Barrier(READERS._max_workers)

    def hang_up() -> None:
        together.wait(10)
        connection.close()

    for done in [READERS.submit(hang_up) for _ in range(READERS._max_workers)]:
        done.result()


def outcome_of(work: Coroutine[Any, Any, T]) -> T:
    """Do it in a loop of its own and return what it returns."""
    try:
        return asyncio.run(work)
    finally:
        readers_hang_up()


async def told_of(tail: Tail) -> None:
    """Return when a tail has entries."""
    async with asyncio.timeout(30):
        while not tail.entries:
            await asyncio.sleep(0.02)


class TestTails:
    @pytest.mark.parametrize("joined", ["before", "meanwhile"])
    def test_subscribe_again_after_redis_was_away(
        self, house: House, settings: Any, tmp_path: Path, joined: str
    ) -> None:
        tables = [house.table().id, house.table().id]
        child, url = redis_start(tmp_path, None)
        settings.REDIS_URL = url

        async def go() -> None:
            server = redis.Redis.from_url(url)
            tails = Tails()
            followed = [await tails.join(tables[0])]
            await heard(server, channel(tables[0]))
            child.kill()
            await asyncio.sleep(AWAY_S)
            if joined == "meanwhile":
                followed.append(await tails.join(tables[1]))
                await asyncio.sleep(AWAY_S)
            child.start()
            for tail in followed:
                await heard(server, channel(tail.table_id))
            for tail in followed:
                await tails.part(tail)

        try:
            asyncio.run(go())
        finally:
            child.stop()
            readers_hang_up()

    def test_go_on_after_any_error(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        place, read, failures = house.table(), reading.entries_after, [ValueError("of an unexpected kind")]

        def fails_once(table_id: UUID, after: Cursor) -> list[reading.Placed]:
            if failures:
                raise failures.pop()
            return read(table_id, after)

        monkeypatch.setattr(reading, "entries_after", fails_once)
        place.deal(0, 1)

        async def go() -> None:
            tails = Tails()
            tail = await tails.join(place.id)
            await told_of(tail)
            await tails.part(tail)

        outcome_of(go())
        assert not failures

    def test_read_again_what_a_hint_told_of_during_a_read(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("apps.tables.streams.tails.LOOK_AGAIN_S", 600)
        place, read, reads = house.table(), reading.entries_after, []

        async def go() -> None:
            loop, tails = asyncio.get_running_loop(), Tails()

            def dealt_behind_it(table_id: UUID, after: Cursor) -> list[reading.Placed]:
                found = read(table_id, after)
                reads.append(len(found))
                if len(reads) == 1:
                    place.deal(0, 1)
                    loop.call_soon_threadsafe(tail.hint, {"type": "entry", "index": 7, "seq": 0})
                return found

            tail = await tails.join(place.id)
            monkeypatch.setattr(reading, "entries_after", dealt_behind_it)
            tail.look()
            await told_of(tail)
            await tails.part(tail)

        outcome_of(go())
        assert reads[:2] == [0, 1]


async def _asked(place: Place) -> list[dict[str, Any]]:
    """Return what a follower of a table is sent."""
    told = urlsplit(
        address(
            route="stream", ticket=Ticket(place.id, place.house.operator_id, None, None), query="", now_ms=place.now
        )
    )
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]  # It never hangs up.

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    path = f"/v1/tables/{place.id}/stream"
    await Streams()(
        {"type": "http", "method": "GET", "path": path, "query_string": told.query.encode(), "headers": []},
        receive,
        send,
    )
    return sent


class TestStreamsWithoutDatabase:
    def test_answer_with_a_problem(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reading, "begin", _away)
        head, body = outcome_of(_asked(house.table()))
        assert head["status"] == 503
        assert json.loads(body["body"])["code"] == "database_unavailable"

    def test_end_what_has_begun(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("apps.tables.streams.app.Follower.messages", _away_later)
        (head,) = outcome_of(_asked(house.table()))
        assert head["status"] == 200


def _away(table_id: UUID) -> Cursor:
    raise OperationalError("the database is away")


async def _away_later(follower: Any) -> list[tuple[Cursor, dict[str, Any]]]:
    raise OperationalError("the database is away")
