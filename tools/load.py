"""`make load`: a load generator for Sealdeck: tables of bots over real HTTP, and what they see.

    make load ARGS="--tables 64 --seconds 60 --game monko"     moves per second, latencies, cost by process
    make load ARGS="--clocks 2000 --seconds 30"                 lateness of the clocks of tables where nobody moves
    make load ARGS="--streams 1000 --seconds 30"                open streams: every message once and in order

Starts the product as in production (durable PostgreSQL, an API process per core) and stops it; what it makes lies in a
folder of its own.  ``--url`` and ``--key`` measure a server that runs already, without the figures that only its
machine knows.  One process: its own share of the processor is printed with the others.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from apps.client.operator import AsyncOperatorClient
from apps.client.player import AsyncPlayerClient
from apps.client.streams import follow_async
from tools import baseline_table
from tools import services as servers
from tools.load_meters import Machine, percentiles
from tools.load_table import LoadTable, Tally
from tools.load_wire import Wire, WirePlayer
from tools.processes import Child, ToolError, free_port, say, wait_for
from tools.stack import Stack

CURRENCY = "PTS"
POINTS = 100_000_000
WARM_UP_S = 5.0
SESSION_S = 36_000
AT_ONCE = 16
"""Requests that making tables has under way at once."""


@dataclass(slots=True)
class Site:
    """A server to measure, and what only its own machine knows, if it is this one."""

    url: str
    key: str
    stack: Stack | None = None
    bare_url: str = ""
    roots: dict[str, int] = field(default_factory=dict)

    def ask(self, statement: str) -> Any:
        """Return the first column of the first row of a query."""
        assert self.stack is not None
        return self.stack.ask(statement)[0][0]


class House:
    """The operator's side: tables, and players with sessions."""

    def __init__(self, site: Site, options: argparse.Namespace, http: httpx.AsyncClient) -> None:
        self.site = site
        self.options = options
        self.http = http
        self.wire = Wire(site.url)
        self.operator = AsyncOperatorClient(site.url, site.key, http=http)
        self.run = secrets.token_hex(4)
        self.tally = Tally()
        self._gate = asyncio.Semaphore(AT_ONCE)

    def client(self, token: str) -> AsyncPlayerClient:
        """Return a player's client over the transport that was asked for."""
        if self.options.client == "httpx":
            return AsyncPlayerClient(self.site.url, token, http=self.http)
        return WirePlayer(self.site.url, token, self.wire, http=self.http)

    async def player(self, name: str) -> AsyncPlayerClient:
        """Return the client of a new player who has enough points for ever."""
        async with self._gate:
            player = await self.operator.player_upsert(f"load-{self.run}-{name}")
            await self.operator.credit(player["id"], CURRENCY, POINTS, external_id=f"load-{self.run}-{name}")
            session = await self.operator.session_create(player["id"], SESSION_S)
        return self.client(session["token"])

    async def table(self, number: int, players: list[AsyncPlayerClient] | None = None, **more: Any) -> LoadTable:
        """Return a new table with its seats taken."""
        seats = self.options.seats
        body = {
            "game": self.options.game,
            "currency": CURRENCY,
            "buy_in_minor": 0 if players else 10,
            "seats_max": seats,
            "seats_min": seats,
            "pause_ms": 0,
            "start_after_ms": 600_000,
            **more,
        }
        if players is None:
            players = list(await asyncio.gather(*(self.player(f"{number}-{seat}") for seat in range(seats))))
        async with self._gate:
            made = await self.operator.table_create(body)
            for seat, player in enumerate(players):
                await player.seat_take(made["id"], seat)
        return LoadTable(made["id"], self.options.game, players, self.tally, self.options.pace)


async def play(site: Site, options: argparse.Namespace) -> None:
    """Play at all tables for a while and print what it took."""
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=None), timeout=60) as http:
        house = House(site, options, http)
        say(f"Seating {options.tables} tables of {options.game} with {options.seats} bots each.")
        tables = await asyncio.gather(*(house.table(number) for number in range(options.tables)))
        delays_ms: list[float] = []
        playing = [asyncio.create_task(table.play_for_ever()) for table in tables]
        playing += [asyncio.create_task(_watch(table, house, delays_ms)) for table in list(tables)[: options.watch]]
        while len(house.tally.playing) < len(tables):
            await asyncio.sleep(0.1)
        await asyncio.sleep(WARM_UP_S)
        machine, size = Machine(site.roots), _size(site)
        house.tally.counting = True
        delays_ms.clear()
        before, began = house.wire.requests, time.monotonic()
        await asyncio.sleep(options.seconds)
        house.tally.counting = False
        seconds = time.monotonic() - began
        used = machine.since()
        grown = _size(site) - size
        requests = house.wire.requests - before
        await _cancelled(playing)
        house.wire.close()
    _say_play(house.tally, seconds, requests, delays_ms)
    _say_machine(used, len(house.tally.moves_ms), house.tally.rounds, grown, seconds)
    if site.bare_url:
        await _bare(site, options, len(house.tally.moves_ms) / seconds)


async def _cancelled(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _watch(table: LoadTable, house: House, delays_ms: list[float]) -> None:
    """Follow a table from its last seat; keep how long after a move's arrival its message is there."""
    async for message in follow_async(table.seats[-1], table.id):
        if message.type == "entry" and message.data["entry"]["kind"] == "act" and house.tally.counting:
            delays_ms.append(time.time() * 1000 - message.data["entry"]["at"])


def _size(site: Site) -> int:
    return int(site.ask("SELECT pg_database_size(current_database())")) if site.stack else 0


def _say_play(tally: Tally, seconds: float, requests: int, delays_ms: list[float]) -> None:
    moves = len(tally.moves_ms)
    say(f"\nmoves          {moves} in {seconds:.1f} s: {moves / seconds:.0f} a second")
    say(f"a move, ms     {percentiles(tally.moves_ms)}")
    say(f"other requests {tally.reads} looks at rounds, {tally.others} to get ready; {requests} requests in all")
    say(f"rounds ended   {tally.rounds}")
    say(f"stream, ms     {percentiles(delays_ms)} from a move's arrival to its message at another seat")
    say(f"errors         {dict(tally.errors) or 'none'}")


def _say_machine(used: dict[str, tuple[float, int, int]], moves: int, rounds: int, grown: int, seconds: float) -> None:
    if not used:
        return
    say(f"\n{'process':14}{'CPU ms a move':>14}{'of one core':>13}{'MB before':>11}{'MB after':>10}")
    for name, (cpu_s, before, after) in used.items():
        each = 1000 * cpu_s / max(moves, 1)
        say(f"{name:14}{each:14.3f}{cpu_s / seconds:13.0%}{before / 1e6:11.1f}{after / 1e6:10.1f}")
    total = sum(cpu_s for cpu_s, _, _ in used.values())
    say(f"{'together':14}{1000 * total / max(moves, 1):14.3f}{total / seconds:13.0%}")
    if rounds:
        say(f"database       grew by {grown / rounds / 1000:.1f} MB per 1,000 rounds")


async def _bare(site: Site, options: argparse.Namespace, moves_per_s: float) -> None:
    """Measure a bare durable POST with as many requests under way, and print how a move compares."""
    wire = Wire(site.bare_url)
    times: list[float] = []
    body = json.dumps({"action": {"type": "play", "card": "R7#1"}, "seen": 41}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json"}

    async def one() -> None:
        while True:
            began = time.perf_counter()
            answer = await wire.ask("POST", "/bare", headers, body)
            if answer.status != 201:
                raise ToolError(f"The bare POST was answered {answer.status}: {answer.body[:200]!r}")
            times.append(1000 * (time.perf_counter() - began))

    asking = [asyncio.create_task(one()) for _ in range(options.tables)]
    await asyncio.sleep(2)
    times.clear()
    machine, began = Machine(site.roots), time.monotonic()
    await asyncio.sleep(options.bare)
    seconds, used = time.monotonic() - began, machine.since()
    await _cancelled(asking)
    wire.close()
    rate = len(times) / seconds
    cpu_ms = 1000 * sum(cpu_s for cpu_s, _, _ in used.values()) / max(len(times), 1)
    say(f"\nbare POST      {rate:.0f} a second, ms {percentiles(times)}; CPU {cpu_ms:.3f} ms each, everything together")
    if rate:
        say(f"ratio          a move runs at {moves_per_s / rate:.0%} of the rate of a bare durable POST through DRF")


@contextlib.contextmanager
def site_started(options: argparse.Namespace) -> Iterator[Site]:
    """Start the product on durable servers; stop it afterwards and remove what it left."""
    (servers.ROOT / "var").mkdir(exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="load-", dir=servers.ROOT / "var"))
    home.chmod(0o755)
    try:
        with servers.services(home / "services", throw_away=False, outer={}) as running:
            stack = Stack(home, redis_database=1, servers=running.environment(), api_workers=options.api)
            stack.env["SEALDECK_RATE_LIMITS"] = "read=0/60,write=0/60,money=0/60,player=0/60,move=0/60"
            stack.env["SEALDECK_LOG_LEVEL"] = options.log_level
            baseline_table.make(stack.env["DATABASE_OWNER_URL"])
            names = ["api", "streams", "beat", *(f"worker-{number + 1}" for number in range(options.workers))]
            bare, bare_url = None, ""
            try:
                stack.start(*names)
                if options.bare:
                    bare, bare_url = _bare_start(stack, options.api)
                roots = {"API": stack.children["api"].pid, "streams": stack.children["streams"].pid}
                roots |= {name: child.pid for name, child in stack.children.items() if name[:4] in ("work", "beat")}
                roots |= {child.name.partition("-")[0]: child.pid for child in running.children}
                roots |= {"bare": bare.pid} if bare else {}
                roots["generator"] = os.getpid()
                yield Site(stack.url, stack.demo["api_key"], stack, bare_url, roots)
            finally:
                if bare is not None:
                    bare.stop()
                stack.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _bare_start(stack: Stack, workers: int) -> tuple[Child, str]:
    port = free_port()
    command = [str(Path(sys.executable).parent / "granian"), "--interface", "wsgi", "tools.baseline:application"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--workers", str(workers), "--blocking-threads", "1"]
    command += ["--no-ws", "--http", "1", "--log-level", "warning"]
    child = Child("bare", command, log=stack.folder / "bare.log", env=stack.env, cwd=servers.ROOT)
    url = f"http://127.0.0.1:{port}"
    with httpx.Client() as http:
        wait_for("the bare server", lambda: _answers(http, url))
    return child, url


def _answers(http: httpx.Client, url: str) -> bool:
    try:
        return http.get(f"{url}/bare").status_code == 405
    except httpx.HTTPError:
        return False


def arguments_read(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="load", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", type=int, default=64)
    parser.add_argument("--seats", type=int, default=4, help="bots at each table")
    parser.add_argument("--seconds", type=float, default=60, help="how long to count, after a warm-up")
    parser.add_argument("--game", default="monko")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds a bot thinks, on average")
    parser.add_argument("--watch", type=int, default=4, help="tables that one seat follows by a stream")
    parser.add_argument("--clocks", type=int, default=0, help="measure clocks at so many tables instead")
    parser.add_argument("--streams", type=int, default=0, help="measure so many streams instead")
    parser.add_argument("--api", type=int, default=2, help="API processes")
    parser.add_argument("--workers", type=int, default=1, help="Celery workers")
    parser.add_argument("--bare", type=float, default=10, help="seconds to measure a bare POST; 0 leaves it out")
    parser.add_argument("--client", choices=["wire", "httpx"], default="wire", help="transport of the bots")
    parser.add_argument("--log-level", default="INFO", help="of the product")
    parser.add_argument("--url", help="a server that runs already")
    parser.add_argument("--key", help="API key of an operator there, with the scopes play and money")
    options = parser.parse_args(arguments)
    if bool(options.url) != bool(options.key):
        parser.error("--url and --key go together")
    return options


async def measure(site: Site, options: argparse.Namespace) -> None:
    """Run the mode that was asked for."""
    if options.clocks:
        from tools.load_clocks import clocks

        await clocks(site, options)
    elif options.streams:
        from tools.load_streams import streams

        await streams(site, options)
    else:
        await play(site, options)


def main(arguments: list[str]) -> int:
    """Measure and print."""
    options = arguments_read(arguments)
    try:
        if options.url:
            asyncio.run(measure(Site(options.url, options.key), options))
        else:
            with site_started(options) as site:
                asyncio.run(measure(site, options))
    except KeyboardInterrupt:
        return 130
    except ToolError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
