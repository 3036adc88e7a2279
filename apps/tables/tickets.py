"""Tickets for the stream process: who may follow which table, signed, for a minute, in the address itself.

So a browser's EventSource and ``curl -L`` can follow a redirect from the API to another port without a header.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.core import signing

from apps.accounts.errors import TokenInvalid

TTL_MS = 60_000
_SALT = "sealdeck.tables.ticket"


@dataclass(frozen=True, slots=True)
class Ticket:
    """Who follows which table; ``player_id`` is None for the operator's own programs."""

    table_id: UUID
    operator_id: UUID
    player_id: UUID | None


def address(*, route: str, table_id: UUID, operator_id: UUID, player_id: UUID | None, query: str, now_ms: int) -> str:
    """Return the address of the table's messages in the stream process, with a ticket."""
    payload = {
        "t": table_id.hex,
        "o": operator_id.hex,
        "p": None if player_id is None else player_id.hex,
        "x": now_ms + TTL_MS,
    }
    ticket = urlencode({"ticket": signing.dumps(payload, salt=_SALT)})
    base = settings.SEALDECK_STREAM_URL.rstrip("/")
    return f"{base}/v1/tables/{table_id}/{route}?{query}{'&' if query else ''}{ticket}"


def ticket_read(text: str, *, table_id: UUID, now_ms: int) -> Ticket:
    """Return the ticket, if it was made here for this table and is still good.

    Raises:
        TokenInvalid: it is not; ask the API again.
    """
    try:
        payload = signing.loads(text, salt=_SALT)
    except signing.BadSignature:
        raise TokenInvalid("This ticket was not made here; ask the API for the address again.") from None
    if payload["x"] < now_ms or payload["t"] != table_id.hex:
        raise TokenInvalid("This ticket is over, or for another table; ask the API for the address again.")
    player = payload["p"]
    return Ticket(table_id, UUID(hex=payload["o"]), None if player is None else UUID(hex=player))
