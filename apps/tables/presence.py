"""Whether a seat's player is there: known from an open stream and from long polls, kept as a lease in PostgreSQL.

A client that uses neither is never tracked and counts as connected.  A lapsed lease tells the running round that the
connection was lost, which shortens clocks (docs/games/common.md, section 4) and starts the grace of X-16.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from apps.tables import feed
from apps.tables.models import Round, Seat
from apps.tables.services import play

STREAM_LEASE_MS = 30_000
"""An open stream renews its seats' leases well within this time; a process that died lets them lapse."""

CLOSED_LEASE_MS = 1_500
"""Time to open the next stream or poll after one ended, before the connection counts as lost."""

POLL_SLACK_MS = 5_000
"""Time a polling client has between the end of one poll and the next."""


def seats_seen(*, seat_ids: Collection[UUID], until_ms: int, now_ms: int) -> None:
    """Renew the leases of seats; those that were away are back at once."""
    if not seat_ids:
        return
    seen = Seat.objects.filter(pk__in=seat_ids)
    with transaction.atomic():
        back = [seat for seat in seen.select_for_update(no_key=True).order_by("pk") if not seat.connected]
        seen.update(seen_until_ms=Greatest(F("seen_until_ms"), until_ms), connected=True)
    for seat in back:
        _tell(seat, True, now_ms)


def seat_unseen(*, seat_id: UUID, now_ms: int) -> None:
    """Note that a seat's stream was closed; its lease ends shortly unless another one renews it."""
    Seat.objects.filter(pk=seat_id).update(seen_until_ms=now_ms + CLOSED_LEASE_MS)


def lease_lapse(*, seat_id: UUID, now_ms: int) -> bool:
    """Let a lease that lapsed count as a lost connection; return False if it was renewed meanwhile.

    The round is told first: a process that dies in between leaves the lease due, and telling again changes nothing.
    """
    lapsed = Seat.objects.filter(pk=seat_id, connected=True, seen_until_ms__lte=now_ms)
    seat = lapsed.first()
    if seat is None:
        return False
    _tell(seat, False, now_ms)
    if lapsed.update(connected=False):
        return True
    _tell(seat, True, now_ms)
    return False


def _tell(seat: Seat, connected: bool, now_ms: int) -> None:
    round_id = (
        Round.objects.filter(table_id=seat.table_id, status=Round.Status.RUNNING, numbers__contains=[seat.number])
        .values_list("id", flat=True)
        .first()
    )
    if round_id is not None:
        play.round_connection(round_id=round_id, seat=seat.number, connected=connected, now_ms=now_ms)
    feed.table_publish(seat.table_id)
