"""Which errors each operation of wallets refuses with, for the API document."""

from __future__ import annotations

from apps.accounts.errors import PlayerClosed, PlayerFrozen, PlayerNotFound
from apps.wallets.errors import (
    AccountFrozen,
    AlreadyReversed,
    AmountInvalid,
    ApprovalNotFound,
    BalanceTooLarge,
    CurrencyUnknown,
    CursorInvalid,
    HoldNotActive,
    HoldNotFound,
    InsufficientFunds,
    OperatorUnavailable,
    PayoutsInvalid,
    RoundNotReversed,
    TestPlayerMoney,
    TransactionConflict,
    TransactionNotFound,
    WalletIsSeamless,
)

CREDIT = (
    AmountInvalid,
    CurrencyUnknown,
    PlayerNotFound,
    PlayerClosed,
    TestPlayerMoney,
    AccountFrozen,
    BalanceTooLarge,
    TransactionConflict,
    WalletIsSeamless,
)
DEBIT = (
    AmountInvalid,
    CurrencyUnknown,
    PlayerNotFound,
    PlayerFrozen,
    TestPlayerMoney,
    AccountFrozen,
    InsufficientFunds,
    TransactionConflict,
    WalletIsSeamless,
)
TRANSACTION_LIST = (CursorInvalid,)
TRANSACTION_GET = (TransactionNotFound,)
BALANCE = (
    PlayerNotFound,
    CurrencyUnknown,
    OperatorUnavailable,
)
HAVE = (PlayerNotFound, CurrencyUnknown, TestPlayerMoney, AmountInvalid)
HOLD_PLACE = (*HAVE, AccountFrozen, InsufficientFunds, TransactionConflict)
HOLD_GET = (HoldNotFound,)
HOLD_CAPTURE = (HoldNotFound, HoldNotActive, AccountFrozen)
HOLD_RELEASE = (HoldNotFound, HoldNotActive)
CORRECTION_GET = (ApprovalNotFound,)
CORRECTION_LIST = (CursorInvalid,)
REVERSAL_REQUEST = (TransactionNotFound, AlreadyReversed, WalletIsSeamless)
ADJUSTMENT_REQUEST = (*HAVE, WalletIsSeamless)
RESETTLEMENT_REQUEST = (TransactionNotFound, RoundNotReversed, PayoutsInvalid, AmountInvalid, WalletIsSeamless)
