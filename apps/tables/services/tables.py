"""The life of a table: made, paused, drained, closed; and the one function that moves it on.

``table_tick`` lets everything happen that a table waits for: a round starts, a round is given up, a finished round
makes room for the next.  It is harmless when nothing is due, so requests and any number of sweepers may call it.

Rules: docs/games/common.md, X-4, X-17 to X-19, X-27; docs/fairness/protocol.md, sections 3 and 9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import structlog
from django.db import IntegrityError, transaction

from apps.accounts import selectors as accounts
from apps.accounts.errors import GamingDisabled
from apps.core.retries import constraint
from apps.fairness import selectors as fairness_selectors
from apps.fairness import services as fairness
from apps.fairness.conf import beacon_urls
from apps.fairness.protocol import beacon
from apps.fairness.protocol.limits import CLOSE_MS
from apps.games import registry
from apps.games.contract import RuleError
from apps.games.kit.opening import options_filled
from apps.tables import feed, locks, metrics
from apps.tables.errors import (
    GameUnknown,
    TableBusy,
    TableClosed,
    TableSettingInvalid,
)
from apps.tables.live import Live, state_keep
from apps.tables.models import Round, RoundSeat, Seat, Table
from apps.tables.services import rounds
from apps.tables.services.auto_ready import auto_ready_awaited, auto_ready_happen
from apps.wallets import selectors as wallets_selectors
from apps.wallets import services as wallets
from apps.wallets.errors import AccountFrozen, InsufficientFunds

log = structlog.get_logger(__name__)

ROUNDS_MISSED_MAX = 3
"""Rounds in a row not played after which a seat is given away (X-18)."""

OPEN_MAX_MS = 23 * 3_600_000
"""An open round without play is given up after this time, safely inside the protocol's 24 hours."""

OPENINGS_MAX_MS = 45_000
"""How long seats may take to open their commitments, and a beacon to come; the protocol allows 60 s to the deck."""

DISABLED_RETRY_MS = 30_000
"""How long a table waits before it tries again to start while its operator's games are stopped."""

COMMITMENT_WAIT_MS = 250
"""How soon a table looks again whether its commitment is published, while a seat waits to be made ready."""

MATCH_WAIT_MS = 30_000
"""How long a match waits between two rounds for its seats to get ready."""


def table_create(
    *,
    operator_id: UUID,
    game: str,
    currency: str,
    buy_in_minor: int,
    fee_bp: int = 500,
    options: Mapping[str, Any] | None = None,
    name: str = "",
    seats_min: int | None = None,
    seats_max: int | None = None,
    entropy: str = "open",
    beacon_margin: int | None = None,
    start_after_ms: int = 10_000,
    pause_ms: int = 3_000,
    code: str = "",
    random_seating: bool = False,
    spectators_allowed: bool = True,
    spectator_delay_ms: int = 0,
    bots_allowed: bool = False,
    auto_ready_rounds: int = 0,
) -> Table:
    """Make a table of one game.

    Args:
        buy_in_minor: stake of each seat per round (of a match game: per match), minor units of ``currency``.
        fee_bp: fee on the pot in basis points.
        code: players sit down only with this code; empty for a public table.
        auto_ready_rounds: how many rounds in a row a player may ask in advance to be made ready for; 0 is never.

    Raises:
        GameUnknown: no game has this slug.
        TableSettingInvalid: with a pointer to the setting.
        CurrencyUnknown: the operator has no such currency.
    """
    if game not in registry.slugs():
        raise GameUnknown(f"There is no game {game!r}; the games are {', '.join(registry.slugs())}.", pointer="/game")
    spec = registry.game(game).spec
    low = spec.seats_min if seats_min is None else seats_min
    high = spec.seats_max if seats_max is None else seats_max
    if not spec.seats_min <= low <= high <= spec.seats_max:
        raise TableSettingInvalid(
            f"{spec.title} is played by {spec.seats_min} to {spec.seats_max} seats.", pointer="/seats_min"
        )
    try:
        filled = options_filled(spec, options or {})
    except RuleError as refusal:
        raise TableSettingInvalid(
            f"{spec.title} has no such option or value: {refusal.facts}.", pointer="/options"
        ) from None
    facts = wallets_selectors.currency_get(code=currency)
    if buy_in_minor < facts.min_buy_in_minor and (buy_in_minor or facts.is_money):
        raise TableSettingInvalid(
            f"The buy-in in {currency} is at least {facts.min_buy_in_minor} minor units.", pointer="/buy_in_minor"
        )
    if auto_ready_rounds and entropy != "none":
        raise TableSettingInvalid(
            "Seats that give entropy get ready for each round themselves.", pointer="/auto_ready_rounds"
        )
    if beacon_margin is not None and not beacon_urls():
        raise TableSettingInvalid("This server fetches no beacon.", pointer="/beacon_margin")
    table = Table(
        operator_id=operator_id,
        name=name,
        game=game,
        rules=spec.rules,
        options=filled,
        currency=currency,
        buy_in_minor=buy_in_minor,
        fee_bp=fee_bp,
        seats_min=low,
        seats_max=high,
        entropy=entropy,
        beacon_margin=beacon_margin,
        start_after_ms=start_after_ms,
        pause_ms=pause_ms,
        is_private=bool(code),
        code=code,
        random_seating=random_seating,
        spectators_allowed=spectators_allowed,
        spectator_delay_ms=spectator_delay_ms,
        bots_allowed=bots_allowed,
        auto_ready_rounds=auto_ready_rounds,
    )
    try:
        with transaction.atomic():
            table.save(force_insert=True)
    except IntegrityError as error:
        if constraint(error) != "tables_one_code":
            raise
        raise TableSettingInvalid("Another table of yours has this code.", pointer="/code") from None
    return table


def table_status_set(*, table_id: UUID, status: str, now_ms: int) -> Table:
    """Open, pause, drain or close a table.

    Draining lets the running round (its match) end, then closes; closing an idle table gives its seats back at once.

    Raises:
        TableClosed: a closed or retired table stays so.
        TableBusy: it is to be closed at once, and a round or a match is running.
    """
    with transaction.atomic(durable=True):
        table = locks.table_lock(table_id)
        if table.status in (Table.Status.CLOSED, Table.Status.RETIRED):
            raise TableClosed
        if status == Table.Status.CLOSED:
            dealt = table.round is not None and table.round.status in (Round.Status.CLOSING, Round.Status.RUNNING)
            if dealt or table.seats.filter(in_match=True).exists():
                raise TableBusy
            status = Table.Status.DRAINING  # Nothing holds it up, so the tick below closes it.
        if table.status == Table.Status.PAUSED:
            table.seats.update(active_ms=now_ms)  # While it was paused nobody could do anything.
        table.status = status
        _plan(table, list(table.seats.all()), now_ms)
        table_save(table)
    feed.table_publish(table_id)
    table_tick(table_id=table_id, now_ms=now_ms)
    return Table.objects.get(pk=table_id)


def table_save(table: Table) -> None:
    """Write a locked table and count its version, so that everybody who follows it is told."""
    table.version += 1
    table.save()


def table_advance(*, table_id: UUID, now_ms: int) -> None:
    """Move a table on after a round has ended; the same as a tick."""
    table_tick(table_id=table_id, now_ms=now_ms)


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
        _give_up(table, round_, reason, "operator", seats, now_ms)
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
    _plan(table, seats, now_ms)
    if round_ is not None and round_.status == Round.Status.OPEN:
        changed |= _open_tick(table, round_, seats, lives, now_ms)
    elif round_ is not None and round_.status == Round.Status.CLOSING:
        changed |= _closing_tick(table, round_, seats, lives, now_ms)
    if round_ is not None and round_.status not in Round.UNDER_WAY and not round_.advanced:
        seats = _after_round(table, round_, seats, now_ms)
        changed = True
    seats = list(table.seats.order_by("number"))
    changed |= _next_round(table, seats, now_ms)
    _plan(table, seats, now_ms)
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
        contribution_clear(seat)
        seat.save()
        kept.append(seat)
    round_.advanced = True
    round_.save(update_fields=["advanced"])
    table.not_before_ms = now_ms + table.pause_ms
    table.start_at_ms = None
    return kept


def contribution_clear(seat: Seat) -> None:
    """Forget what a seat contributed to a round that is over; it was published with the round."""
    seat.is_ready = False
    seat.seat_pk = seat.entropy = seat.commit = seat.sig = seat.opening_sig = ""
    seat.cp = seat.opening_cp = None


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


def _plan(table: Table, seats: Sequence[Seat], now_ms: int) -> None:
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
        _give_up(table, round_, "not_started", "none", seats, now_ms)
        return True
    if now_ms >= round_.opened_ms + OPEN_MAX_MS:
        _give_up(table, round_, "not_started", "none", seats, now_ms)
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
    return _start(table, round_, seats, lives, now_ms)


def _give_up(
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


def _match_end(table: Table, round_: Round, there: Sequence[Seat], now_ms: int) -> None:
    """End a match between two rounds: the one seat left gets the payout (X-27); nobody left, everything goes back."""
    if there:
        rounds.match_settle_to(round_=round_, table=table, winner=there[0].number, now_ms=now_ms)
    _give_up(table, round_, "not_started", "none", [], now_ms, refund=not there)


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


def _start(table: Table, round_: Round, seats: list[Seat], lives: list[Live], now_ms: int) -> bool:
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


def _closing_tick(table: Table, round_: Round, seats: list[Seat], lives: list[Live], now_ms: int) -> bool:
    """Deal a closed round when every seat has opened and the beacon is there, or give it up in time."""
    roster = [seat for seat in seats if seat.number in round_.numbers]
    unopened = [seat for seat in roster if table.entropy == "sealed" and not seat.entropy]
    opened = [seat for seat in roster if seat not in unopened]
    since = max(round_.closed_ms or 0, 1000 * beacon.round_time_s(round_.beacon_round) if round_.beacon_round else 0)
    if now_ms > since + CLOSE_MS:
        # Nobody looked in time, so whatever is missing, it is the operator's fault: protocol, section 9.
        _give_up(table, round_, "operator_fault", "operator", opened, now_ms)
        return True
    signature = None
    if round_.beacon_round is not None:
        signature = fairness_selectors.beacon_signature(round_.id)
    if signature is not None and not fairness_selectors.close_in_time(round_.id):
        # No verifier would believe that the roster was fixed before the beacon was out.
        _give_up(table, round_, "operator_fault", "operator", opened, now_ms)
        return True
    if not unopened and (round_.beacon_round is None or signature is not None):
        _, balances = _able(table, round_, roster)
        return _deal(table, round_, seats, roster, balances, signature, lives, now_ms)
    if now_ms < since + OPENINGS_MAX_MS:
        return False
    if unopened:
        _give_up(table, round_, "entropy_missing", f"seat:{unopened[0].number}", opened, now_ms)
    else:
        _give_up(table, round_, "beacon_missing", "none", roster, now_ms)
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
            _give_up(table, round_, "operator_fault", "operator", able, now_ms)
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
