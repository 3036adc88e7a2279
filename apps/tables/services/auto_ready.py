"""Getting ready for players who asked for it in advance: their own setting, bounded by the table's, and it lapses.

Only at tables whose seats contribute no entropy: elsewhere a seat's 32 bytes are its player's own, round by round, and
nobody but the player's client has them.

Source: docs/players/README.md, section Get ready; docs/operators/tables.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from apps.accounts.services.play import players_refused
from apps.fairness import selectors as fairness
from apps.tables import locks
from apps.tables.errors import AutoReadyNotAllowed, NotSeated
from apps.tables.models import Round, Seat, Table
from apps.tables.selectors import loss_at, person_is_ready
from apps.wallets import selectors as wallets
from apps.wallets import services as wallets_services


def auto_ready_set(*, table_id: UUID, player_id: UUID, rounds: int) -> int:
    """Let a seat be made ready for so many rounds from now on, or with 0 no more; return what was set.

    Raises:
        AutoReadyNotAllowed: the table takes entropy from seats or stakes from a seamless wallet, or allows fewer
            rounds or none.
        NotSeated.
    """
    with transaction.atomic(durable=True):
        table = locks.table_lock(table_id)
        if rounds and table.entropy != "none":
            raise AutoReadyNotAllowed("At this table every seat gives its own entropy; get ready for each round.")
        if rounds and table.buy_in_minor and wallets_services.operator_is_seamless(operator_id=table.operator_id):
            raise AutoReadyNotAllowed("Stakes come from your operator's wallet each time; get ready for each round.")
        if rounds > table.auto_ready_rounds:
            raise AutoReadyNotAllowed(
                f"At this table at most {table.auto_ready_rounds} rounds may be asked for in advance.",
                pointer="/rounds",
                rounds_max=table.auto_ready_rounds,
            )
        if not table.seats.filter(player_id=player_id).update(auto_ready_left=rounds):
            raise NotSeated
    return rounds


def auto_ready_awaited(table: Table, round_: Round, seats: Sequence[Seat]) -> list[Seat]:
    """Return the seats that are to be made ready for an open round and are not yet."""
    is_match = round_.match_id != round_.id
    if round_.status != Round.Status.OPEN or (table.status != Table.Status.OPEN and not is_match):
        return []
    return [seat for seat in seats if seat.auto_ready_left and not seat.is_ready and (seat.in_match or not is_match)]


def auto_ready_happen(table: Table, round_: Round, seats: Sequence[Seat], now_ms: int) -> bool:
    """Make seats of a locked table ready once the round takes contributions; return True if any seat changed.

    The setting lapses for a player who is not there (no connection, a time-out in the last round), cannot pay, or may
    not play.
    """
    asked = auto_ready_awaited(table, round_, seats)
    if not asked or fairness.open_published(round_.id) is None:
        return False
    players = [seat.player_id for seat in asked]
    stake_minor = 0 if round_.match_id != round_.id else table.buy_in_minor
    refused = players_refused(
        player_ids=players, currency=table.currency, stake_minor=stake_minor, loss_since=loss_at(table.id), now=now_ms
    )
    available = wallets.available_many(operator_id=table.operator_id, player_ids=players, currency=table.currency)
    for seat in asked:
        is_there = seat.connected and not seat.is_away and not seat.timeouts_row
        may_play = seat.player_id not in refused and not person_is_ready(seat)
        if is_there and may_play and available[seat.player_id] >= stake_minor:
            seat.is_ready = True
            seat.auto_ready_left -= 1
        else:
            seat.auto_ready_left = 0
        seat.save(update_fields=["is_ready", "auto_ready_left"])
    return True
