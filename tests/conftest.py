"""What the whole suite stands on: a real PostgreSQL, a real Redis, the two database roles.

The test database is made and migrated by the owner's login; tests run as ``sealdeck_app``, with no more rights than the
product has.  Tests that commit are cleaned up by the administrator's login, which alone may empty guarded tables.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest
import redis
from django.conf import settings
from django.db import connections
from django.test.utils import setup_databases, teardown_databases
from psycopg import sql
from pytest_django import DjangoDbBlocker
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from apps.core import redis as core_redis
from tests.fairness.keys import log_begin

HOW = "run the tests with: make test ARGS=..."
KEPT = ("django_migrations",)
LARGE_BYTES = 2_000_000
"""A table of more than this is truncated after a test."""
TOGETHER = ("tests/system/", "tests/browser/")
"""Folders whose tests share something dear, a running product or a browser: one worker runs all tests of one."""


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types.
    """Gives every worker the next test when it is free, and the tests of a folder named above to one of them, first."""

    def _split_scope(self, nodeid: str) -> str:
        return next((folder for folder in TOGETHER if nodeid.startswith(folder)), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Say how pytest-xdist deals the tests out: the folders that wait most begin first, the others fill the rest."""
    return Scheduling(config, log)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to begin without the servers: a suite that skips what it cannot reach proves nothing."""
    missing = [
        name
        for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_ADMIN_URL", "REDIS_URL")
        if not os.environ.get(name)
    ]
    if missing and not config.option.collectonly:
        raise pytest.UsageError(f"No PostgreSQL or Redis to test on ({', '.join(missing)} not set): {HOW}")


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest,
    django_test_environment: None,
    django_db_blocker: DjangoDbBlocker,
    django_db_modify_db_settings: None,
) -> Iterator[None]:
    """Make the test database with the owner's login; the application's login then connects to the same one."""
    with django_db_blocker.unblock():
        made = setup_databases(verbosity=0, interactive=False, aliases={"owner": False, "default": False})
        log_begin()
    yield
    with django_db_blocker.unblock():
        connections.close_all()
        name = str(connections["owner"].settings_dict["NAME"])
        with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], autocommit=True) as administrator:
            # Threads of a server that a test ran may not have let go of theirs yet.
            administrator.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        teardown_databases(made, verbosity=0)


@pytest.fixture(scope="session")
def administrator(django_db_setup: None) -> Iterator[psycopg.Connection]:
    """Return the administrator's connection to the test database."""
    name = connections["owner"].settings_dict["NAME"]
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], dbname=str(name), autocommit=True) as connection:
        if connection.execute("SELECT current_setting('is_superuser')::bool").fetchone() != (True,):
            pytest.exit("DATABASE_URL must be a superuser's login: only it may empty guarded tables between tests.")
        yield connection


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the migrations left: the names of all tables, those with rows, and what numbers the rows of which column."""

    tables: tuple[str, ...]
    kept: tuple[str, ...]
    sequences: tuple[tuple[str, str, str], ...]
    """Table, column and sequence."""


@pytest.fixture(scope="session")
def baseline(administrator: psycopg.Connection) -> Baseline:
    """Keep a copy of the rows that migrations wrote."""
    rows = administrator.execute(
        "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')"
        " AND NOT c.relispartition ORDER BY 1"
    ).fetchall()
    names = tuple(str(row[0]) for row in rows if row[0] not in KEPT)
    kept = []
    administrator.execute("CREATE SCHEMA IF NOT EXISTS baseline")
    for name in names:
        table = sql.Identifier(name)
        if administrator.execute(sql.SQL("SELECT EXISTS (SELECT FROM {})").format(table)).fetchone() == (True,):
            administrator.execute(
                sql.SQL("CREATE TABLE IF NOT EXISTS baseline.{} AS TABLE public.{}").format(table, table)
            )
            kept.append(name)
    sequences = administrator.execute(
        "SELECT c.relname, a.attname, pg_get_serial_sequence(quote_ident(c.relname), a.attname) FROM pg_class c"
        " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
        " WHERE c.relname = ANY(%s) AND c.relnamespace = 'public'::regnamespace"
        " AND pg_get_serial_sequence(quote_ident(c.relname), a.attname) IS NOT NULL",
        [list(names)],
    ).fetchall()
    return Baseline(names, tuple(kept), tuple((str(a), str(b), str(c)) for a, b, c in sequences))


@pytest.fixture(autouse=True)
def _clean_after_commits(request: pytest.FixtureRequest) -> Iterator[None]:
    """After a test that commits, bring every table back to what the migrations left."""
    marker = request.node.get_closest_marker("django_db")
    commits = "transactional_db" in request.fixturenames or "live_server" in request.fixturenames
    if marker is not None:
        commits = commits or bool(marker.kwargs.get("transaction", marker.args[0] if marker.args else False))
    if not commits:
        yield
        return
    administrator: psycopg.Connection = request.getfixturevalue("administrator")
    before: Baseline = request.getfixturevalue("baseline")
    yield
    empty_tables(administrator, before)


def empty_tables(administrator: psycopg.Connection, before: Baseline) -> None:
    """Empty every table that has rows, and put the rows of the migrations back.

    Few rows are deleted, which is many times as quick as TRUNCATE: that makes new files for a table and its indexes.
    """
    used = sql.SQL(" UNION ALL ").join(
        sql.SQL("SELECT {}, pg_relation_size({}) > {} WHERE EXISTS (SELECT FROM {})").format(
            sql.Literal(name), sql.Literal(f"public.{name}"), LARGE_BYTES, sql.Identifier(name)
        )
        for name in before.tables
    )
    with administrator.transaction():
        administrator.execute("SET LOCAL lock_timeout = '10s'")
        administrator.execute("SET LOCAL session_replication_role = replica")
        dirty = {str(name): bool(is_large) for name, is_large in administrator.execute(used).fetchall()}
        large = [sql.Identifier(name) for name, is_large in dirty.items() if is_large]
        steps = [sql.SQL("TRUNCATE {} CASCADE").format(sql.SQL(", ").join(large))] if large else []
        steps += [sql.SQL("DELETE FROM {}").format(sql.Identifier(name)) for name in dirty]
        steps += [
            sql.SQL("INSERT INTO public.{t} OVERRIDING SYSTEM VALUE TABLE baseline.{t}").format(t=sql.Identifier(name))
            for name in before.kept
        ]
        steps += [
            sql.SQL("SELECT setval({}, COALESCE(max({c}), 1), max({c}) IS NOT NULL) FROM {}").format(
                sql.Literal(sequence), sql.Identifier(name), c=sql.Identifier(column)
            )
            for name, column, sequence in before.sequences
            if name in dirty or name in before.kept
        ]
        administrator.execute(sql.SQL("; ").join(steps))


@pytest.fixture
def redis_client(request: pytest.FixtureRequest) -> Iterator[redis.Redis]:
    """Return an empty logical database of the Redis server; the product's client uses the same one."""
    client = core_redis.client()
    client.flushdb()
    yield client
    client.flushdb()


@pytest.fixture(autouse=True, scope="session")
def _own_redis_database() -> Iterator[None]:
    """Give every pytest-xdist worker a logical database of its own."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    base, _, _ = settings.REDIS_URL.rpartition("/")
    settings.REDIS_URL = f"{base}/{worker + 1}"
    core_redis.client.cache_clear()
    yield
    core_redis.client.cache_clear()
