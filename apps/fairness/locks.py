"""The locks of the fairness application, in the order they are taken: round, keys, log.

The caller of a service holds its table's and round's locks already; the lock here is for callers that do not.
"""

from __future__ import annotations

from uuid import UUID

from django.db import connection, connections, transaction

from apps.fairness.errors import RoundUnknown
from apps.fairness.models import FairRound

LOCK_CLASS = 0x5EA1
"""First number of the advisory locks of this application."""
KEYS_LOCK = 1
LOG_LOCK = 2


def round_lock(round_id: UUID) -> FairRound:
    """Lock a round until the end of the transaction and return it.

    Raises:
        RoundUnknown: there is no such round.
    """
    assert transaction.get_connection().in_atomic_block, "a lock needs a transaction"
    try:
        return FairRound.objects.select_for_update(no_key=True).get(pk=round_id)
    except FairRound.DoesNotExist as problem:
        raise RoundUnknown from problem


def keys_share() -> None:
    """Keep the set of live keys as it is until the end of the transaction; signers share this lock.

    So no record is signed with a key whose revocation gets a lower place in the log.
    """
    assert connection.in_atomic_block, "signing needs a transaction"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s, %s)", [LOCK_CLASS, KEYS_LOCK])


def keys_own(using: str) -> None:
    """Wait until no transaction is signing, and let none begin before the end of this one."""
    assert connections[using].in_atomic_block, "a change of keys needs a transaction"
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_CLASS, KEYS_LOCK])


def log_try() -> bool:
    """Become the log's one writer until the end of the transaction; False while another is."""
    assert connection.in_atomic_block, "the log's writer needs a transaction"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [LOCK_CLASS, LOG_LOCK])
        return bool(cursor.fetchone()[0])
