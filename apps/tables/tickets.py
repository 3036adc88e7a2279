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
    """Who follows which table; ``player_id`` and ``session_id`` are None for the operator's own programs."""

    table_id: UUID
    operator_id: UUID
    player_id: UUID | None
    session_id: UUID | None


def address(*, route: str, ticket: Ticket, query: str, now_ms: int) -> str:
    """Return the address of the table's messages in the stream process, with a ticket."""
    payload = {
        "t": ticket.table_id.hex,
        "o": ticket.operator_id.hex,
        "p": None if ticket.player_id is None else ticket.player_id.hex,
        "s": None if ticket.session_id is None else ticket.session_id.hex,
        "x": now_ms + TTL_MS,
    }
    signed = urlencode({"ticket": signing.dumps(payload, salt=_SALT)})
    base = settings.SEALDECK_STREAM_URL.rstrip("/")
    return f"{base}/v1/tables/{ticket.table_id}/{route}?{query}{'&' if query else ''}{signed}"


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
    player, session = payload["p"], payload["s"]
    return Ticket(
        table_id=table_id,
        operator_id=UUID(hex=payload["o"]),
        player_id=None if player is None else UUID(hex=player),
        session_id=None if session is None else UUID(hex=session),
    )
