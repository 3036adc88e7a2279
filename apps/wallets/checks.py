"""System checks of wallets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

from apps.core.sandbox import is_sandbox


@register(Tags.database)
def sandbox_has_no_money(
    app_configs: Sequence[Any] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Refuse a sandbox on a database that knows money; `migrate` asks before it does anything."""
    if not is_sandbox():
        return []
    for alias in databases or ():
        connection = connections[alias]
        if "wallets_currency" not in connection.introspection.table_names():
            continue
        with connection.cursor() as cursor:
            cursor.execute("SELECT code FROM wallets_currency WHERE is_money ORDER BY code")
            codes = [row[0] for row in cursor.fetchall()]
        if codes:
            return [
                Error(
                    f"SEALDECK_SANDBOX is set and {', '.join(codes)} is money: use another database.", id="wallets.E001"
                )
            ]
    return []
