"""Who changes something: told to the database, whose triggers write the history.

Source: docs/operators/keys-and-sessions.md, section History.
"""

from __future__ import annotations

from django.db import connection

SYSTEM = "system"


def changed_by(actor: str, reason: str = "") -> None:
    """Say who makes the changes of the rest of this transaction, and why."""
    assert connection.in_atomic_block, "who changes something is said inside the transaction that does"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('sealdeck.actor', %s, true), set_config('sealdeck.reason', %s, true)", [actor, reason]
        )
