"""A stake is in the ledger if and only if the operator's wallet has definitely given it (hazard W8)."""

from __future__ import annotations

import threading
import time
from uuid import UUID

import pytest
from django.db import connection, transaction

from apps.client.wallet.server import Answer
from apps.client.wallet.signed import Request
from apps.wallets import services
from apps.wallets.errors import (
    AccountFrozen,
    BuyInPending,
    BuyInRefused,
    BuyInUnknown,
    InsufficientFunds,
    OperatorUnavailable,
    TestPlayerMoney,
)
from apps.wallets.models import AccountStatus
from apps.wallets.seamless import settings, stakes, sweep, wire
from apps.wallets.seamless.models import OperatorWallet, Stake
from tests.wallets.seamless import remote as remotes
from tests.wallets.seamless.conftest import TABLE_ID, SeamlessHouse
from tests.wallets.seamless.remote import Fault, Remote

pytestmark = pytest.mark.django_db(transaction=True)

UNKNOWN: dict[str, tuple[Fault, str]] = {
    "the answer is lost": (remotes.lost, "no_answer"),
    "the wallet hangs up": (remotes.ignored, "no_answer"),
    "500": (remotes.status(500), "status_500"),
    "503": (remotes.status(503), "status_503"),
    "429": (remotes.status(429), "status_429"),
    "401": (remotes.status(401), "status_401"),
    "400": (remotes.status(400), "status_400"),
    "a redirect": (remotes.status(302), "status_302"),
    "204": (remotes.status(204, b""), "status_204"),
    "a bare page": (remotes.status(200), "answer_malformed"),
    "no JSON": (remotes.said(200, b"{"), "answer_malformed"),
    "deep JSON": (remotes.said(200, b"[" * 60_000), "answer_malformed"),
    "a list": (remotes.said(200, b"[]"), "answer_malformed"),
    "no signature": (remotes.unsigned, "answer_not_signed"),
    "another's signature": (remotes.signed_by_another, "answer_not_signed"),
    "another id": (remotes.altered(transaction_id="b-1"), "answer_of_another"),
    "another player": (remotes.altered(player_id="somebody"), "answer_of_another"),
    "another currency": (remotes.altered(currency="EUR"), "answer_of_another"),
    "another amount": (remotes.altered(amount_minor=1), "answer_of_another"),
    "an amount that is a float": (remotes.altered(amount_minor=100.0), "answer_of_another"),
    "a negative balance": (remotes.altered(balance_minor=-1), "balance_implausible"),
    "a huge balance": (remotes.altered(balance_minor=2**53), "balance_implausible"),
    "a balance that is a boolean": (remotes.altered(balance_minor=True), "balance_implausible"),
    "no balance": (remotes.altered(balance_minor=None), "balance_implausible"),
    "reversed already": (remotes.altered(rolled_back=True), "rolled_back"),
    "a code that decides nothing": (remotes.refused("maintenance"), "maintenance"),
    "a conflict": (remotes.refused("transaction_conflict"), "transaction_conflict"),
    "a refusal with a status that decides nothing": (remotes.refused("insufficient_funds", 500), "status_500"),
    "a refusal without a code": (remotes.refused(7), "answer_malformed"),  # type: ignore[arg-type]
}


class TestDefiniteAnswers:
    def test_a_given_stake_is_in_the_ledger(self, house: SeamlessHouse, round_id: UUID) -> None:
        player = house.player(250)
        stake = house.fetch(player, round_id)
        assert (stake.state, stake.next_try_at_ms, stake.attempts) == ("confirmed", None, 0)
        assert (house.available(player), house.remote_balance(player), house.suspense()) == (100, 150, 0)
        assert house.remote.calls("bet") == [
            {
                "amount_minor": 100,
                "currency": "PTS",
                "player_id": house.ref(player),
                "round_id": round_id.hex,
                "table_id": str(TABLE_ID),
                "transaction_id": f"b-{stake.pk.hex}",
            }
        ]

    def test_no_funds_is_a_refusal_that_moves_nothing(self, house: SeamlessHouse, round_id: UUID) -> None:
        player = house.player(99)
        stake_id = house.plan(player, round_id)
        with pytest.raises(InsufficientFunds) as refusal:
            services.stake_send(stake_id=stake_id)
        assert refusal.value.facts == {"balance_minor": 99}
        stake = house.stake(stake_id)
        assert (stake.state, stake.last_error) == ("refused", "insufficient_funds")
        assert (house.available(player), house.suspense(), house.remote_balance(player)) == (0, 0, 99)
        house.remote.book.deposit(house.ref(player), "PTS", 1)
        assert house.fetch(player, round_id).pk != stake_id

    @pytest.mark.parametrize("code", ["limit_exceeded", "player_frozen", "player_excluded", "session_expired"])
    def test_the_operators_reason_is_told(self, house: SeamlessHouse, round_id: UUID, code: str) -> None:
        house.remote.faults["bet"] = [remotes.refused(code, 403)]
        with pytest.raises(BuyInRefused) as refusal:
            house.fetch(house.player(250), round_id)
        assert refusal.value.facts == {"reason": code}
        assert Stake.objects.get().state == "refused"


class TestUnknownOutcomes:
    @pytest.mark.parametrize("what", UNKNOWN)
    def test_never_reach_a_player_and_are_rolled_back(self, house: SeamlessHouse, round_id: UUID, what: str) -> None:
        fault, why = UNKNOWN[what]
        house.remote.faults["bet"] = [fault]
        player = house.player(250)
        with pytest.raises(BuyInUnknown):
            house.fetch(player, round_id)
        stake = Stake.objects.get()
        assert (stake.state, stake.last_error, stake.confirmed_at_ms) == ("unknown", why, None)
        assert (house.available(player), house.suspense()) == (0, 100)
        assert house.broken() == set()
        assert house.hours_pass() == 1
        assert (house.stake(stake.pk).state, house.suspense(), house.remote_balance(player)) == ("rolled_back", 0, 250)
        assert len(house.remote.calls("bet")) == 1
        assert house.fetch(player, round_id).state == "confirmed"

    def test_a_wallet_that_does_not_answer_in_time(
        self, house: SeamlessHouse, round_id: UUID, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert wire.TOTAL_S == 8.0
        monkeypatch.setattr(wire, "TOTAL_S", 0.3)
        goes_on = threading.Event()

        def slow(remote: Remote, request: Request) -> Answer:
            assert goes_on.wait(30)
            return remotes.right(remote, request)

        house.remote.faults["bet"] = [slow]
        player = house.player(250)
        began = time.monotonic()
        with pytest.raises(BuyInUnknown):
            house.fetch(player, round_id)
        assert time.monotonic() - began < 20
        goes_on.set()
        monkeypatch.undo()
        assert house.hours_pass() == 1
        # The bet may come before or after its rollback: the end is the same.
        assert house.remote_balance(player) == 250

    def test_a_wallet_without_tls_where_it_should_have_it(self, house: SeamlessHouse, round_id: UUID) -> None:
        OperatorWallet.objects.update(url=house.remote.url.replace("http:", "https:"))
        with pytest.raises(BuyInUnknown):
            house.fetch(house.player(250), round_id)
        assert Stake.objects.get().last_error == "tls_failed"
        OperatorWallet.objects.update(url=house.remote.url)
        assert house.hours_pass() == 1

    def test_nobody_there(self, house: SeamlessHouse, round_id: UUID) -> None:
        OperatorWallet.objects.update(url="http://127.0.0.1:1024/wallet")
        with pytest.raises(BuyInUnknown):
            house.fetch(house.player(250), round_id)
        assert Stake.objects.get().last_error == "connection_failed"

    def test_an_address_inside_is_never_called(self, house: SeamlessHouse, round_id: UUID, settings: object) -> None:
        settings.SEALDECK_WEBHOOK_NETWORKS = []  # type: ignore[attr-defined]
        with pytest.raises(BuyInUnknown):
            house.fetch(house.player(250), round_id)
        assert (Stake.objects.get().last_error, house.remote.seen) == ("target_refused", [])

    def test_no_other_stake_is_fetched_for_the_round_before_it_is_back(
        self, house: SeamlessHouse, round_id: UUID
    ) -> None:
        house.remote.faults["bet"] = [remotes.lost]
        player = house.player(250)
        for _ in range(2):
            with pytest.raises(BuyInUnknown):
                house.fetch(player, round_id)
        assert (len(house.remote.seen), Stake.objects.count()) == (1, 1)


class TestSending:
    def test_sent_is_committed_and_nothing_is_locked_while_the_operator_is_called(
        self, house: SeamlessHouse, round_id: UUID
    ) -> None:
        seen: list[str] = []

        def look(remote: Remote, request: Request) -> Answer:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SELECT 1 FROM wallets_balance FOR NO KEY UPDATE NOWAIT")
                cursor.execute("SELECT 1 FROM wallets_operator_wallet FOR NO KEY UPDATE NOWAIT")
                seen.append(Stake.objects.select_for_update(no_key=True, nowait=True).get().state)
            connection.close()
            return remotes.right(remote, request)

        house.remote.faults["bet"] = [look]
        house.fetch(house.player(250), round_id)
        assert seen == ["sent"]

    def test_no_transaction_is_open(self, house: SeamlessHouse, round_id: UUID) -> None:
        stake_id = house.plan(house.player(250), round_id)
        with pytest.raises(AssertionError, match="no transaction"), transaction.atomic():
            services.stake_send(stake_id=stake_id)
        assert (house.remote.seen, house.stake(stake_id).state) == ([], "planned")

    def test_one_of_two_requests_fetches(self, house: SeamlessHouse, round_id: UUID) -> None:
        player = house.player(250)
        stake_id = house.plan(player, round_id)
        with pytest.raises(BuyInPending):
            house.plan(player, round_id)
        services.stake_send(stake_id=stake_id)
        with pytest.raises(BuyInPending):
            services.stake_send(stake_id=stake_id)
        assert len(house.remote.seen) == 1
        house.hours_pass()

    def test_a_sender_that_died_leaves_an_unknown_outcome(self, house: SeamlessHouse, round_id: UUID) -> None:
        player = house.player(250)
        stake_id = house.plan(player, round_id)
        services.stake_send(stake_id=stake_id)  # And then nothing: the operator has given, nobody wrote it down.
        sweep.run()
        assert house.stake(stake_id).state == "sent"
        house.hours_pass()
        assert (house.stake(stake_id).state, house.remote_balance(player)) == ("rolled_back", 250)

    def test_an_answer_that_comes_too_late_seats_nobody(self, house: SeamlessHouse, round_id: UUID) -> None:
        player = house.player(250)
        stake_id = house.plan(player, round_id)
        services.stake_send(stake_id=stake_id)
        house.remote.is_down = True
        house.hours_pass()
        assert house.stake(stake_id).state == "rollback_unknown"
        with transaction.atomic():
            assert not services.stake_confirm(stake_id=stake_id)
        assert (house.available(player), house.suspense()) == (0, 100)
        house.remote.is_down = False
        assert house.hours_pass() == 1
        with transaction.atomic():
            assert not services.stake_confirm(stake_id=stake_id)

    def test_a_plan_that_was_never_sent_ends(self, house: SeamlessHouse, round_id: UUID) -> None:
        stake_id = house.plan(house.player(250), round_id)
        house.hours_pass()
        stake = house.stake(stake_id)
        assert (stake.state, stake.last_error, house.remote.seen) == ("refused", "not_sent", [])

    def test_an_account_that_was_closed_meanwhile_takes_nothing(self, house: SeamlessHouse, round_id: UUID) -> None:
        player = house.player(250)
        stake_id = house.plan(player, round_id)
        services.stake_send(stake_id=stake_id)
        house.status(player, AccountStatus.CLOSED)
        with transaction.atomic():
            assert not services.stake_confirm(stake_id=stake_id)
        assert house.hours_pass() == 1
        assert house.remote_balance(player) == 250

    @pytest.mark.parametrize("status", [AccountStatus.FROZEN, AccountStatus.CLOSED])
    def test_an_account_that_takes_no_buy_in_asks_for_none(
        self, house: SeamlessHouse, round_id: UUID, status: AccountStatus
    ) -> None:
        player = house.player(250)
        house.status(player, status)
        with pytest.raises(AccountFrozen):
            house.fetch(player, round_id)
        assert (house.remote.seen, Stake.objects.count()) == ([], 0)

    def test_a_test_player_asks_for_no_money(self, house: SeamlessHouse, round_id: UUID) -> None:
        services.currency_create(code="EUR", exponent=2, is_money=True)
        player = house.player(250, is_test=True)
        house.currency = "EUR"
        with pytest.raises(TestPlayerMoney):
            house.fetch(player, round_id)
        house.currency = "PTS"
        house.fetch(player, round_id)

    def test_so_many_at_once_and_no_more(self, house: SeamlessHouse, round_id: UUID) -> None:
        for _ in range(stakes.CALLS_MAX):
            stake_id = house.plan(house.player(250), round_id)
            Stake.objects.filter(pk=stake_id).update(state="sent")
        with pytest.raises(OperatorUnavailable):
            house.fetch(house.player(250), round_id)
        assert house.remote.seen == []


class TestBreaker:
    def fail(self, house: SeamlessHouse, round_id: UUID, times: int = settings.FAILURES_MAX) -> None:
        """Let bets fail."""
        for _ in range(times):
            house.remote.faults["bet"] = [remotes.ignored]
            with pytest.raises(BuyInUnknown):
                house.fetch(house.player(250), round_id)

    def test_opens_after_failures_in_a_row_and_asks_nothing_then(self, house: SeamlessHouse, round_id: UUID) -> None:
        self.fail(house, round_id)
        asked = len(house.remote.seen)
        player = house.player(250)
        for _ in range(2):
            with pytest.raises(OperatorUnavailable):
                house.fetch(player, round_id)
        assert len(house.remote.seen) == asked
        assert Stake.objects.filter(last_error="operator_unavailable", state="refused").count() == 2

    def test_a_definite_answer_in_between_keeps_it_closed(self, house: SeamlessHouse, round_id: UUID) -> None:
        self.fail(house, round_id, settings.FAILURES_MAX - 1)
        with pytest.raises(InsufficientFunds):
            house.fetch(house.player(1), round_id)
        self.fail(house, round_id, settings.FAILURES_MAX - 1)
        house.fetch(house.player(250), round_id)

    def test_one_bet_tries_after_a_while(self, house: SeamlessHouse, round_id: UUID) -> None:
        self.fail(house, round_id)
        OperatorWallet.objects.update(open_until_ms=0)
        self.fail(house, round_id, 1)
        with pytest.raises(OperatorUnavailable):
            house.fetch(house.player(250), round_id)
        OperatorWallet.objects.update(open_until_ms=0)
        house.fetch(house.player(250), round_id)
        house.fetch(house.player(250), round_id)

    def test_stops_no_rollback_and_the_first_answer_closes_it(self, house: SeamlessHouse, round_id: UUID) -> None:
        self.fail(house, round_id)
        assert house.hours_pass() == settings.FAILURES_MAX
        assert OperatorWallet.objects.get().failures == 0
        house.fetch(house.player(250), round_id)


class TestBalance:
    def test_is_asked_of_the_operator(self, house: SeamlessHouse) -> None:
        player = house.player(250)
        asked = services.balance_ask(operator_id=house.operator_id, player_id=player, currency="PTS")
        assert asked == 250
        assert house.remote.calls("balance") == [{"player_id": house.ref(player), "currency": "PTS"}]

    @pytest.mark.parametrize(
        "fault",
        [remotes.ignored, remotes.unsigned, remotes.altered(currency="EUR"), remotes.altered(balance_minor="1")],
    )
    def test_is_not_believed_unless_it_is_signed_and_fits(self, house: SeamlessHouse, fault: Fault) -> None:
        house.remote.faults["balance"] = [fault]
        with pytest.raises(OperatorUnavailable):
            services.balance_ask(operator_id=house.operator_id, player_id=house.player(250), currency="PTS")
