"""The outbox: an event is written with its fact, and numbered afterwards.

Source: docs/operators/webhooks.md, section Events.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from apps.webhooks.models import PAYLOAD_BYTES_MAX

NUMBERED_AT_ONCE_MAX = 1_000
"""Events that one numbering takes on; the rest waits for the next one."""


def outbox_add(*, operator_id: UUID, topic: str, payload: Mapping[str, Any]) -> None:
    """Write an event in the caller's transaction, so that it is told exactly if the fact stays.

    Args:
        topic: what happened, such as ``round.settled``.
        payload: plain JSON, thin: ids and what cannot be asked for later; less than 20 kB.
    """
    assert connection.in_atomic_block, "an event belongs to the transaction of its fact"
    text = json.dumps(payload, separators=(",", ":"), default=str)
    assert len(text.encode()) <= PAYLOAD_BYTES_MAX, "an event is thin"
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO webhooks_event (operator_id, topic, payload) VALUES (%s, %s, %s::jsonb)",
            [operator_id, topic, text],
        )


@transaction.atomic
def events_number(*, operator_id: UUID) -> int:
    """Give the operator's unnumbered events their numbers; return how many got one.

    At most ``NUMBERED_AT_ONCE_MAX`` get one, in the order in which they were written.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT webhooks_events_number(%s, %s)", [operator_id, NUMBERED_AT_ONCE_MAX])
        (numbered,) = cursor.fetchone()
    return int(numbered)
