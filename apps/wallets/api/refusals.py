"""Which errors each operation of wallets refuses with, for the API document."""

from __future__ import annotations

from apps.accounts.errors import PlayerClosed, PlayerFrozen, PlayerNotFound
from apps.wallets.errors import (
    AccountFrozen,
    AmountInvalid,
    BalanceTooLarge,
    CurrencyUnknown,
    CursorInvalid,
    InsufficientFunds,
    TestPlayerMoney,
    TransactionConflict,
    TransactionNotFound,
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
)
TRANSACTION_LIST = (CursorInvalid,)
TRANSACTION_GET = (TransactionNotFound,)
BALANCE = (
    PlayerNotFound,
    CurrencyUnknown,
)
