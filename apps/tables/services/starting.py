"""How a round starts: who is dealt in, closed, dealt, or given up before its deal.

Every function works on a locked table and a locked round, for apps.tables.services.advance.

Rules: docs/games/common.md, X-4, X-17, X-18; docs/fairness/protocol.md, sections 3 and 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.accounts.errors import GamingDisabled
from apps.fairness import selectors as fairness_selectors
from apps.fairness import services as fairness
from apps.fairness.protocol import beacon
from apps.fairness.protocol.limits import CLOSE_MS
from apps.tables.live import Live
from apps.tables.models import Round, Seat, Table
from apps.tables.services import rounds
from apps.wallets import selectors as wallets_selectors
from apps.wallets import services as wallets
from apps.wallets.errors import AccountFrozen, InsufficientFunds

ROUNDS_MISSED_MAX = 3
"""Rounds in a row not played after which a seat is given away (X-18)."""

OPENINGS_MAX_MS = 45_000
"""How long seats may take to open their commitments, and a beacon to come; the protocol allows 60 s to the deck."""

DISABLED_RETRY_MS = 30_000
"""How long a table waits before it tries again to start while its operator's games are stopped."""


def contribution_clear(seat: Seat) -> None:
    """Forget what a seat contributed to a round that is over; it was published with the round."""
    seat.is_ready = False
    seat.seat_pk = seat.entropy = seat.commit = seat.sig = seat.opening_sig = ""
    seat.cp = seat.opening_cp = None


def give_up(
    table: Table, round_: Round, reason: str, fault: str, seats: Sequence[Seat], now_ms: int, *, refund: bool = True
) -> None:
    """End a round before its deal, with what its seats contributed."""
    rounds.round_void(
        round_=round_,
        reason=reason,
        fault=fault,
        entropies=_entropies(table, round_, seats),
        now_ms=now_ms,
        refund=refund,
    )


def _able(table: Table, round_: Round, seats: Sequence[Seat]) -> tuple[list[Seat], dict[UUID, int]]:
    """Return the seats that can be dealt in now, and every player's available balance."""
    match = round_.match_id != round_.id
    asked = [seat for seat in seats if seat.is_ready and (seat.in_match or not match)]
    balances = wallets_selectors.available_many(
        operator_id=table.operator_id, player_ids=[seat.player_id for seat in asked], currency=table.currency
    )
    able = [
        seat for seat in asked if seat.connected and (match or balances.get(seat.player_id, 0) >= table.buy_in_minor)
    ]
    return able, balances


def start(table: Table, round_: Round, seats: list[Seat], lives: list[Live], now_ms: int) -> bool:
    """Close or deal an open round whose time has come."""
    able, balances = _able(table, round_, seats)
    needed = 2 if round_.match_id != round_.id else table.seats_min
    unable = [seat for seat in seats if seat.is_ready and seat not in able]
    _unready(round_, unable)  # They cannot pay, or are not there.
    if len(able) < needed:
        _missed_count(seats, able)
        table.start_at_ms = None
        return True
    if table.entropy == "sealed" or table.beacon_margin is not None:
        contributions = [_contribution(table, seat) for seat in able]
        closed = fairness.round_close(round_id=round_.id, roster=contributions, now_ms=now_ms)
        round_.status = Round.Status.CLOSING
        round_.closed_ms = closed.signed_at_ms
        if table.beacon_margin is not None:
            round_.beacon_round = beacon.round_for(closed.signed_at_ms, table.beacon_margin)
        round_.numbers = [seat.number for seat in able]
        round_.save(update_fields=["status", "closed_ms", "beacon_round", "numbers"])
        _missed_count(seats, able)
        return True
    return _deal(table, round_, seats, able, balances, None, lives, now_ms)


def closing_tick(table: Table, round_: Round, seats: list[Seat], lives: list[Live], now_ms: int) -> bool:
    """Deal a closed round when every seat has opened and the beacon is there, or give it up in time."""
    roster = [seat for seat in seats if seat.number in round_.numbers]
    unopened = [seat for seat in roster if table.entropy == "sealed" and not seat.entropy]
    opened = [seat for seat in roster if seat not in unopened]
    since = max(round_.closed_ms or 0, 1000 * beacon.round_time_s(round_.beacon_round) if round_.beacon_round else 0)
    if now_ms > since + CLOSE_MS:
        # Nobody looked in time, so whatever is missing, it is the operator's fault: protocol, section 9.
        give_up(table, round_, "operator_fault", "operator", opened, now_ms)
        return True
    signature = None
    if round_.beacon_round is not None:
        signature = fairness_selectors.beacon_signature(round_.id)
    if signature is not None and not fairness_selectors.close_in_time(round_.id):
        # No verifier would believe that the roster was fixed before the beacon was out.
        give_up(table, round_, "operator_fault", "operator", opened, now_ms)
        return True
    if not unopened and (round_.beacon_round is None or signature is not None):
        _, balances = _able(table, round_, roster)
        return _deal(table, round_, seats, roster, balances, signature, lives, now_ms)
    if now_ms < since + OPENINGS_MAX_MS:
        return False
    if unopened:
        give_up(table, round_, "entropy_missing", f"seat:{unopened[0].number}", opened, now_ms)
    else:
        give_up(table, round_, "beacon_missing", "none", roster, now_ms)
    return True


def _deal(
    table: Table,
    round_: Round,
    seats: list[Seat],
    able: list[Seat],
    balances: dict[UUID, int],
    signature: bytes | None,
    lives: list[Live],
    now_ms: int,
) -> bool:
    """Deal to the seats; one that cannot pay after all is left out, or voids a round that is closed already."""
    roster = [_roster_row(table, seat) for seat in able]
    try:
        with transaction.atomic():
            live = rounds.round_deal(
                table=table,
                round_=round_,
                seats=able,
                roster=roster,
                beacon_signature=signature,
                balances=balances,
                now_ms=now_ms,
            )
    except GamingDisabled:
        table.start_at_ms, table.not_before_ms = None, now_ms + DISABLED_RETRY_MS
        return True
    except (InsufficientFunds, AccountFrozen) as short:
        broke = set(short.facts["player_ids"])
        if round_.status == Round.Status.CLOSING:
            give_up(table, round_, "operator_fault", "operator", able, now_ms)
            return True
        _unready(round_, [seat for seat in able if seat.player_id in broke])
        table.start_at_ms = None
        return True
    lives.append(live)
    _missed_count(seats, able)
    table.start_at_ms = None
    return True


def _unready(round_: Round, seats: Sequence[Seat]) -> None:
    """Let seats get ready again for a later start; what was fetched for them from a seamless wallet goes back."""
    for seat in seats:
        contribution_clear(seat)
        seat.save()
    if seats:
        wallets.stakes_return(round_id=round_.id, player_ids=[seat.player_id for seat in seats])


def _missed_count(seats: Sequence[Seat], dealt: Sequence[Seat]) -> None:
    """Count a missed round for everybody not dealt in; three in a row free the seat (X-18)."""
    numbers = {seat.number for seat in dealt}
    for seat in seats:
        if seat.number in numbers or seat.in_match:
            continue
        seat.rounds_missed += 1
        if seat.rounds_missed >= ROUNDS_MISSED_MAX:
            Seat.objects.filter(pk=seat.pk).delete()
        else:
            seat.save(update_fields=["rounds_missed"])


def _contribution(table: Table, seat: Seat) -> dict[str, Any]:
    """Return the seat's row for the close record, as the table's mode has it."""
    if table.entropy == "none":
        return {"seat": seat.number}
    value = {"commit": seat.commit} if table.entropy == "sealed" else {"entropy": seat.entropy}
    return {"seat": seat.number, "pk": seat.seat_pk, "cp": seat.cp, "sig": seat.sig, **value}


def _entropies(table: Table, round_: Round, seats: Sequence[Seat]) -> list[fairness.RosterRow]:
    """Return what a void lists as received at the round's present stage (protocol, section 9)."""
    if table.entropy == "none" or round_.status == Round.Status.RUNNING:
        return []
    if table.entropy == "sealed" and round_.status == Round.Status.OPEN:
        return []
    asked = [seat for seat in seats if round_.status == Round.Status.OPEN or seat.number in round_.numbers]
    return [_roster_row(table, seat) for seat in asked if seat.is_ready and seat.entropy]


def _roster_row(table: Table, seat: Seat) -> fairness.RosterRow:
    """Return the seat's row of the deck record."""
    if table.entropy == "none":
        return fairness.RosterRow(seat=seat.number, pk="", entropy="", cp=None, sig="")
    if table.entropy == "sealed":
        return fairness.RosterRow(
            seat=seat.number, pk=seat.seat_pk, entropy=seat.entropy, cp=seat.opening_cp, sig=seat.opening_sig
        )
    return fairness.RosterRow(seat=seat.number, pk=seat.seat_pk, entropy=seat.entropy, cp=seat.cp, sig=seat.sig)
