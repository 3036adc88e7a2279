"""Routes of the hand history: lists of rounds, the whole of one, and exports of many.

Source: docs/players/history.md and docs/operators/history.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api.fields import StrictSerializer
from apps.accounts.api.permissions import IsOperatorOrPlayer, principal_of, scope_check
from apps.accounts.principals import PlayerPrincipal
from apps.core.api.document import refuses
from apps.core.api.views import ApiView
from apps.tables import hand_text, hands
from apps.tables.api import refusals
from apps.tables.api.serializers import CURRENCY
from apps.tables.hands import EXPORT_MAX, Filters, Reader
from apps.tables.models import Round

PAGE_MAX = 200
MS_MAX = 2**53 - 1
TEXT = "text/plain; charset=utf-8"
JSONL = "application/jsonl"


class FiltersSerializer(StrictSerializer):
    """The filters of a list or an export; a name that is not one of them is refused."""

    player_id = serializers.UUIDField(required=False, default=None, help_text="One of your players.")
    table_id = serializers.UUIDField(required=False, default=None)
    game = serializers.RegexField(r"^[a-z0-9_-]{1,32}\Z", required=False, default=None)
    currency = serializers.RegexField(CURRENCY, required=False, default=None)
    status = serializers.ChoiceField(choices=Round.Status.values, required=False, default=None)
    ended_from_ms = serializers.IntegerField(
        min_value=0, max_value=MS_MAX, required=False, default=None, help_text="Ended at this time or later."
    )
    ended_to_ms = serializers.IntegerField(
        min_value=0, max_value=MS_MAX, required=False, default=None, help_text="Ended before this time."
    )
    cursor = serializers.CharField(required=False, default="", max_length=64, help_text="`next` of the page before.")


class ListQuerySerializer(FiltersSerializer):
    """The query of GET /v1/rounds."""

    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=PAGE_MAX)


class ExportQuerySerializer(FiltersSerializer):
    """The query of GET /v1/rounds.jsonl and GET /v1/rounds.txt."""

    limit = serializers.IntegerField(required=False, default=EXPORT_MAX, min_value=1, max_value=EXPORT_MAX)


class HandSeatSerializer(serializers.Serializer[Any]):
    """What a seat paid and got back."""

    seat = serializers.IntegerField()
    is_yours = serializers.BooleanField()
    stake_minor = serializers.IntegerField(help_text="In a match, with its first round.")
    returned_minor = serializers.IntegerField(
        allow_null=True, help_text="Payout or refund; null until the round, or its match, is over."
    )
    left_reason = serializers.CharField(allow_blank=True, help_text="left, timeouts, connection, or empty.")
    player_id = serializers.UUIDField(required=False)
    external_id = serializers.CharField(required=False, help_text="For operators.")
    balance_before_minor = serializers.IntegerField(
        allow_null=True, required=False, help_text="Right before the stake; null where no money moved."
    )
    balance_after_minor = serializers.IntegerField(
        allow_null=True, required=False, help_text="Right after the seat's last line of this round in the ledger."
    )


class HandSummarySerializer(serializers.Serializer[Any]):
    """A round in a list."""

    id = serializers.CharField()
    table_id = serializers.UUIDField()
    table_name = serializers.CharField(allow_blank=True)
    index = serializers.IntegerField()
    match_id = serializers.CharField(help_text="Equal to `id` unless the round goes on with a match.")
    game = serializers.CharField()
    rules = serializers.CharField()
    currency = serializers.CharField()
    status = serializers.ChoiceField(choices=Round.Status.values)
    reason = serializers.CharField(allow_blank=True)
    fault = serializers.CharField(allow_blank=True, help_text="Of a void round: none, operator or seat:N.")
    opened_ms = serializers.IntegerField()
    dealt_ms = serializers.IntegerField(allow_null=True)
    ended_ms = serializers.IntegerField(allow_null=True)
    pot_minor = serializers.IntegerField()
    fee_minor = serializers.IntegerField()
    seats = HandSeatSerializer(many=True)
    proof = serializers.CharField(help_text="Path of the round's audit bundle.")


class HandPageSerializer(serializers.Serializer[Any]):
    """A page of rounds."""

    rounds = HandSummarySerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Cursor of the next page; null on the last.")


class HandMovementSerializer(serializers.Serializer[Any]):
    """A line of the ledger that belongs to the round."""

    transaction_id = serializers.UUIDField()
    kind = serializers.CharField(help_text="buy_in, settle, void, reverse, resettle; more may come.")
    seat = serializers.IntegerField(allow_null=True)
    amount_minor = serializers.IntegerField()
    balance_after_minor = serializers.IntegerField()
    created_at_ms = serializers.IntegerField()


class HandEntrySerializer(serializers.Serializer[Any]):
    """An entry of the transcript; cards that you may know have `card`, the others are places."""

    seq = serializers.IntegerField()
    at_ms = serializers.IntegerField(help_text="Engine time.")
    kind = serializers.CharField()
    seat = serializers.IntegerField(allow_null=True)
    input = serializers.DictField()
    events = serializers.ListField(child=serializers.DictField())
    head = serializers.CharField()


class HandSerializer(HandSummarySerializer):
    """The whole of a round."""

    format = serializers.CharField()
    options = serializers.DictField()
    buy_in_minor = serializers.IntegerField()
    fee_bp = serializers.IntegerField()
    entropy = serializers.CharField()
    beacon_round = serializers.IntegerField(allow_null=True)
    opener = serializers.IntegerField(allow_null=True)
    clock_offset_ms = serializers.IntegerField()
    outcome = serializers.DictField(allow_null=True)
    movements = HandMovementSerializer(many=True)
    entries = HandEntrySerializer(many=True)
    decks = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Of an ended round: the opening deck, top first, and every deck made by a reshuffle.",
    )


ROUND = {
    "id": "1b9d6bcd2f6a4c8e9d3b5a7c0e4f8a21",
    "table_id": "7d1f6c1e-7f0c-4b0e-9a51-0f8f0f3c0a11",
    "table_name": "Table 1",
    "index": 41,
    "match_id": "1b9d6bcd2f6a4c8e9d3b5a7c0e4f8a21",
    "game": "monko",
    "rules": "monko/1",
    "currency": "PTS",
    "status": "finished",
    "reason": "out",
    "fault": "",
    "opened_ms": 1700000000000,
    "dealt_ms": 1700000010000,
    "ended_ms": 1700000200000,
    "pot_minor": 2000,
    "fee_minor": 100,
    "seats": [
        {
            "seat": 0,
            "is_yours": True,
            "stake_minor": 1000,
            "returned_minor": 1900,
            "left_reason": "",
            "player_id": "3f1c5d0e-7a4b-4a55-9d52-0c6f3f1f5a10",
            "balance_before_minor": 5000,
            "balance_after_minor": 5900,
        }
    ],
    "proof": "/v1/fairness/rounds/1b9d6bcd2f6a4c8e9d3b5a7c0e4f8a21/bundle",
}
PAGE_EXAMPLE = OpenApiExample("One round of a player", value={"rounds": [ROUND], "next": None}, response_only=True)
HAND_EXAMPLE = OpenApiExample(
    "The beginning of a round",
    value={
        "format": hands.FORMAT,
        **ROUND,
        "options": {},
        "buy_in_minor": 1000,
        "fee_bp": 500,
        "entropy": "open",
        "beacon_round": None,
        "opener": 0,
        "clock_offset_ms": 0,
        "outcome": None,
        "movements": [
            {
                "transaction_id": "c0a8012e-5d5f-4d7b-8b52-6f0c2f8d9e01",
                "kind": "buy_in",
                "seat": 0,
                "amount_minor": -1000,
                "balance_after_minor": 4000,
                "created_at_ms": 1700000010000,
            }
        ],
        "entries": [
            {
                "seq": 1,
                "at_ms": 1700000013000,
                "kind": "act",
                "seat": 0,
                "input": {"type": "draw"},
                "events": [
                    {
                        "type": "drew",
                        "seat": 0,
                        "cards": [{"gen": 0, "pos": 15, "card": "R7#1"}],
                        "cause": "turn",
                    }
                ],
                "head": "5e" * 32,
            }
        ],
        "decks": [],
    },
    response_only=True,
)


def reader_of(request: Request) -> Reader:
    """Return who reads: a player his own rounds, a key with the scope ``read`` all of its operator."""
    principal = principal_of(request)
    if isinstance(principal, PlayerPrincipal):
        return Reader(principal.operator_id, principal.player_id)
    scope_check(principal, "read")
    return Reader(principal.operator_id)


def _page(request: Request, query_class: type[StrictSerializer]) -> hands.Page:
    query = query_class(data=request.query_params.dict())
    query.is_valid(raise_exception=True)
    asked = dict(query.validated_data)
    cursor, limit = asked.pop("cursor"), asked.pop("limit")
    return hands.page(reader=reader_of(request), filters=Filters(**asked), cursor=cursor, limit=limit)


def _link(request: Request, page: hands.Page) -> dict[str, str]:
    """Return the header that leads to the next page."""
    if page.following is None:
        return {}
    query = urlencode(request.query_params.dict() | {"cursor": page.following})
    return {"Link": f'<{request.path}?{query}>; rel="next"'}


class FileView(ApiView):
    """A view whose answer is not JSON, whatever the caller says to accept."""

    permission_classes = (IsOperatorOrPlayer,)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Let problems be JSON, and everything else what the view makes of it."""
        return super().perform_content_negotiation(request, force=True)


class HandsView(ApiView):
    """Rounds that were played."""

    permission_classes = (IsOperatorOrPlayer,)

    @extend_schema(
        operation_id="round_list",
        parameters=[ListQuerySerializer],
        responses={200: HandPageSerializer},
        examples=[PAGE_EXAMPLE],
    )
    @refuses(*refusals.HAND_LIST)
    def get(self, request: Request) -> Response:
        """List rounds, newest first: a player's own with what they cost and gave, or all of an operator's."""
        page = _page(request, ListQuerySerializer)
        told = hands.summaries(reader=reader_of(request), round_ids=page.round_ids)
        return Response({"rounds": told, "next": page.following}, headers=_link(request, page))


class HandView(ApiView):
    """The whole of a round."""

    permission_classes = (IsOperatorOrPlayer,)

    @extend_schema(operation_id="round_history", responses={200: HandSerializer}, examples=[HAND_EXAMPLE])
    @refuses(*refusals.HAND_GET)
    def get(self, request: Request, round_id: UUID) -> Response:
        """Return everything of a round that you may know: while it runs what you were shown, afterwards every card."""
        return Response(hands.hand(reader=reader_of(request), round_id=round_id))


class HandTextView(FileView):
    """The whole of a round as text."""

    @extend_schema(operation_id="round_history_text", responses={(200, "text/plain"): OpenApiTypes.STR})
    @refuses(*refusals.HAND_GET)
    def get(self, request: Request, round_id: UUID) -> HttpResponse:
        """Return the same as `history`, to be read by a person."""
        told = hand_text.text(hands.hand(reader=reader_of(request), round_id=round_id))
        return HttpResponse(told, content_type=TEXT)


def _export(request: Request, kind: str, shape: Callable[[dict[str, Any]], str]) -> StreamingHttpResponse:
    page = _page(request, ExportQuerySerializer)
    told = hands.hands(reader=reader_of(request), round_ids=page.round_ids)
    return StreamingHttpResponse(
        (shape(hand).encode() for hand in told),
        content_type=kind,
        headers={"Cache-Control": "no-store", "X-Rounds": str(len(page.round_ids)), **_link(request, page)},
    )


def _line(hand: dict[str, Any]) -> str:
    return json.dumps(hand, separators=(",", ":"), ensure_ascii=False) + "\n"


class HandsExportView(FileView):
    """Many rounds as JSON Lines."""

    @extend_schema(
        operation_id="round_export",
        parameters=[ExportQuerySerializer],
        responses={(200, JSONL): OpenApiResponse(OpenApiTypes.STR, "One `history` a line.")},
    )
    @refuses(*refusals.HAND_LIST)
    def get(self, request: Request) -> StreamingHttpResponse:
        """Stream the whole of up to 1,000 rounds, one a line; `X-Rounds` says how many, `Link` where the next are."""
        return _export(request, JSONL, _line)


class HandsTextExportView(FileView):
    """Many rounds as text."""

    @extend_schema(
        operation_id="round_export_text",
        parameters=[ExportQuerySerializer],
        responses={
            (200, "text/plain"): OpenApiResponse(OpenApiTypes.STR, "The text form of each, a blank line apart.")
        },
    )
    @refuses(*refusals.HAND_LIST)
    def get(self, request: Request) -> StreamingHttpResponse:
        """Stream the text form of up to 1,000 rounds; `X-Rounds` says how many, `Link` where the next are."""
        return _export(request, TEXT, lambda hand: hand_text.text(hand) + "\n")
