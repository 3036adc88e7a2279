"""Many open streams: every message at every follower once and in order, slow followers dropped, memory of each."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx

from apps.client.calls import call
from apps.client.sse import EventParser
from apps.client.streams import message_read
from tools.load_meters import Machine, percentiles
from tools.load_table import LoadTable
from tools.processes import say

if TYPE_CHECKING:
    from tools.load import House, Site

OPENING_AT_ONCE = 25
SETTLE_S = 5.0
"""Once nothing has come for so long after the end of play, nothing more is awaited."""


@dataclass(slots=True)
class Follower:
    """What one stream has brought."""

    table_id: str
    entries: list[tuple[int, int]] = field(default_factory=list)
    """Index of the round and number of the entry, as they came."""
    delays_ms: list[float] = field(default_factory=list)
    opened: bool = False
    ended: str = ""

    @property
    def disorder(self) -> int:
        """Return how many entries were not the next one of the table."""
        pairs = itertools.pairwise(self.entries)
        return sum(later not in ((index, seq + 1), (index + 1, 0)) for (index, seq), later in pairs)


def short_of(followers: list[Follower]) -> int:
    """Return how many followers have fewer entries than another one of their table."""
    longest: dict[str, int] = {}
    for follower in followers:
        longest[follower.table_id] = max(longest.get(follower.table_id, 0), len(follower.entries))
    return sum(len(follower.entries) < longest[follower.table_id] for follower in followers)


async def streams(site: Site, options: argparse.Namespace) -> list[Follower]:
    """Follow the tables with so many streams while bots play; print what came, and return it."""
    from tools.load import House

    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=None), timeout=120) as http:
        house = House(site, options, http)
        tables = await asyncio.gather(*(house.table(number) for number in range(options.tables)))
        machine = Machine(site.roots)
        followers = [Follower(tables[number % len(tables)].id) for number in range(options.streams)]
        gate = asyncio.Semaphore(OPENING_AT_ONCE)
        say(f"Opening {options.streams} streams of {options.tables} tables.")
        following = [
            asyncio.create_task(_follow(follower, house, tables[number % len(tables)], number, gate))
            for number, follower in enumerate(followers)
        ]
        while not all(follower.opened or follower.ended for follower in followers):
            await asyncio.sleep(0.2)
        opened = machine.since()
        playing = [asyncio.create_task(table.play_for_ever()) for table in tables]
        house.tally.counting = True
        machine.restart()
        began = time.monotonic()
        await asyncio.sleep(options.seconds)
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)
        seconds, used = time.monotonic() - began, machine.since()
        await _settled(followers)
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
        house.wire.close()
    _say(followers, len(house.tally.moves_ms), seconds, opened, used, options.streams)
    return followers


async def _settled(followers: list[Follower]) -> None:
    """Wait until no more messages come."""
    before = -1
    while before != (now := sum(len(follower.entries) for follower in followers)):
        before = now
        await asyncio.sleep(SETTLE_S)


def _say(
    followers: list[Follower],
    moves: int,
    seconds: float,
    opened: dict[str, tuple[float, int, int]],
    used: dict[str, tuple[float, int, int]],
    count: int,
) -> None:
    short = short_of(followers)
    messages = sum(len(follower.entries) for follower in followers)
    opened_count = sum(follower.opened for follower in followers)
    say(f"\nstreams        {opened_count} opened, {sum(bool(follower.ended) for follower in followers)} ended early")
    say(f"messages       {messages} of {moves} moves, {messages / seconds:.0f} a second")
    say(f"out of order   {sum(follower.disorder for follower in followers)}; streams that miss something: {short}")
    say(f"delay, ms      {percentiles([d for f in followers for d in f.delays_ms])} from a move's arrival")
    ended = Counter(follower.ended for follower in followers if follower.ended)
    say(f"ended          {dict(ended) or 'none'}")
    if "streams" in used:
        _, before, after = opened["streams"]
        each = (after - before) / count / 1000
        say(f"memory         {each:.1f} kB for an open stream ({before / 1e6:.0f} MB before the first)")
        cpu_s, _, now = used["streams"]
        say(f"stream process {cpu_s / seconds:.0%} of one core, {1e6 * cpu_s / max(messages, 1):.0f} us a message")
        say(f"               {now / 1e6:.0f} MB after play")


async def _follow(follower: Follower, house: House, table: LoadTable, number: int, gate: asyncio.Semaphore) -> None:
    """Read a stream until cancelled; nothing is tried again, so that what is lost shows."""
    client = table.seats[number // house.options.tables % len(table.seats)]
    parser = EventParser()
    try:
        async with gate:
            # Over httpx: the redirect, and a body without an end.
            stream = client.streamed(call("GET", f"/v1/tables/{table.id}/stream", read_s=60.0))
            chunks = await stream.__aenter__()
            follower.opened = True
        async for chunk in chunks:
            now_ms = time.time() * 1000
            for event in parser.feed(chunk):
                message = message_read(event)
                if message.type == "entry":
                    follower.entries.append((message.data["index"], message.data["seq"]))
                    if message.data["entry"]["kind"] == "act":
                        follower.delays_ms.append(now_ms - message.data["entry"]["at"])
        follower.ended = "closed by the server"
    except asyncio.CancelledError:
        raise
    except Exception as error:  # Whatever it is, it is what this run is about.
        follower.ended = f"{type(error).__name__}: {error}"[:80]
