"""Routes of what proves the ledger: daily files, block heads, keys.

Source: docs/operators/wallet.md, section Daily files, and docs/auditors/ledger.md.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import renderers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api.permissions import operator_of, scope
from apps.core.api.document import refuses
from apps.core.api.views import ApiView, PublicView
from apps.wallets import selectors
from apps.wallets.api.serializers import (
    BlockSerializer,
    BlocksQuerySerializer,
    DailyQuerySerializer,
    LedgerKeySerializer,
)
from apps.wallets.errors import ReportNotFound

CONTENT_TYPE = "application/x-ndjson"


class LinesRenderer(renderers.BaseRenderer):
    """Lets a caller ask for lines of JSON; the view writes the bytes itself."""

    media_type = CONTENT_TYPE
    format = "ndjson"

    def render(self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None) -> bytes:
        """Return bytes as they are."""
        assert isinstance(data, bytes), "a file is bytes"
        return data


class DailyFileView(ApiView):
    """The daily file of one currency."""

    permission_classes = (scope("read"),)
    renderer_classes = (LinesRenderer, renderers.JSONRenderer)

    @extend_schema(
        operation_id="report_daily",
        parameters=[DailyQuerySerializer],
        responses={(200, CONTENT_TYPE): OpenApiTypes.STR},
    )
    @refuses(ReportNotFound)
    def get(self, request: Request, day: str) -> HttpResponse:
        """Return a day's signed file: a header, a line for each transaction, and a line with hash and signature.

        In a sandbox also today's, as far as it has come.
        """
        query = DailyQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        try:
            asked = date.fromisoformat(day)
        except ValueError:
            raise ReportNotFound from None
        body = selectors.daily_file(
            operator_id=operator_of(request).operator_id, currency=query.validated_data["currency"], day=asked
        )
        return HttpResponse(body, content_type=CONTENT_TYPE)


class BlocksView(ApiView):
    """Heads of the operator's sealed blocks."""

    permission_classes = (scope("read"),)

    @extend_schema(
        operation_id="ledger_blocks", parameters=[BlocksQuerySerializer], responses={200: BlockSerializer(many=True)}
    )
    def get(self, request: Request) -> Response:
        """Return block heads after a number, in order. Keep them: they are what we cannot rewrite."""
        query = BlocksQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        found = selectors.blocks(operator_id=operator_of(request).operator_id, **query.validated_data)
        return Response(BlockSerializer(found, many=True).data)


class LedgerKeysView(PublicView):
    """Public keys of the ledger."""

    @extend_schema(operation_id="ledger_keys", responses={200: LedgerKeySerializer(many=True)}, auth=[])
    def get(self, request: Request) -> Response:
        """Return every public key that ever signed blocks and daily files."""
        return Response(LedgerKeySerializer(selectors.ledger_keys(), many=True).data)
