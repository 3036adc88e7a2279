"""Evidence for everybody: the audit bundle of a round, and of all rounds of a table.  No login.

Source: docs/fairness/protocol.md, section 12; docs/fairness/auditors.md.
"""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request

from apps.accounts.api.permissions import IsOperatorOrPlayer
from apps.core.api.document import refuses
from apps.core.api.parsers import MalformedJson
from apps.core.api.views import ApiView, PublicView
from apps.fairness.errors import LogUnavailable
from apps.history import selectors as history
from apps.tables import selectors
from apps.tables.api.views import round_seen
from apps.tables.errors import RoundNotFound, SpectatorsNotAllowed, TableNotFound
from apps.tables.models import Round

BUNDLES_MAX = 1_000
"""Rounds of one answer of BundlesView; the next ones are asked for with ``from``."""

IMMUTABLE = "public, max-age=31536000, immutable"


class BundleView(PublicView):
    """The audit bundle of a round."""

    @extend_schema(operation_id="round_bundle", auth=[], responses={200: OpenApiTypes.OBJECT})
    @refuses(RoundNotFound, LogUnavailable)
    def get(self, request: Request, round_id: UUID) -> HttpResponse:
        """Return the round's audit bundle in canonical JSON; while it runs, as much of it as is published.

        A running round whose table is closed to spectators, or shows them play with a delay, comes without its entries.
        The bundle of an ended round is final once every witness has cosigned it: the same bytes for ever.
        """
        round_ = selectors.round_get(round_id=round_id)
        ended = round_.status in (Round.Status.FINISHED, Round.Status.VOID)
        shown = ended or (round_.table.spectators_allowed and not round_.table.spectator_delay_ms)
        bundle = history.bundle(round_id=round_id, with_transcript=shown)
        etag = quote_etag(sha256(bundle.data).hexdigest())
        headers = {"ETag": etag, "Cache-Control": IMMUTABLE if bundle.is_final else "no-cache"}
        answer = HttpResponse(bundle.data, content_type="application/json", headers=headers)
        return get_conditional_response(request._request, etag=etag, response=answer) or answer


class BundlesView(PublicView):
    """The audit bundles of a table."""

    @extend_schema(
        operation_id="table_bundles",
        auth=[],
        parameters=[
            OpenApiParameter("from", int, description="First index; 0 if left out."),
            OpenApiParameter("to", int, description="Last index; as many as there are if left out."),
        ],
        responses={(200, "application/jsonl"): OpenApiResponse(OpenApiTypes.STR, "One bundle a line.")},
    )
    @refuses(TableNotFound, MalformedJson)
    def get(self, request: Request, table_id: UUID) -> StreamingHttpResponse:
        """Stream the bundles of a table's ended rounds by index, at most 1,000, as JSON Lines."""
        table = selectors.table_get(table_id=table_id)
        first, last = _index(request, "from", 0), _index(request, "to", 2**32 - 1)
        rounds = Round.objects.filter(
            table=table, index__gte=first, index__lte=last, status__in=[Round.Status.FINISHED, Round.Status.VOID]
        )
        ids = list(rounds.order_by("index").values_list("id", flat=True)[:BUNDLES_MAX])
        return StreamingHttpResponse(
            history.bundles(round_ids=ids),
            content_type="application/jsonl",
            headers={"Cache-Control": "no-store", "X-Rounds": str(len(ids))},
        )


def _index(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        raise MalformedJson(f"{name} is the index of a round: an integer from 0.")
    return int(text)


class ProofView(ApiView):
    """The way from a round to its evidence."""

    permission_classes = (IsOperatorOrPlayer,)

    @extend_schema(operation_id="round_proof", responses={303: None})
    @refuses(RoundNotFound, SpectatorsNotAllowed)
    def get(self, request: Request, round_id: UUID) -> HttpResponse:
        """Redirect to the round's audit bundle, which everybody can read."""
        round_seen(request, round_id)
        answer = HttpResponseRedirect(reverse("bundle", kwargs={"round_id": round_id}))
        answer.status_code = status.HTTP_303_SEE_OTHER
        return answer
