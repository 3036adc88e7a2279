"""Routes of tables, seats and rounds: check shape and caller, make one call, shape the answer.

Source: docs/players/README.md and docs/operators/tables.md.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpResponse, HttpResponseRedirect
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api.permissions import (
    IsOperatorOrPlayer,
    IsPlayer,
    operator_of,
    player_of,
    principal_of,
    scope,
)
from apps.accounts.principals import OperatorPrincipal, PlayerPrincipal
from apps.core import clock, heartbeat
from apps.core.api.document import refuses
from apps.core.api.parsers import MalformedJson
from apps.core.api.views import ApiView
from apps.core.idempotency import idempotent
from apps.tables import selectors, tickets
from apps.tables.api import refusals
from apps.tables.api.serializers import (
    AutoReadySerializer,
    LeftSerializer,
    LobbyQuerySerializer,
    OpeningSerializer,
    OpeningsSerializer,
    ReadySerializer,
    RoundViewSerializer,
    SeatTakeSerializer,
    TableCreateSerializer,
    TablePageSerializer,
    TableSerializer,
    TableStatusSerializer,
)
from apps.tables.errors import NotDealtIn, SpectatorsNotAllowed
from apps.tables.models import Round, Table
from apps.tables.services import advance, auto_ready, play, seats, tables
from apps.tables.services.seats import Contribution
from apps.tables.tickets import Ticket


def validated(serializer_class: type[Any], request: Request) -> dict[str, Any]:
    """Return the validated body of a request.

    Raises:
        ValidationError: with a pointer to each member that is wrong.
    """
    serializer = serializer_class(data=request.data)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def arrival(request: Request) -> int:
    """Return when the request arrived, on the database's clock, with every outage accounted for."""
    heartbeat.ensure()
    return clock.now_ms()


def table_seen(request: Request, table_id: UUID) -> Table:
    """Return a table of the caller's operator.

    Raises:
        TableNotFound: none, or another operator's.
    """
    return selectors.table_get(table_id=table_id, operator_id=principal_of(request).operator_id)


def table_answer(request: Request, table: Table) -> dict[str, Any]:
    """Return the table as this caller may see it."""
    principal = principal_of(request)
    if isinstance(principal, PlayerPrincipal):
        return selectors.table_view(table, viewer_id=principal.player_id)
    return selectors.table_view(table, for_operator=True)


class TablesView(ApiView):
    """Tables of an operator."""

    def get_permissions(self) -> list[BasePermission]:
        """Let players read the lobby; making tables is for operators."""
        return [scope("play")() if self.request.method == "POST" else IsOperatorOrPlayer()]

    @extend_schema(operation_id="table_create", request=TableCreateSerializer, responses={201: TableSerializer})
    @idempotent(required=False)
    @refuses(*refusals.TABLE_CREATE)
    def post(self, request: Request) -> Response:
        """Make a table. Its settings stand in every round's open record and do not change."""
        body = validated(TableCreateSerializer, request)
        table = tables.table_create(operator_id=operator_of(request).operator_id, **body)
        return Response(selectors.table_view(table, for_operator=True), status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="table_list", parameters=[LobbyQuerySerializer], responses={200: TablePageSerializer})
    @refuses(*refusals.TABLE_LIST)
    def get(self, request: Request) -> Response:
        """List tables that are not closed, newest first. Players find private ones by their code only."""
        principal = principal_of(request)
        query = LobbyQuerySerializer(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        asked = dict(query.validated_data)
        cursor, limit = asked.pop("cursor"), asked.pop("limit")
        rows = selectors.lobby(
            operator_id=principal.operator_id, include_private=isinstance(principal, OperatorPrincipal), **asked
        )
        page, following = _page(rows, cursor, limit)
        return Response({"tables": [table_answer(request, table) for table in page], "next": following})


def _page(rows: QuerySet[Table], cursor: str, limit: int) -> tuple[list[Table], str | None]:
    """Return a page of tables, newest first, and the cursor of the next one."""
    if cursor:
        try:
            at_text, id_text = urlsafe_b64decode(cursor.encode()).decode().split(" ")
            at, last = datetime.fromisoformat(at_text), UUID(id_text)
        except ValueError:
            raise MalformedJson("This is not a cursor that was given out here.") from None
        rows = rows.filter(Q(created_at__lt=at) | Q(created_at=at, id__lt=last))
    page = list(rows.order_by("-created_at", "-id")[: limit + 1])
    if len(page) <= limit:
        return page, None
    page = page[:limit]
    return page, urlsafe_b64encode(f"{page[-1].created_at.isoformat()} {page[-1].pk.hex}".encode()).decode()


class TableView(ApiView):
    """One table."""

    def get_permissions(self) -> list[BasePermission]:
        """Let players read; changing the status is for operators."""
        return [scope("play")() if self.request.method == "PATCH" else IsOperatorOrPlayer()]

    @extend_schema(operation_id="table_get", responses={200: TableSerializer})
    @refuses(*refusals.TABLE_GET)
    def get(self, request: Request, table_id: UUID) -> Response:
        """Return a table as it is now."""
        return Response(table_answer(request, table_seen(request, table_id)))

    @extend_schema(operation_id="table_status_set", request=TableStatusSerializer, responses={200: TableSerializer})
    @refuses(*refusals.TABLE_STATUS_SET)
    def patch(self, request: Request, table_id: UUID) -> Response:
        """Open, pause, drain or close a table. Draining closes it when its round, or match, has ended."""
        table_seen(request, table_id)
        body = validated(TableStatusSerializer, request)
        tables.table_status_set(table_id=table_id, status=body["status"], now_ms=arrival(request))
        return Response(table_answer(request, table_seen(request, table_id)))


class SeatsView(ApiView):
    """Seats of a table."""

    permission_classes = (IsPlayer,)

    @extend_schema(operation_id="seat_take", request=SeatTakeSerializer, responses={201: TableSerializer})
    @refuses(*refusals.SEAT_TAKE)
    def post(self, request: Request, table_id: UUID) -> Response:
        """Sit down. During a round you wait for the next one."""
        player = player_of(request)
        body = validated(SeatTakeSerializer, request)
        seats.seat_take(
            table_id=table_id,
            operator_id=player.operator_id,
            player_id=player.player_id,
            number=body["seat"],
            code=body["code"],
            now_ms=arrival(request),
        )
        return Response(table_answer(request, table_seen(request, table_id)), status=status.HTTP_201_CREATED)


class MySeatView(ApiView):
    """The caller's seat."""

    permission_classes = (IsPlayer,)

    @extend_schema(operation_id="seat_stand_up", request=None, responses={200: LeftSerializer})
    @refuses(*refusals.SEAT_STAND_UP)
    def delete(self, request: Request, table_id: UUID) -> Response:
        """Stand up. In a running round, leave the round instead."""
        table_seen(request, table_id)
        free = seats.seat_stand_up(table_id=table_id, player_id=player_of(request).player_id, now_ms=arrival(request))
        return Response({"seat_free": free})


class ReadyView(ApiView):
    """Getting ready."""

    permission_classes = (IsPlayer,)

    @extend_schema(operation_id="seat_ready", request=ReadySerializer, responses={200: TableSerializer})
    @refuses(*refusals.SEAT_READY)
    def post(self, request: Request, table_id: UUID) -> Response:
        """Get ready for the open round, with your contribution to its entropy. The stake is taken at the deal."""
        player = player_of(request)
        mode = selectors.table_entropy(table_id=table_id, operator_id=player.operator_id)
        body = validated(ReadySerializer, request)
        value = body["commit"] if mode == "sealed" else body["entropy"]
        seats.seat_ready(
            table_id=table_id,
            player_id=player.player_id,
            round_id=UUID(hex=body["round_id"]),
            contribution=Contribution(value=value, pk=body["pk"], cp=body["cp"], sig=body["sig"]),
            now_ms=arrival(request),
        )
        return Response(table_answer(request, table_seen(request, table_id)))


class AutoReadyView(ApiView):
    """Getting ready in advance."""

    permission_classes = (IsPlayer,)

    @extend_schema(operation_id="seat_auto_ready", request=AutoReadySerializer, responses={200: TableSerializer})
    @refuses(*refusals.SEAT_AUTO_READY)
    def post(self, request: Request, table_id: UUID) -> Response:
        """Be made ready for so many rounds from now on, 0 for no more. It lapses when you are away or time out."""
        table_seen(request, table_id)
        rounds = validated(AutoReadySerializer, request)["rounds"]
        auto_ready.auto_ready_set(table_id=table_id, player_id=player_of(request).player_id, rounds=rounds)
        advance.table_tick(table_id=table_id, now_ms=arrival(request))
        return Response(table_answer(request, table_seen(request, table_id)))


class OpeningView(ApiView):
    """Opening a sealed contribution."""

    permission_classes = (IsPlayer,)

    @extend_schema(operation_id="seat_open", request=OpeningSerializer, responses={200: TableSerializer})
    @refuses(*refusals.SEAT_OPEN)
    def post(self, request: Request, table_id: UUID) -> Response:
        """Open your commitment, once the close record is published (mode sealed)."""
        table_seen(request, table_id)
        body = validated(OpeningSerializer, request)
        seats.seat_open(
            table_id=table_id,
            player_id=player_of(request).player_id,
            round_id=UUID(hex=body["round_id"]),
            contribution=Contribution(value=body["entropy"], cp=body["cp"], sig=body["sig"]),
            now_ms=arrival(request),
        )
        return Response(table_answer(request, table_seen(request, table_id)))


class AwayView(ApiView):
    """Sitting out."""

    permission_classes = (IsPlayer,)
    away = True

    @extend_schema(request=None, responses={200: TableSerializer})
    @refuses(*refusals.SEAT_AWAY_SET)
    def post(self, request: Request, table_id: UUID) -> Response:
        """Sit out from the next round on, or come back. A seat not played for three rounds is given away."""
        table_seen(request, table_id)
        seats.seat_away_set(
            table_id=table_id, player_id=player_of(request).player_id, away=self.away, now_ms=arrival(request)
        )
        return Response(table_answer(request, table_seen(request, table_id)))


class FollowView(ApiView):
    """The way to a table's messages: the process that serves them is another one."""

    permission_classes = (IsOperatorOrPlayer,)
    route = "stream"

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Redirect whatever the caller accepts: what it will be sent comes from the stream process."""
        return super().perform_content_negotiation(request, force=True)

    @extend_schema(
        parameters=[
            OpenApiParameter("after", str, description="Cursor of the last message you have."),
            OpenApiParameter("wait", int, description="Long poll only: seconds to wait, 0 to 25."),
        ],
        responses={307: None},
    )
    @refuses(*refusals.TABLE_FOLLOW)
    def get(self, request: Request, table_id: UUID) -> HttpResponse:
        """Redirect to the table's messages, with a ticket for this caller that is good for a minute."""
        table = table_seen(request, table_id)
        principal = principal_of(request)
        player_id = principal.player_id if isinstance(principal, PlayerPrincipal) else None
        session_id = principal.session_id if isinstance(principal, PlayerPrincipal) else None
        seat = None if player_id is None else selectors.seat_of(table_id=table_id, player_id=player_id)
        if seat is None and not table.spectators_allowed and player_id is not None:
            raise SpectatorsNotAllowed
        answer = HttpResponseRedirect(
            tickets.address(
                route=self.route,
                ticket=Ticket(table_id, principal.operator_id, player_id, session_id),
                query=request.META.get("QUERY_STRING", ""),
                now_ms=clock.now_ms(),
            )
        )
        answer.status_code = status.HTTP_307_TEMPORARY_REDIRECT
        answer["Cache-Control"] = "no-store"
        return answer


def round_seen(request: Request, round_id: UUID) -> tuple[Round, int | None]:
    """Return a round of the caller's operator with overdue deadlines done, and the caller's seat in it.

    Raises:
        RoundNotFound: none, or another operator's. SpectatorsNotAllowed: only its seats may look.
    """
    principal = principal_of(request)
    now_ms = arrival(request)
    round_ = selectors.round_get(round_id=round_id, operator_id=principal.operator_id)
    if round_.wake_at_ms is not None and round_.wake_at_ms <= now_ms:
        play.round_wake(round_id=round_id, now_ms=now_ms)
        round_ = selectors.round_get(round_id=round_id, operator_id=principal.operator_id)
    seat = None
    if isinstance(principal, PlayerPrincipal):
        seat = selectors.dealt_seat(round_id=round_id, player_id=principal.player_id)
        if seat is None and not round_.table.spectators_allowed:
            raise SpectatorsNotAllowed
        if seat is None and round_.table.spectator_delay_ms and round_.status == Round.Status.RUNNING:
            raise SpectatorsNotAllowed("Watch this table through its stream, which shows play with a delay.")
    return round_, seat


class RoundView(ApiView):
    """One round."""

    permission_classes = (IsOperatorOrPlayer,)

    @extend_schema(operation_id="round_get", responses={200: RoundViewSerializer})
    @refuses(*refusals.ROUND_SEE)
    def get(self, request: Request, round_id: UUID) -> Response:
        """Return a round as you may see it: your own hand if you are in it, the open cards otherwise."""
        round_, seat = round_seen(request, round_id)
        return Response(selectors.round_view(round_, seat=seat, now_ms=clock.now_ms()))


class RoundOpeningsView(ApiView):
    """Openings of one's cards."""

    permission_classes = (IsOperatorOrPlayer,)

    @extend_schema(operation_id="round_openings", responses={200: OpeningsSerializer})
    @refuses(*refusals.ROUND_SEE)
    def get(self, request: Request, round_id: UUID) -> Response:
        """Return the openings of the cards you see now; check each against the root in the deck record."""
        round_, seat = round_seen(request, round_id)
        return Response({"openings": selectors.openings(round_, seat=seat)})


class LeaveView(ApiView):
    """Leaving a round."""

    permission_classes = (IsPlayer,)

    @extend_schema(operation_id="round_leave", request=None, responses={200: LeftSerializer})
    @refuses(*refusals.ROUND_LEAVE)
    def post(self, request: Request, round_id: UUID) -> Response:
        """Leave the round for good. Your stake stays in the pot; your seat is free when the round ends."""
        player = player_of(request)
        selectors.round_get(round_id=round_id, operator_id=player.operator_id)
        if selectors.dealt_seat(round_id=round_id, player_id=player.player_id) is None:
            raise NotDealtIn
        play.round_leave(
            round_id=round_id, player_id=player.player_id, session_id=player.session_id, now_ms=arrival(request)
        )
        return Response({"seat_free": False})
