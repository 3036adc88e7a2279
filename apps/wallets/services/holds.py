"""Holds: a part of a balance that is reserved until it is captured, released, or its time is over.

Rule L12: docs/auditors/ledger.md.  Capture is exact: at the end of its time a hold is over, whether it was swept or
not.  The balance shows it as held until the sweep; available may therefore be too small for a moment, never too large.
"""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from apps.wallets.errors import (
    AccountFrozen,
    AmountInvalid,
    HoldNotActive,
    HoldNotFound,
    InsufficientFunds,
    TransactionConflict,
)
from apps.wallets.models import Hold, HoldState
from apps.wallets.seamless.settings import transfer_check
from apps.wallets.services.calls import fingerprint, in_transaction, row
from apps.wallets.values import AMOUNT_MINOR_MAX

SWEEP_MAX = 500
"""Holds that one sweep expires; the rest waits for the next one."""


def hold_place(
    *, operator_id: UUID, player_id: UUID, currency: str, amount_minor: int, purpose: str, reference: UUID, ttl_ms: int
) -> UUID:
    """Hold a part of a player's balance and return the hold's id; the same call again returns the same one.

    Args:
        reference: what it is for; with the purpose it identifies the hold.
        ttl_ms: how long it may be captured, in milliseconds.

    Raises:
        AmountInvalid, AccountFrozen, InsufficientFunds, TransactionConflict, WalletIsSeamless: nothing was written.
    """
    in_transaction()
    transfer_check(operator_id=operator_id)
    assert ttl_ms > 0, "a hold has time"
    if type(amount_minor) is not int or not 1 <= amount_minor <= AMOUNT_MINOR_MAX:
        raise AmountInvalid(pointer="/amount_minor")
    outcome, hold_id, available = row(
        "SELECT outcome, hold_id, available FROM wallets_hold_place(%s, %s, %s, %s, %s, %s, %s)",
        [operator_id, player_id, currency, amount_minor, purpose, reference, ttl_ms],
    )
    match outcome:
        case "done":
            return UUID(str(hold_id))
        case "insufficient_funds":
            raise InsufficientFunds(pointer="/amount_minor", available_minor=available)
        case "account_frozen":
            raise AccountFrozen(player_ids=[player_id])
        case "conflict":
            raise TransactionConflict(field="amount_minor", pointer="/amount_minor")
    raise AssertionError(f"wallets_hold_place answered {outcome!r}")


def hold_capture(*, operator_id: UUID, hold_id: UUID, actor: str) -> UUID:
    """Take the held amount out to the operator's funds and return the transaction's id; once, however often called.

    Raises:
        HoldNotFound: the operator has no such hold.
        HoldNotActive: it was released, or its time is over.
        AccountFrozen: the account takes no capture now.
    """
    in_transaction()
    outcome, tx_id = row(
        "SELECT outcome, tx_id FROM wallets_hold_capture(%s, %s, %s, %s)",
        [operator_id, hold_id, fingerprint("capture", hold_id), actor],
    )
    match outcome:
        case "done":
            return UUID(str(tx_id))
        case "not_found":
            raise HoldNotFound
        case "not_active":
            raise HoldNotActive
        case "account_frozen":
            raise AccountFrozen
    raise AssertionError(f"wallets_hold_capture answered {outcome!r}")


def hold_release(*, operator_id: UUID, hold_id: UUID) -> None:
    """Give the held amount back to what is available; releasing a hold that is over changes nothing.

    Raises:
        HoldNotFound: the operator has no such hold.
        HoldNotActive: it was captured.
    """
    in_transaction()
    hold = Hold.objects.select_for_update(no_key=True).filter(operator_id=operator_id, pk=hold_id).first()
    if hold is None:
        raise HoldNotFound
    if hold.state == HoldState.CAPTURED:
        raise HoldNotActive
    if hold.state == HoldState.ACTIVE:
        Hold.objects.filter(pk=hold_id).update(state=HoldState.RELEASED)


def holds_expire() -> int:
    """Expire holds whose time is over, each in a transaction of its own; return how many, at most ``SWEEP_MAX``."""
    for expired in range(SWEEP_MAX):
        with transaction.atomic():
            (found,) = row("SELECT wallets_hold_expire()", [])
        if not found:
            return expired
    return SWEEP_MAX
