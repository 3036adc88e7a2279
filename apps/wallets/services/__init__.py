"""Everything that moves money, one function of the database each.

Rules L4 to L10 and L14: docs/auditors/ledger.md.  Every service runs inside the caller's transaction and asserts it; a
lock, timeout or serialisation error goes through unchanged (L9) and ``apps.core.retries`` deals with it at the edge.
"""

from apps.wallets.seamless.settings import operator_is_seamless, operator_wallet_set
from apps.wallets.seamless.stakes import (
    balance_ask,
    stake_confirm,
    stake_plan,
    stake_send,
    stakes_retry,
    stakes_return,
)
from apps.wallets.services.accounts import account_status_set, alarm_clear, alarm_raise
from apps.wallets.services.corrections import (
    adjustment_request,
    correction_decide,
    resettlement_request,
    reversal_request,
)
from apps.wallets.services.currencies import currency_create
from apps.wallets.services.holds import hold_capture, hold_place, hold_release, holds_expire
from apps.wallets.services.rounds import buy_ins_take, round_refund, round_settle
from apps.wallets.services.transfers import wallet_credit, wallet_debit

__all__ = [
    "account_status_set",
    "adjustment_request",
    "alarm_clear",
    "alarm_raise",
    "balance_ask",
    "buy_ins_take",
    "correction_decide",
    "currency_create",
    "hold_capture",
    "hold_place",
    "hold_release",
    "holds_expire",
    "operator_is_seamless",
    "operator_wallet_set",
    "resettlement_request",
    "reversal_request",
    "round_refund",
    "round_settle",
    "stake_confirm",
    "stake_plan",
    "stake_send",
    "stakes_retry",
    "stakes_return",
    "wallet_credit",
    "wallet_debit",
]
