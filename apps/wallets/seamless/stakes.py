"""Stakes: fetched from the operator when a player gets ready, given back or paid when that is over.

The money of each change moves in the database, by the change itself (migration 0009).  Nothing here calls an operator
but ``stake_send`` and ``balance_ask``, both outside any transaction; what is due later is sent by the sweep.

Source: docs/operators/seamless-wallet.md, section States.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from apps.accounts import selectors as accounts
from apps.accounts.errors import PlayerNotFound
from apps.core.clock import now_ms
from apps.wallets import selectors
from apps.wallets.errors import (
    AccountFrozen,
    BuyInPending,
    BuyInRefused,
    BuyInUnknown,
    CurrencyUnknown,
    InsufficientFunds,
    OperatorUnavailable,
    TestPlayerMoney,
)
from apps.wallets.models import Account, AccountKind, AccountStatus
from apps.wallets.seamless import metrics, settings
from apps.wallets.seamless.models import FINAL, TO_PAY, TO_ROLL_BACK, Stake, StakeState
from apps.wallets.seamless.protocol import (
    ERROR_LENGTH_MAX,
    Call,
    Outcome,
    Verdict,
    balance_body,
    stake_body,
    transaction_id,
)
from apps.wallets.seamless.wire import call
from apps.wallets.services.calls import in_transaction

LEASE_MS = 60_000
"""Longer than any call can take: what was sent before that, and has no outcome, has none any more."""
CALLS_MAX = 16
"""Buy-ins of one operator that are fetched at the same time; so many of our requests it can keep waiting."""


def stake_plan(
    *, operator_id: UUID, player_id: UUID, currency: str, amount_minor: int, table_id: UUID, round_id: UUID
) -> UUID | None:
    """Plan to fetch a buy-in and return the stake's id; None where the operator's wallet is not seamless.

    Args:
        round_id: the round that the stake is for; a match's first.

    Raises:
        BuyInPending: another request is fetching it.
        BuyInUnknown: an earlier one is still being given back.
        TestPlayerMoney, AccountFrozen: the player's account would not take it.
    """
    in_transaction()
    if not settings.operator_is_seamless(operator_id=operator_id):
        return None
    known = Stake.objects.filter(round_id=round_id, player_id=player_id).exclude(state__in=FINAL).first()
    if known is not None:
        if known.state in (StakeState.PLANNED, StakeState.SENT):
            raise BuyInPending
        assert known.state in TO_ROLL_BACK, "who has a stake in a round is ready for it, or plays"
        raise BuyInUnknown("An earlier buy-in for this round is still being given back; try again later.")
    player = accounts.player_get(operator_id=operator_id, player_id=player_id)
    if player.is_test and selectors.currency_get(code=currency).is_money:
        raise TestPlayerMoney
    if _account(operator_id, player_id, currency).exclude(status=AccountStatus.OPEN).exists():
        raise AccountFrozen
    made = Stake.objects.create(
        operator_id=operator_id,
        player_id=player_id,
        player_ref=player.external_id,
        currency_id=currency,
        amount_minor=amount_minor,
        table_id=table_id,
        round_id=round_id,
        next_try_at_ms=now_ms() + LEASE_MS,
    )
    return made.pk


def stake_send(*, stake_id: UUID) -> None:
    """Ask the operator's wallet for a planned stake; return if it says that it has given it.

    The stake is not in the ledger yet: ``stake_confirm`` brings it there, in the transaction that uses it.

    Raises:
        OperatorUnavailable: it was not asked, and the plan is over.
        BuyInRefused, InsufficientFunds: it has refused.
        BuyInUnknown: nobody knows; what it may have taken is rolled back.
    """
    assert not connection.in_atomic_block, "no transaction is open while an operator is called"
    stake = Stake.objects.get(pk=stake_id)
    now = now_ms()
    try:
        target = settings.breaker_pass(operator_id=stake.operator_id, now_ms=now)
        if Stake.objects.filter(operator_id=stake.operator_id, state=StakeState.SENT).count() >= CALLS_MAX:
            raise OperatorUnavailable
    except OperatorUnavailable:
        _end(stake_id, StakeState.PLANNED, StakeState.REFUSED, OperatorUnavailable.code)
        raise
    sent = Stake.objects.filter(pk=stake_id, state=StakeState.PLANNED)
    if not sent.update(state=StakeState.SENT, attempts=1, next_try_at_ms=now + LEASE_MS):
        raise BuyInPending
    said = call(
        target=target,
        what=Call.BET,
        body=stake_body(Call.BET, stake),
        idempotency_key=transaction_id(Call.BET, stake),
    )
    note(stake.operator_id, Call.BET, said)
    match said.outcome:
        case Outcome.DONE:
            return
        case Outcome.REFUSED:
            _end(stake_id, StakeState.SENT, StakeState.REFUSED, said.code)
            raise _refusal(said)
        case Outcome.UNKNOWN:
            stake_doubt(stake_id=stake_id, why=said.code)
            raise BuyInUnknown


def note(operator_id: UUID, what: Call, said: Verdict) -> None:
    """Tell breaker and metrics what became of a call."""
    metrics.CALLS.labels(call=str(what), outcome=str(said.outcome)).inc()
    is_definite = said.outcome is not Outcome.UNKNOWN
    settings.breaker_note(operator_id=operator_id, is_definite=is_definite, now_ms=now_ms())


def _refusal(said: Verdict) -> Exception:
    if said.code == "insufficient_funds":
        detail = "The operator's wallet says that the balance does not cover the buy-in."
        return InsufficientFunds(detail, balance_minor=said.balance_minor)
    return BuyInRefused(reason=said.code)


def _end(stake_id: UUID, state: StakeState, end: StakeState, why: str) -> None:
    Stake.objects.filter(pk=stake_id, state=state).update(
        state=end, next_try_at_ms=None, last_error=why[:ERROR_LENGTH_MAX]
    )


@transaction.atomic
def stake_doubt(*, stake_id: UUID, why: str) -> None:
    """Note that nobody knows what became of a sent bet: its amount goes to suspense, and a rollback is due."""
    Stake.objects.filter(pk=stake_id, state=StakeState.SENT).update(
        state=StakeState.UNKNOWN, attempts=0, next_try_at_ms=now_ms(), last_error=why[:ERROR_LENGTH_MAX]
    )


def stake_confirm(*, stake_id: UUID) -> bool:
    """Bring a stake that the operator has given into the ledger; False if that comes too late, or cannot be.

    It is too late once the sweep has taken the stake for lost: then it goes back to the operator.
    """
    in_transaction()
    stake = Stake.objects.get(pk=stake_id)
    account = _account(stake.operator_id, stake.player_id, stake.currency_id)
    if account.filter(status=AccountStatus.CLOSED).exists():
        stake_doubt(stake_id=stake_id, why=AccountFrozen.code)
        return False
    sent = Stake.objects.filter(pk=stake_id, state=StakeState.SENT)
    return bool(sent.update(state=StakeState.CONFIRMED, attempts=0, next_try_at_ms=None, last_error=""))


def _account(operator_id: UUID, player_id: UUID, currency: str) -> QuerySet[Account]:
    return Account.objects.filter(
        operator_id=operator_id, kind=AccountKind.PLAYER, owner_ref=player_id, currency_id=currency
    )


def stakes_return(*, round_id: UUID, player_ids: Collection[UUID] | None = None) -> None:
    """Give confirmed stakes back that will not be played: of some players, or all that a round has."""
    in_transaction()
    stakes = Stake.objects.filter(round_id=round_id, state=StakeState.CONFIRMED)
    if player_ids is not None:
        stakes = stakes.filter(player_id__in=player_ids)
    found = list(stakes.select_for_update(no_key=True).order_by("id"))
    if not found:
        return
    with connection.cursor() as cursor:  # L6: the trigger takes from one balance after the other.
        cursor.execute(
            "SELECT 1 FROM wallets_balance WHERE account_id IN (SELECT id FROM wallets_account WHERE operator_id = %s"
            " AND kind = 'player' AND owner_ref = ANY (%s) AND currency_id = %s) ORDER BY account_id FOR NO KEY UPDATE",
            [found[0].operator_id, [stake.player_id for stake in found], found[0].currency_id],
        )
    _roll_back([stake.pk for stake in found])


def _roll_back(stake_ids: Collection[UUID]) -> None:
    Stake.objects.filter(pk__in=stake_ids).update(state=StakeState.ROLLBACK_PLANNED, next_try_at_ms=now_ms())


def stakes_play(*, operator_id: UUID, round_id: UUID, buy_ins: Sequence[tuple[UUID, int]]) -> None:
    """Note that confirmed stakes become buy-ins; a round whose operator is not seamless has none.

    Raises:
        InsufficientFunds: ``player_ids`` lists who has no stake of his buy-in's amount.
    """
    states = (StakeState.CONFIRMED, StakeState.PLAYED)  # The same call again finds what it did.
    stakes = Stake.objects.filter(round_id=round_id, state__in=states).select_for_update(no_key=True)
    found = {(stake.player_id, stake.amount_minor): stake.pk for stake in stakes.order_by("id")}
    if not found and not settings.operator_is_seamless(operator_id=operator_id):
        return
    short = [player_id for player_id, amount in buy_ins if (player_id, amount) not in found]
    if short:
        raise InsufficientFunds(player_ids=short)
    Stake.objects.filter(pk__in=[found[buy_in] for buy_in in buy_ins]).update(state=StakeState.PLAYED)


def stakes_played_lock(*, round_id: UUID) -> list[tuple[UUID, UUID]]:
    """Lock the stakes that are in a round's escrow; return their ids and players."""
    stakes = Stake.objects.filter(round_id=round_id, state=StakeState.PLAYED).select_for_update(no_key=True)
    return list(stakes.order_by("id").values_list("pk", "player_id"))


def stakes_win(*, played: Sequence[tuple[UUID, UUID]], payouts: Mapping[UUID, int]) -> None:
    """Owe the operator's wallet what a settled round has paid to each stake's player, 0 where it paid nothing."""
    for stake_id, player_id in played:
        Stake.objects.filter(pk=stake_id).update(
            state=StakeState.WIN_PLANNED, win_minor=payouts.get(player_id, 0), next_try_at_ms=now_ms()
        )


def stakes_refund(*, played: Sequence[tuple[UUID, UUID]]) -> None:
    """Owe the operator's wallet the stakes of a round that is void."""
    _roll_back([stake_id for stake_id, _ in played])


def stakes_retry(*, stake_ids: Collection[UUID]) -> int:
    """Let calls be sent at once: those that wait, and those that the operator had refused; return how many."""
    states = (*TO_ROLL_BACK, *TO_PAY)
    return Stake.objects.filter(pk__in=stake_ids, state__in=states).update(next_try_at_ms=now_ms())


def balance_ask(*, operator_id: UUID, player_id: UUID, currency: str) -> int:
    """Ask a seamless operator's wallet for a player's balance, in minor units.

    Raises:
        OperatorUnavailable: it does not answer.
        PlayerNotFound, CurrencyUnknown: it says so.
    """
    player = accounts.player_get(operator_id=operator_id, player_id=player_id)
    target = settings.breaker_pass(operator_id=operator_id, now_ms=now_ms())
    body = balance_body(player_ref=player.external_id, currency=currency)
    said = call(target=target, what=Call.BALANCE, body=body)
    note(operator_id, Call.BALANCE, said)
    if said.outcome is Outcome.UNKNOWN:
        raise OperatorUnavailable
    if said.outcome is Outcome.REFUSED:
        raise PlayerNotFound if said.code == "player_not_found" else CurrencyUnknown(pointer="/currency")
    assert said.balance_minor is not None, "a balance is part of the answer"
    return said.balance_minor
