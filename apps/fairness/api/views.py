"""Public reading of the log, its keys, its proofs and the records of a round: no login, no cookie, no personal data.

Implements docs/fairness/protocol.md, section 11.  What can never change is served as immutable; the checkpoint, and
whatever depends on it, is asked for anew each time.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from apps.core.api.document import refuses
from apps.core.api.views import PublicView
from apps.fairness import selectors
from apps.fairness.api.serializers import (
    ConsistencyQuery,
    ConsistencySerializer,
    InclusionQuery,
    InclusionSerializer,
    KeysSerializer,
    RoundRecordsSerializer,
    StatisticsQuery,
    StatisticsSerializer,
    TrustFileSerializer,
    TrustSerializer,
)
from apps.fairness.errors import LogUnavailable, ProofRange, RoundUnknown, TileUnknown
from apps.fairness.protocol.errors import TileError
from apps.fairness.protocol.tiles import tile_path_read
from apps.fairness.verify.archive import NAME, build

FOREVER = "public, max-age=31536000, immutable"
ANEW = "no-cache"
MINUTE = "public, max-age=60"

TRUST_WARNING = (
    "This answer comes from the server that it judges. Keep a copy, and compare it with what the operator's regulator, "
    "a witness, a printed page or other players have, before you rely on it: a server that shows you a log of your own "
    "would show you a key of your own."
)
TAG = ["fairness"]


class FairnessView(PublicView):
    """A public view that any page may read and that says how long its answer holds."""

    cache: ClassVar[str] = ANEW

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """Add the headers; errors are never kept."""
        answer: Response = super().finalize_response(request, response, *args, **kwargs)
        answer.headers["Access-Control-Allow-Origin"] = "*"
        if answer.status_code >= 400:
            answer.headers["Cache-Control"] = "no-store"
        else:
            answer.headers.setdefault("Cache-Control", self.cache)
        return answer


def _query(shape: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the parameters of the address.

    Raises:
        ValidationError: one is missing or malformed.
    """
    serializer = shape(data=request.query_params.dict())
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def _kept(data: dict[str, Any], *, forever: bool) -> Response:
    return Response(data, headers={"Cache-Control": FOREVER if forever else ANEW})


class KeysView(FairnessView):
    """Every key the log announced, added or revoked."""

    @extend_schema(tags=TAG, operation_id="fairness_keys", auth=[], responses=KeysSerializer)
    @refuses(LogUnavailable)
    def get(self, request: Request) -> Response:
        """Return all key entries of the log in order, each with its index."""
        return Response({"origin": selectors.log_origin(), "keys": selectors.keys()})


class TrustView(FairnessView):
    """The trust file of this server."""

    @extend_schema(tags=TAG, operation_id="fairness_trust", auth=[], responses=TrustSerializer)
    @refuses(LogUnavailable)
    def get(self, request: Request) -> Response:
        """Return the trust file of this server, with the warning to pin it elsewhere."""
        return Response({"trust": selectors.trust(), "warning": TRUST_WARNING})


class TrustFileView(FairnessView):
    """The trust file of this server, ready for a verifier."""

    @extend_schema(tags=TAG, operation_id="fairness_trust_file", auth=[], responses=TrustFileSerializer)
    @refuses(LogUnavailable)
    def get(self, request: Request) -> Response:
        """Return the trust file alone; the warning is in the header ``Sealdeck-Warning``."""
        return Response(selectors.trust(), headers={"Sealdeck-Warning": TRUST_WARNING})


class VerifierView(FairnessView):
    """The verifier, as this server would be checked with."""

    @extend_schema(
        tags=TAG,
        operation_id="fairness_verifier",
        auth=[],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request) -> HttpResponse:
        """Return `sealdeck-verify.pyz`; its SHA-256 is in the header `Digest-SHA-256` and at `.sha256`.

        It is the published file, byte for byte; compare the digest with one from elsewhere before you trust it.
        """
        data, digest = _verifier()
        headers = {"Digest-SHA-256": digest, "Content-Disposition": f'attachment; filename="{NAME}"'}
        return HttpResponse(data, content_type="application/octet-stream", headers={"Cache-Control": ANEW, **headers})


class VerifierDigestView(FairnessView):
    """The digest of the verifier."""

    @extend_schema(
        tags=TAG,
        operation_id="fairness_verifier_digest",
        auth=[],
        responses={(200, "text/plain"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponse:
        """Return the SHA-256 of `sealdeck-verify.pyz` in the form that `sha256sum -c` reads."""
        _, digest = _verifier()
        return HttpResponse(f"{digest}  {NAME}\n", content_type="text/plain", headers={"Cache-Control": ANEW})


@cache
def _verifier() -> tuple[bytes, str]:
    data = build()
    return data, sha256(data).hexdigest()


class CheckpointView(FairnessView):
    """The newest published checkpoint."""

    @extend_schema(
        tags=TAG,
        operation_id="fairness_checkpoint",
        auth=[],
        responses={(200, "text/plain"): OpenApiTypes.STR},
    )
    @refuses(LogUnavailable)
    def get(self, request: Request) -> HttpResponse:
        """Return the newest checkpoint as a C2SP signed note, with its cosignatures."""
        newest = selectors.published()
        if newest is None:
            raise LogUnavailable("Nothing is published yet.")
        return HttpResponse(newest.note, content_type="text/plain; charset=utf-8")


class TileView(FairnessView):
    """A tile of the log's tree, or a bundle of its entries."""

    cache = FOREVER

    @extend_schema(
        tags=TAG,
        operation_id="fairness_tile",
        auth=[],
        parameters=[
            OpenApiParameter(
                "tile",
                str,
                OpenApiParameter.PATH,
                description="`<L>/<N>[.p/<W>]` or `entries/<N>[.p/<W>]` of C2SP tlog-tiles.",
            )
        ],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    @refuses(TileUnknown)
    def get(self, request: Request, tile: str) -> HttpResponse:
        """Return a tile or an entry bundle in the encoding of C2SP tlog-tiles."""
        try:
            level, index, width = tile_path_read(f"tile/{tile}")
        except TileError as problem:
            raise TileUnknown("This is not the path of a tile.") from problem
        return HttpResponse(selectors.tile(level, index, width), content_type="application/octet-stream")


class InclusionView(FairnessView):
    """Inclusion proofs."""

    @extend_schema(
        tags=TAG,
        operation_id="fairness_inclusion_proof",
        auth=[],
        parameters=[InclusionQuery],
        responses=InclusionSerializer,
    )
    @refuses(LogUnavailable, ProofRange)
    def get(self, request: Request) -> Response:
        """Prove that an entry is in the tree of a size."""
        query = _query(InclusionQuery, request)
        return _kept(selectors.inclusion(query["index"], query.get("size")), forever="size" in query)


class ConsistencyView(FairnessView):
    """Consistency proofs."""

    @extend_schema(
        tags=TAG,
        operation_id="fairness_consistency_proof",
        auth=[],
        parameters=[ConsistencyQuery],
        responses=ConsistencySerializer,
    )
    @refuses(LogUnavailable, ProofRange)
    def get(self, request: Request) -> Response:
        """Prove that the tree of one size extends that of a smaller one."""
        query = _query(ConsistencyQuery, request)
        return _kept(selectors.consistency(query["from"], query.get("to")), forever="to" in query)


class RoundView(FairnessView):
    """The records of one round."""

    @extend_schema(tags=TAG, operation_id="fairness_round", auth=[], responses=RoundRecordsSerializer)
    @refuses(RoundUnknown)
    def get(self, request: Request, round_id: UUID) -> Response:
        """Return the records of a round so far, each with its hash and its place in the log."""
        records = selectors.round_records(round_id)
        last = records[-1]
        forever = last["index"] is not None and last["record"]["type"] in ("reveal", "void")
        return _kept({"round": round_id.hex, "records": records}, forever=forever)


class StatisticsView(FairnessView):
    """How rounds ended."""

    cache = MINUTE

    @extend_schema(
        tags=TAG,
        operation_id="fairness_statistics",
        auth=[],
        parameters=[StatisticsQuery],
        responses=StatisticsSerializer,
    )
    def get(self, request: Request) -> Response:
        """Return how many rounds were finished or voided, and how fast their ends were published."""
        since = _query(StatisticsQuery, request).get("since")
        return Response({"since": since, "endings": selectors.statistics(since=since)})
