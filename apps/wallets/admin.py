"""The ledger in the admin: to look at, and what staff may do about it, through services and two people."""

from __future__ import annotations

from typing import Any

from django.contrib import admin

from apps.core.admin import LookOnly, moment
from apps.core.deeds import Deeds
from apps.wallets import desk
from apps.wallets.models import (
    Account,
    AccountBalance,
    Alarm,
    Approval,
    Currency,
    Entry,
    Hold,
    LedgerTransaction,
    OperatorWallet,
    Stake,
)


@admin.register(Currency)
class CurrencyAdmin(LookOnly):
    """Currencies."""

    fields = ("code", "exponent", "is_money", "min_buy_in_minor", "rake_rule")
    list_display = fields


@admin.register(Account)
class AccountAdmin(Deeds):
    """Accounts; of a player's one may ask for a correction."""

    fields = ("id", "operator", "kind", "owner_ref", "currency", "status", "status_at_ms")
    list_display = ("id", "kind", "owner_ref", "currency", "status")
    list_filter = ("kind", "status")
    search_fields = ("owner_ref",)
    deeds = (desk.ADJUST,)


@admin.register(AccountBalance)
class AccountBalanceAdmin(LookOnly):
    """Balances of accounts that have a floor."""

    fields = ("account", "operator_id", "posted", "held", "floor", "seq")
    list_display = ("account", "posted", "held", "seq")
    search_fields = ("account__owner_ref",)


@admin.register(LedgerTransaction)
class LedgerTransactionAdmin(Deeds):
    """Transactions; of each one may ask for the reversal."""

    fields = ("id", "operator_id", "kind", "external_id", "round_id", "reverses", "actor", "reason", "created_at_ms")
    list_display = ("id", "kind", "external_id", "round_id", "actor", "created_at_ms")
    list_filter = ("kind",)
    search_fields = ("id", "external_id", "round_id")
    ordering = ("-created_at_ms",)
    deeds = (desk.REVERSE, desk.PAY_ANEW)


@admin.register(Entry)
class EntryAdmin(LookOnly):
    """Entries."""

    fields = ("id", "tx", "account", "currency", "amount", "account_seq", "balance_after")
    list_display = fields
    search_fields = ("tx__id", "account__owner_ref")
    ordering = ("-id",)


@admin.register(Approval)
class ApprovalAdmin(Deeds):
    """Corrections: asked for by one person, decided by another, done once."""

    fields = (
        "id",
        "operator_id",
        "kind",
        "target_tx_id",
        "round_id",
        "reason",
        "requested_by",
        "requested_at_ms",
        "state",
        "decided_by",
        "decided_at_ms",
    )
    list_display = ("id", "kind", "reason", "requested_by", "state", "decided_by")
    list_filter = ("state", "kind")
    ordering = ("-requested_at_ms",)
    deeds = (desk.APPROVE, desk.REJECT)

    def facts(self, row: Approval) -> list[tuple[str, Any]]:
        """Show the lines too: they are what is approved."""
        lines = row.lines.select_related("account").order_by("account_id")
        told = [
            (f"{line.account.kind} {line.account.owner_ref}", f"{line.amount:+} {line.account.currency_id}")
            for line in lines
        ]
        return [*super().facts(row), *told]


@admin.register(Hold)
class HoldAdmin(Deeds):
    """Holds of parts of balances."""

    fields = (
        "id",
        "operator_id",
        "account",
        "amount",
        "purpose",
        "reference",
        "state",
        "expires_at_ms",
        "created_at_ms",
    )
    list_display = ("id", "account", "amount", "purpose", "state", "expires_at_ms")
    list_filter = ("state",)
    search_fields = ("id", "reference")
    deeds = (desk.RELEASE,)


@admin.register(Alarm)
class AlarmAdmin(Deeds):
    """Alarms: while one is open, no new round of the operator starts."""

    fields = ("id", "operator_id", "code", "detail", "raised_at_ms", "cleared_at_ms", "cleared_by", "reason")
    list_display = ("code", "operator_id", "detail", "raised_at_ms", "cleared_at_ms", "cleared_by")
    ordering = ("-id",)
    deeds = (desk.CLEAR,)


@admin.register(OperatorWallet)
class OperatorWalletAdmin(LookOnly):
    """Operators' settings ``wallet``."""

    fields = ("operator", "kind", "url", "answer_keys", "failures", "open_until_ms", "not_before_ms")
    list_display = ("operator", "kind", "url", "failures")


@admin.register(Stake)
class StakeAdmin(LookOnly):
    """Stakes of seamless wallets, oldest first: what lies in suspense, since when, and why."""

    fields = (
        *("id", "operator", "player", "player_ref", "currency", "amount_minor", "win_minor", "table_id", "round_id"),
        *("state", "attempts", "next_try_at_ms", "last_error", "created_at_ms", "confirmed_at_ms", "state_at_ms"),
    )
    list_display = ("id", "operator", "state", "amount_minor", "currency", "since", "attempts", "last_error")
    list_filter = ("state", "operator")
    search_fields = ("id", "player_ref", "round_id")
    ordering = ("created_at_ms",)

    @admin.display(description="since")
    def since(self, stake: Stake) -> str:
        """Return since when the stake is in its state."""
        return moment(stake.state_at_ms)
