"""A hot transaction: whole or not at all, Django's errors, and a connection that is as before afterwards."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import DataError, IntegrityError, OperationalError, connection, transaction

from apps.core.postgres import hot
from apps.core.postgres.hot import hot_transaction
from apps.core.retries import sqlstate

pytestmark = pytest.mark.django_db(transaction=True)

INSERT = "INSERT INTO core_heartbeat (role, beat_at_ms) VALUES ($1, $2)"
READ = "SELECT beat_at_ms, role, NULL, $1::uuid, $2::bytea FROM core_heartbeat WHERE role = $3 FOR UPDATE"


def beats(role: str) -> list[int]:
    """Return what is stored, seen by another statement."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT beat_at_ms FROM core_heartbeat WHERE role = %s", [role])
        return [int(row[0]) for row in cursor.fetchall()]


class TestTransaction:
    def test_commits_with_its_last_statement(self) -> None:
        done: list[bool] = []
        with hot_transaction() as open_:
            assert open_.first(READ, (uuid4(), b"x", "a")) is None
            transaction.on_commit(lambda: done.append(True))
            open_.last(INSERT, ("a", 7))
            assert not done
        assert done
        assert beats("a") == [7]
        assert not connection.in_atomic_block
        assert connection.get_autocommit()

    def test_gives_values_in_binary_form(self) -> None:
        with hot_transaction() as open_:
            open_.last(INSERT, ("b", -5))
        id_ = uuid4()
        with hot_transaction() as open_:
            row = open_.first(READ, (id_, b"\x00\xff", "b"))
        assert row is not None
        assert (hot.integer(row[0]), row[1], row[2], row[3], row[4]) == (-5, b"b", None, id_.bytes, b"\x00\xff")
        assert UUID(bytes=row[3]) == id_

    def test_commits_what_ordinary_statements_did_in_between(self) -> None:
        with hot_transaction() as open_:
            open_.first(READ, (None, None, "c"))
            with connection.cursor() as cursor:
                cursor.execute("INSERT INTO core_heartbeat (role, beat_at_ms) VALUES ('c', 1)")
            hot.statement_run(INSERT, ("d", 2))
        assert (beats("c"), beats("d")) == ([1], [2])

    def test_is_undone_when_the_caller_raises(self) -> None:
        def write_and_raise() -> None:
            with hot_transaction() as open_:
                open_.first(READ, (None, None, "e"))
                hot.statement_run(INSERT, ("e", 1))
                raise RuntimeError

        with pytest.raises(RuntimeError):
            write_and_raise()
        assert beats("e") == []

    def test_that_fails_at_its_end_has_no_effect_and_leaves_a_good_connection(self) -> None:
        with hot_transaction() as open_:
            open_.last(INSERT, ("f", 1))

        def write_twice() -> None:
            with hot_transaction() as open_:
                assert open_.first(READ, (None, None, "f")) is not None
                hot.statement_run(INSERT, ("g", 1))
                open_.last(INSERT, ("f", 2))

        with pytest.raises(IntegrityError) as told:
            write_twice()
        assert sqlstate(told.value) == "23505"
        assert (beats("f"), beats("g")) == ([1], [])

    def test_that_fails_at_its_begin_leaves_a_good_connection(self) -> None:
        with pytest.raises(DataError), hot_transaction() as open_:
            open_.first("SELECT 1 / $1::int", (0,))
        assert beats("h") == []

    def test_must_be_the_outermost(self) -> None:
        with transaction.atomic(), pytest.raises(RuntimeError), hot_transaction():
            pass

    def test_whose_connection_is_cut_says_so_and_the_next_one_works(self, administrator: psycopg.Connection) -> None:
        def write_and_be_cut() -> None:
            with hot_transaction() as open_:
                open_.first(READ, (None, None, "i"))
                pid = connection.connection.info.backend_pid
                administrator.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
                open_.last(INSERT, ("i", 1))

        with pytest.raises(OperationalError):
            write_and_be_cut()
        connection.close()
        assert beats("i") == []

    def test_prepares_anew_in_a_new_connection(self) -> None:
        for value in (1, 2):
            with hot_transaction() as open_:
                open_.last(INSERT, (f"j{value}", value))
            connection.close()
        assert (beats("j1"), beats("j2")) == ([1], [2])


class TestHealthCheck:
    def test_finds_a_connection_that_the_server_ended_without_asking_it(
        self, administrator: psycopg.Connection
    ) -> None:
        wrapper: Any = connection

        def request() -> int:
            """Do what one request does, and return which server process did it."""
            wrapper.health_check_enabled, wrapper.health_check_done = True, False
            assert beats("k") == []
            pid: int = wrapper.connection.info.backend_pid
            return pid

        try:
            request()
            pid = request()
            administrator.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
            assert request() != pid
        finally:
            wrapper.health_check_enabled = False
