"""What may be read of tables and rounds, shaped for its reader.

A view of a round is what the rules say that viewer may know; a seat's openings are of the cards its view shows.
Reading lets overdue deadlines happen first (apps.tables.api calls ``round_touch``), so nobody sees a clock that has
run out.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import Count, F, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from apps.accounts import selectors as accounts
from apps.accounts.services.play import LossSince
from apps.fairness import dealer
from apps.fairness import selectors as fairness
from apps.games import registry
from apps.games.contract import Game
from apps.games.contract import Seat as GameSeat
from apps.tables.errors import RoundNotFound, TableNotFound
from apps.tables.live import places, state_kept
from apps.tables.models import Round, RoundSeat, Seat, Table


def table_get(*, table_id: UUID, operator_id: UUID | None = None) -> Table:
    """Return a table, of this operator if one is named.

    Raises:
        TableNotFound: there is none, or it is another operator's.
    """
    tables = Table.objects.all() if operator_id is None else Table.objects.filter(operator_id=operator_id)
    table = tables.select_related("round").defer("round__state").filter(pk=table_id).first()
    if table is None:
        raise TableNotFound
    return table


def table_entropy(*, table_id: UUID, operator_id: UUID) -> str:
    """Return the entropy mode of a table of this operator.

    Raises:
        TableNotFound: there is none, or it is another operator's.
    """
    mode = Table.objects.filter(pk=table_id, operator_id=operator_id).values_list("entropy", flat=True).first()
    if mode is None:
        raise TableNotFound
    return mode


def round_get(*, round_id: UUID, operator_id: UUID | None = None) -> Round:
    """Return a round, of this operator if one is named.

    Raises:
        RoundNotFound: there is none, or it is another operator's.
    """
    rounds = Round.objects.all() if operator_id is None else Round.objects.filter(operator_id=operator_id)
    round_ = rounds.select_related("table").filter(pk=round_id).first()
    if round_ is None:
        raise RoundNotFound
    return round_


def lobby(
    *,
    operator_id: UUID,
    include_private: bool = False,
    code: str = "",
    has_free_seat: bool | None = None,
    buy_in_from_minor: int | None = None,
    buy_in_to_minor: int | None = None,
    **equal: Any,
) -> QuerySet[Table]:
    """Return the operator's tables that can be joined or watched, with their seats.

    Args:
        code: of a private table; without ``include_private`` these are found by their code only.
        buy_in_from_minor, buy_in_to_minor: both included.
        equal: members of a table to be equal to, None for any: game, currency, entropy, status, bots_allowed.
    """
    gone = [Table.Status.CLOSED, Table.Status.RETIRED]
    rows = Table.objects.filter(operator_id=operator_id).exclude(status__in=gone)
    if code:
        rows = rows.filter(code=code)
    elif not include_private:
        rows = rows.filter(is_private=False)
    rows = rows.filter(**{name: value for name, value in equal.items() if value is not None})
    if buy_in_from_minor is not None:
        rows = rows.filter(buy_in_minor__gte=buy_in_from_minor)
    if buy_in_to_minor is not None:
        rows = rows.filter(buy_in_minor__lte=buy_in_to_minor)
    if has_free_seat is not None:
        taken = Seat.objects.filter(table=OuterRef("pk")).order_by().values("table").annotate(n=Count("*")).values("n")
        rows = rows.annotate(taken=Coalesce(Subquery(taken), 0))
        rows = rows.filter(taken__lt=F("seats_max")) if has_free_seat else rows.filter(taken__gte=F("seats_max"))
    return rows.select_related("round").prefetch_related("seats")


def seat_of(*, table_id: UUID, player_id: UUID) -> Seat | None:
    """Return the player's seat at the table, if any."""
    return Seat.objects.filter(table_id=table_id, player_id=player_id).first()


def dealt_seat(*, round_id: UUID, player_id: UUID) -> int | None:
    """Return the seat number under which a player was dealt into a round, if any."""
    return RoundSeat.objects.filter(round_id=round_id, player_id=player_id).values_list("number", flat=True).first()


def loss_at(table_id: UUID) -> LossSince:
    """Return what tells the losses of players who want to stake at a table.

    A stake counts as lost while its round runs, and from the moment that a seat is ready for it: a seat that is ready
    at another table has spent that money.  This table's own stake is what is being asked about.
    """

    def loss_since(player_ids: Collection[UUID], currency: str, since_ms: int) -> int:
        rows = RoundSeat.objects.filter(
            player_id__in=player_ids, round__table__currency=currency, round__dealt_ms__gte=since_ms
        ).exclude(round__status=Round.Status.VOID)
        sums = rows.aggregate(paid=Sum("buy_in_minor"), back=Sum("payout_minor"))
        ready = Seat.objects.filter(
            player_id__in=player_ids,
            is_ready=True,
            in_match=False,
            table__currency=currency,
            table__round__status__in=(Round.Status.OPEN, Round.Status.CLOSING),
        ).exclude(table_id=table_id)
        staked = ready.aggregate(sum=Sum("table__buy_in_minor"))["sum"]
        return (sums["paid"] or 0) - (sums["back"] or 0) + (staked or 0)

    return loss_since


def person_is_ready(seat: Seat) -> bool:
    """Tell whether the person of a seat is ready at the same table under another account.

    Nobody sits down so; but the operator may tell only later that two players are one person.
    """
    mark = seat.player.person_key
    others = Seat.objects.filter(table_id=seat.table_id, is_ready=True, player__person_key=mark).exclude(pk=seat.pk)
    return bool(mark) and others.exists()


def table_view(table: Table, *, viewer_id: UUID | None = None, for_operator: bool = False) -> dict[str, Any]:
    """Return a table as it is now.

    Args:
        viewer_id: a player, who is told which seat is theirs.
        for_operator: also say which players sit there, and the private code.
    """
    seats = sorted(table.seats.all(), key=lambda seat: seat.number)
    own = next((seat for seat in seats if seat.player_id == viewer_id), None)
    names = (
        accounts.players_get(operator_id=table.operator_id, player_ids=[seat.player_id for seat in seats])
        if for_operator
        else {}
    )
    round_ = table.round
    view: dict[str, Any] = {
        "id": str(table.pk),
        "name": table.name,
        "game": table.game,
        "rules": table.rules,
        "options": table.options,
        "currency": table.currency,
        "buy_in_minor": table.buy_in_minor,
        "fee_bp": table.fee_bp,
        "seats_min": table.seats_min,
        "seats_max": table.seats_max,
        "entropy": table.entropy,
        "beacon_margin": table.beacon_margin,
        "start_after_ms": table.start_after_ms,
        "pause_ms": table.pause_ms,
        "is_private": table.is_private,
        "random_seating": table.random_seating,
        "bots_allowed": table.bots_allowed,
        "auto_ready_rounds": table.auto_ready_rounds,
        "spectators_allowed": table.spectators_allowed,
        "spectator_delay_ms": table.spectator_delay_ms,
        "status": table.status,
        "version": table.version,
        "start_at_ms": table.start_at_ms,
        "not_before_ms": table.not_before_ms,
        "seats_taken": len(seats),
        "seats_ready": sum(seat.is_ready for seat in seats),
        "seats": [_seat_view(seat, names.get(seat.player_id)) for seat in seats],
        "your_seat": None if own is None else own.number,
        "your_auto_ready_rounds": 0 if own is None else own.auto_ready_left,
        "round": None if round_ is None else round_summary(round_),
    }
    if for_operator:
        view["code"] = table.code
    return view


def _seat_view(seat: Seat, player: accounts.PlayerFacts | None) -> dict[str, Any]:
    view: dict[str, Any] = {
        "seat": seat.number,
        "ready": seat.is_ready,
        "away": seat.is_away,
        "connected": seat.connected,
        "in_match": seat.in_match,
        "leaving": seat.stands_up,
    }
    if player is not None:
        view |= {"player_id": str(player.id), "external_id": player.external_id, "is_bot": player.is_bot}
    return view


def round_summary(round_: Round) -> dict[str, Any]:
    """Return where a round stands, without anything of its cards."""
    published = None
    if round_.status == Round.Status.OPEN:
        published = fairness.open_published(round_.pk)
    elif round_.status == Round.Status.CLOSING:
        published = fairness.close_published(round_.pk)
    return {
        "id": round_.pk.hex,
        "index": round_.index,
        "match_id": round_.match_id.hex,
        "status": round_.status,
        "seq": round_.seq,
        "seats": list(round_.numbers),
        "opener": round_.opener,
        "takes_contributions": published is not None,
        "checkpoint": None if published is None else {"size": published["size"], "root": published["root"]},
        "beacon_round": round_.beacon_round,
        "opened_ms": round_.opened_ms,
        "dealt_ms": round_.dealt_ms,
        "ended_ms": round_.ended_ms,
        "pot_minor": round_.pot_minor,
        "fee_minor": round_.fee_minor,
        "outcome": round_.outcome,
    }


def state_of(round_: Round) -> tuple[Game[Any], Any]:
    """Return the rules and the engine's state of a dealt round."""
    game = registry.game(round_.game)
    state = state_kept(round_.pk, bytes(round_.head))
    if state is None:
        assert round_.state is not None
        data = dealer.state_open(round_id=round_.pk, seq=round_.seq, sealed=bytes(round_.state))
        state = game.load(json.loads(data))
    return game, state


def round_view(round_: Round, *, seat: int | None, now_ms: int) -> dict[str, Any]:
    """Return a round for one viewer: where it stands, what that viewer may know, and what it may do now.

    Args:
        seat: the viewer's seat in this round; None for a spectator.
    """
    told = round_summary(round_) | {"your_seat": seat, "view": None, "legal": [], "head": "", "clock_offset_ms": 0}
    if not round_.numbers or round_.state is None:
        return told
    game, state = state_of(round_)
    viewer = None if seat is None else GameSeat(seat)
    told["view"] = game.view(state, viewer)
    told["head"] = bytes(round_.head).hex()
    told["clock_offset_ms"] = round_.offset_ms
    if viewer is not None and round_.status == Round.Status.RUNNING:
        engine_now = max(now_ms - round_.offset_ms, round_.last_at_ms)
        told["legal"] = list(game.legal(state, viewer, engine_now))
    return told


def openings(round_: Round, *, seat: int | None) -> list[dict[str, Any]]:
    """Return the opening of every card that the viewer's view shows now."""
    if not round_.numbers or round_.state is None:
        return []
    game, state = state_of(round_)
    view = game.view(state, None if seat is None else GameSeat(seat))
    return dealer.openings(round_id=round_.pk, places=sorted({(gen, pos) for gen, pos, shown in places(view) if shown}))
