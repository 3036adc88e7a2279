"""What the stream process asks PostgreSQL.  Plain blocking functions, run in its threads.

PostgreSQL is the truth: whatever a hint did not bring is read here.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import close_old_connections

from apps.accounts import selectors as accounts
from apps.core import clock
from apps.fairness import selectors as fairness
from apps.history.selectors import StoredEntry, transcript
from apps.tables import presence, selectors
from apps.tables.feed import Cursor
from apps.tables.models import Round, RoundSeat, Seat, Table

ENTRIES_MAX = 200
"""Entries one read returns; a follower who is further behind reads again."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A transcript entry with its round's index."""

    index: int
    entry: StoredEntry


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A table as it is now: its public view, and which player has which seat."""

    version: int
    view: dict[str, Any]
    seats: dict[UUID, tuple[int, UUID]]
    """Player to (seat number, seat id)."""
    awaits_log: bool
    """Whether its open round's commitment is still to be published."""
    spectator_delay_ms: int


def snapshot(table_id: UUID) -> Snapshot:
    """Return a table as it is now.

    Raises:
        TableNotFound: there is none.
    """
    close_old_connections()
    table = selectors.table_get(table_id=table_id)
    view = selectors.table_view(table)
    round_ = view["round"]
    awaits_log = bool(round_ and round_["status"] in ("open", "closing") and not round_["takes_contributions"])
    return Snapshot(
        version=table.version * 2 + (not awaits_log),  # Publication counts too: a poll in between must not miss it.
        view=view,
        seats={
            seat.player_id: (seat.number, seat.pk) for seat in Seat.objects.filter(table_id=table_id).only("number")
        },
        awaits_log=awaits_log,
        spectator_delay_ms=table.spectator_delay_ms,
    )


def begin(table_id: UUID) -> Cursor:
    """Return the cursor of a new follower: just before the table's present round."""
    close_old_connections()
    table = Table.objects.select_related("round").get(pk=table_id)
    return Cursor(-1, table.next_index - 1 if table.round is None else table.round.index, -1)


def entries_after(table_id: UUID, after: Cursor) -> list[Placed]:
    """Return the table's next entries after a cursor, oldest first, at most ENTRIES_MAX."""
    close_old_connections()
    found: list[Placed] = []
    rounds = (
        Round.objects.filter(table_id=table_id, index__gte=max(after.index, 0), seq__gte=0)
        .order_by("index")
        .values_list("id", "index")[:ENTRIES_MAX]
    )
    for round_id, index in rounds:
        since = after.seq if index == after.index else -1
        found += [
            Placed(index, entry) for entry in transcript(round_id=round_id, after=since, limit=ENTRIES_MAX - len(found))
        ]
        if len(found) >= ENTRIES_MAX:
            break
    return found


def dealt_seat(round_id: UUID, player_id: UUID) -> int | None:
    """Return the player's seat in a round, if dealt in."""
    close_old_connections()
    return RoundSeat.objects.filter(round_id=round_id, player_id=player_id).values_list("number", flat=True).first()


def log_reached(round_id: UUID) -> bool:
    """Tell whether a round's commitment is in a published checkpoint."""
    close_old_connections()
    return fairness.open_published(round_id) is not None


def seen(seat_ids: Collection[UUID], lease_ms: int) -> None:
    """Renew the leases of seats that are followed."""
    close_old_connections()
    now_ms = clock.now_ms()
    presence.seats_seen(seat_ids=seat_ids, until_ms=now_ms + lease_ms, now_ms=now_ms)


def sessions_live(session_ids: Collection[UUID]) -> set[UUID]:
    """Return those of the sessions that have not been revoked."""
    close_old_connections()
    return accounts.sessions_live(session_ids)


def unseen(seat_id: UUID) -> None:
    """Note that a seat's stream was closed."""
    close_old_connections()
    presence.seat_unseen(seat_id=seat_id, now_ms=clock.now_ms())


def now_ms() -> int:
    """Return the database's time."""
    close_old_connections()
    return clock.now_ms()
