"""The play service: one input into a running round, one transaction, durable before it is answered.

Order of everything: docs/games/common.md, X-7, X-14, X-24 to X-28.  A refusal of the player's own input never undoes
what was due before it: deadlines that passed are committed, then the player is told.

Never decides a rule (the engine does), never reads a clock (callers bring ``now_ms``, the arrival time).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from django.db import DatabaseError

from apps.accounts.errors import TokenInvalid
from apps.core.errors import ApplicationError
from apps.core.postgres.hot import hot_transaction
from apps.fairness import dealer
from apps.games.contract import Action, RuleError, Seat
from apps.tables import feed, locks, metrics
from apps.tables.errors import NotDealtIn, RequestKeyReused, RoundClosed, RoundNotRunning, StaleSeq
from apps.tables.live import Live, state_keep
from apps.tables.models import Round
from apps.tables.services import advance, rounds

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Moved:
    """What a player's input led to: the number of its transcript entry, and its message for the seat with the view.

    ``message`` is None when an earlier request with the same key had made the entry.
    """

    seq: int
    seat: int
    message: dict[str, Any] | None


def round_act(
    *,
    round_id: UUID,
    player_id: UUID,
    session_id: UUID | None,
    action: Action,
    seen: int,
    now_ms: int,
    request_key: str | None = None,
    request_sha256: bytes | None = None,
) -> Moved:
    """Apply one action of a player's seat.

    Args:
        session_id: of the caller's token, checked under the lock; None if it was checked already.
        seen: sequence number of the last entry the player saw.
        now_ms: when the request arrived, database clock.

    Raises:
        RuleError: the rules refuse; nothing of the action remains.
        StaleSeq: something happened since ``seen``.
        RequestKeyReused, NotDealtIn, RoundNotRunning, RoundClosed, TokenInvalid.
    """

    def move(live: Live, seat: Seat, now: int) -> None:
        if action.get("type") not in live.game.spec.unsequenced and seen != live.seq:
            raise StaleSeq(seq=live.seq, view=live.game.view(live.state, seat))
        live.act(seat, action, now, request_key=request_key, request_sha256=request_sha256)

    return _player_input(round_id, player_id, session_id, move, now_ms, request_key, request_sha256)


def round_leave(
    *,
    round_id: UUID,
    player_id: UUID,
    session_id: UUID | None,
    now_ms: int,
) -> Moved:
    """Let a player leave the round for good; the buy-in stays in the pot (X-9).

    Raises:
        RuleError: ``not_in_round`` when the seat left before.
        NotDealtIn, RoundNotRunning, RoundClosed, TokenInvalid.
    """

    def leave(live: Live, seat: Seat, now: int) -> None:
        if not live.leave(seat, "left", now):
            raise RuleError("not_in_round")

    return _player_input(round_id, player_id, session_id, leave, now_ms, None, None)


def _player_input(
    round_id: UUID,
    player_id: UUID,
    session_id: UUID | None,
    apply: Callable[[Live, Seat, int], None],
    now_ms: int,
    request_key: str | None,
    request_sha256: bytes | None,
) -> Moved:
    refusal: ApplicationError | RuleError | None = None
    with hot_transaction() as open_:
        locked = locks.round_lock(open_, round_id, player_id=player_id, session_id=session_id, request_key=request_key)
        assert locked is not None
        if session_id is not None and not locked.session_lives:
            raise TokenInvalid
        if locked.seat is None:
            raise NotDealtIn
        if locked.stored is not None:
            if locked.stored[1] != request_sha256:
                raise RequestKeyReused
            return Moved(seq=locked.stored[0], seat=locked.seat, message=None)
        live = locked.live
        if live is None:
            raise RoundClosed if locked.status in (Round.Status.FINISHED, Round.Status.VOID) else RoundNotRunning
        seat, now = Seat(locked.seat), live.engine_time(now_ms)
        live.due_happen(now)
        if live.outcome is not None:
            refusal = RoundClosed("The round ended before your action arrived.", seq=live.seq)
        else:
            try:
                apply(live, seat, now)
            except (ApplicationError, RuleError) as error:
                refusal = error
        rounds.live_commit(live=live, now_ms=now_ms, open_=open_)
    live_committed(live)
    if refusal is not None:
        raise refusal
    message = feed.entry_message(live.stored(live.fresh[-1]), index=live.index, seat=seat)
    message["view"] = live.game.view(live.state, seat)
    return Moved(seq=live.seq, seat=seat, message=message)


def round_wake(*, round_id: UUID, now_ms: int, skip_locked: bool = False) -> bool:
    """Let everything due in a round happen; return True if something did.

    Args:
        skip_locked: give up at once when somebody else works on the round; that one lets it happen.
    """
    with hot_transaction() as open_:
        locked = locks.round_lock(open_, round_id, skip_locked=skip_locked)
        if locked is None or locked.live is None:
            return False
        live = locked.live
        live.due_happen(live.engine_time(now_ms))
        rounds.live_commit(live=live, now_ms=now_ms, open_=open_)
    live_committed(live)
    return bool(live.fresh)


def round_connection(*, round_id: UUID, seat: int, connected: bool, now_ms: int) -> bool:
    """Tell a running round that a seat's connection was lost or is back; return True if that changed something."""
    with hot_transaction() as open_:
        locked = locks.round_lock(open_, round_id)
        if locked is None or locked.live is None or seat not in locked.live.seats:
            return False
        live = locked.live
        now = live.engine_time(now_ms)
        live.due_happen(now)
        if live.outcome is None:
            live.connection(Seat(seat), connected, now)
        rounds.live_commit(live=live, now_ms=now_ms, open_=open_)
    live_committed(live)
    return bool(live.fresh)


def live_committed(live: Live) -> None:
    """Publish what a committed transaction did, and move the table on if the round ended.

    All of it is a hint or can be done again by the sweeper, so a failure here is logged and costs the player nothing.
    """
    if not live.fresh:
        return
    metrics.ENTRIES.inc(len(live.fresh))
    state_keep(live.id, live.head, live.state)
    feed.entries_publish(live)
    if live.outcome is not None:
        dealer.forget(live.id)
        table_advance_now(live.table_id, now_ms=live.last_at_ms + live.offset_ms)


def table_advance_now(table_id: UUID, *, now_ms: int) -> None:
    """Move a table on after its round, now rather than at the sweeper's next tick."""
    try:
        advance.table_tick(table_id=table_id, now_ms=now_ms)
    except DatabaseError as error:
        log.warning("table_advance_postponed", table=str(table_id), error=str(error))
