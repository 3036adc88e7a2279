"""The database's clock, measured once and kept."""

from __future__ import annotations

import pytest
from django.db import connection

from apps.core import clock


@pytest.mark.django_db
class TestNow:
    def test_agrees_with_the_database(self) -> None:
        assert abs(clock.now_ms() - clock.database_ms()) <= 20

    def test_never_goes_back(self) -> None:
        told = [clock.now_ms() for _ in range(200)]
        assert told == sorted(told)

    def test_is_asked_of_the_database_only_now_and_then(self, django_assert_num_queries: object) -> None:
        clock.now_ms()
        before = len(connection.queries_log)
        for _ in range(50):
            clock.now_ms()
        assert len(connection.queries_log) == before
