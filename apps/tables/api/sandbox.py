"""The route that moves a table's clock, in a sandbox.

Source: docs/operators/sandbox.md.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api.fields import StrictIntegerField, StrictSerializer
from apps.accounts.api.permissions import scope
from apps.core.api.document import refuses
from apps.core.api.views import ApiView
from apps.tables.api.serializers import TableSerializer
from apps.tables.api.views import arrival, table_answer, table_seen, validated
from apps.tables.errors import TableNotFound
from apps.tables.services.sandbox import ADVANCE_MS_MAX, table_clock_advance


class ClockAdvanceSerializer(StrictSerializer):
    """The body of POST /v1/sandbox/tables/{id}/clock."""

    ms = StrictIntegerField(min_value=1, max_value=ADVANCE_MS_MAX, help_text="How far, milliseconds.")


class ClockView(ApiView):
    """The clock of a table."""

    permission_classes = (scope("play"),)

    @extend_schema(
        operation_id="sandbox_clock_advance", request=ClockAdvanceSerializer, responses={200: TableSerializer}
    )
    @refuses(TableNotFound)
    def post(self, request: Request, table_id: UUID) -> Response:
        """Let what is due within so many milliseconds happen now. Only in a sandbox; elsewhere 404."""
        table_seen(request, table_id)
        body: dict[str, Any] = validated(ClockAdvanceSerializer, request)
        table_clock_advance(table_id=table_id, ms=body["ms"], now_ms=arrival(request))
        return Response(table_answer(request, table_seen(request, table_id)))
