"""Sealed blocks, daily files and the check of the ledger: right when all is right, and what they say when it is not."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from apps.wallets import canonical, daily, fsck, listing, sealing, selectors, services, tasks
from apps.wallets.keys import signature_is_valid
from apps.wallets.models import AccountStatus, DailyFile, LedgerBlock, LedgerKey, LedgerTransaction
from tests.older import blocks_seal
from tests.wallets.conftest import House
from tests.wallets.tamperings import PLAYER, TAMPERINGS

pytestmark = pytest.mark.django_db(transaction=True)

Tamper = Callable[..., None]


@pytest.fixture
def tamper(administrator: Any) -> Tamper:
    """Return a function that changes the database as only an administrator with bad intentions can."""

    def run(statement: str, *arguments: Any) -> None:
        with administrator.transaction():
            administrator.execute("SET LOCAL session_replication_role = replica")
            assert administrator.execute(statement, arguments).rowcount != 0, "the test tampers with something"

    return run


@pytest.fixture
def busy(house: House) -> House:
    """Return an operator whose ledger has one of everything."""
    a, b, c = (house.player(1_000) for _ in range(3))
    first, second = uuid4(), uuid4()
    house.buy_in(first, a, b, c)
    house.settle(first, (a, 143), (b, 142), fee_minor=15)
    house.buy_in(second, a, b)
    house.refund(second)
    house.buy_in(uuid4(), b, c)
    house.status(c, AccountStatus.FROZEN)
    with transaction.atomic():
        services.wallet_debit(
            operator_id=house.operator_id,
            player_id=a,
            currency="PTS",
            amount_minor=7,
            external_id="d-1",
            actor="test",
        )
        services.hold_place(
            operator_id=house.operator_id,
            player_id=b,
            currency="PTS",
            amount_minor=3,
            purpose="withdrawal",
            reference=uuid4(),
            ttl_ms=60_000,
        )
        wrong = services.reversal_request(
            operator_id=house.operator_id,
            tx_id=LedgerTransaction.objects.get(external_id="d-1").pk,
            reason="wrong player",
            requested_by="ann",
        )
        services.correction_decide(operator_id=house.operator_id, approval_id=wrong, approve=True, decided_by="bob")
    return house


def states(**options: Any) -> dict[str, str]:
    """Return how each invariant stands."""
    return {finding.id: str(finding.state) for finding in fsck.check(**options)}


def broken(**options: Any) -> set[str]:
    """Return the broken invariants."""
    return {name for name, state in states(**options).items() if state == "broken"}


def yesterday(tamper: Tamper, house: House) -> date:
    """Move all that happened to yesterday, and return that day."""
    tamper("UPDATE wallets_tx SET created_at_ms = created_at_ms - %s", daily.DAY_MS)
    tamper("UPDATE wallets_account SET status_at_ms = status_at_ms - %s", daily.DAY_MS)
    return (datetime.now(tz=UTC) - timedelta(days=1)).date()


class TestSealing:
    def test_blocks_chain_and_hold_every_entry_once(self, busy: House) -> None:
        assert blocks_seal(operator_id=busy.operator_id) == 1
        busy.player(5)
        assert blocks_seal(operator_id=busy.operator_id) == 1
        assert blocks_seal(operator_id=busy.operator_id) == 0
        first, second = LedgerBlock.objects.order_by("seq")
        assert (bytes(second.prev_hash), second.from_xid) == (bytes(first.hash), first.upto_xid)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM wallets_entry")
            assert cursor.fetchone() == (first.n + second.n,)

    def test_the_signature_is_of_the_published_key(self, busy: House) -> None:
        blocks_seal(operator_id=busy.operator_id)
        block = LedgerBlock.objects.get()
        key = LedgerKey.objects.get(pk=block.kid_id)
        statement = canonical.block_statement(busy.operator_id, 0, bytes(block.hash), block.sealed_at_ms)
        assert signature_is_valid(bytes(key.public_key), bytes(block.signature), statement)

    def test_a_long_backlog_becomes_several_blocks(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sealing, "BLOCK_TRANSACTIONS_MAX", 3)
        for _ in range(8):
            house.player(5)
        assert blocks_seal(operator_id=house.operator_id) == 3
        assert [block.n for block in LedgerBlock.objects.order_by("seq")] == [6, 6, 4]
        assert broken() == set()

    def test_many_transactions_of_one_database_transaction_stay_together(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sealing, "BLOCK_TRANSACTIONS_MAX", 3)
        with transaction.atomic():
            for _ in range(5):
                house.player(5)
        assert blocks_seal(operator_id=house.operator_id) == 1
        assert LedgerBlock.objects.get().n == 10

    def test_a_running_transaction_holds_back_what_came_after_it(self, house: House) -> None:
        """A lower transaction may still commit, so nothing above it is sealed or listed as final."""
        house.player(1)
        began, go_on = threading.Event(), threading.Event()

        def slow() -> None:
            with transaction.atomic():
                house.player(2)
                began.set()
                assert go_on.wait(20)
            connection.close()

        thread = threading.Thread(target=slow)
        thread.start()
        assert began.wait(20)
        house.player(3)
        blocks_seal(operator_id=house.operator_id)
        page = listing.movements(operator_id=house.operator_id, cursor="", limit=200)
        assert [move.lines[0].amount_minor for move in page.items] == [1]
        assert [block.n for block in LedgerBlock.objects.all()] == [2]
        go_on.set()
        thread.join()
        rest = listing.movements(operator_id=house.operator_id, cursor=page.next_cursor, limit=200)
        assert [move.lines[0].amount_minor for move in rest.items] == [2, 3]
        blocks_seal(operator_id=house.operator_id)
        assert broken() == set()

    def test_two_sealers_make_one_chain(self, busy: House) -> None:
        def seal() -> None:
            blocks_seal(operator_id=busy.operator_id)
            connection.close()

        threads = [threading.Thread(target=seal) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert LedgerBlock.objects.count() == 1

    def test_house_balances_are_the_same_before_and_after_a_snapshot(self, busy: House) -> None:
        before = selectors.house_balances(operator_id=busy.operator_id, currency="PTS")
        assert before == {"funding": -3_000, "rake": 15}
        blocks_seal(operator_id=busy.operator_id)
        assert selectors.house_balances(operator_id=busy.operator_id, currency="PTS") == before
        busy.player(10)
        assert selectors.house_balances(operator_id=busy.operator_id, currency="PTS")["funding"] == -3_010


class TestDailyFiles:
    def test_says_what_happened_and_what_there_was(self, busy: House, tamper: Tamper) -> None:
        day = yesterday(tamper, busy)
        assert daily.daily_files_make(operator_id=busy.operator_id) == 1
        assert daily.daily_files_make(operator_id=busy.operator_id) == 0
        row = DailyFile.objects.get()
        lines = daily.stored(row).file().splitlines()
        header, trailer = json.loads(lines[0]), json.loads(lines[-1])
        assert header["day"] == day.isoformat()
        assert header["opening"] == dict.fromkeys(header["opening"], 0)
        assert header["closing"] == {
            "player": 2_785,
            "escrow": 200,
            "rake": 15,
            "funding": -3_000,
            "suspense": 0,
            "adjustment": 0,
            "promo": 0,
        }
        assert header["fee_minor"] == 15
        assert header["kinds"]["credit"] == {"count": 3, "moved_minor": 3_000}
        assert header["transactions"] == len(lines) - 2 == LedgerTransaction.objects.count()
        assert trailer["hash"] == bytes(row.hash).hex()

    def test_the_next_day_goes_on_where_the_last_ended(self, busy: House, tamper: Tamper) -> None:
        yesterday(tamper, busy)
        yesterday(tamper, busy)
        assert daily.daily_files_make(operator_id=busy.operator_id) == 2
        first, second = DailyFile.objects.order_by("day")
        assert bytes(second.prev_hash) == bytes(first.hash)
        opening = json.loads(bytes(second.body).splitlines()[0])["opening"]
        assert opening == json.loads(bytes(first.body).splitlines()[0])["closing"]
        assert json.loads(bytes(second.body).splitlines()[0])["transactions"] == 0

    def test_today_has_no_file(self, busy: House) -> None:
        assert daily.daily_files_make(operator_id=busy.operator_id) == 0

    def test_a_day_waits_for_a_running_transaction(self, busy: House, tamper: Tamper, monkeypatch: Any) -> None:
        yesterday(tamper, busy)
        monkeypatch.setattr(daily, "WAIT_S", 0.01)
        began, go_on = threading.Event(), threading.Event()

        def slow() -> None:
            with transaction.atomic():
                busy.player(2)
                began.set()
                assert go_on.wait(20)
            connection.close()

        thread = threading.Thread(target=slow)
        thread.start()
        assert began.wait(20)
        with pytest.raises(TimeoutError):
            daily.daily_files_make(operator_id=busy.operator_id)
        assert not DailyFile.objects.exists()
        go_on.set()
        thread.join()
        monkeypatch.undo()  # Tests beside this one have transactions on the same server, too.
        assert daily.daily_files_make(operator_id=busy.operator_id) == 1


class TestFsck:
    @pytest.fixture
    def audited(self, busy: House, tamper: Tamper) -> House:
        """Return a ledger with a block, a daily file and numbered events."""
        yesterday(tamper, busy)
        blocks_seal(operator_id=busy.operator_id)
        daily.daily_files_make(operator_id=busy.operator_id)
        with connection.cursor() as cursor:
            cursor.execute("SELECT webhooks_events_number(%s, 1000)", [busy.operator_id])
        return busy

    def test_a_sound_ledger_holds(self, audited: House) -> None:
        found = states()
        assert list(found) == [f"I{number}" for number in range(1, 20)]
        assert {name for name, state in found.items() if state == "not checked"} == {"I8", "I9", "I18"}
        assert broken() == set()
        assert broken(operator_id=audited.operator_id, is_quick=True) == set()

    @pytest.mark.parametrize("what", TAMPERINGS)
    def test_says_what_was_tampered_with(self, audited: House, tamper: Tamper, what: str) -> None:
        statement, expected = TAMPERINGS[what]
        tamper(statement)
        assert broken() == expected

    def test_a_guard_that_is_switched_off_is_seen(self, audited: House, administrator: Any) -> None:
        administrator.execute("ALTER TABLE wallets_entry DISABLE TRIGGER wallets_entry_enters")
        try:
            assert broken(is_quick=True) == {"I15"}
        finally:
            administrator.execute("ALTER TABLE wallets_entry ENABLE TRIGGER wallets_entry_enters")
        assert broken(is_quick=True) == set()

    def test_the_command_prints_each_and_fails_if_one_is_broken(self, audited: House, tamper: Tamper) -> None:
        out = StringIO()
        call_command("fsck_ledger", stdout=out)
        assert len(out.getvalue().splitlines()) == 19 + 3
        tamper(f"UPDATE wallets_balance SET posted = posted + 1 WHERE account_id = {PLAYER}")
        with pytest.raises(CommandError, match="2 invariants"):
            call_command("fsck_ledger", stdout=out)

    def test_rounds_are_compared_with_what_recomputes_them(self, audited: House, settings: Any) -> None:
        settings.SEALDECK_ROUND_AUDIT = f"{__name__}.right_auditor"
        assert broken() == set()
        settings.SEALDECK_ROUND_AUDIT = f"{__name__}.wrong_auditor"
        assert broken() == {"I8", "I18"}
        settings.SEALDECK_ROUND_AUDIT = f"{__name__}.ignorant_auditor"
        assert broken() == {"I8", "I9", "I18"}

    def test_an_equal_split_that_is_not_equal_is_seen(self, house: House, settings: Any) -> None:
        a, b, c = (house.player(100) for _ in range(3))
        round_id = uuid4()
        house.buy_in(round_id, a, b, c)
        house.settle(round_id, (a, 144), (b, 141), fee_minor=15)
        settings.SEALDECK_ROUND_AUDIT = f"{__name__}.right_auditor"
        assert broken() == {"I9"}

    def test_the_periodic_check_tells_of_an_old_escrow_and_stops_nothing(
        self, busy: House, tamper: Tamper, caplog: pytest.LogCaptureFixture
    ) -> None:
        tasks.check.run()
        assert "ledger_escrow_old" not in caplog.text
        tamper("UPDATE wallets_tx SET created_at_ms = created_at_ms - %s", 2 * daily.DAY_MS)
        assert tasks.check.run() == 0
        assert "ledger_escrow_old" in caplog.text

    def test_the_periodic_check_stops_new_rounds_of_that_operator_only(
        self, audited: House, other_house: House, tamper: Tamper
    ) -> None:
        assert tasks.check.run() == 0
        running, a, b = uuid4(), audited.player(100), audited.player(100)
        audited.buy_in(running, a, b)
        tamper(f"UPDATE wallets_balance SET held = held + 1 WHERE account_id = {PLAYER}")
        assert tasks.check.run() == 1
        assert tasks.check.run() == 0
        with pytest.raises(Exception, match="Play is stopped"):
            audited.buy_in(uuid4(), audited.player(100), audited.player(100))
        audited.settle(running, (a, 190), fee_minor=10)
        other_house.buy_in(uuid4(), other_house.player(100), other_house.player(100))
        with transaction.atomic():
            assert services.alarm_clear(operator_id=audited.operator_id, code="I5", cleared_by="ann", reason="repaired")
        audited.buy_in(uuid4(), audited.player(100), audited.player(100))


def right_auditor(round_id: UUID) -> fsck.RoundAudit:
    """Recompute rounds as the ledger has them: three paid a hundred, two share what is left of the fee."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT a.owner_ref, e.amount FROM wallets_entry e JOIN wallets_tx t ON t.id = e.tx_id"
            " JOIN wallets_account a ON a.id = e.account_id"
            " WHERE t.round_id = %s AND t.kind = 'settle' AND a.kind = 'player'",
            [round_id],
        )
        return fsck.RoundAudit(300, 500, dict(cursor.fetchall()), is_equal_split=True)


def wrong_auditor(round_id: UUID) -> fsck.RoundAudit:
    """Recompute rounds wrongly."""
    return fsck.RoundAudit(299, 500, {uuid4(): 285}, is_equal_split=True)


def ignorant_auditor(round_id: UUID) -> None:
    """Know of no round."""
