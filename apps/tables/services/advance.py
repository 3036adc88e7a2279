"""The one function that moves a table on.

``table_tick`` lets everything happen that a table waits for: a round starts, a round is given up, a finished round
makes room for the next.  It is harmless when nothing is due, so requests and any number of sweepers may call it.

Rules: docs/games/common.md, X-17 to X-19, X-27; docs/fairness/protocol.md, sections 3 and 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from apps.accounts import selectors as accounts
from apps.tables import feed, locks, metrics
from apps.tables.live import Live, state_keep
from apps.tables.models import Round, RoundSeat, Seat, Table
from apps.tables.services import rounds, starting
from apps.tables.services.auto_ready import auto_ready_awaited, auto_ready_happen

OPEN_MAX_MS = 23 * 3_600_000
"""An open round without play is given up after this time, safely inside the protocol's 24 hours."""

COMMITMENT_WAIT_MS = 250
"""How soon a table looks again whether its commitment is published, while a seat waits to be made ready."""

MATCH_WAIT_MS = 30_000
"""How long a match waits between two rounds for its seats to get ready."""


def table_save(table: Table) -> None:
    """Write a locked table and count its version, so that everybody who follows it is told."""
    table.version += 1
    table.save()


def table_tick(*, table_id: UUID, now_ms: int, skip_locked: bool = False) -> None:
    """Let everything the table waits for happen, if it is due.

    Args:
        skip_locked: give up at once when somebody else works on the table; that one lets it happen.
    """
    lives: list[Live] = []
    with transaction.atomic(durable=True):
        table = locks.table_lock_free(table_id) if skip_locked else locks.table_lock(table_id)
        if table is None:
            return
        before = (table.round_id, table.status, table.start_at_ms)
        changed = _tick(table, lives, now_ms)
        if changed or before != (table.round_id, table.status, table.start_at_ms):
            table_save(table)
            changed = True
        else:
            table.save(update_fields=["wake_at_ms"])
    for live in lives:
        metrics.ENTRIES.inc(len(live.fresh))
        state_keep(live.id, live.head, live.state)
        feed.entries_publish(live)
    if changed:
        feed.table_publish(table_id)


def round_give_up(*, round_id: UUID, reason: str, now_ms: int) -> None:
    """Void a round through the operator's fault, whatever stage it is in; a round that has ended stays as it is."""
    table_id = Round.objects.values_list("table_id", flat=True).get(pk=round_id)
    with transaction.atomic(durable=True):
        table = locks.table_lock(table_id)
        round_ = Round.objects.select_for_update(no_key=True).get(pk=round_id)
        if round_.status not in Round.UNDER_WAY:
            return
        seats = [] if round_.status == Round.Status.RUNNING else list(table.seats.order_by("number"))
        starting.give_up(table, round_, reason, "operator", seats, now_ms)
        table_save(table)
    table_tick(table_id=table_id, now_ms=now_ms)


def _tick(table: Table, lives: list[Live], now_ms: int) -> bool:
    """Do what is due on a locked table; return True if followers should be told."""
    seats = list(table.seats.select_for_update(no_key=True).order_by("number"))
    round_ = None if table.round_id is None else Round.objects.select_for_update(no_key=True).get(pk=table.round_id)
    table.round = round_  # One object for the row, so that what is changed here is seen everywhere.
    changed = False
    if round_ is not None and round_.status not in Round.UNDER_WAY and not round_.advanced:
        seats = _after_round(table, round_, seats, now_ms)
        changed = True
    if round_ is not None and auto_ready_happen(table, round_, seats, now_ms):
        changed = True
    plan(table, seats, now_ms)
    if round_ is not None and round_.status == Round.Status.OPEN:
        changed |= _open_tick(table, round_, seats, lives, now_ms)
    elif round_ is not None and round_.status == Round.Status.CLOSING:
        changed |= starting.closing_tick(table, round_, seats, lives, now_ms)
    if round_ is not None and round_.status not in Round.UNDER_WAY and not round_.advanced:
        seats = _after_round(table, round_, seats, now_ms)
        changed = True
    seats = list(table.seats.order_by("number"))
    changed |= _next_round(table, seats, now_ms)
    plan(table, seats, now_ms)
    return changed


def _after_round(table: Table, round_: Round, seats: list[Seat], now_ms: int) -> list[Seat]:
    """Carry the results of an ended round over to the seats, and free those that are to go."""
    desk_left = (round_.desk or {}).get("left", {})
    timeouts = (round_.desk or {}).get("timeouts", {})
    final = (round_.outcome or {}).get("final", True)
    fault = (round_.outcome or {}).get("fault", "")
    dealt = {row.number: row.player_id for row in RoundSeat.objects.filter(round=round_)}
    kept: list[Seat] = []
    for seat in seats:
        number = str(seat.number)
        played = dealt.get(seat.number) == seat.player_id
        if (played and number in desk_left) or seat.stands_up or fault == f"seat:{number}":
            seat.delete()
            continue
        if played:
            seat.timeouts_row = timeouts.get(number, 0)
            seat.rounds_missed = 0
        seat.in_match = (played or seat.in_match) and not final
        if seat.is_ready:
            seat.active_ms = now_ms
        starting.contribution_clear(seat)
        seat.save()
        kept.append(seat)
    round_.advanced = True
    round_.save(update_fields=["advanced"])
    table.not_before_ms = now_ms + table.pause_ms
    table.start_at_ms = None
    return kept


def _next_round(table: Table, seats: Sequence[Seat], now_ms: int) -> bool:
    """Open the next round of a table that has somebody to play it, or close one that is draining."""
    round_ = table.round
    if round_ is not None and round_.status in Round.UNDER_WAY and not round_.advanced:
        return False
    in_match = [seat for seat in seats if seat.in_match]
    if table.status == Table.Status.DRAINING and not in_match:
        for seat in seats:
            Seat.objects.filter(pk=seat.pk).delete()
        table.status = Table.Status.CLOSED
        table.round = None
        return True
    if not in_match and (table.status != Table.Status.OPEN or not seats):
        return False
    if not accounts.operator_is_active(operator_id=table.operator_id):
        return False
    opened = rounds.round_open(table=table, now_ms=now_ms)
    if opened.match_id != opened.id:
        table.start_at_ms = now_ms + max(MATCH_WAIT_MS, table.start_after_ms)
    return True


def plan(table: Table, seats: Sequence[Seat], now_ms: int) -> None:
    """Work out when the table's round starts and when the table must be looked at again."""
    round_ = table.round
    if round_ is None or round_.status not in Round.UNDER_WAY:
        table.start_at_ms = table.wake_at_ms = None
        return
    if round_.status == Round.Status.RUNNING:
        table.start_at_ms = table.wake_at_ms = None
        return
    if round_.status == Round.Status.CLOSING:
        table.wake_at_ms = now_ms + 500
        return
    match = round_.match_id != round_.id
    players = [seat for seat in seats if (seat.in_match if match else not seat.is_away)]
    ready = [seat for seat in players if seat.is_ready]
    needed = 2 if match else table.seats_min
    if table.status == Table.Status.PAUSED and not match:
        table.start_at_ms = None
    elif len(ready) >= needed and len(ready) == len(players):
        table.start_at_ms = max(now_ms, table.not_before_ms)
    elif match:
        pass
    elif len(ready) >= needed:
        planned = table.start_at_ms or now_ms + table.start_after_ms
        table.start_at_ms = max(planned, table.not_before_ms)
    else:
        table.start_at_ms = None
    given_up_at = round_.opened_ms + OPEN_MAX_MS
    table.wake_at_ms = given_up_at if table.start_at_ms is None else min(given_up_at, table.start_at_ms)
    if auto_ready_awaited(table, round_, seats):
        table.wake_at_ms = min(table.wake_at_ms, now_ms + COMMITMENT_WAIT_MS)


def _open_tick(table: Table, round_: Round, seats: list[Seat], lives: list[Live], now_ms: int) -> bool:
    match = round_.match_id != round_.id
    if match:
        there = [seat for seat in seats if seat.in_match]
        if len(there) < 2:
            _match_end(table, round_, there, now_ms)
            return True
    if table.status in (Table.Status.DRAINING, Table.Status.CLOSED) and not match:
        starting.give_up(table, round_, "not_started", "none", seats, now_ms)
        return True
    if now_ms >= round_.opened_ms + OPEN_MAX_MS:
        starting.give_up(table, round_, "not_started", "none", seats, now_ms)
        return True
    if table.start_at_ms is None or now_ms < table.start_at_ms:
        return False
    if match:
        late = [seat for seat in seats if seat.in_match and not seat.is_ready]
        for seat in late:
            seat.in_match = False
            seat.save(update_fields=["in_match"])
        there = [seat for seat in seats if seat.in_match]
        if len(there) < 2:
            _match_end(table, round_, there, now_ms)
            return True
    return starting.start(table, round_, seats, lives, now_ms)


def _match_end(table: Table, round_: Round, there: Sequence[Seat], now_ms: int) -> None:
    """End a match between two rounds: the one seat left gets the payout (X-27); nobody left, everything goes back."""
    if there:
        rounds.match_settle_to(round_=round_, table=table, winner=there[0].number, now_ms=now_ms)
    starting.give_up(table, round_, "not_started", "none", [], now_ms, refund=not there)
