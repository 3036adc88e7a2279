"""Credits, debits, rounds, holds and corrections by the services: what they do, and refuse without a trace."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction

from apps.accounts.errors import GamingDisabled, PlayerClosed, PlayerFrozen, PlayerNotFound
from apps.accounts.models import PlayerStatus
from apps.accounts.services import player_status_set
from apps.core.errors import ApplicationError
from apps.wallets import selectors, services
from apps.wallets.errors import (
    AccountFrozen,
    AlreadyReversed,
    AmountInvalid,
    ApprovalDecided,
    ApprovalNotFound,
    BalanceTooLarge,
    CurrencyTaken,
    CurrencyUnknown,
    HoldNotActive,
    HoldNotFound,
    InsufficientFunds,
    PayoutsInvalid,
    RoundNotReversed,
    RoundSettled,
    SamePerson,
    TestPlayerMoney,
    TransactionConflict,
    TransactionNotFound,
)
from apps.wallets.models import AccountStatus, Approval, Hold, LedgerTransaction
from apps.wallets.values import AMOUNT_MINOR_MAX, Balance
from tests.wallets.conftest import House

pytestmark = pytest.mark.django_db


def written() -> tuple[int, ...]:
    """Return how many rows there are of everything that moves or reserves money, and tells of it."""
    tables = ("wallets_tx", "wallets_entry", "wallets_hold", "wallets_approval", "webhooks_event")
    with connection.cursor() as cursor:
        cursor.execute("SELECT " + ", ".join(f"(SELECT count(*) FROM {table})" for table in tables))
        counts: tuple[int, ...] = cursor.fetchone()
    return counts


def settled() -> None:
    """Check now what a commit checks."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def move(house: House, verb: str, player: UUID, amount_minor: Any = 5, **other: Any) -> Any:
    """Credit or debit a player."""
    facts = {"currency": "PTS", "external_id": uuid4().hex, "actor": "test", **other}
    service = {"credit": services.wallet_credit, "debit": services.wallet_debit}[verb]
    return service(operator_id=house.operator_id, player_id=player, amount_minor=amount_minor, **facts)


class TestTransfers:
    def test_the_guards_of_a_transfer_in_their_order(self, house: House, other_house: House) -> None:
        """One row for each: what is asked, and the refusal; a request with several faults gets the first one."""
        services.currency_create(code="EUR", exponent=2, is_money=True)
        rich, frozen, closed, test = house.player(50), house.player(50), house.player(50), house.player(is_test=True)
        player_status_set(player_id=frozen, status=PlayerStatus.FROZEN)
        player_status_set(player_id=closed, status=PlayerStatus.CLOSED)
        held, shut = house.player(50), house.player(50)
        house.status(held, AccountStatus.FROZEN)
        house.status(shut, AccountStatus.CLOSED)
        full = house.player(AMOUNT_MINOR_MAX)
        used = {"external_id": "used"}
        move(house, "credit", rich, 5, **used)
        rows: list[tuple[type[ApplicationError], str, UUID, Any, dict[str, Any]]] = [
            (AmountInvalid, "credit", uuid4(), 0, used),
            (AmountInvalid, "debit", rich, -1, {}),
            (AmountInvalid, "debit", rich, True, {}),
            (AmountInvalid, "credit", rich, "5", {}),
            (AmountInvalid, "credit", rich, 5.0, {}),
            (AmountInvalid, "credit", rich, AMOUNT_MINOR_MAX + 1, {}),
            (TransactionConflict, "credit", uuid4(), 5, used),
            (PlayerNotFound, "credit", uuid4(), 5, {"currency": "XYZ"}),
            (PlayerNotFound, "credit", other_house.player(), 5, {}),
            (CurrencyUnknown, "credit", closed, 5, {"currency": "XYZ"}),
            (TestPlayerMoney, "credit", test, 5, {"currency": "EUR"}),
            (PlayerFrozen, "debit", frozen, 500, {}),
            (PlayerClosed, "credit", closed, 5, {}),
            (AccountFrozen, "debit", held, 500, {}),
            (AccountFrozen, "debit", shut, 5, {}),
            (AccountFrozen, "credit", shut, 5, {}),
            (InsufficientFunds, "debit", rich, 56, {}),
            (BalanceTooLarge, "credit", full, 1, {}),
        ]
        for refusal, verb, player, amount, other in rows:
            before = written()
            with pytest.raises(refusal) as caught:
                move(house, verb, player, amount, **other)
            assert type(caught.value) is refusal, (verb, amount, other)
            assert written() == before, (refusal, verb)

    def test_money_finds_its_way_out_and_in_where_it_may(self, house: House) -> None:
        frozen, closed = house.player(50), house.player(50)
        player_status_set(player_id=frozen, status=PlayerStatus.FROZEN)
        player_status_set(player_id=closed, status=PlayerStatus.CLOSED)
        move(house, "credit", frozen, 5)
        move(house, "debit", closed, 50)
        assert (house.available(frozen), house.available(closed)) == (55, 0)

    def test_the_same_transfer_again_is_the_first_one(self, house: House) -> None:
        player = house.player()
        first = move(house, "credit", player, 5, external_id="x")
        before = written()
        second = move(house, "credit", player, 5, external_id="x")
        assert (second.id, second.balance_after_minor, second.replayed) == (first.id, 5, True)
        assert written() == before

    def test_a_balance_of_several_currencies_is_kept_apart(self, house: House) -> None:
        house.currency_make("GEM")
        player = house.player(7)
        move(house, "credit", player, 3, currency="GEM")
        balances = {
            code: selectors.balance(operator_id=house.operator_id, player_id=player, currency=code)
            for code in ("PTS", "GEM", "XYZ")
        }
        assert balances == {"PTS": Balance(7, 0), "GEM": Balance(3, 0), "XYZ": Balance(0, 0)}

    def test_available_many_answers_for_everybody_asked(self, house: House, other_house: House) -> None:
        a, b, stranger = house.player(7), house.player(), other_house.player(9)
        found = selectors.available_many(operator_id=house.operator_id, player_ids=[a, b, stranger], currency="PTS")
        assert found == {a: 7, b: 0, stranger: 0}

    @pytest.mark.django_db(transaction=True)
    def test_needs_the_callers_transaction(self, house: House) -> None:
        with pytest.raises(AssertionError, match="inside its caller's transaction"):
            move(house, "credit", house.player())


class TestCurrencies:
    def test_the_same_again_is_fine_and_other_facts_are_not(self, house: House) -> None:
        made = services.currency_create(code="JPY", exponent=0, is_money=True)
        assert services.currency_create(code="JPY", exponent=0, is_money=True) == made
        for exponent, is_money in ((2, True), (0, False)):
            with pytest.raises(CurrencyTaken):
                services.currency_create(code="JPY", exponent=exponent, is_money=is_money)


class TestRounds:
    def test_is_paid_in_and_paid_out_to_the_unit(self, house: House) -> None:
        a, b, c = (house.player(1_000) for _ in range(3))
        round_id = uuid4()
        house.buy_in(round_id, a, b, c)
        assert [house.available(p) for p in (a, b, c)] == [900, 900, 900]
        house.settle(round_id, (a, 143), (b, 142), fee_minor=15)
        settled()
        assert [house.available(p) for p in (a, b, c)] == [1_043, 1_042, 900]
        assert selectors.house_balances(operator_id=house.operator_id, currency="PTS") == {
            "funding": -3_000,
            "rake": 15,
        }

    def test_nobody_pays_if_somebody_cannot(self, house: House) -> None:
        a, poor, poorer = house.player(100), house.player(99), house.player()
        before = written()
        with pytest.raises(InsufficientFunds) as caught:
            house.buy_in(uuid4(), a, poor, poorer)
        assert caught.value.facts["player_ids"] == [poor, poorer]
        assert written() == before

    def test_who_was_never_here_has_no_funds(self, house: House, other_house: House) -> None:
        a, stranger = house.player(100), other_house.player(100)
        with pytest.raises(InsufficientFunds) as caught:
            house.buy_in(uuid4(), a, stranger)
        assert caught.value.facts["player_ids"] == [stranger]

    def test_what_is_held_is_not_there_to_be_staked(self, house: House) -> None:
        a, b = house.player(100), house.player(100)
        _hold(house, b, 1)
        with pytest.raises(InsufficientFunds) as caught:
            house.buy_in(uuid4(), a, b)
        assert caught.value.facts["player_ids"] == [b]

    def test_a_frozen_account_does_not_pay_in(self, house: House) -> None:
        a, b = house.player(100), house.player(100)
        house.status(b, AccountStatus.FROZEN)
        with pytest.raises(AccountFrozen) as caught:
            house.buy_in(uuid4(), a, b)
        assert caught.value.facts["player_ids"] == [b]

    def test_an_alarm_stops_buy_ins_and_no_payout(self, house: House) -> None:
        a, b, running = house.player(100), house.player(100), uuid4()
        house.buy_in(running, a, b, amount_minor=50)
        services.alarm_raise(operator_id=house.operator_id, code="I2", detail="test")
        with pytest.raises(GamingDisabled):
            house.buy_in(uuid4(), a, b, amount_minor=50)
        assert house.buy_in(running, a, b, amount_minor=50) == LedgerTransaction.objects.get(kind="buy_in").pk
        house.settle(running, (a, 100))
        move(house, "debit", a, 150)
        settled()

    def test_calling_twice_moves_once(self, house: House) -> None:
        a, b, settle_id, void_id = house.player(300), house.player(300), uuid4(), uuid4()
        assert house.buy_in(settle_id, a, b) == house.buy_in(settle_id, b, a)
        assert house.settle(settle_id, (a, 190), fee_minor=10) == house.settle(settle_id, (a, 190), fee_minor=10)
        house.buy_in(void_id, a, b)
        assert house.refund(void_id) == house.refund(void_id)
        settled()
        assert (house.available(a), house.available(b)) == (390, 200)

    def test_a_round_has_one_outcome(self, house: House) -> None:
        a, b, settle_id, void_id = house.player(300), house.player(300), uuid4(), uuid4()
        house.buy_in(settle_id, a, b)
        house.buy_in(void_id, a, b)
        house.settle(settle_id, (a, 200))
        house.refund(void_id)
        before = written()
        with pytest.raises(RoundSettled):
            house.refund(settle_id)
        for round_id, winner, payout in ((settle_id, b, 200), (settle_id, a, 199), (void_id, a, 200)):
            with pytest.raises(RoundSettled):
                house.settle(round_id, (winner, payout), fee_minor=200 - payout)
        assert written() == before

    def test_a_round_without_buy_ins_has_nothing_to_refund(self, house: House) -> None:
        assert house.refund(uuid4()) is None

    @pytest.mark.parametrize(("payout", "fee_minor"), [(199, 0), (201, 0), (190, 11), (0, 0)])
    def test_payouts_that_do_not_add_up_are_our_fault(self, house: House, payout: int, fee_minor: int) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, a, b)
        before = written()
        with pytest.raises(AssertionError, match="mismatch"):
            house.settle(round_id, (a, payout), fee_minor=fee_minor)
        assert written() == before

    def test_other_buy_ins_for_the_same_round_are_our_fault(self, house: House) -> None:
        a, b, round_id = house.player(300), house.player(300), uuid4()
        house.buy_in(round_id, a, b)
        with pytest.raises(AssertionError, match="conflict"):
            house.buy_in(round_id, a, b, amount_minor=99)

    def test_another_operators_round_is_not_touched(self, house: House, other_house: House) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, a, b)
        assert other_house.refund(round_id) is None
        with pytest.raises(AssertionError, match="no_buy_in"):
            other_house.settle(round_id, (other_house.player(), 200))

    def test_a_payout_of_nothing_makes_no_entry(self, house: House) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, a, b)
        house.settle(round_id, (a, 200), (b, 0))
        settled()
        assert (house.available(a), house.available(b)) == (200, 0)


def _hold(house: House, player: UUID, amount_minor: int = 5, ttl_ms: int = 60_000, **other: Any) -> UUID:
    facts: dict[str, Any] = {"purpose": "withdrawal", "reference": uuid4(), **other}
    return services.hold_place(
        operator_id=house.operator_id,
        player_id=player,
        currency="PTS",
        amount_minor=amount_minor,
        ttl_ms=ttl_ms,
        **facts,
    )


def _expire(hold_id: UUID) -> None:
    """Wait, in the database, until a hold's time is over."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_sleep(greatest(0, expires_at_ms / 1000.0 - extract(epoch FROM clock_timestamp())) + 0.002)"
            " FROM wallets_hold WHERE id = %s",
            [hold_id],
        )


class TestHolds:
    def test_is_placed_captured_and_seen_in_the_balance(self, house: House) -> None:
        player = house.player(20)
        hold_id = _hold(house, player, 15)
        assert selectors.balance(operator_id=house.operator_id, player_id=player, currency="PTS") == Balance(20, 15)
        tx_id = services.hold_capture(operator_id=house.operator_id, hold_id=hold_id, actor="test")
        assert services.hold_capture(operator_id=house.operator_id, hold_id=hold_id, actor="test") == tx_id
        settled()
        assert selectors.balance(operator_id=house.operator_id, player_id=player, currency="PTS") == Balance(5, 0)

    def test_is_released_once(self, house: House) -> None:
        player = house.player(20)
        hold_id = _hold(house, player, 15)
        for _ in range(2):
            services.hold_release(operator_id=house.operator_id, hold_id=hold_id)
        assert house.available(player) == 20
        with pytest.raises(HoldNotActive):
            services.hold_capture(operator_id=house.operator_id, hold_id=hold_id, actor="test")

    def test_is_over_on_time_though_nobody_swept(self, house: House) -> None:
        player = house.player(20)
        hold_id = _hold(house, player, 15, ttl_ms=5)
        _expire(hold_id)
        with pytest.raises(HoldNotActive):
            services.hold_capture(operator_id=house.operator_id, hold_id=hold_id, actor="test")
        assert house.available(player) == 5
        assert services.holds_expire() == 1
        assert house.available(player) == 20
        assert services.holds_expire() == 0

    def test_the_same_again_is_the_first_one(self, house: House) -> None:
        player, reference = house.player(20), uuid4()
        assert _hold(house, player, reference=reference) == _hold(house, player, reference=reference)
        with pytest.raises(TransactionConflict):
            _hold(house, player, 6, reference=reference)
        assert Hold.objects.count() == 1

    def test_refuses_what_is_not_there(self, house: House, other_house: House) -> None:
        player = house.player(20)
        hold_id = _hold(house, player, 15)
        with pytest.raises(InsufficientFunds):
            _hold(house, player, 6)
        with pytest.raises(AmountInvalid):
            _hold(house, player, 0)
        for operator_id, asked in ((house.operator_id, uuid4()), (other_house.operator_id, hold_id)):
            with pytest.raises(HoldNotFound):
                services.hold_capture(operator_id=operator_id, hold_id=asked, actor="test")
            with pytest.raises(HoldNotFound):
                services.hold_release(operator_id=operator_id, hold_id=asked)
        house.status(player, AccountStatus.FROZEN)
        with pytest.raises(AccountFrozen):
            services.hold_capture(operator_id=house.operator_id, hold_id=hold_id, actor="test")
        with pytest.raises(AccountFrozen):
            _hold(house, player, 1)

    def test_a_captured_hold_is_not_released(self, house: House) -> None:
        hold_id = _hold(house, house.player(20))
        services.hold_capture(operator_id=house.operator_id, hold_id=hold_id, actor="test")
        with pytest.raises(HoldNotActive):
            services.hold_release(operator_id=house.operator_id, hold_id=hold_id)


def _decide(house: House, approval_id: UUID, decided_by: str = "bob", approve: bool = True) -> UUID | None:
    with transaction.atomic():
        return services.correction_decide(
            operator_id=house.operator_id, approval_id=approval_id, approve=approve, decided_by=decided_by
        )


def _reversal(house: House, tx_id: UUID) -> UUID:
    return services.reversal_request(operator_id=house.operator_id, tx_id=tx_id, reason="wrong", requested_by="ann")


def _anew(house: House, round_id: UUID, *payouts: tuple[UUID, int]) -> UUID:
    return services.resettlement_request(
        operator_id=house.operator_id,
        round_id=round_id,
        payouts=payouts,
        fee_minor=0,
        reason="paid wrongly",
        requested_by="ann",
    )


class TestCorrections:
    def test_a_wrong_settlement_is_reversed_and_paid_anew(self, house: House) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, a, b)
        wrong = house.settle(round_id, (a, 190), fee_minor=10)
        settled()
        _decide(house, _reversal(house, wrong))
        settled()
        assert (house.available(a), house.available(b)) == (0, 0)
        anew = services.resettlement_request(
            operator_id=house.operator_id,
            round_id=round_id,
            payouts=[(b, 190)],
            fee_minor=10,
            reason="b had won",
            requested_by="ann",
        )
        tx_id = _decide(house, anew)
        assert tx_id is not None
        settled()
        assert (house.available(a), house.available(b)) == (0, 190)
        assert LedgerTransaction.objects.get(pk=tx_id).kind == "resettle"
        with pytest.raises(RoundSettled):
            house.refund(round_id)
        with pytest.raises(RoundNotReversed):
            _anew(house, round_id, (b, 190))

    def test_two_new_payouts_of_one_round_are_one(self, house: House) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, a, b)
        _decide(house, _reversal(house, house.settle(round_id, (a, 200))))
        first, second = _anew(house, round_id, (b, 200)), _anew(house, round_id, (a, 200))
        _decide(house, first)
        with pytest.raises(InsufficientFunds):
            _decide(house, second)
        settled()
        assert (house.available(a), house.available(b)) == (0, 200)

    def test_new_payouts_need_a_reversed_round_and_are_its_stakes(self, house: House, other_house: House) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, a, b)
        with pytest.raises(RoundNotReversed):
            _anew(house, round_id, (b, 200))  # It is being played.
        wrong = house.settle(round_id, (a, 200))
        settled()
        with pytest.raises(RoundNotReversed):
            _anew(house, round_id, (b, 200))
        _decide(house, _reversal(house, wrong))
        with pytest.raises(TransactionNotFound):
            _anew(other_house, round_id, (b, 200))
        for payouts in (
            [(b, 199)],
            [(b, 201)],
            [(b, 100), (b, 100)],
            [(b, 200), (a, 0)],
            [(a, -1), (b, 201)],
            [(house.player(), 200)],
            [],
        ):
            with pytest.raises(PayoutsInvalid) as told:
                _anew(house, round_id, *payouts)
            assert told.value.facts == {"escrow_minor": 200}
        assert Approval.objects.filter(kind="resettle").count() == 0

    def test_an_adjustment_goes_either_way(self, house: House) -> None:
        player = house.player(10)
        for amount in (7, -17):
            asked = services.adjustment_request(
                operator_id=house.operator_id,
                player_id=player,
                currency="PTS",
                amount_minor=amount,
                reason="ticket",
                requested_by="ann",
            )
            _decide(house, asked)
        settled()
        assert house.available(player) == 0
        assert selectors.house_balances(operator_id=house.operator_id, currency="PTS")["adjustment"] == 10

    def test_needs_a_second_person_and_nothing_moves_before(self, house: House) -> None:
        player = house.player(10)
        asked = _reversal(house, LedgerTransaction.objects.get().pk)
        assert house.available(player) == 10
        with pytest.raises(SamePerson):
            _decide(house, asked, decided_by="ann")
        assert house.available(player) == 10

    def test_is_decided_once(self, house: House) -> None:
        house.player(10)
        asked = _reversal(house, LedgerTransaction.objects.get().pk)
        assert _decide(house, asked, approve=False) is None
        for approve in (True, False):
            with pytest.raises(ApprovalDecided):
                _decide(house, asked, approve=approve)
        assert LedgerTransaction.objects.count() == 1

    def test_a_transaction_is_reversed_once_and_a_reversal_never(self, house: House) -> None:
        house.player(10)
        target = LedgerTransaction.objects.get().pk
        first, second = _reversal(house, target), _reversal(house, target)
        reversal = _decide(house, first)
        assert reversal is not None
        with pytest.raises(InsufficientFunds):
            _decide(house, second)
        for tx_id in (target, reversal):
            with pytest.raises(AlreadyReversed):
                _reversal(house, tx_id)

    def test_a_second_reversal_is_refused_where_funds_would_do(self, house: House) -> None:
        player = house.player(10)
        target = LedgerTransaction.objects.get().pk
        first, second = _reversal(house, target), _reversal(house, target)
        house.credit(player, 100)
        _decide(house, first)
        with pytest.raises(AlreadyReversed):
            _decide(house, second)

    def test_takes_no_more_than_there_is(self, house: House) -> None:
        player = house.player(10)
        asked = _reversal(house, LedgerTransaction.objects.get().pk)
        move(house, "debit", player, 4)
        with pytest.raises(InsufficientFunds) as caught:
            _decide(house, asked)
        assert caught.value.facts["player_ids"] == [player]

    def test_another_operators_things_are_not_found(self, house: House, other_house: House) -> None:
        house.player(10)
        target = LedgerTransaction.objects.get().pk
        with pytest.raises(TransactionNotFound):
            _reversal(other_house, target)
        with pytest.raises(ApprovalNotFound):
            _decide(other_house, _reversal(house, target))
