"""Credits, debits, buy-ins, settlements and refunds on a real ledger."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connection

from apps.wallets import services
from tests.wallets.conftest import House

pytestmark = pytest.mark.django_db


def counts() -> tuple[int, int]:
    """Return how many transactions and entries there are."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT (SELECT count(*) FROM wallets_tx), (SELECT count(*) FROM wallets_entry)")
        found: tuple[int, int] = cursor.fetchone()
    return found


class TestRounds:
    def test_a_round_is_paid_in_settled_and_sums_to_zero(self, house: House) -> None:
        a, b = house.player(1000), house.player(1000)
        round_id = uuid4()
        services.buy_ins_take(
            operator_id=house.operator_id, round_id=round_id, currency="PTS", buy_ins=[(a, 100), (b, 100)]
        )
        assert house.available(a) == 900
        services.round_settle(
            operator_id=house.operator_id, round_id=round_id, currency="PTS", payouts=[(a, 190)], fee_minor=10
        )
        assert (house.available(a), house.available(b)) == (1090, 900)
