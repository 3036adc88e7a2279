"""What others may read of the ledger.  Every selector takes the caller's operator and finds nothing of another's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import date
from uuid import UUID

from django.db import connection
from django.db.models import F, Q, QuerySet

from apps.accounts import selectors as accounts
from apps.core.sandbox import is_sandbox
from apps.wallets import daily
from apps.wallets.errors import (
    ApprovalNotFound,
    CurrencyUnknown,
    HoldNotFound,
    ReportNotFound,
    TestPlayerMoney,
    TransactionNotFound,
)
from apps.wallets.listing import cursor_make, cursor_read
from apps.wallets.models import (
    AccountBalance,
    AccountKind,
    Alarm,
    Approval,
    Currency,
    DailyFile,
    Entry,
    Hold,
    LedgerBlock,
    LedgerKey,
    LedgerTransaction,
    TxKind,
)
from apps.wallets.values import (
    Balance,
    Correction,
    CorrectionPage,
    CurrencyFacts,
    HoldFacts,
    Line,
    RoundLine,
    Transaction,
)


def operators() -> list[UUID]:
    """Return every operator that may have a ledger."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM accounts_operator ORDER BY id")
        return [row[0] for row in cursor.fetchall()]


def house_balances(*, operator_id: UUID, currency: str) -> dict[str, int]:
    """Return what each kind of house account has in a currency: its newest snapshot and what came after it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT a.kind, coalesce(s.posted, 0) + coalesce((SELECT sum(e.amount) FROM wallets_tx t"
            " JOIN wallets_entry e ON e.tx_id = t.id AND e.account_id = a.id WHERE t.operator_id = a.operator_id"
            " AND t.xid >= coalesce(s.upto_xid, '0'::xid8)), 0) FROM wallets_account a LEFT JOIN LATERAL ("
            "SELECT posted, upto_xid FROM wallets_snapshot WHERE account_id = a.id ORDER BY upto_xid DESC LIMIT 1) s"
            " ON true WHERE a.operator_id = %s AND a.currency_id = %s AND a.kind NOT IN ('player', 'escrow')",
            [operator_id, currency],
        )
        return {str(kind): int(amount) for kind, amount in cursor.fetchall()}


def escrow_oldest_ms(*, operator_id: UUID) -> int | None:
    """Return when the oldest buy-in that still lies in an escrow was taken, or None if all escrows are empty."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT min(t.created_at_ms) FROM wallets_account a JOIN wallets_balance b ON b.account_id = a.id"
            " JOIN wallets_tx t ON t.round_id = a.owner_ref AND t.kind = 'buy_in'"
            " WHERE a.operator_id = %s AND a.kind = 'escrow' AND b.posted > 0",
            [operator_id],
        )
        (oldest,) = cursor.fetchone()
    return None if oldest is None else int(oldest)


def currency_get(*, code: str) -> CurrencyFacts:
    """Return a currency.

    Raises:
        CurrencyUnknown: no such currency.
    """
    row = Currency.objects.filter(pk=code).first()
    if row is None:
        raise CurrencyUnknown(pointer="/currency")
    return _currency(row)


def currencies() -> list[CurrencyFacts]:
    """Return every currency of the installation."""
    return [_currency(row) for row in Currency.objects.order_by("code")]


def player_may_have(*, operator_id: UUID, player_id: UUID, currency: str) -> None:
    """Return if the operator's player may have an account in the currency.

    Raises:
        PlayerNotFound, CurrencyUnknown: there is no such thing.
        TestPlayerMoney: a test player, and a currency that is money.
    """
    player = accounts.player_get(operator_id=operator_id, player_id=player_id)
    if currency_get(code=currency).is_money and player.is_test:
        raise TestPlayerMoney(pointer="/currency")


def hold_get(*, operator_id: UUID, hold_id: UUID) -> HoldFacts:
    """Return a hold.

    Raises:
        HoldNotFound: the operator has no such hold.
    """
    row = Hold.objects.select_related("account").filter(operator_id=operator_id, pk=hold_id).first()
    if row is None:
        raise HoldNotFound
    return HoldFacts(
        id=row.pk,
        player_id=row.account.owner_ref,
        currency=row.account.currency_id,
        amount_minor=row.amount,
        purpose=row.purpose,
        reference=row.reference,
        state=row.state,
        expires_at_ms=row.expires_at_ms,
        transaction_id=row.resolved_tx_id,
    )


def corrections(*, operator_id: UUID, cursor: str, limit: int) -> CorrectionPage:
    """Return the operator's corrections after the cursor, newest first.

    Raises:
        CursorInvalid: the cursor is not one.
    """
    rows = Approval.objects.filter(operator_id=operator_id).order_by("-requested_at_ms", "-id")
    if cursor:
        at_ms, after = cursor_read(cursor)
        rows = rows.filter(Q(requested_at_ms__lt=at_ms) | Q(requested_at_ms=at_ms, id__lt=after))
    found = _corrections(rows[: limit + 1])
    items = tuple(found[:limit])
    last = cursor_make(items[-1].requested_at_ms, items[-1].id) if items else cursor
    return CorrectionPage(items, last, has_more=len(found) > limit)


def correction_get(*, operator_id: UUID, correction_id: UUID) -> Correction:
    """Return a correction.

    Raises:
        ApprovalNotFound: the operator has no such correction.
    """
    found = _corrections(Approval.objects.filter(operator_id=operator_id, pk=correction_id))
    if not found:
        raise ApprovalNotFound
    return found[0]


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


_ROUND_LINES = """
WITH first AS (
    SELECT id, kind, round_id, created_at_ms, xid FROM wallets_tx WHERE kind = 'buy_in' AND round_id = ANY(%(rounds)s)
    UNION ALL
    SELECT id, kind, round_id, created_at_ms, xid FROM wallets_tx
    WHERE kind IN ('settle', 'void') AND round_id = ANY(%(rounds)s)
), later AS (
    SELECT t.id, t.kind, first.round_id, t.created_at_ms, t.xid
    FROM first JOIN wallets_tx t ON t.reverses_id = first.id
    UNION ALL
    SELECT t.id, t.kind, p.round_id, t.created_at_ms, t.xid
    FROM wallets_approval p JOIN wallets_tx t ON t.approval_id = p.id
    WHERE p.kind = 'resettle' AND p.round_id = ANY(%(rounds)s)
)
SELECT m.round_id, m.id, m.kind, a.owner_ref, e.amount, e.balance_after, m.created_at_ms
FROM (SELECT * FROM first UNION ALL SELECT * FROM later) m
JOIN wallets_entry e ON e.tx_id = m.id JOIN wallets_account a ON a.id = e.account_id
WHERE e.operator_id = %(operator)s AND a.kind = 'player'
ORDER BY m.xid, e.id
"""


def round_lines(*, operator_id: UUID, round_ids: Collection[UUID]) -> dict[UUID, list[RoundLine]]:
    """Return what rounds (of a match: its first one) did to the accounts of players, corrections included, in order."""
    found: dict[UUID, list[RoundLine]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_ROUND_LINES, {"operator": operator_id, "rounds": list(round_ids)})
        for round_id, *line in cursor.fetchall():
            found[round_id].append(RoundLine(*line))
    return found


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


def daily_file(*, operator_id: UUID, currency: str, day: date) -> bytes:
    """Return the signed file of a day, as it is served; in a sandbox also that of today, so far.

    Raises:
        ReportNotFound: there is none (yet).
    """
    row = DailyFile.objects.filter(operator_id=operator_id, currency=currency, day=day).first()
    if row is not None:
        return daily.stored(row).file()
    so_far = daily.day_so_far(operator_id=operator_id, currency=currency, day=day) if is_sandbox() else None
    if so_far is None:
        raise ReportNotFound
    return so_far.file()


def blocks(*, operator_id: UUID, after: int, limit: int) -> list[LedgerBlock]:
    """Return the operator's sealed blocks with a higher number than ``after``, in order."""
    return list(LedgerBlock.objects.filter(operator_id=operator_id, seq__gt=after).order_by("seq")[:limit])


def ledger_keys() -> list[LedgerKey]:
    """Return every public key that ever signed blocks and daily files, oldest first."""
    return list(LedgerKey.objects.order_by("created_at_ms", "kid"))


def _player_balances(operator_id: UUID, player_ids: Collection[UUID], currency: str) -> QuerySet[AccountBalance]:
    return AccountBalance.objects.filter(
        account__operator_id=operator_id,
        account__kind=AccountKind.PLAYER,
        account__owner_ref__in=player_ids,
        account__currency_id=currency,
        account__shard=0,
    )


def _currency(row: Currency) -> CurrencyFacts:
    return CurrencyFacts(row.code, row.exponent, row.is_money, row.min_buy_in_minor, row.rake_rule)


def _corrections(rows: QuerySet[Approval]) -> list[Correction]:
    found = list(rows.prefetch_related("lines__account"))
    done = dict(LedgerTransaction.objects.filter(approval__in=found).values_list("approval_id", "pk"))
    return [
        Correction(
            id=row.pk,
            kind=row.kind,
            state=row.state,
            reason=row.reason,
            reverses_id=row.target_tx_id,
            round_id=row.round_id,
            transaction_id=done.get(row.pk),
            requested_at_ms=row.requested_at_ms,
            decided_at_ms=row.decided_at_ms,
            lines=tuple(
                Line(
                    account=line.account.kind,
                    player_id=line.account.owner_ref if line.account.kind == AccountKind.PLAYER else None,
                    amount_minor=line.amount,
                    balance_after_minor=None,
                )
                for line in row.lines.all()
            ),
        )
        for row in found
    ]


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
