"""What others may read of the ledger.  Every selector takes the caller's operator and finds nothing of another's."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import F, QuerySet

from apps.wallets.errors import CurrencyUnknown, TransactionNotFound
from apps.wallets.models import AccountBalance, AccountKind, Alarm, Currency, Entry, TxKind
from apps.wallets.values import Balance, CurrencyFacts, Transaction


def currency_get(*, code: str) -> CurrencyFacts:
    """Return a currency.

    Raises:
        CurrencyUnknown: no such currency.
    """
    row = Currency.objects.filter(pk=code).first()
    if row is None:
        raise CurrencyUnknown(pointer="/currency")
    return CurrencyFacts(row.code, row.exponent, row.is_money, row.min_buy_in_minor, row.rake_rule)


def balance(*, operator_id: UUID, player_id: UUID, currency: str) -> Balance:
    """Return a player's balance; zero if there was never a movement."""
    row = _player_balances(operator_id, (player_id,), currency).values_list("posted", "held").first()
    return Balance(*row) if row else Balance(0, 0)


def available_many(*, operator_id: UUID, player_ids: Collection[UUID], currency: str) -> dict[UUID, int]:
    """Return what each of the players may spend, in minor units; one query, every player asked for is in the answer."""
    rows = _player_balances(operator_id, player_ids, currency).values_list(
        "account__owner_ref", F("posted") - F("held")
    )
    found = dict(rows)
    return {player_id: found.get(player_id, 0) for player_id in player_ids}


def transaction_get(*, operator_id: UUID, tx_id: UUID, replayed: bool = False) -> Transaction:
    """Return a credit or debit by its id in the ledger.

    Raises:
        TransactionNotFound: the operator has no such transaction.
    """
    return _transaction(Entry.objects.filter(operator_id=operator_id, tx_id=tx_id), replayed)


def transaction_by_external_id(*, operator_id: UUID, external_id: str) -> Transaction:
    """Return a credit or debit by the operator's own id.

    Raises:
        TransactionNotFound: the operator has no such transaction.
    """
    return _transaction(
        Entry.objects.filter(
            tx__operator_id=operator_id, tx__external_id=external_id, tx__kind__in=[TxKind.CREDIT, TxKind.DEBIT]
        ),
        replayed=False,
    )


def alarms_open(*, operator_id: UUID) -> list[Alarm]:
    """Return the operator's open alarms, oldest first."""
    return list(Alarm.objects.filter(operator_id=operator_id, cleared_at_ms=None).order_by("raised_at_ms"))


def _player_balances(operator_id: UUID, player_ids: Collection[UUID], currency: str) -> QuerySet[AccountBalance]:
    return AccountBalance.objects.filter(
        account__operator_id=operator_id,
        account__kind=AccountKind.PLAYER,
        account__owner_ref__in=player_ids,
        account__currency_id=currency,
        account__shard=0,
    )


def _transaction(entries: QuerySet[Entry], replayed: bool) -> Transaction:
    entry = entries.filter(account__kind=AccountKind.PLAYER).select_related("tx", "account").first()
    if entry is None:
        raise TransactionNotFound
    assert entry.balance_after is not None, "a player's account has a balance row"
    return Transaction(
        id=entry.tx_id,
        kind=entry.tx.kind,
        external_id=entry.tx.external_id,
        player_id=entry.account.owner_ref,
        currency=entry.currency,
        amount_minor=abs(entry.amount),
        balance_after_minor=entry.balance_after,
        round_id=entry.tx.round_id,
        created_at_ms=entry.tx.created_at_ms,
        replayed=replayed,
    )
