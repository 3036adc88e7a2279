"""Credits and debits by the operator's word: the transfer wallet.

Rules L11 and L14: docs/auditors/ledger.md.  The operator's ``external_id`` decides once and for ever; a second request
with it gets the first result, or a conflict that names the difference.
"""

from __future__ import annotations

from uuid import UUID

from apps.accounts.errors import PlayerClosed, PlayerFrozen, PlayerNotFound
from apps.wallets import selectors
from apps.wallets.errors import (
    AccountFrozen,
    AmountInvalid,
    BalanceTooLarge,
    CurrencyUnknown,
    InsufficientFunds,
    TestPlayerMoney,
    TransactionConflict,
)
from apps.wallets.models import TxKind
from apps.wallets.seamless.settings import transfer_check
from apps.wallets.services.calls import fingerprint, in_transaction, row
from apps.wallets.values import AMOUNT_MINOR_MAX, Transaction


def wallet_credit(
    *, operator_id: UUID, player_id: UUID, currency: str, amount_minor: int, external_id: str, actor: str
) -> Transaction:
    """Put an amount on a player's account.

    Raises:
        AmountInvalid, CurrencyUnknown, PlayerNotFound, PlayerClosed, TestPlayerMoney, AccountFrozen, BalanceTooLarge,
        TransactionConflict, WalletIsSeamless: nothing was written.
    """
    return _transfer(TxKind.CREDIT, operator_id, player_id, currency, amount_minor, external_id, actor)


def wallet_debit(
    *, operator_id: UUID, player_id: UUID, currency: str, amount_minor: int, external_id: str, actor: str
) -> Transaction:
    """Take an amount from a player's account, all of it or nothing.

    Raises:
        AmountInvalid, CurrencyUnknown, PlayerNotFound, PlayerFrozen, TestPlayerMoney, AccountFrozen,
        InsufficientFunds (with ``available_minor``), TransactionConflict, WalletIsSeamless: nothing was written.
    """
    return _transfer(TxKind.DEBIT, operator_id, player_id, currency, amount_minor, external_id, actor)


def _transfer(
    kind: TxKind, operator_id: UUID, player_id: UUID, currency: str, amount_minor: int, external_id: str, actor: str
) -> Transaction:
    in_transaction()
    if type(amount_minor) is not int or not 1 <= amount_minor <= AMOUNT_MINOR_MAX:
        raise AmountInvalid(pointer="/amount_minor")
    outcome, tx_id, available = row(
        "SELECT outcome, tx_id, available FROM wallets_transfer(%s, %s, %s, %s, %s, %s, %s, %s)",
        [
            operator_id,
            str(kind),
            player_id,
            currency,
            amount_minor,
            external_id,
            fingerprint(str(kind), player_id, currency, amount_minor),
            actor,
        ],
    )
    match outcome:
        case "done":
            transfer_check(operator_id=operator_id)  # A refusal undoes it; what was done before stays known.
            return selectors.transaction_get(operator_id=operator_id, tx_id=tx_id)
        case "known":
            return _same(tx_id, kind, operator_id, player_id, currency, amount_minor)
        case "insufficient_funds":
            raise InsufficientFunds(pointer="/amount_minor", available_minor=available, currency=currency)
        case "balance_too_large":
            raise BalanceTooLarge(pointer="/amount_minor")
        case "account_frozen":
            raise AccountFrozen(pointer="/player_id")
        case "player_not_found":
            raise PlayerNotFound(pointer="/player_id")
        case "player_frozen":
            raise PlayerFrozen(pointer="/player_id")
        case "player_closed":
            raise PlayerClosed(pointer="/player_id")
        case "test_player":
            raise TestPlayerMoney(pointer="/currency")
        case "currency_unknown":
            raise CurrencyUnknown(pointer="/currency")
    raise AssertionError(f"wallets_transfer answered {outcome!r}")


def _same(
    tx_id: UUID, kind: TxKind, operator_id: UUID, player_id: UUID, currency: str, amount_minor: int
) -> Transaction:
    """Return the transaction that has the id already, if it is the one that was asked for again."""
    known = selectors.transaction_get(operator_id=operator_id, tx_id=tx_id, replayed=True)
    asked = {
        "kind": str(kind),
        "player_id": player_id,
        "currency": currency,
        "amount_minor": amount_minor,
    }
    for field, value in asked.items():
        if getattr(known, field) != value:
            raise TransactionConflict(pointer=f"/{'external_id' if field == 'kind' else field}", field=field)
    return known
