"""The clock of a table in a sandbox moves deadlines, and the round stays one that verifies."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings

from apps.history.models import Entry
from apps.tables.models import Round
from tests.accounts.conftest import Caller
from tests.tables.conftest import House

pytestmark = pytest.mark.django_db(transaction=True)


def advance(house: House, table_id: Any, ms: int = 600_000) -> Any:
    """Move a table's clock by the route."""
    return Caller(house.key)("POST", f"/sandbox/tables/{table_id}/clock", {"ms": ms})


class TestClock:
    def test_lets_a_turn_run_out(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        before = Entry.objects.filter(round_id=round_.pk).count()
        with override_settings(SEALDECK_SANDBOX=True):
            assert advance(house, place.id).status_code == 200
        assert Entry.objects.filter(round_id=round_.pk).count() > before

    def test_starts_a_round_that_waits_for_more_players(self, house: House) -> None:
        place = house.table(start_after_ms=600_000, seats_max=4)
        place.sit(2)
        for number in (0, 1):
            place.sit(number)
        for number in (0, 1):
            place.ready(number)
        assert place.round.status == Round.Status.OPEN
        with override_settings(SEALDECK_SANDBOX=True):
            advance(house, place.id)
        assert place.round.status == Round.Status.RUNNING

    def test_is_nobodys_elsewhere_and_not_another_operators(self, house: House) -> None:
        place, other = house.table(), House()
        round_ = place.deal(0, 1)
        before = Entry.objects.filter(round_id=round_.pk).count()
        assert advance(house, place.id).json()["code"] == "table_not_found"
        with override_settings(SEALDECK_SANDBOX=True):
            assert advance(other, place.id).json()["code"] == "table_not_found"
            assert advance(house, place.id, 600_001).status_code == 400
        assert Entry.objects.filter(round_id=round_.pk).count() == before
