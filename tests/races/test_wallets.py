"""Many at once on one ledger: no money is spent twice, nobody deadlocks, one id is one transaction.

Hazards W1 and W6, invariant I15.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction

from apps.core.errors import ApplicationError
from apps.core.retries import retry
from apps.wallets import fsck, selectors, services
from apps.wallets.models import AccountStatus, LedgerTransaction
from tests.older import blocks_seal
from tests.wallets.conftest import House
from tests.wallets.conftest import house as house
from tests.wallets.test_routes import credit, transfer

pytestmark = pytest.mark.django_db(transaction=True)

THREADS = 32
SEED = 20_251


def at_once(work: list[Callable[[], Any]]) -> list[Any]:
    """Run every piece of work in a thread of its own, all from the same moment; return the answers or refusals."""
    start = threading.Barrier(len(work))

    def run(piece: Callable[[], Any]) -> Any:
        try:
            connection.ensure_connection()
            start.wait(60)
            return piece()
        except ApplicationError as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(work)) as pool:
        return list(pool.map(run, work))


@contextmanager
def sound_afterwards(house: House) -> Iterator[None]:
    """Check every invariant at the end."""
    yield
    blocks_seal(operator_id=house.operator_id)
    assert [f for f in fsck.check(operator_id=house.operator_id) if f.state is fsck.State.BROKEN] == []


def debit(house: House, player: Any, amount_minor: int, external_id: str) -> Any:
    """Debit as an edge does: in a transaction of its own that may be repeated."""

    def attempt() -> Any:
        with transaction.atomic():
            return services.wallet_debit(
                operator_id=house.operator_id,
                player_id=player,
                currency="PTS",
                amount_minor=amount_minor,
                external_id=external_id,
                actor="test",
            )

    return retry(attempt)


class TestOneBalance:
    def test_a_hundred_debits_of_the_whole_balance_succeed_once(self, house: House) -> None:
        player = house.player(1_000)
        with sound_afterwards(house):
            answers = at_once([partial(debit, house, player, 1_000, f"d-{n}") for n in range(100)])
            refusals = Counter(answer for answer in answers if isinstance(answer, str))
            assert refusals == {"insufficient_funds": 99}
            assert house.available(player) == 0

    def test_first_deposits_at_once_open_one_account(self, house: House) -> None:
        player = house.player()
        with sound_afterwards(house):
            at_once([partial(house.credit, player, 1, f"c-{n}") for n in range(THREADS)])
            assert house.available(player) == THREADS

    def test_the_same_request_many_times_is_one_transaction_with_equal_answers(self, house: House) -> None:
        body = transfer(house.player(), 100)
        with sound_afterwards(house):
            answers = at_once([lambda: credit(house, body, "key") for _ in range(16)])
            assert {answer.status_code for answer in answers} == {201}
            assert len({answer.content for answer in answers}) == 1
            assert LedgerTransaction.objects.count() == 1

    def test_the_same_transaction_under_many_keys_is_one_transaction(self, house: House) -> None:
        body = transfer(house.player(), 100)
        with sound_afterwards(house):
            answers = at_once([lambda: credit(house, body) for _ in range(16)])
            assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 15}
            assert len({answer.content for answer in answers}) == 1
            assert LedgerTransaction.objects.count() == 1

    def test_one_id_for_many_players_goes_to_one_of_them(self, house: House) -> None:
        players = [house.player() for _ in range(16)]
        with sound_afterwards(house):
            answers = at_once([partial(credit, house, transfer(p, 100)) for p in players])
            assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 15}
            assert sum(house.available(player) for player in players) == 100

    def test_holds_and_debits_share_one_balance(self, house: House) -> None:
        player = house.player(10)

        def hold() -> Any:
            with transaction.atomic():
                return services.hold_place(
                    operator_id=house.operator_id,
                    player_id=player,
                    currency="PTS",
                    amount_minor=1,
                    purpose="test",
                    reference=uuid4(),
                    ttl_ms=60_000,
                )

        with sound_afterwards(house):
            work = [hold for _ in range(12)] + [partial(debit, house, player, 1, f"d-{n}") for n in range(12)]
            answers = at_once(work)
            assert Counter(a for a in answers if isinstance(a, str)) == {"insufficient_funds": 14}
            assert house.available(player) == 0

    def test_no_debit_slips_through_while_an_account_is_frozen(self, house: House) -> None:
        player = house.player(100)
        with sound_afterwards(house):
            freeze = partial(house.status, player, AccountStatus.FROZEN)
            at_once([*[partial(debit, house, player, 1, f"d-{n}") for n in range(24)], freeze])

    def test_a_hold_is_captured_once(self, house: House) -> None:
        player = house.player(10)
        with transaction.atomic():
            hold_id = services.hold_place(
                operator_id=house.operator_id,
                player_id=player,
                currency="PTS",
                amount_minor=10,
                purpose="test",
                reference=uuid4(),
                ttl_ms=60_000,
            )

        def capture() -> Any:
            with transaction.atomic():
                return services.hold_capture(operator_id=house.operator_id, hold_id=hold_id, actor="test")

        def release() -> Any:
            with transaction.atomic():
                return services.hold_release(operator_id=house.operator_id, hold_id=hold_id)

        with sound_afterwards(house):
            at_once([capture, release] * 8)
            balance = selectors.balance(operator_id=house.operator_id, player_id=player, currency="PTS")
            assert balance.held_minor == 0
            assert balance.posted_minor in (0, 10)


class TestRounds:
    def test_overlapping_players_settle_in_any_order_without_a_deadlock(self, house: House) -> None:
        players = [house.player(100_000) for _ in range(10)]
        deadlocks = _deadlocks()

        def play(seed: int) -> None:
            chance = random.Random(seed)
            for _ in range(6):
                seats = chance.sample(players, 4)
                round_id = uuid4()
                retry(partial(house.buy_in, round_id, *seats))
                if chance.random() < 0.2:
                    retry(partial(house.refund, round_id))
                    continue
                first, second = chance.sample(seats, 2)
                payouts = ((first, 200), (second, 180))
                retry(partial(house.settle, round_id, *payouts, fee_minor=20))

        with sound_afterwards(house):
            at_once([partial(play, SEED + n) for n in range(THREADS)])
            rounds = LedgerTransaction.objects.filter(kind="buy_in").count()
            settled = LedgerTransaction.objects.filter(kind="settle").count()
            assert rounds == THREADS * 6
            assert sum(house.available(player) for player in players) == 10 * 100_000 - settled * 20
            assert _deadlocks() == deadlocks

    def test_settlement_and_refund_of_one_round_are_one_outcome(self, house: House) -> None:
        for _ in range(10):
            a, b, round_id = house.player(100), house.player(100), uuid4()
            house.buy_in(round_id, a, b)
            with sound_afterwards(house):
                at_once(
                    [
                        partial(house.settle, round_id, (a, 200)),
                        partial(house.settle, round_id, (b, 200)),
                        partial(house.refund, round_id),
                        partial(house.refund, round_id),
                    ]
                )
                assert house.available(a) + house.available(b) == 200
                assert LedgerTransaction.objects.filter(round_id=round_id, kind__in=["settle", "void"]).count() == 1

    def test_one_stake_pays_for_one_table(self, house: House) -> None:
        player, others = house.player(100), [house.player(100) for _ in range(12)]
        with sound_afterwards(house):
            answers = at_once([partial(house.buy_in, uuid4(), player, o) for o in others])
            assert Counter(a for a in answers if isinstance(a, str)) == {"insufficient_funds": 11}

    def test_new_players_in_any_order_do_not_wait_for_each_other(self, house: House) -> None:
        for _ in range(5):
            a, b = house.player(), house.player()
            deadlocks = _deadlocks()
            pairs = [(a, b), (b, a)] * 6
            answers = at_once([partial(house.buy_in, uuid4(), *pair) for pair in pairs])
            assert Counter(answers) == {"insufficient_funds": 12}
            assert _deadlocks() == deadlocks

    def test_two_people_who_approve_at_once_execute_once(self, house: House) -> None:
        player = house.player(10)
        with transaction.atomic():
            asked = services.adjustment_request(
                operator_id=house.operator_id,
                player_id=player,
                currency="PTS",
                amount_minor=5,
                reason="ticket",
                requested_by="ann",
            )

        def approve(who: str) -> Any:
            with transaction.atomic():
                return services.correction_decide(
                    operator_id=house.operator_id, approval_id=asked, approve=True, decided_by=who
                )

        with sound_afterwards(house):
            answers = at_once([partial(approve, f"approver {n}") for n in range(8)])
            assert Counter(a for a in answers if isinstance(a, str)) == {"approval_decided": 7}
            assert house.available(player) == 15


def _deadlocks() -> int:
    """Return how often PostgreSQL has seen a deadlock in this database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])
