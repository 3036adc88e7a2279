"""What a player does at a table between rounds: sits down, gets ready, sits out, stands up.

A contribution is accepted only after the round's commitment is in a published checkpoint, and never replaced.

Rules: docs/games/common.md, X-18, X-19, X-27; docs/fairness/protocol.md, section 3.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Prefetch, prefetch_related_objects

from apps.accounts import selectors as accounts
from apps.accounts.services.play import player_may_play
from apps.core.errors import ApplicationError
from apps.fairness import selectors as fairness_selectors
from apps.fairness import services as fairness
from apps.fairness.errors import ContributionForm
from apps.tables import feed, locks
from apps.tables.errors import (
    AlreadyReady,
    AlreadySeated,
    BotsNotAllowed,
    BuyInShort,
    CommitmentNotPublished,
    NotSeated,
    NotThisRound,
    RoundRunning,
    SeatInPlay,
    SeatTaken,
    SeatUnknown,
    SelfPlay,
    TableClosed,
    TableFull,
    TableNotFound,
    TablePaused,
    WrongTableCode,
)
from apps.tables.models import Round, Seat, Table
from apps.tables.selectors import loss_at, person_is_ready
from apps.tables.services import advance
from apps.wallets import selectors as wallets_selectors
from apps.wallets import services as wallets
from apps.wallets.errors import BuyInUnknown

IDLE_MAX_MS = 900_000
"""A seat whose player has done nothing for this long, and is not in a round, is given away: also where no round starts
that could be missed."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a seat sends when it gets ready or opens its commitment; hex strings, '' where a mode has none.

    ``cp`` is null or ``{size, root}``, the checkpoint the client saw; ``value`` the entropy, or in mode ``sealed``
    with the ready call its commitment.
    """

    value: str = ""
    pk: str = ""
    cp: dict[str, Any] | None = None
    sig: str = ""


def seat_take(
    *, table_id: UUID, operator_id: UUID, player_id: UUID, number: int | None, code: str = "", now_ms: int
) -> Seat:
    """Sit a player down; during a round or match the seat waits for the next one (X-19).

    Args:
        number: the seat wanted, or None to be given the lowest free one (a random one where the table says so).

    Raises:
        TableNotFound, TableClosed, TablePaused, WrongTableCode, SeatUnknown, SeatTaken, TableFull, AlreadySeated,
        SelfPlay, BotsNotAllowed, and what player_may_play raises.
    """
    player = accounts.player_get(operator_id=operator_id, player_id=player_id)
    player_may_play(player_id=player_id)
    try:
        with transaction.atomic(durable=True):
            table = locks.table_lock(table_id)
            if table.operator_id != operator_id:
                raise TableNotFound
            if table.status == Table.Status.PAUSED:
                raise TablePaused
            if table.status != Table.Status.OPEN:
                raise TableClosed
            if table.is_private and not secrets.compare_digest(table.code.encode(), code.encode()):
                raise WrongTableCode(pointer="/code")
            if player.is_bot and not table.bots_allowed:
                raise BotsNotAllowed
            seats = list(table.seats.all())
            if any(seat.player_id == player_id for seat in seats):
                raise AlreadySeated
            if any(seat.person_key == player.person for seat in seats):
                raise SelfPlay
            seat = Seat.objects.create(
                table=table,
                number=_number(table, {seat.number for seat in seats}, number),
                player_id=player_id,
                person_key=player.person,
                sat_at_ms=now_ms,
                active_ms=now_ms,
            )
            advance.table_save(table)
    except IntegrityError:
        # Only a writer that did not hold the table's lock could get here; the constraint has decided.
        raise SeatTaken(pointer="/seat") from None
    advance.table_tick(table_id=table_id, now_ms=now_ms)
    feed.table_publish(table_id)
    return seat


def _number(table: Table, taken: set[int], wanted: int | None) -> int:
    free = [number for number in range(table.seats_max) if number not in taken]
    if not free:
        raise TableFull
    if wanted is None or table.random_seating:
        return secrets.choice(free) if table.random_seating else free[0]
    if not 0 <= wanted < table.seats_max:
        raise SeatUnknown(f"Seats are numbered 0 to {table.seats_max - 1}.", pointer="/seat")
    if wanted not in free:
        raise SeatTaken(pointer="/seat")
    return wanted


def _seat_of(table: Table, player_id: UUID) -> Seat:
    seat = table.seats.select_for_update(no_key=True).filter(player_id=player_id).first()
    if seat is None:
        raise NotSeated
    return seat


def seat_stand_up(*, table_id: UUID, player_id: UUID, now_ms: int) -> bool:
    """Give a player's seat back; return False if that waits for the end of the running round.

    A seat that was ready for a round not dealt yet takes its contribution with it; the round waits for others.  In a
    closed round (``sealed``) the seat stays until its round is dealt or void.

    Raises:
        NotSeated; SeatInPlay: the seat is dealt in, leaving the round is another call.
    """
    with transaction.atomic(durable=True):
        table = locks.table_lock(table_id)
        seat = _seat_of(table, player_id)
        round_ = table.round
        dealt = round_ is not None and seat.number in round_.numbers and round_.status in Round.UNDER_WAY
        if dealt and round_ is not None:
            gone = str(seat.number) in (round_.desk or {}).get("left", {})
            if round_.status == Round.Status.RUNNING and not gone and _is_dealt(round_, player_id):
                raise SeatInPlay
            seat.stands_up = True
            seat.save(update_fields=["stands_up"])
        else:
            if round_ is not None:
                wallets.stakes_return(round_id=round_.id, player_ids=[player_id])
            seat.delete()
        advance.table_save(table)
    advance.table_tick(table_id=table_id, now_ms=now_ms)
    feed.table_publish(table_id)
    return not dealt


def _is_dealt(round_: Round, player_id: UUID) -> bool:
    return round_.seats.filter(player_id=player_id).exists()


def seat_give_away(*, seat_id: UUID, now_ms: int) -> bool:
    """Free a seat that has been idle for IDLE_MAX_MS; return False if its player has come back meanwhile."""
    idle = Seat.objects.filter(pk=seat_id, is_ready=False, in_match=False, active_ms__lte=now_ms - IDLE_MAX_MS)
    table_id = idle.values_list("table_id", flat=True).first()
    if table_id is None:
        return False
    with transaction.atomic(durable=True):
        table = locks.table_lock(table_id)
        if not idle.delete()[0]:
            return False
        advance.table_save(table)
    advance.table_tick(table_id=table_id, now_ms=now_ms)
    feed.table_publish(table_id)
    return True


def seat_away_set(*, table_id: UUID, player_id: UUID, away: bool, now_ms: int) -> Seat:
    """Sit out from the next round on, or come back.

    Raises:
        NotSeated; AlreadyReady: a seat that is ready cannot sit out of that round.
    """
    with transaction.atomic(durable=True):
        table = locks.table_lock(table_id)
        seat = _seat_of(table, player_id)
        if away and seat.is_ready:
            raise AlreadyReady("You are ready for the next round; sit out after it.")
        seat.is_away, seat.active_ms = away, now_ms
        if away:
            seat.auto_ready_left = 0
        else:
            seat.rounds_missed = 0
        seat.save(update_fields=["is_away", "active_ms", "rounds_missed", "auto_ready_left"])
        advance.table_save(table)
    advance.table_tick(table_id=table_id, now_ms=now_ms)
    feed.table_publish(table_id)
    return seat


def seat_ready(*, table_id: UUID, player_id: UUID, round_id: UUID, contribution: Contribution, now_ms: int) -> Seat:
    """Take a seat's contribution for the open round; the stake is taken when the round is dealt.

    Where the operator's wallet is seamless, the stake is fetched from it first, outside any transaction; a seat gets
    ready only in the transaction that brings the stake into the ledger.

    Raises:
        NotSeated, NotThisRound, RoundRunning, CommitmentNotPublished, AlreadyReady, SelfPlay, BuyInShort, TablePaused,
        what player_may_play raises, the fairness errors of a contribution that does not fit, and with a seamless wallet
        BuyInPending, BuyInRefused, BuyInUnknown, OperatorUnavailable.
    """
    with transaction.atomic(durable=True):
        table = locks.table_lock(table_id)
        seat, round_ = _ready_check(table, player_id, round_id, contribution, now_ms)
        if round_ is None:
            return seat  # The same request again: its answer was lost.
        stake_id = _stake_plan(table, round_, player_id)
        is_due = stake_id is None and _ready_save(table, seat, contribution, now_ms)
    if stake_id is not None:
        wallets.stake_send(stake_id=stake_id)
        seat, is_due = _staked_ready(stake_id, table_id, player_id, round_id, contribution, now_ms)
    if is_due:
        advance.table_tick(table_id=table_id, now_ms=now_ms)
    feed.table_publish(table_id)
    return seat


def _staked_ready(
    stake_id: UUID, table_id: UUID, player_id: UUID, round_id: UUID, contribution: Contribution, now_ms: int
) -> tuple[Seat, bool]:
    """Bring a fetched stake into the ledger and make its seat ready, or give it back if that cannot be any more.

    Returns:
        The seat, and whether the table is due now.
    """
    refusal: ApplicationError | None = None
    with transaction.atomic(durable=True):
        table = locks.table_lock(table_id)
        if not wallets.stake_confirm(stake_id=stake_id):
            refusal = BuyInUnknown()
        else:
            try:
                seat, round_ = _ready_check(table, player_id, round_id, contribution, now_ms)
                assert round_ is not None, "a seat gets ready in the transaction that confirms its stake"
                is_due = _ready_save(table, seat, contribution, now_ms)
            except ApplicationError as error:
                wallets.stakes_return(round_id=round_id, player_ids=[player_id])
                refusal = error
    if refusal is not None:
        raise refusal
    return seat, is_due


def _ready_check(
    table: Table, player_id: UUID, round_id: UUID, contribution: Contribution, now_ms: int
) -> tuple[Seat, Round | None]:
    """Return the seat and the round that it may get ready for; no round if it is ready just so already.

    Locks the table's seats and keeps them with the table: ``table.seats.all()`` asks no more.
    """
    rows = Seat.objects.select_for_update(no_key=True, of=("self",)).select_related("player").order_by("number")
    prefetch_related_objects([table], Prefetch("seats", rows))
    seat = next((seat for seat in table.seats.all() if seat.player_id == player_id), None)
    if seat is None:
        raise NotSeated
    player_may_play(
        player_id=player_id,
        currency=table.currency,
        stake_minor=0 if seat.in_match else table.buy_in_minor,
        loss_since=loss_at(table.id),
        now=now_ms,
    )
    round_ = table.round
    if table.status == Table.Status.PAUSED and not seat.in_match:
        raise TablePaused
    if round_ is None or (round_.status != Round.Status.OPEN and round_.id == round_id):
        raise RoundRunning
    if round_.id != round_id:
        raise NotThisRound(pointer="/round_id", round_id=round_.id.hex)
    if round_.match_id != round_.id and not seat.in_match:
        raise RoundRunning("A match is running; you are in with the next one.")
    if seat.is_ready:
        sent = (contribution.value, contribution.pk, contribution.sig)
        if (seat.entropy or seat.commit, seat.seat_pk, seat.sig) == sent:
            return seat, None
        raise AlreadyReady
    if person_is_ready(seat):
        raise SelfPlay
    if fairness_selectors.open_published(round_id) is None:
        raise CommitmentNotPublished
    _funds_check(table, round_, player_id)
    _contribution_check(table, seat, round_id, contribution)
    return seat, round_


def _ready_save(table: Table, seat: Seat, contribution: Contribution, now_ms: int) -> bool:
    """Make a seat ready and plan the start anew; return True if something is due now."""
    seat.is_ready, seat.is_away, seat.active_ms = True, False, now_ms
    seat.seat_pk, seat.cp, seat.sig = contribution.pk, contribution.cp, contribution.sig
    if table.entropy == "sealed":
        seat.commit = contribution.value
    else:
        seat.entropy = contribution.value
    seat.save()
    advance.plan(table, list(table.seats.all()), now_ms)
    advance.table_save(table)
    return table.wake_at_ms is not None and table.wake_at_ms <= now_ms


def _stake_plan(table: Table, round_: Round, player_id: UUID) -> UUID | None:
    """Plan the stake that has to be fetched; None where no operator's wallet is asked for one."""
    if round_.match_id != round_.id or not table.buy_in_minor:
        return None
    return wallets.stake_plan(
        operator_id=table.operator_id,
        player_id=player_id,
        currency=table.currency,
        amount_minor=table.buy_in_minor,
        table_id=table.id,
        round_id=round_.id,
    )


def _contribution_check(table: Table, seat: Seat, round_id: UUID, contribution: Contribution) -> None:
    if table.entropy == "none":
        if contribution != Contribution():
            raise ContributionForm("This table's rounds take no entropy from seats.", pointer="/entropy")
        return
    fairness.contribution_check(
        round_id=round_id,
        mode=table.entropy,
        seat=seat.number,
        pk=contribution.pk,
        entropy_or_commit=contribution.value,
        cp=contribution.cp,
        sig=contribution.sig,
        others=[
            {"pk": other.seat_pk, "value": other.entropy or other.commit}
            for other in table.seats.all()
            if other.is_ready
        ],
    )


def _funds_check(table: Table, round_: Round, player_id: UUID) -> None:
    if round_.match_id != round_.id:
        return
    balance = wallets_selectors.balance(operator_id=table.operator_id, player_id=player_id, currency=table.currency)
    is_short = balance.available_minor < table.buy_in_minor
    if is_short and not wallets.operator_is_seamless(operator_id=table.operator_id):
        raise BuyInShort(
            f"The buy-in is {table.buy_in_minor} {table.currency} (minor units), "
            f"the balance {balance.available_minor}.",
            balance_minor=balance.available_minor,
            needed_minor=table.buy_in_minor,
        )


def seat_open(*, table_id: UUID, player_id: UUID, round_id: UUID, contribution: Contribution, now_ms: int) -> Seat:
    """Take the opening of a seat's commitment, after the close record is published (mode ``sealed``).

    Raises:
        NotSeated, NotThisRound, CommitmentNotPublished, AlreadyReady (opened before), and the fairness errors.
    """
    with transaction.atomic(durable=True):
        table = locks.table_lock(table_id)
        seat = _seat_of(table, player_id)
        round_ = table.round
        if round_ is None or round_.id != round_id or round_.status != Round.Status.CLOSING:
            raise NotThisRound(pointer="/round_id")
        if seat.number not in round_.numbers or table.entropy != "sealed":
            raise NotThisRound("There is nothing for this seat to open.", pointer="/round_id")
        if seat.entropy:
            raise AlreadyReady("You have opened your commitment already.")
        if fairness_selectors.close_published(round_id) is None:
            raise CommitmentNotPublished("The close record is not in the public log yet; try again in a moment.")
        fairness.opening_check(
            round_id=round_id,
            seat=seat.number,
            entropy=contribution.value,
            cp=contribution.cp,
            sig=contribution.sig,
            now_ms=now_ms,
        )
        seat.entropy, seat.opening_cp, seat.opening_sig = contribution.value, contribution.cp, contribution.sig
        seat.save()
        table.wake_at_ms = now_ms
        advance.table_save(table)
    advance.table_tick(table_id=table_id, now_ms=now_ms)
    feed.table_publish(table_id)
    return seat
