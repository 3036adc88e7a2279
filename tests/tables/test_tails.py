"""Hints reach a stream process again after Redis was away, however long that took."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
import redis
from django.db import connection

from apps.tables.feed import channel
from apps.tables.streams.tails import READERS, Tails
from tests.tables.conftest import House
from tools.services import redis_start

pytestmark = pytest.mark.django_db(transaction=True)

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
