"""`make chaos`: the whole product plays while whatever it is made of is killed at random, and nothing may go wrong.

Starts everything twice over (two API processes, two workers, two beats) on a PostgreSQL and a Redis-protocol server of
its own, lets bots play tables of all games over HTTP, and follows a schedule drawn from the seed: kill -9 of one or two
of the parts, a short time without them, their start, a short time of peace.  At the end the tables drain, and
tools.chaos_checks looks at all that is left.  Time is real, so two runs with one seed kill the same parts in the same
order, but not at the same place of a round.

    python -m tools.chaos --seed 7 --minutes 10
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import redis

from apps.client.errors import ClientError
from apps.client.operator import OperatorClient
from apps.games import registry
from tools import roles
from tools.chaos_checks import findings
from tools.chaos_players import Players
from tools.processes import Child, ToolError, children_of, say, wait_for
from tools.services import ROOT, Postgres, Services, redis_start
from tools.stack import Stack

FIRST_ROUNDS = 3
"""Rounds that must have ended before anything is killed."""
BEGIN_S = 300.0
DOWN_S = (0.1, 6.0)
"""How long a killed part is away; an outage of more than three seconds is added to the clocks."""
PEACE_S = (0.5, 6.0)
TWO_AT_ONCE = 0.3
"""How often a second part is killed with the first."""
DRAIN_S = 600.0
API_WORKERS = 2
PROCESSES = ("api", "streams", "worker", "worker-2", "beat", "beat-2")
PARTS = (*PROCESSES, "workers", "api-process", "bots", "redis", "redis-flushall", "postgres", "postgres-backend")


@dataclass(frozen=True, slots=True)
class Strike:
    """One entry of the schedule."""

    parts: tuple[str, ...]
    down_s: float
    peace_s: float


def schedule(seed: int) -> Iterator[Strike]:
    """Yield strikes for ever: every part once in a random order, then all of them again."""
    chance = random.Random(seed)
    while True:
        order = list(PARTS)
        chance.shuffle(order)
        while order:
            parts = [order.pop()]
            if order and chance.random() < TWO_AT_ONCE and kind(order[-1]) != kind(parts[0]):
                parts.append(order.pop())
            # What the others need is the first to be back.
            parts.sort(key=lambda part: (kind(part) != "postgres", kind(part) != "redis"))
            yield Strike(tuple(parts), chance.uniform(*DOWN_S), chance.uniform(*PEACE_S))


def kind(part: str) -> str:
    """Return what a part is part of: of one thing only one part is killed at a time."""
    return part.partition("-")[0].removesuffix("s")


@dataclass(slots=True)
class Chaos:
    """The running product with its servers, and how each part is killed and started again."""

    home: Path
    postgres: Child
    redis: Child
    servers: Services
    stack: Stack
    players: Players
    random: random.Random
    strikes: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    """Processes that ended though nobody killed them, and were started again as a supervisor would do."""

    def strike(self, part: str) -> Callable[[], None]:
        """Kill a part; return how it is started again."""
        self.strikes[part] += 1
        match part:
            case "postgres":
                self.postgres.kill()
                return self._postgres_start
            case "redis":
                self.redis.kill()
                return self._redis_start
            case "redis-flushall":
                redis.Redis.from_url(self.servers.redis_url).flushall()
                return lambda: None
            case "postgres-backend":
                self._kill_one(self._backends())
                return self._postgres_start
            case "api-process":
                self._kill_one(children_of(self.stack.children["api"].pid))
                return lambda: None  # The API's own supervisor starts another one.
            case "bots":
                self.players.kill()
                return self.players.start
            case "workers":
                self.stack.kill("worker", "worker-2")
                return lambda: self.stack.start("worker", "worker-2")
        self.stack.kill(part)
        return lambda: self.stack.start(part)

    def _kill_one(self, pids: list[int]) -> None:
        if pids:
            os.kill(self.random.choice(pids), signal.SIGKILL)

    def _backends(self) -> list[int]:
        with psycopg.connect(self.servers.admin_url) as admin:
            found = admin.execute("SELECT pid FROM pg_stat_activity WHERE usename = 'sealdeck_app'").fetchall()
        return [int(row[0]) for row in found]

    def _postgres_start(self) -> None:
        def is_there() -> bool:
            if not self.postgres.running():
                self.postgres.start()  # A first try fails while a process of the killed server still holds its memory.
                time.sleep(0.2)
            try:
                psycopg.connect(self.servers.admin_url, connect_timeout=2).close()
            except psycopg.OperationalError:
                return False
            return True

        wait_for("PostgreSQL to be back", is_there, timeout_s=120)

    def _redis_start(self) -> None:
        self.redis.start()

        def is_there() -> bool:
            try:
                return bool(redis.Redis.from_url(self.servers.redis_url).ping())
            except redis.RedisError:
                return False

        self.redis.wait_ready("Redis to be back", is_there)

    def supervise(self) -> None:
        """Start again what ended by itself."""
        for name, child in list(self.stack.children.items()):
            if not child.running():
                self.ended[name] += 1
                child.sweep()
                self.stack.start(name)

    def play(self, seed: int, seconds: float) -> None:
        """Follow the schedule for so long; everything runs afterwards."""
        over = time.monotonic() + seconds
        for strike in schedule(seed):
            if time.monotonic() >= over:
                return
            say(f"{time.strftime('%H:%M:%S')} kill {' and '.join(strike.parts)}, away for {strike.down_s:.1f} s")
            again = [self.strike(part) for part in strike.parts]
            time.sleep(strike.down_s)
            for start in again:
                start()
            time.sleep(strike.peace_s)
            self.supervise()
            self.players.check()


@contextmanager
def running(seed: int, home: Path, pace_s: float, games: Collection[str]) -> Iterator[Chaos]:
    """Start everything; stop everything on leaving."""
    with ExitStack() as stop:
        postgres, admin_url = Postgres(home, throw_away=False).start(None)
        stop.callback(postgres.stop)
        valkey, redis_url = redis_start(home, None)
        stop.callback(valkey.stop)
        owner_url, app_url = roles.roles_ensure(admin_url)
        servers = Services(admin_url, owner_url, app_url, redis_url, (postgres, valkey))
        stack = Stack(home / "stack", redis_database=0, servers=servers.environment(), api_workers=API_WORKERS)
        stop.callback(stack.stop)
        stack.start(*PROCESSES)
        players = Players(stack, pace_s=pace_s, games=games)
        stop.callback(players.stop)
        players.start()
        chance = random.Random(seed)
        yield Chaos(home, postgres, valkey, servers, stack, players, chance)


def drain(chaos: Chaos) -> list[str]:
    """Let every table come to its end; return what did not."""
    with OperatorClient(chaos.stack.url, chaos.stack.demo["api_key"]) as operator:
        for table_id in chaos.players.tables:
            operator.table_status_set(table_id, "draining")

    def open_tables() -> list[tuple[Any, ...]]:
        return chaos.stack.ask(
            "SELECT t.name, r.status, r.id, r.wake_at_ms - (extract(epoch FROM clock_timestamp()) * 1000)::bigint"
            " FROM tables_table t LEFT JOIN tables_round r ON r.id = t.round_id WHERE t.status = 'draining'"
        )

    def is_drained() -> bool:
        chaos.supervise()
        chaos.players.check()
        return not open_tables()

    try:
        wait_for("the tables to drain", is_drained, timeout_s=DRAIN_S)
    except ToolError:
        return [
            f"{row[0]} has not drained: its round {row[2]} is {row[1]}, due in {row[3]} ms" for row in open_tables()
        ]
    return []


def report(chaos: Chaos, wrong: list[str], again: str) -> None:
    """Print what was done and what was found."""
    strikes = ", ".join(f"{part} {count}" for part, count in sorted(chaos.strikes.items()))
    lines = ["", f"Strikes: {strikes}"]
    if chaos.ended:
        lines.append("Ended by themselves: " + ", ".join(f"{name} {n}" for name, n in sorted(chaos.ended.items())))
    rows = chaos.stack.ask(
        "SELECT game, count(*) FILTER (WHERE status = 'finished'), count(*) FILTER (WHERE status = 'void'),"
        " sum(seq + 1), max(offset_ms) FROM tables_round GROUP BY game ORDER BY game"
    )
    lines.append("game          finished  void  entries  outages added to one round at most, s")
    for game, finished, void, entries, offset_ms in rows:
        lines.append(f"{game:<12} {finished:>9} {void:>5} {entries or 0:>8}  {(offset_ms or 0) / 1000:.1f}")
    lines.append(f"Rounds that a player's own client verified: {chaos.players.verified()}")
    lines.append("")
    if wrong:
        lines += [f"WRONG: {problem}" for problem in wrong]
        lines.append(f"Logs: {chaos.home}")
        lines.append(again)
    else:
        lines.append("Nothing went wrong: no round stuck, nothing doubled, ledger zero, every round verified.")
    say("\n".join(lines))


def run(seed: int, minutes: float, pace_s: float, games: Collection[str]) -> int:
    """Do one run; return the exit code."""
    (ROOT / "var").mkdir(exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="chaos-", dir=ROOT / "var"))
    home.chmod(0o755)
    again = f'Again: make chaos SEED={seed} MINUTES={minutes:g} ARGS="--pace {pace_s:g} --games {" ".join(games)}"'
    wrong = ["it was interrupted"]
    try:
        with running(seed, home, pace_s, games) as chaos:
            wait_for("the first rounds", lambda: chaos.stack.rounds_ended() >= FIRST_ROUNDS, timeout_s=BEGIN_S)
            say(f"Chaos with seed {seed} for {minutes:g} minutes; logs in {home}")
            chaos.play(seed, minutes * 60)
            say("Everything is up again; the tables drain.")
            wrong = drain(chaos)
            wrong += findings(chaos.stack, chaos.players)
            report(chaos, wrong, again)
    except (ToolError, ClientError) as problem:
        wrong = [str(problem)]
        say(f"WRONG: {problem}\nLogs: {home}\n{again}")
    finally:
        if not wrong:
            elsewhere = home / "elsewhere"
            if elsewhere.is_symlink():
                shutil.rmtree(elsewhere.resolve(), ignore_errors=True)
            shutil.rmtree(home, ignore_errors=True)
    return 1 if wrong else 0


def main(arguments: list[str]) -> int:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="draws the schedule")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long things are killed")
    parser.add_argument("--pace", type=float, default=0.2, help="seconds a bot thinks, on average")
    parser.add_argument("--games", nargs="+", choices=registry.slugs(), default=registry.slugs(), help="default: all")
    given = parser.parse_args(arguments)

    def end(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    try:
        return run(given.seed, given.minutes, given.pace, given.games)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
