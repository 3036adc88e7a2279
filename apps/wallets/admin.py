"""The ledger in the admin: accounts, balances, transactions and entries, to look at."""

from __future__ import annotations

from django.contrib import admin

from apps.core.admin import LookOnly
from apps.wallets.models import Account, AccountBalance, Currency, Entry, LedgerTransaction


@admin.register(Currency)
class CurrencyAdmin(LookOnly):
    """Currencies."""

    fields = ("code", "exponent", "is_money", "min_buy_in_minor", "rake_rule")
    list_display = fields


@admin.register(Account)
class AccountAdmin(LookOnly):
    """Accounts."""

    fields = ("id", "operator", "kind", "owner_ref", "currency", "status", "status_at_ms")
    list_display = ("id", "kind", "owner_ref", "currency", "status")
    list_filter = ("kind", "status")
    search_fields = ("owner_ref",)


@admin.register(AccountBalance)
class AccountBalanceAdmin(LookOnly):
    """Balances of accounts that have a floor."""

    fields = ("account", "operator_id", "posted", "held", "floor", "seq")
    list_display = ("account", "posted", "held", "seq")
    search_fields = ("account__owner_ref",)


@admin.register(LedgerTransaction)
class LedgerTransactionAdmin(LookOnly):
    """Transactions."""

    fields = ("id", "operator_id", "kind", "external_id", "round_id", "reverses", "actor", "reason", "created_at_ms")
    list_display = ("id", "kind", "external_id", "round_id", "actor", "created_at_ms")
    list_filter = ("kind",)
    search_fields = ("id", "external_id", "round_id")
    ordering = ("-created_at_ms",)


@admin.register(Entry)
class EntryAdmin(LookOnly):
    """Entries."""

    fields = ("id", "tx", "account", "currency", "amount", "account_seq", "balance_after")
    list_display = fields
    search_fields = ("tx__id", "account__owner_ref")
    ordering = ("-id",)
