"""A hot transaction in two round trips: BEGIN goes with its first statement, COMMIT with its last one.

Both statements are prepared once in a connection and sent through libpq's own pipeline: psycopg's cursors cost several
times as much as the server does.  Parameters travel beside the statement, never in its text.  What lies between uses
Django's cursors on the same connection, and so does every transaction that is not hot.

Source: https://www.psycopg.org/psycopg3/docs/api/pq.html; PostgreSQL's documentation, libpq, Pipeline Mode.
"""

from __future__ import annotations

import select
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

import psycopg
from django.db import connection, transaction
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, Format, TransactionStatus

Value = UUID | bytes | str | int | None
Row = list[bytes | None]
"""Values in PostgreSQL's binary form, None for NULL."""

_REFUSED = (ExecStatus.FATAL_ERROR, ExecStatus.PIPELINE_ABORTED)


class Transaction:
    """An open hot transaction, the outermost one of its connection."""

    def first(self, sql: str, parameters: Sequence[Value]) -> Row | None:
        """Run the first statement and return its first row; parameters are ``$1``, ``$2`` and so on in the text."""
        result = _exchange((b"BEGIN", ()), (_prepared(sql), parameters))[1]
        return [result.get_value(0, column) for column in range(result.nfields)] if result.ntuples else None

    def last(self, sql: str, parameters: Sequence[Value]) -> None:
        """Run the last statement and commit; nothing may follow in the transaction."""
        _exchange((_prepared(sql), parameters), (b"COMMIT", ()))


@contextmanager
def hot_transaction() -> Iterator[Transaction]:
    """Open a transaction; whoever leaves it without ``last`` commits as usual, whoever raises rolls back."""
    with transaction.atomic(durable=True):
        yield Transaction()


def statement_run(sql: str, parameters: Sequence[Value]) -> None:
    """Run a hot statement inside a transaction that is open and goes on."""
    assert _pgconn().transaction_status == TransactionStatus.INTRANS
    _exchange((_prepared(sql), parameters))


def _pgconn() -> psycopg.pq.abc.PGconn:
    found: psycopg.pq.abc.PGconn = connection.connection.pgconn
    return found


def _prepared(sql: str) -> bytes:
    """Return the name under which this connection has the statement."""
    known: dict[str, bytes] = connection.hot_statements  # type: ignore[attr-defined]  # Of our own back end.
    name = known.get(sql)
    if name is None:
        name = b"hot_%d" % len(known)
        with connection.wrap_database_errors:
            _check([_pgconn().prepare(name, sql.encode())])
        known[sql] = name
    return name


def _exchange(*statements: tuple[bytes, Sequence[Value]]) -> list[psycopg.pq.abc.PGresult]:
    """Send statements together and return the result of each.

    Raises:
        DatabaseError: Django's, for the first that failed; those behind it were not run.
    """
    pgconn = _pgconn()
    with connection.wrap_database_errors:
        pgconn.enter_pipeline_mode()
        try:
            for command, parameters in statements:
                if command in (b"BEGIN", b"COMMIT"):
                    pgconn.send_query_params(command, None)
                else:
                    pgconn.send_query_prepared(
                        command,
                        [_encoded(value) for value in parameters],
                        [_format(value) for value in parameters],
                        result_format=Format.BINARY,
                    )
            pgconn.pipeline_sync()
            results = _results(pgconn)
        finally:
            if pgconn.status == ConnStatus.OK:
                pgconn.exit_pipeline_mode()
        _check(results)
    return results


def _check(results: Sequence[psycopg.pq.abc.PGresult]) -> None:
    if _pgconn().status != ConnStatus.OK:
        raise psycopg.OperationalError("the connection to the server is lost")
    for result in results:
        if result.status in _REFUSED:
            raise error_from_result(result)


def _results(pgconn: psycopg.pq.abc.PGconn) -> list[psycopg.pq.abc.PGresult]:
    """Read until the server is in step again; other threads run meanwhile."""
    poll = select.poll()
    poll.register(pgconn.socket, select.POLLIN)
    while pgconn.flush():
        poll.modify(pgconn.socket, select.POLLIN | select.POLLOUT)
        poll.poll()
        pgconn.consume_input()
    poll.modify(pgconn.socket, select.POLLIN)
    results: list[psycopg.pq.abc.PGresult] = []
    while True:
        while pgconn.is_busy():
            poll.poll()
            pgconn.consume_input()
        result = pgconn.get_result()
        if result is None:
            if pgconn.status != ConnStatus.OK:
                return results
            continue  # Between the results of two statements.
        if result.status == ExecStatus.PIPELINE_SYNC:
            return results
        results.append(result)


def _encoded(value: Value) -> bytes | None:
    match value:
        case None | bytes():
            return value
        case UUID():
            return value.bytes
        case _:
            return str(value).encode()


def _format(value: Value) -> Format:
    return Format.BINARY if isinstance(value, bytes | UUID) else Format.TEXT


def integer(value: bytes | None) -> int | None:
    """Return an integer column's value."""
    return None if value is None else int.from_bytes(value, signed=True)
