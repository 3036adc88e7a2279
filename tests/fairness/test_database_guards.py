"""What the database refuses, whatever the application tries: as the application's role and as the reading ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, ProgrammingError, connection, transaction

from tests.fairness.table import FairTable

pytestmark = pytest.mark.django_db(transaction=True)

Run = Callable[[str], Any]


@pytest.fixture
def ended() -> FairTable:
    """Return a table with a round that ended and is merged."""
    table = FairTable(entropy="open")
    table.unplayed_round(0, 1)
    return table


@pytest.fixture
def app(ended: FairTable) -> Run:
    """Return a way to run a statement as the application."""

    def run(statement: str) -> Any:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.rowcount

    return run


@pytest.fixture
def as_role(ended: FairTable, administrator: psycopg.Connection) -> Iterator[Callable[[str, str], Any]]:
    """Return a way to run a statement as another role."""

    def run(role: str, statement: str) -> Any:
        with administrator.transaction():
            administrator.execute(f"SET LOCAL ROLE {role}")
            return administrator.execute(statement).fetchall()

    yield run
    administrator.execute("RESET ROLE")


class TestApplication:
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE fairness_record SET entry = 'x'",
            "UPDATE fairness_record SET round_id = NULL",
            "DELETE FROM fairness_record",
            "TRUNCATE fairness_record CASCADE",
            "UPDATE fairness_checkpoint SET note = ''",
            "DELETE FROM fairness_checkpoint",
            "TRUNCATE fairness_checkpoint CASCADE",
            "UPDATE fairness_tile SET root = hashes",
            "DELETE FROM fairness_tile",
            "TRUNCATE fairness_tile",
            "UPDATE fairness_cosignature SET at_s = 1",
            "DELETE FROM fairness_cosignature",
            "UPDATE fairness_generation SET source_sealed = 'x'",
            "DELETE FROM fairness_generation",
            "UPDATE fairness_deck_order SET codes = '[]'",
            "DELETE FROM fairness_deck_order",
            "UPDATE fairness_round SET seed_sealed = 'x'",
            "UPDATE fairness_round SET seed_commit = seed_sealed",
            "UPDATE fairness_round SET table_id = gen_random_uuid()",
            "DELETE FROM fairness_round",
            "TRUNCATE fairness_round CASCADE",
            "INSERT INTO fairness_signing_key (kid, use, public_key, added_id) VALUES ('0', 'records', 'x', 1)",
            "UPDATE fairness_signing_key SET revoked_id = 1",
            "DELETE FROM fairness_signing_key",
            "INSERT INTO fairness_log (id, origin) VALUES (2, 'x')",
            "UPDATE fairness_log SET origin = 'x'",
            "DELETE FROM fairness_log",
            "DELETE FROM fairness_tally",
            "DELETE FROM fairness_beacon_value",
        ],
    )
    def test_is_not_granted(self, app: Run, statement: str) -> None:
        with pytest.raises(ProgrammingError, match="permission denied"):
            app(statement)

    @pytest.mark.parametrize(
        ("statement", "said"),
        [
            ("UPDATE fairness_record SET log_index = log_index + 100", "merged once"),
            ("UPDATE fairness_record SET log_index = NULL, merged_at_ms = NULL", "merged once"),
            ("UPDATE fairness_record SET merged_at_ms = 0", "merged once"),
            ("UPDATE fairness_round SET stage = 'open', ended_at_ms = NULL", "ended round"),
            ("UPDATE fairness_round SET last_hash = open_hash", "ended round"),
            ("UPDATE fairness_round SET deck_hash = open_hash", "record fixed"),
            ("UPDATE fairness_round SET opener = 77", "record fixed"),
            ("UPDATE fairness_log SET size = 1", "only grows"),
            ("INSERT INTO fairness_checkpoint VALUES (1, decode(repeat('00', 32), 'hex'), '', 0)", "only grows"),
        ],
    )
    def test_is_refused_by_a_trigger(self, app: Run, statement: str, said: str) -> None:
        with pytest.raises(DatabaseError, match=said):
            app(statement)

    @pytest.mark.parametrize("type_", ["open", "close", "deck", "reveal", "void"])
    def test_cannot_add_a_record_after_the_end(self, app: Run, ended: FairTable, type_: str) -> None:
        with pytest.raises(DatabaseError, match=r"cannot follow|duplicate key"):
            app(
                "INSERT INTO fairness_record (round_id, type, place, kid, entry, record_hash, leaf_hash, signed_at_ms)"
                f" SELECT round_id, '{type_}', 3, kid, entry, sha256(entry), leaf_hash, 0 FROM fairness_record"
                " WHERE type = 'reveal'"
            )

    def test_cannot_begin_a_round_with_another_record(self, app: Run) -> None:
        with pytest.raises(DatabaseError, match="begins with its open record"):
            app(
                "INSERT INTO fairness_round SELECT gen_random_uuid(), gen_random_uuid(), 0, game, entropy, 'open',"
                " seed_commit, seed_sealed, open_hash, last_hash, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL"
                " FROM fairness_round;"
                "INSERT INTO fairness_record (round_id, type, place, kid, entry, record_hash, leaf_hash, signed_at_ms)"
                " SELECT (SELECT id FROM fairness_round WHERE stage = 'open'), 'deck', 0, kid, entry, sha256(entry),"
                " leaf_hash, 0 FROM fairness_record WHERE type = 'reveal'"
            )

    def test_cannot_give_an_index_with_the_record(self, app: Run) -> None:
        with pytest.raises(DatabaseError, match="gets its index"):
            app(
                "INSERT INTO fairness_record (type, place, kid, entry, record_hash, leaf_hash, signed_at_ms, log_index,"
                " merged_at_ms) SELECT 'key', 0, kid, entry, sha256(entry), leaf_hash, 0, 900, 0 FROM fairness_record"
                " WHERE type = 'reveal'"
            )

    def test_cannot_run_two_rounds_at_a_table(self, app: Run) -> None:
        copy = (
            "INSERT INTO fairness_round SELECT gen_random_uuid(), table_id, index + {n}, game, entropy, 'open',"
            " seed_commit, seed_sealed, open_hash, last_hash, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL"
            " FROM fairness_round WHERE index = 0"
        )
        assert app(copy.format(n=1)) == 1
        with pytest.raises(DatabaseError, match="fairness_round_one_running"):
            app(copy.format(n=2))


class TestReaders:
    @pytest.mark.parametrize("role", ["sealdeck_readonly", "sealdeck_support", "sealdeck_auditor"])
    @pytest.mark.parametrize(
        ("column", "table"),
        [
            ("seed_sealed", "fairness_round"),
            ("source_sealed", "fairness_generation"),
            ("secret_sealed", "fairness_signing_key"),
        ],
    )
    def test_read_no_ciphertext(self, as_role: Callable[[str, str], Any], role: str, column: str, table: str) -> None:
        for what in (column, "*", f"length({column})"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                as_role(role, f"SELECT {what} FROM {table}")

    @pytest.mark.parametrize("role", ["sealdeck_readonly", "sealdeck_support", "sealdeck_auditor"])
    def test_read_what_is_public(self, as_role: Callable[[str, str], Any], role: str) -> None:
        assert as_role(role, "SELECT stage FROM fairness_round") == [("ended",)]
        assert as_role(role, "SELECT count(*) FROM fairness_record") == [(6,)]
        assert as_role(role, "SELECT count(use) FROM fairness_signing_key") == [(3,)]

    @pytest.mark.parametrize("role", ["sealdeck_readonly", "sealdeck_support", "sealdeck_auditor"])
    def test_write_nothing(self, as_role: Callable[[str, str], Any], role: str) -> None:
        for statement in ("DELETE FROM fairness_record", "UPDATE fairness_round SET stage = 'ended'"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                as_role(role, statement)


def test_the_seed_is_nowhere_in_the_clear_while_the_round_runs(administrator: psycopg.Connection) -> None:
    table = FairTable(entropy="open")
    table.open()
    table.merge()
    table.dealt(table.roster(table.seats(0, 1)))
    played = table.play([0, 1])
    tables = administrator.execute("SELECT relname FROM pg_class WHERE relname ~ '^fairness_' AND relkind = 'r'")
    rows = "".join(
        str(row)
        for (name,) in tables.fetchall()
        for row in administrator.execute(f"SELECT t::text FROM {name} t").fetchall()
    )
    table.reveal([0, 1], played)
    table.merge()
    revealed: str = table.bundle()["records"][-1]["body"]["seed"]
    commitment: str = table.opened.seed_commit
    for found, needle in ((False, revealed), (True, commitment)):
        assert (needle in rows or needle.encode().hex() in rows) == found
