"""The state of a player's account in the ledger, and alarms.

A frozen account takes no buy-in, debit or capture; a closed one no credit either.  Payouts, refunds and approved
corrections reach every account.  An open alarm stops the operator's new rounds and nothing else.
"""

from __future__ import annotations

from uuid import UUID

from django.db import connection

from apps.wallets.models import AccountKind, AccountStatus
from apps.wallets.services.calls import in_transaction, row

DETAIL_LENGTH_MAX = 400


def account_status_set(
    *, operator_id: UUID, player_id: UUID, currency: str, status: AccountStatus, actor: str, reason: str
) -> bool:
    """Freeze, close or reopen a player's account; return whether that changed anything."""
    in_transaction()
    assert reason, "a change of state has a reason"
    (account_id,) = row(
        "SELECT wallets_account_open(%s, %s, %s, %s)", [operator_id, str(AccountKind.PLAYER), player_id, currency]
    )
    (changed,) = row(
        "SELECT wallets_account_status_set(%s, %s, %s, %s, %s)", [account_id, operator_id, str(status), actor, reason]
    )
    return bool(changed)


def alarm_raise(*, operator_id: UUID, code: str, detail: str) -> bool:
    """Stop new rounds of an operator until somebody has looked; return False if this alarm is open already."""
    in_transaction()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO wallets_alarm (operator_id, code, detail) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            [operator_id, code, detail[:DETAIL_LENGTH_MAX]],
        )
        return bool(cursor.rowcount == 1)


def alarm_clear(*, operator_id: UUID, code: str, cleared_by: str, reason: str) -> bool:
    """Let new rounds begin again; return False if there was no such alarm."""
    in_transaction()
    assert cleared_by, "somebody clears an alarm"
    assert reason, "an alarm is cleared for a reason"
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE wallets_alarm SET cleared_at_ms = floor(extract(epoch FROM clock_timestamp()) * 1000),"
            " cleared_by = %s, reason = %s WHERE operator_id = %s AND code = %s AND cleared_at_ms IS NULL",
            [cleared_by, reason, operator_id, code],
        )
        return bool(cursor.rowcount == 1)
