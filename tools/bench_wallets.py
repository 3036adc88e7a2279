"""How many settlements a second the ledger makes, with all its guards, against pgbench's simple update beside it.

    python -m tools.bench_wallets [--seconds 10] [--clients 8 32]

Starts a durable PostgreSQL of its own, migrates, and measures in the same run: pgbench's simple update (one UPDATE, one
SELECT, one INSERT a transaction); settlements and whole rounds (buy-ins in one transaction, settlement in another)
called by pgbench as the application's role; and settlements made by the services in Python.  Prints rates and the ratio
to the simple update with the same number of clients.  Never touches another database than its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import psycopg

from tools import services as servers
from tools.bench_site import manage, site
from tools.processes import say

SCALE = 10
PLAYERS = 2_000
SEATS = 4
BUY_IN_MINOR = 1_000
START_MINOR = 10**12
PROCESSES = 4
"""Client processes of the Python part; each has its share of the clients as threads."""
OPERATOR = UUID("00000000-0000-4000-8000-000000000001")

BUY_IN = f"""
\\set n random(0, {PLAYERS} - {SEATS} - 1)
SELECT gen_random_uuid() AS round, players, players[1] AS winner FROM bench_group WHERE n = :n \\gset
SELECT * FROM wallets_buy_ins_take('{OPERATOR}', ':round', 'PTS', ':players',
    array_fill({BUY_IN_MINOR}::bigint, ARRAY[{SEATS}]), '\\\\x00', 'bench');
"""
SETTLE = f"""
SELECT * FROM wallets_round_settle('{OPERATOR}', ':round', 'PTS', ARRAY[':winner'::uuid],
    ARRAY[{SEATS * BUY_IN_MINOR * 95 // 100}::bigint], {SEATS * BUY_IN_MINOR * 5 // 100}, '\\\\x00', 'bench');
"""


def main(arguments: list[str]) -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="bench_wallets", description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--clients", type=int, nargs="+", default=[8, 32])
    options = parser.parse_args(arguments)
    with site() as (running, home):
        _prepare(running)
        for clients in options.clients:
            _measure(running, clients, options.seconds, home)
    return 0


def _prepare(running: servers.Services) -> None:
    manage("currency_create", "PTS")
    with psycopg.connect(running.owner_url, autocommit=True) as owner:
        owner.execute(
            "INSERT INTO accounts_operator (id, name, status, status_reason, created_at_ms)"
            " VALUES (%s, 'bench', 'active', '', 0)",
            [OPERATOR],
        )
        owner.execute("CREATE TABLE bench_player (n integer PRIMARY KEY, id uuid NOT NULL)")
        owner.execute("INSERT INTO bench_player SELECT n, gen_random_uuid() FROM generate_series(0, %s) n", [PLAYERS])
        owner.execute("CREATE TABLE bench_group (n integer PRIMARY KEY, players uuid[] NOT NULL)")
        owner.execute(
            "INSERT INTO bench_group SELECT a.n, array_agg(b.id ORDER BY b.n) FROM bench_player a"
            " JOIN bench_player b ON b.n >= a.n AND b.n < a.n + %s GROUP BY a.n",
            [SEATS],
        )
        owner.execute(
            "INSERT INTO accounts_player (id, operator_id, external_id, status, is_test, is_bot, person_key,"
            " token_version, created_at_ms)"
            " SELECT id, %s, id::text, 'active', false, false, '', 1, 0 FROM bench_player",
            [OPERATOR],
        )
    with psycopg.connect(running.app_url) as app:
        app.execute(
            "SELECT wallets_transfer(%s, 'credit', id, 'PTS', %s, id::text, '\\x00', 'bench') FROM bench_player",
            [OPERATOR, START_MINOR],
        )
    _pgbench(running.owner_url, "-i", "-q", "-s", str(SCALE))
    with psycopg.connect(running.admin_url, autocommit=True) as admin:
        admin.execute("CHECKPOINT")


def _measure(running: servers.Services, clients: int, seconds: int, home: Path) -> None:
    script = home / "round.sql"
    script.write_text(BUY_IN + SETTLE)
    rate = ("-n", "-c", str(clients), "-j", "2", "-T", str(seconds), "-M", "prepared")
    base = _tps(_pgbench(running.owner_url, "-N", *rate))
    say(f"{clients:3} clients  simple update      {base:8.0f}/s")
    both = _tps(_pgbench(running.app_url, "-f", str(script), *rate[:-2], "-M", "simple"))
    say(f"{clients:3} clients  whole rounds       {both:8.0f}/s   {both / base:.2f} of the simple update")
    rounds = _rounds_ready(running, int(both * seconds * 2) + 1_000)
    settled = _settle(running.app_url, rounds, clients, seconds)
    say(f"{clients:3} clients  settlements, SQL   {settled:8.0f}/s   {settled / base:.2f} of the simple update")
    rounds = _rounds_ready(running, int(both * seconds) + 1_000)
    served = _serve(rounds, clients, seconds)
    say(f"{clients:3} clients  settlements, Python{served:8.0f}/s   {served / base:.2f} of the simple update")


def _rounds_ready(running: servers.Services, count: int) -> list[tuple[UUID, UUID]]:
    """Take the buy-ins of so many rounds and return each with its winner."""
    with psycopg.connect(running.app_url) as app:
        players = [row[0] for row in app.execute("SELECT id FROM bench_player ORDER BY n").fetchall()]
        made = []
        for place in range(count):
            round_id, first = uuid4(), place * SEATS % (PLAYERS - SEATS)
            app.execute(
                "SELECT wallets_buy_ins_take(%s, %s, 'PTS', %s, %s, '\\x00', 'bench')",
                [OPERATOR, round_id, players[first : first + SEATS], [BUY_IN_MINOR] * SEATS],
            )
            made.append((round_id, players[first]))
            if place % 500 == 499:
                app.commit()
    return made


def _settle(url: str, rounds: list[tuple[UUID, UUID]], clients: int, seconds: int) -> float:
    """Settle the rounds by one plain statement each; return how many a second."""
    return _spread(_settle_share, [(url, seconds, share) for share in _shares(rounds, clients)])


def _serve(rounds: list[tuple[UUID, UUID]], clients: int, seconds: int) -> float:
    """Settle the rounds by the service, in transactions of Django's; return how many a second."""
    return _spread(_serve_share, [("", seconds, share) for share in _shares(rounds, clients)])


def _shares(rounds: list[tuple[UUID, UUID]], clients: int) -> list[list[list[tuple[UUID, UUID]]]]:
    each = [rounds[place::clients] for place in range(clients)]
    return [each[place::PROCESSES] for place in range(PROCESSES)]


def _spread(share: object, work: list[tuple[str, int, list[list[tuple[UUID, UUID]]]]]) -> float:
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        return sum(pool.map(share, work))  # type: ignore[arg-type]


def _settle_share(work: tuple[str, int, list[list[tuple[UUID, UUID]]]]) -> float:
    url, seconds, shares = work

    def client(rounds: list[tuple[UUID, UUID]], done: list[int]) -> None:
        with psycopg.connect(url, autocommit=True) as app:
            while rounds and not stop.is_set():
                round_id, winner = rounds.pop()
                app.execute(
                    "SELECT * FROM wallets_round_settle(%s, %s, 'PTS', %s, %s, %s, '\\x00', 'bench')",
                    [OPERATOR, round_id, [winner], [SEATS * BUY_IN_MINOR * 95 // 100], SEATS * BUY_IN_MINOR * 5 // 100],
                ).fetchall()
                done.append(1)

    stop = threading.Event()
    return _timed(client, shares, stop, seconds)


def _serve_share(work: tuple[str, int, list[list[tuple[UUID, UUID]]]]) -> float:
    import django

    django.setup()
    from django.db import connection, transaction

    from apps.wallets import services

    _, seconds, shares = work

    def client(rounds: list[tuple[UUID, UUID]], done: list[int]) -> None:
        while rounds and not stop.is_set():
            round_id, winner = rounds.pop()
            with transaction.atomic():
                services.round_settle(
                    operator_id=OPERATOR,
                    round_id=round_id,
                    currency="PTS",
                    payouts=[(winner, SEATS * BUY_IN_MINOR * 95 // 100)],
                    fee_minor=SEATS * BUY_IN_MINOR * 5 // 100,
                )
            done.append(1)
        connection.close()

    stop = threading.Event()
    return _timed(client, shares, stop, seconds)


def _timed(client: object, shares: list[list[tuple[UUID, UUID]]], stop: threading.Event, seconds: int) -> float:
    done: list[int] = []
    threads = [threading.Thread(target=client, args=(share, done)) for share in shares]  # type: ignore[arg-type]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, began + seconds - time.monotonic()))
    stop.set()
    for thread in threads:
        thread.join()
    return len(done) / (time.monotonic() - began)


def _pgbench(url: str, *options: str) -> str:
    parts = urlsplit(url)
    binary = servers._postgres_binaries() / "pgbench"
    command = [str(binary), "-h", "127.0.0.1", "-p", str(parts.port), "-U", str(parts.username), *options]
    done = subprocess.run(
        [*command, parts.path.lstrip("/")],
        env={**os.environ, "PGPASSWORD": str(parts.password)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def _tps(report: str) -> float:
    found = re.search(r"^tps = ([0-9.]+) ", report, re.MULTILINE)
    assert found is not None, report
    return float(found[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
