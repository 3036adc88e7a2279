"""What the whole suite stands on: a real PostgreSQL, a real Redis, the two database roles.

The test database is made and migrated by the owner's login; tests run as ``sealdeck_app``, with no more rights than the
product has.  Tests that commit are cleaned up by the administrator's login, which alone may empty guarded tables.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import psycopg
import pytest
import redis
from django.conf import settings
from django.db import connections
from django.test.utils import setup_databases, teardown_databases
from psycopg import sql
from pytest_django import DjangoDbBlocker

from apps.core import redis as core_redis
from tests.fairness.keys import log_begin

HOW = "run the tests with: make test ARGS=..."
KEPT = ("django_migrations",)


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
        teardown_databases(made, verbosity=0)


@pytest.fixture(scope="session")
def administrator(django_db_setup: None) -> Iterator[psycopg.Connection]:
    """Return the administrator's connection to the test database."""
    name = connections["owner"].settings_dict["NAME"]
    with psycopg.connect(os.environ["DATABASE_ADMIN_URL"], dbname=str(name), autocommit=True) as connection:
        if connection.execute("SELECT current_setting('is_superuser')::bool").fetchone() != (True,):
            pytest.exit("DATABASE_URL must be a superuser's login: only it may empty guarded tables between tests.")
        yield connection


@pytest.fixture(scope="session")
def baseline(administrator: psycopg.Connection) -> tuple[str, ...]:
    """Keep a copy of the rows that migrations wrote; return the names of all tables."""
    rows = administrator.execute(
        "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')"
        " AND NOT c.relispartition ORDER BY 1"
    ).fetchall()
    names = tuple(str(row[0]) for row in rows if row[0] not in KEPT)
    administrator.execute("CREATE SCHEMA IF NOT EXISTS baseline")
    for name in names:
        table = sql.Identifier(name)
        if administrator.execute(sql.SQL("SELECT EXISTS (SELECT FROM {})").format(table)).fetchone() == (True,):
            administrator.execute(
                sql.SQL("CREATE TABLE IF NOT EXISTS baseline.{} AS TABLE public.{}").format(table, table)
            )
    return names


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
    names: tuple[str, ...] = request.getfixturevalue("baseline")
    yield
    empty_tables(administrator, names)


def empty_tables(administrator: psycopg.Connection, names: tuple[str, ...]) -> None:
    """Empty every table that has rows, and put the rows of the migrations back."""
    if not names:
        return
    used = sql.SQL(" UNION ALL ").join(
        sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(sql.Literal(name), sql.Identifier(name))
        for name in names
    )
    with administrator.transaction():
        administrator.execute("SET LOCAL lock_timeout = '10s'")
        administrator.execute("SET LOCAL session_replication_role = replica")
        dirty = [str(row[0]) for row in administrator.execute(used).fetchall()]
        if not dirty:
            return
        administrator.execute(
            sql.SQL("TRUNCATE {} RESTART IDENTITY CASCADE").format(sql.SQL(", ").join(map(sql.Identifier, dirty)))
        )
        kept = administrator.execute("SELECT relname FROM pg_class WHERE relnamespace = 'baseline'::regnamespace")
        for (name,) in kept.fetchall():
            administrator.execute(
                sql.SQL("INSERT INTO public.{t} OVERRIDING SYSTEM VALUE TABLE baseline.{t}").format(
                    t=sql.Identifier(str(name))
                )
            )
            _sequences_follow(administrator, str(name))


def _sequences_follow(administrator: psycopg.Connection, name: str) -> None:
    columns = administrator.execute(
        "SELECT a.attname, pg_get_serial_sequence(quote_ident(c.relname), a.attname) FROM pg_class c"
        " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
        " WHERE c.relname = %s AND c.relnamespace = 'public'::regnamespace"
        " AND pg_get_serial_sequence(quote_ident(c.relname), a.attname) IS NOT NULL",
        [name],
    ).fetchall()
    for column, sequence in columns:
        administrator.execute(
            sql.SQL("SELECT setval({}, (SELECT max({}) FROM {}))").format(
                sql.Literal(str(sequence)), sql.Identifier(str(column)), sql.Identifier(name)
            )
        )


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
