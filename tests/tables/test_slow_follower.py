"""A follower that does not take its messages is dropped, costs the others nothing, and comes back without a gap."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connection

from apps.history.models import Entry
from apps.tables.models import Round
from apps.tables.streams import app, tails
from apps.tables.tickets import Ticket, address
from tests.tables.conftest import House, Place
from tests.tables.test_tails import readers_hang_up

pytestmark = pytest.mark.django_db(transaction=True)

KEPT = 4
"""Entries that a tail keeps here: far fewer than a round has."""


class Follower:
    """One stream, as a server would run it: what was taken of it, and whether its socket takes more."""

    def __init__(self, streams: app.Streams, place: Place, *, takes: int | None, last: str = "") -> None:
        self._takes = takes
        self.sent = 0
        """Pieces handed to the socket, the one that it does not take among them."""
        self.got: list[tuple[str, dict[str, Any]]] = []
        ticket = Ticket(place.id, place.house.operator_id, None, None)
        told = urlsplit(address(route="stream", ticket=ticket, query="", now_ms=place.now))
        scope = {
            "type": "http",
            "method": "GET",
            "path": f"/v1/tables/{place.id}/stream",
            "query_string": told.query.encode(),
            "headers": [(b"last-event-id", last.encode())] if last else [],
        }
        self.stream = asyncio.create_task(streams(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]  # It never hangs up.

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] != "http.response.body":
            return
        self.sent += 1
        if self._takes is not None and self.sent > self._takes:
            await asyncio.get_running_loop().create_future()  # The buffers of the socket are full.
        lines = message["body"].decode().strip().split("\n")
        if lines[0].startswith("id: "):
            self.got.append((lines[0].removeprefix("id: "), json.loads(lines[2].removeprefix("data: "))))

    def entries(self) -> list[tuple[str, int]]:
        """Return round and number of the entries that were taken, in their order."""
        return [(told["round_id"], told["seq"]) for _, told in self.got if told["type"] == "entry"]

    async def until(self, wanted: Callable[[], bool]) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(60):
            while not wanted():
                assert not self.stream.done(), "the stream goes on"
                await asyncio.sleep(0.02)


async def elsewhere(work: Callable[[], Any]) -> Any:
    """Run something that plays, in a thread with a connection of its own."""

    def run() -> Any:
        try:
            return work()
        finally:
            connection.close()

    return await asyncio.to_thread(run)


def test_a_follower_that_does_not_read_is_dropped_and_misses_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tails, "ENTRIES_KEPT", KEPT)
    monkeypatch.setattr(tails, "MESSAGES_KEPT", KEPT)
    monkeypatch.setattr(app, "SEND_MAX_S", 0.5)
    place = house.table()
    round_: Round = place.deal(0, 1)

    def all_entries() -> list[tuple[str, int]]:
        return [(round_.pk.hex, seq) for seq in range(Entry.objects.filter(round_id=round_.pk).count())]

    async def go() -> None:
        streams = app.Streams()
        healthy, slow = Follower(streams, place, takes=None), Follower(streams, place, takes=2)
        await healthy.until(lambda: len(healthy.entries()) > 0)
        await elsewhere(lambda: place.play_out())
        written = await elsewhere(all_entries)
        assert len(written) > 2 * KEPT
        await healthy.until(lambda: len(healthy.entries()) >= len(written))
        assert healthy.entries() == written
        async with asyncio.timeout(60):
            await slow.stream  # Dropped: the application has returned, though the follower never hung up.
        assert (slow.sent, len(slow.got)) == (3, 2), "nothing piles up behind the piece that is not taken"
        assert len(streams._open) == 1
        assert streams._tails is not None
        (tail,) = streams._tails._tails.values()
        assert tail.followers == 1
        assert max(len(tail.entries), len(tail._messages)) <= KEPT
        back = Follower(streams, place, takes=None, last=slow.got[-1][0])
        await back.until(lambda: len(slow.entries() + back.entries()) >= len(written))
        assert slow.entries() + back.entries() == written
        for follower in (healthy, back):
            follower.stream.cancel()
        await asyncio.gather(healthy.stream, back.stream, return_exceptions=True)

    try:
        asyncio.run(go())
    finally:
        readers_hang_up()
