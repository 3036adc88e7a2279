"""Where each microsecond of a move goes: one process, no network, PostgreSQL and Redis durable beside it.

    python -m tools.bench_move [--moves 2000] [--game monko] [--stages] [--stored 1000000]

Calls the WSGI application as the server does, with a real token and body, and counts what a move costs in CPU time of
this process, of its PostgreSQL back end and of Redis: figures that hold on a busy machine too.  Beside it the same for
a bare durable POST through Django REST framework (one INSERT), the least that any move could cost here.  ``--stages``
shares the time of the process out among the parts of the path; ``--stored`` first stores so many ended rounds.  Never
touches another database than its own.
"""

from __future__ import annotations

import argparse
import cProfile
import functools
import importlib
import io
import json
import os
import secrets
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from tools import baseline_table
from tools.bench_site import site
from tools.processes import say
from tools.stored import rounds_store

TABLES = 16
SEATS = 3
WARM_UP = 100

STAGES = {
    "token: signature, no database": "apps.tables.api.moves:player_authenticate",
    "rate limit": "apps.tables.api.moves:move_take",
    "body: JSON and its checks": "apps.tables.api.moves:strict_loads",
    "body: members": "apps.tables.api.moves:_validated",
    "lock and read the round (statement 1)": "apps.tables.locks:round_lock",
    "engine: the move": "apps.tables.live:Live.act",
    "transcript entry: canonical JSON, hash, shown": "apps.tables.live:Live.append",
    "seal the snapshot": "apps.fairness.dealer:state_seal",
    "write entry and round, COMMIT (statement 2)": "apps.tables.services.rounds:live_commit",
    "publish to followers (Redis)": "apps.tables.feed:entries_publish",
    "answer: entry and openings": "apps.tables.feed:entry_message",
    "answer: JSON": "json:dumps",
    "access log line": "logging:Logger.info",
    "answer: view": "apps.games.kit.views:shared",
    "transaction: Django's begin": "django.db.transaction:Atomic.__enter__",
    "transaction: Django's end": "django.db.transaction:Atomic.__exit__",
    "the service around all that": "apps.tables.services.play:round_act",
    "headers, metrics": "apps.core.middleware:_end",
    "the view around all that": "apps.tables.api.moves:_short",
    "Django around it": "django.core.handlers.wsgi:WSGIHandler.__call__",
}
"""Parts of the path and the function whose own time is theirs: that of the stages inside it is taken off."""


class Stages:
    """Shares the time of this thread out among named functions."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = dict.fromkeys(STAGES, 0.0)
        self._inner: list[float] = []

    def install(self) -> None:
        """Wrap every function of STAGES where it is looked up."""
        for name, place in STAGES.items():
            module_name, _, path = place.partition(":")
            owner: Any = importlib.import_module(module_name)
            *parents, last = path.split(".")
            for parent in parents:
                owner = getattr(owner, parent)
            setattr(owner, last, self._timed(name, getattr(owner, last)))

    def _timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.thread_time()
            self._inner.append(0.0)
            try:
                return call(*args, **kwargs)
            finally:
                spent = time.thread_time() - began
                self.spent[name] += spent - self._inner.pop()
                if self._inner:
                    self._inner[-1] += spent

        return timed


class Meter:
    """CPU time of this thread and of two other processes, and wall time, while calls are made."""

    def __init__(self, others: dict[str, int]) -> None:
        self._others = others
        self.cpu_ms: dict[str, list[float]] = {name: [] for name in ("this process", *others)}
        self.wall_ms: list[float] = []

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Count what happens inside."""
        before = {name: cpu_s(pid) for name, pid in self._others.items()}
        wall, own = time.perf_counter(), time.thread_time()
        yield
        self.cpu_ms["this process"].append(1000 * (time.thread_time() - own))
        self.wall_ms.append(1000 * (time.perf_counter() - wall))
        for name, pid in self._others.items():
            self.cpu_ms[name].append(1000 * (cpu_s(pid) - before[name]))

    def row(self, title: str) -> str:
        """Return the means, and the median of the wall time."""
        means = [statistics.fmean(values) for values in self.cpu_ms.values()]
        cells = "".join(f"{value:14.3f}" for value in (*means, sum(means), statistics.median(self.wall_ms)))
        return f"{title:34}{cells}"


def cpu_s(pid: int) -> float:
    """Return the CPU time of another process's first thread, to the nanosecond, as the scheduler counts it."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


class Caller:
    """Calls a WSGI application as a server would."""

    def __init__(self, application: Any) -> None:
        self.application = application

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        """Return status and body of the answer."""
        environ = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": path,
            "SCRIPT_NAME": "",
            "QUERY_STRING": "",
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_HOST": "127.0.0.1",
            "HTTP_ACCEPT": "application/json",
            "HTTP_USER_AGENT": "bench",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr,
            **headers,
        }
        told: list[str] = []
        answer = self.application(environ, lambda status, _headers, _info=None: told.append(status))
        data = b"".join(answer)
        answer.close()
        return int(told[0].split()[0]), data


class House:
    """An operator with tables whose seats are played through the application."""

    def __init__(self, game: str) -> None:
        from apps.accounts.services import operator_create
        from apps.wallets import services as wallets

        wallets.currency_create(code="PTS", exponent=0, is_money=False)
        self.operator_id = operator_create(name="bench")[0].pk
        self.game = game
        self.tables = [self._table() for _ in range(TABLES)]

    def _table(self) -> tuple[UUID, dict[int, tuple[UUID, str]]]:
        from django.db import transaction

        from apps.accounts.services import player_upsert, session_create
        from apps.core import clock
        from apps.tables.services import seats, tables
        from apps.wallets import services as wallets

        table = tables.table_create(
            operator_id=self.operator_id, game=self.game, currency="PTS", buy_in_minor=10, pause_ms=0
        )
        seated = {}
        for number in range(SEATS):
            player = player_upsert(operator_id=self.operator_id, external_id=uuid4().hex).pk
            with transaction.atomic():
                wallets.wallet_credit(
                    operator_id=self.operator_id,
                    player_id=player,
                    currency="PTS",
                    amount_minor=1_000_000,
                    external_id=uuid4().hex,
                    actor="bench",
                )
            seats.seat_take(
                table_id=table.pk,
                operator_id=self.operator_id,
                player_id=player,
                number=number,
                now_ms=clock.now_ms(),
            )
            seated[number] = player, session_create(player_id=player, ttl_s=36_000).token
        return table.pk, seated

    def deal(self, table_id: UUID, seated: dict[int, tuple[UUID, str]]) -> None:
        """Get everybody ready at a table whose next round waits."""
        from apps.core import clock
        from apps.fairness import sequencer
        from apps.tables import selectors
        from apps.tables.services import seats
        from apps.tables.services.seats import Contribution

        sequencer.tick(now_ms=clock.now_ms())
        round_ = selectors.table_get(table_id=table_id).round
        assert round_ is not None
        for player, _ in seated.values():
            seats.seat_ready(
                table_id=table_id,
                player_id=player,
                round_id=round_.pk,
                contribution=Contribution(value=secrets.token_hex(32)),
                now_ms=clock.now_ms(),
            )

    def next_move(self, place: int) -> tuple[str, bytes, dict[str, str]]:
        """Return path, body and headers of a move that a table's bots would make now."""
        from apps.core import clock
        from apps.games.bots import bot
        from apps.games.contract import Seat
        from apps.tables import selectors
        from apps.tables.services import play

        table_id, seated = self.tables[place]
        while True:
            round_ = selectors.table_get(table_id=table_id).round
            assert round_ is not None
            if round_.status != "running":
                self.deal(table_id, seated)
                continue
            round_ = selectors.round_get(round_id=round_.pk, operator_id=self.operator_id)
            rules, state = selectors.state_of(round_)
            now = clock.now_ms()
            actors = rules.actors(state)
            if not actors or (rules.wake_at(state) or now + 1) <= now:
                play.round_wake(round_id=round_.pk, now_ms=max(now, rules.wake_at(state) or 0))
                continue
            number = min(actors)
            legal = [a for a in rules.legal(state, number, now) if a["type"] not in rules.spec.unsequenced]
            action = bot(self.game)(rules.view(state, Seat(number)), legal, secrets.randbelow)
            body = json.dumps({"action": action, "seen": round_.seq}).encode()
            headers = {
                "HTTP_AUTHORIZATION": f"Bearer {seated[number][1]}",
                "HTTP_IDEMPOTENCY_KEY": secrets.token_hex(16),
            }
            return f"/v1/rounds/{round_.pk.hex}/actions", body, headers


def moves_measure(count: int, game: str, meter: Meter, options: argparse.Namespace) -> None:
    """Play ``count`` moves; those that end a round or come too late are not counted."""
    from config.wsgi import application

    house = House(game)
    if options.stored:
        say(f"Storing {options.stored} rounds.")
        table_id, seated = house.tables[0]
        rounds_store(table_id=table_id, player_id=seated[0][0], count=options.stored)
    caller = Caller(application)
    profile = cProfile.Profile() if options.profile else None
    stages = Stages() if options.stages else None
    if stages is not None:
        stages.install()
    for number in range(WARM_UP + count):
        path, body, headers = house.next_move(number % TABLES)
        if number < WARM_UP:
            caller.post(path, body, headers)
            if stages is not None:
                stages.spent = dict.fromkeys(STAGES, 0.0)
            continue
        kept = dict(stages.spent) if stages else {}
        with meter.measured():
            if profile:
                profile.enable()
            status, answer = caller.post(path, body, headers)
            if profile:
                profile.disable()
        assert status in (201, 409), answer
        if status == 409 or b'"round_over"' in answer:  # A clock was faster, or the round ended.
            for values in (*meter.cpu_ms.values(), meter.wall_ms):
                values.pop()
            if stages:
                stages.spent = kept
    if profile:
        profile.dump_stats(options.profile)
    if stages is not None:
        say(f"\n{'part of a move':50}{'CPU us':>10}")
        for name, spent in stages.spent.items():
            say(f"{name:50}{1e6 * spent / len(meter.wall_ms):10.0f}")


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench_move", description=__doc__)
    parser.add_argument("--moves", type=int, default=2_000)
    parser.add_argument("--game", default="monko")
    parser.add_argument("--stages", action="store_true", help="share the time out among the parts of the path")
    parser.add_argument("--stored", type=int, default=0, help="ended rounds to store before")
    parser.add_argument("--profile", type=Path, help="file for cProfile's figures")
    options = parser.parse_args(arguments)
    with site():
        from django.db import connection

        from apps.core.redis import client

        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            backend = int(cursor.fetchone()[0])
        redis_pid = int(client().info("server")["process_id"])
        meter = Meter({"PostgreSQL": backend, "Redis": redis_pid})
        moves_measure(options.moves, options.game, meter, options)
        heads = (*meter.cpu_ms, "CPU together", "wall median")
        say("\n" + f"{'mean ms of one request':34}" + "".join(f"{head:>14}" for head in heads))
        say(meter.row(f"a move of {options.game}"))
        bare = Meter({"PostgreSQL": backend, "Redis": redis_pid})
        bare_measure(options.moves, bare)
        say(bare.row("a bare durable POST through DRF"))
    return 0


def bare_measure(count: int, meter: Meter) -> None:
    """Measure the least that a durable POST costs here."""
    from tools.baseline import application

    baseline_table.make(os.environ["DATABASE_OWNER_URL"])

    caller = Caller(application)
    for number in range(WARM_UP + count):
        body = json.dumps({"action": {"type": "play", "card": "R7#1"}, "seen": number}).encode()
        with meter.measured():
            status, answer = caller.post("/bare", body, {})
        assert status == 201, answer
        if number < WARM_UP:
            for values in (*meter.cpu_ms.values(), meter.wall_ms):
                values.pop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
