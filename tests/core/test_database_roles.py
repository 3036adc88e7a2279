"""The test suite, like the product, works with the application's login and no more."""

from __future__ import annotations

import psycopg
import pytest
from django.db import ProgrammingError, connection, transaction


@pytest.mark.django_db
class TestApplicationRole:
    def test_is_what_the_tests_run_as(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_user")
            assert cursor.fetchone() == ("sealdeck_app",)

    @pytest.mark.parametrize(
        "statement",
        [
            "CREATE TABLE intruder (id int)",
            "TRUNCATE auth_group CASCADE",
            "ALTER TABLE auth_group ADD COLUMN intruder int",
            "DROP TABLE auth_group CASCADE",
            "SET session_replication_role = replica",
        ],
    )
    def test_may_not(self, statement: str) -> None:
        with pytest.raises(ProgrammingError, match=r"permission denied|must be owner"), transaction.atomic():
            connection.cursor().execute(statement)


@pytest.mark.django_db(transaction=True)
class TestCleaning:
    """The two tests write the same unique name: the second fails if the first one's commit is left behind."""

    @pytest.mark.parametrize("turn", [1, 2])
    def test_leaves_nothing_of_an_earlier_commit(self, turn: int, administrator: psycopg.Connection) -> None:
        assert administrator.execute("SELECT count(*) FROM auth_permission").fetchone() != (0,)
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO auth_group (name) VALUES ('committed') RETURNING id")
            cursor.execute("SELECT count(*) FROM auth_group WHERE name = 'committed'")
            assert cursor.fetchone() == (1,)
