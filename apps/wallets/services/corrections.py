"""Corrections: what one person asks for and another one approves, entry by entry.

Rule L15, hazard A1: docs/auditors/ledger.md.  The database refuses a correction that was approved by its requester, has
other entries than the approved lines, or is done twice.

Where the operator's wallet is seamless there are none: the players' money is with the operator, and what a correction
put on an account here would stay here.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from apps.core.ids import new_id
from apps.wallets.errors import (
    AlreadyReversed,
    AmountInvalid,
    ApprovalDecided,
    ApprovalNotFound,
    InsufficientFunds,
    PayoutsInvalid,
    RoundNotReversed,
    SamePerson,
    TransactionNotFound,
)
from apps.wallets.models import AccountBalance, AccountKind, Approval, ApprovalState, Entry, LedgerTransaction, TxKind
from apps.wallets.seamless.settings import transfer_check
from apps.wallets.services.calls import fingerprint, in_transaction, row
from apps.wallets.values import AMOUNT_MINOR_MAX

OUTCOMES = (TxKind.SETTLE, TxKind.VOID)
"""How a round ends in the ledger; what ended it may be reversed and paid anew."""


def reversal_request(*, operator_id: UUID, tx_id: UUID, reason: str, requested_by: str) -> UUID:
    """Ask for the reversal of a transaction; return the id of the request.

    Raises:
        WalletIsSeamless: what it would give to players here could not be taken out.
        TransactionNotFound: the operator has no such transaction.
        AlreadyReversed: it was reversed, or is a reversal.
    """
    in_transaction()
    transfer_check(operator_id=operator_id)
    target = LedgerTransaction.objects.filter(operator_id=operator_id, pk=tx_id).first()
    if target is None:
        raise TransactionNotFound
    if target.kind == TxKind.REVERSE or LedgerTransaction.objects.filter(reverses_id=tx_id).exists():
        raise AlreadyReversed
    lines = [(e.account_id, -e.amount) for e in Entry.objects.filter(tx_id=tx_id).order_by("account_id")]
    return _request(TxKind.REVERSE, operator_id, tx_id, target.round_id, reason, requested_by, lines)


def adjustment_request(
    *, operator_id: UUID, player_id: UUID, currency: str, amount_minor: int, reason: str, requested_by: str
) -> UUID:
    """Ask for a correction of a player's balance by an amount, which may be negative; return the id of the request.

    Raises:
        WalletIsSeamless: what it would give to the player here could not be taken out.
        AmountInvalid: zero, or too large.
    """
    in_transaction()
    transfer_check(operator_id=operator_id)
    if type(amount_minor) is not int or not 1 <= abs(amount_minor) <= AMOUNT_MINOR_MAX:
        raise AmountInvalid(pointer="/amount_minor")
    lines = [
        (_account(operator_id, AccountKind.PLAYER, player_id, currency), amount_minor),
        (_account(operator_id, AccountKind.ADJUSTMENT, operator_id, currency), -amount_minor),
    ]
    return _request(TxKind.ADJUST, operator_id, None, None, reason, requested_by, lines)


def resettlement_request(
    *,
    operator_id: UUID,
    round_id: UUID,
    payouts: Sequence[tuple[UUID, int]],
    fee_minor: int,
    reason: str,
    requested_by: str,
) -> UUID:
    """Ask for new payouts of a round whose settlement was reversed; return the id of the request.

    Args:
        round_id: the round; of a match, its first.
        payouts: pairs of player and amount in minor units, above 0.

    Raises:
        WalletIsSeamless: what would be paid here could not be taken out.
        TransactionNotFound: the operator has no such round that anything was staked in.
        RoundNotReversed: its end was not reversed, or it is paid anew already.
        PayoutsInvalid: they are not the escrow, or go to somebody who was not in the round; ``escrow_minor`` helps.
    """
    in_transaction()
    transfer_check(operator_id=operator_id)
    escrow = (
        AccountBalance.objects.select_related("account")
        .filter(operator_id=operator_id, account__kind=AccountKind.ESCROW, account__owner_ref=round_id, posted__gt=0)
        .first()
    )
    reversed_too = LedgerTransaction.objects.filter(
        operator_id=operator_id, kind=TxKind.REVERSE, reverses__kind__in=OUTCOMES, reverses__round_id=round_id
    )
    staked = Entry.objects.filter(
        tx__operator_id=operator_id, tx__round_id=round_id, tx__kind=TxKind.BUY_IN, account__kind=AccountKind.PLAYER
    )
    accounts = dict(staked.values_list("account__owner_ref", "account_id"))
    if not accounts:
        raise TransactionNotFound("The ledger knows no stakes of such a round of yours.", pointer="/round_id")
    if escrow is None or not reversed_too.exists():
        raise RoundNotReversed
    paid = [player_id for player_id, _ in payouts]
    amounts = [amount for _, amount in payouts]
    is_theirs = len(set(paid)) == len(paid) and accounts.keys() >= set(paid)
    is_right = min([*amounts, 1]) > 0 and fee_minor >= 0 and sum(amounts) + fee_minor == escrow.posted
    if not (is_theirs and is_right):
        raise PayoutsInvalid(pointer="/payouts", escrow_minor=escrow.posted)
    lines = [(escrow.account_id, -escrow.posted), *((accounts[player_id], amount) for player_id, amount in payouts)]
    if fee_minor:
        lines.append((_account(operator_id, AccountKind.RAKE, operator_id, escrow.account.currency_id), fee_minor))
    return _request(TxKind.RESETTLE, operator_id, None, round_id, reason, requested_by, lines)


def correction_decide(*, operator_id: UUID, approval_id: UUID, approve: bool, decided_by: str) -> UUID | None:
    """Approve a correction and do it at once, or reject it; return the transaction's id, or None after a rejection.

    Raises:
        ApprovalNotFound: the operator has no such request.
        SamePerson: who asked decides.
        ApprovalDecided: somebody was faster.
        WalletIsSeamless: it was asked for before the wallet was; it can only be rejected.
        InsufficientFunds: an account has not enough for it; the request stays open.
        AlreadyReversed: another reversal of the same transaction was faster.
    """
    in_transaction()
    found = Approval.objects.select_for_update(no_key=True).filter(operator_id=operator_id, pk=approval_id).first()
    if found is None:
        raise ApprovalNotFound
    if found.state != ApprovalState.REQUESTED:
        raise ApprovalDecided
    if found.requested_by == decided_by:
        raise SamePerson
    if approve:
        transfer_check(operator_id=operator_id)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE wallets_approval SET state = %s, decided_by = %s,"
            " decided_at_ms = floor(extract(epoch FROM clock_timestamp()) * 1000) WHERE id = %s",
            [str(ApprovalState.APPROVED if approve else ApprovalState.REJECTED), decided_by, approval_id],
        )
    if not approve:
        return None
    outcome, tx_id, short = row(
        "SELECT outcome, tx_id, players FROM wallets_correction_execute(%s, %s, %s, %s)",
        [operator_id, approval_id, fingerprint("correction", approval_id), decided_by],
    )
    match outcome:
        case "done":
            return UUID(str(tx_id))
        case "insufficient_funds":
            raise InsufficientFunds(player_ids=list(short))
        case "already_reversed":
            raise AlreadyReversed
    raise AssertionError(f"wallets_correction_execute answered {outcome!r}")


def _account(operator_id: UUID, kind: AccountKind, owner: UUID, currency: str) -> int:
    (account_id,) = row("SELECT wallets_account_open(%s, %s, %s, %s)", [operator_id, str(kind), owner, currency])
    return int(account_id)


def _request(
    kind: TxKind,
    operator_id: UUID,
    target: UUID | None,
    round_id: UUID | None,
    reason: str,
    requested_by: str,
    lines: Sequence[tuple[int, int]],
) -> UUID:
    assert sum(amount for _, amount in lines) == 0, "a correction adds up to zero"
    assert reason, "a correction has a reason"
    assert requested_by, "somebody asks for a correction"
    approval_id = new_id()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO wallets_approval (id, operator_id, kind, target_tx_id, round_id, reason, requested_by, state)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, 'requested')",
            [approval_id, operator_id, str(kind), target, round_id, reason, requested_by],
        )
        cursor.execute(
            "INSERT INTO wallets_approval_line (approval_id, account_id, amount)"
            " SELECT %s, l.account, l.amount FROM unnest(%s::bigint[], %s::bigint[]) AS l(account, amount)",
            [approval_id, [account for account, _ in lines], [amount for _, amount in lines]],
        )
    return approval_id
