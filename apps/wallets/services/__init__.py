"""Everything that moves money, one function of the database each.

Rules L4 to L10 and L14: docs/auditors/ledger.md.  Every service runs inside the caller's transaction and asserts it; a
lock, timeout or serialisation error goes through unchanged (L9) and ``apps.core.retries`` deals with it at the edge.
"""

from apps.wallets.services.currencies import currency_create
from apps.wallets.services.rounds import buy_ins_take, round_refund, round_settle
from apps.wallets.services.transfers import wallet_credit, wallet_debit

__all__ = [
    "buy_ins_take",
    "currency_create",
    "round_refund",
    "round_settle",
    "wallet_credit",
    "wallet_debit",
]
