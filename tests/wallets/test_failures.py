"""Something fails after every single row that a movement writes, or at its commit: all of it happened, or nothing.

Hazard W5, and rule L9: a lock, timeout or serialisation error is told as what it is, never as missing funds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import DatabaseError, connection, transaction

from apps.wallets import fsck
from tests.wallets.conftest import House
from tests.wallets.test_routes import credit, transfer

pytestmark = pytest.mark.django_db(transaction=True)

TABLES = ("wallets_tx", "wallets_entry", "wallets_balance", "wallets_account", "webhooks_event")
STEPS_MAX = 60

FAULT = """
CREATE SEQUENCE fault_step;
GRANT USAGE ON SEQUENCE fault_step TO PUBLIC;
CREATE FUNCTION fault_here() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF nextval('public.fault_step') = {step} THEN
        {fault}
    END IF;
    RETURN NULL;
END $$;
"""
FAULTS = {
    "error": "RAISE EXCEPTION 'fault' USING ERRCODE = 'XX000';",
    "crash": "PERFORM pg_terminate_backend(pg_backend_pid());",
}
REMOVE = "DROP FUNCTION IF EXISTS fault_here() CASCADE; DROP SEQUENCE IF EXISTS fault_step;"


@contextmanager
def fault_at(administrator: Any, step: int, fault: str, tables: tuple[str, ...] = TABLES) -> Iterator[None]:
    """Let the database fail at the given row that is written, counted over the tables."""
    administrator.execute(FAULT.format(step=step, fault=fault))
    for table in tables:
        administrator.execute(
            f"CREATE TRIGGER zz_fault AFTER INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION fault_here()"
        )
        administrator.execute(
            f"CREATE CONSTRAINT TRIGGER zz_fault_commit AFTER INSERT OR UPDATE ON {table} DEFERRABLE INITIALLY DEFERRED"
            " FOR EACH ROW EXECUTE FUNCTION fault_here()"
        )
    try:
        yield
    finally:
        connection.close()
        administrator.execute(REMOVE)


def snapshot(administrator: Any) -> list[Any]:
    """Return every row that a movement writes."""
    rows: list[Any] = []
    for table in ("wallets_tx", "wallets_entry", "wallets_balance", "webhooks_event"):
        rows += administrator.execute(f"SELECT to_jsonb(t) FROM {table} t ORDER BY to_jsonb(t)::text").fetchall()
    return rows


def until_it_works(administrator: Any, fault: str, move: Callable[[], Any]) -> int:
    """Make a movement fail at its first row, then its second, and so on, until nothing is left to fail."""
    before = snapshot(administrator)
    for step in range(1, STEPS_MAX):
        with fault_at(administrator, step, FAULTS[fault]):
            try:
                move()
            except DatabaseError:
                assert snapshot(administrator) == before, f"step {step} left something behind"
            else:
                return step - 1
    raise AssertionError("a movement writes fewer rows than this")


@pytest.fixture(params=["error", "crash"])
def fault(request: pytest.FixtureRequest) -> str:
    """Return the kind of fault."""
    return str(request.param)


class TestAllOrNothing:
    def test_buy_ins(self, house: House, administrator: Any, fault: str) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        steps = until_it_works(administrator, fault, lambda: house.buy_in(round_id, a, b))
        assert steps > 15
        assert (house.available(a), house.available(b)) == (0, 0)
        assert sound()

    def test_a_settlement(self, house: House, administrator: Any, fault: str) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, a, b)
        steps = until_it_works(administrator, fault, lambda: house.settle(round_id, (a, 100), (b, 90), fee_minor=10))
        assert steps > 15
        assert (house.available(a), house.available(b)) == (100, 90)
        assert sound()

    def test_a_refund(self, house: House, administrator: Any, fault: str) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, a, b)
        steps = until_it_works(administrator, fault, lambda: house.refund(round_id))
        assert steps > 15
        assert (house.available(a), house.available(b)) == (100, 100)
        assert sound()

    def test_what_the_caller_did_besides_is_undone_too(self, house: House, administrator: Any) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, a, b)
        before = snapshot(administrator)
        with pytest.raises(ZeroDivisionError):
            self._settle_and_fall(house, round_id, a)
        assert snapshot(administrator) == before

    def _settle_and_fall(self, house: House, round_id: UUID, winner: UUID) -> None:
        with transaction.atomic():
            house.settle(round_id, (winner, 200))
            raise ZeroDivisionError


def sound() -> bool:
    """Tell whether no invariant is broken."""
    return all(finding.state is not fsck.State.BROKEN for finding in fsck.check())


class TestBusyDatabase:
    @pytest.mark.parametrize("sqlstate", ["40001", "40P01", "55P03", "57014"])
    def test_is_told_as_busy_and_the_same_key_works_later(
        self, house: House, administrator: Any, sqlstate: str
    ) -> None:
        player = house.player(100)
        body = transfer(player, 60, "d-1")
        before = snapshot(administrator)
        always = f"RAISE EXCEPTION 'busy' USING ERRCODE = '{sqlstate}';"
        with fault_at(administrator, 1, f"PERFORM setval('public.fault_step', 1, false); {always}", ("wallets_tx",)):
            refused = credit(house, body, "key", verb="debits")
        problem = refused.json()
        assert (refused.status_code, problem["code"], problem["retryable"]) == (503, "database_busy", True)
        assert "funds" not in refused.content.decode()
        assert refused.headers["Retry-After"]
        assert snapshot(administrator) == before
        done = credit(house, body, "key", verb="debits")
        assert (done.status_code, done.json()["balance_after_minor"]) == (201, 40)

    def test_a_single_deadlock_is_tried_again_unseen(self, house: House, administrator: Any) -> None:
        player = house.player(100)
        once = "RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01';"
        with fault_at(administrator, 1, once, ("wallets_tx",)):
            answer = credit(house, transfer(player, 60, "d-1"), verb="debits")
        assert (answer.status_code, answer.json()["balance_after_minor"]) == (201, 40)
