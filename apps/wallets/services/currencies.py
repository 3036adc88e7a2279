"""Currencies: created once, never changed.

Source: docs/operators/wallet.md, section Currencies.
"""

from __future__ import annotations

from django.db import connection, transaction

from apps.core.sandbox import is_sandbox
from apps.wallets.errors import CurrencyTaken, SandboxMoney
from apps.wallets.selectors import currency_get
from apps.wallets.values import CurrencyFacts


@transaction.atomic
def currency_create(*, code: str, exponent: int, is_money: bool, min_buy_in_minor: int = 1) -> CurrencyFacts:
    """Create a currency, or return it if it exists with the same facts.

    Args:
        code: three to eight capital letters and digits, a letter first.
        exponent: decimal places of the minor unit, 0 to 8; points have 0.
        is_money: False for points.

    Raises:
        CurrencyTaken: it exists with other facts.
        SandboxMoney: it is money, and this is a sandbox.
    """
    if is_money and is_sandbox():
        raise SandboxMoney
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO wallets_currency (code, exponent, is_money, min_buy_in_minor, rake_rule)"
            " VALUES (%s, %s, %s, %s, 'floor_bp/1') ON CONFLICT (code) DO NOTHING",
            [code, exponent, is_money, min_buy_in_minor],
        )
    facts = currency_get(code=code)
    if (facts.exponent, facts.is_money) != (exponent, is_money):
        raise CurrencyTaken(pointer="/code")
    return facts
