"""The route of a move, which is asked for more often than all others together.

A request in its usual form goes around what Django REST framework does for every view and this one does not use:
negotiation, versions, renderers.  It is checked as strictly, by the same functions in the same order; a request in any
other form goes the usual way and gets the usual answer.

Source: docs/players/README.md; docs/developers/performance.md.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api.authentication import PlayerSignatureAuthentication, bearer, player_authenticate
from apps.accounts.api.permissions import IsPlayer, player_of
from apps.accounts.api.throttles import rate_apply
from apps.accounts.principals import PlayerPrincipal
from apps.accounts.rates import move_take
from apps.core import clock, heartbeat, logs, sandbox
from apps.core.api import problems
from apps.core.api.document import refuses
from apps.core.api.parsers import strict_loads
from apps.core.api.views import ApiView
from apps.core.idempotency import key_of
from apps.tables import limits, metrics, replay
from apps.tables.api import refusals
from apps.tables.api.serializers import SEQ_MAX, ActionSerializer, MovedSerializer
from apps.tables.services import play

ACCEPTED = frozenset({"", "*/*", "application/json"})
MEMBERS = {"action", "seen"}


class ActionsView(ApiView):
    """Moves."""

    authentication_classes = (PlayerSignatureAuthentication,)
    permission_classes = (IsPlayer,)
    rate_policy = "move"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Take a request in its usual form the short way."""
        if not _is_usual(request):
            return super().dispatch(request, *args, **kwargs)
        try:
            return _short(request, kwargs["round_id"])
        except Exception as error:
            answer = problems.handler(error, {"request": request})
            if answer is None:
                raise
            return answer

    @extend_schema(operation_id="round_act", request=ActionSerializer, responses={201: MovedSerializer})
    @refuses(*refusals.ROUND_ACT)
    def post(self, request: Request, round_id: UUID) -> Response:
        """Play one action. With an Idempotency-Key, sending it again has no second effect and the same answer."""
        answer, headers = _moved(request._request, player_of(request), round_id, _validated(request.data))
        return Response(answer, status=status.HTTP_201_CREATED, headers=headers)


def _is_usual(request: HttpRequest) -> bool:
    return (
        request.method == "POST"
        and request.META.get("CONTENT_TYPE") == "application/json"
        and request.META.get("HTTP_ACCEPT", "") in ACCEPTED
        and request.META.get("HTTP_AUTHORIZATION", "").startswith("Bearer pt_")
        and request.META.get("CONTENT_LENGTH", "0") != "0"
        and sandbox.HEADER not in request.headers
    )


def _short(request: HttpRequest, round_id: UUID) -> HttpResponse:
    body = request.body
    heartbeat.ensure()
    player = player_authenticate(bearer(request), check_version=False)
    logs.bind(round=round_id, operator=player.operator_id, player=player.player_id)
    rate_apply(request, move_take(owner=str(player.player_id)))
    answer, headers = _moved(request, player, round_id, _validated(strict_loads(body)))
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return HttpResponse(text.encode(), status=201, content_type="application/json", headers=headers)


def _validated(data: Any) -> dict[str, Any]:
    """Return the body; the serializer looks at it only when something is wrong, to say what.

    Raises:
        ValidationError: with a pointer to each member that is wrong.
    """
    if (
        isinstance(data, dict)
        and data.keys() == MEMBERS
        and type(data["action"]) is dict
        and type(data["seen"]) is int
        and -1 <= data["seen"] <= SEQ_MAX
    ):
        return data
    serializer = ActionSerializer(data=data)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def _moved(
    request: HttpRequest, player: PlayerPrincipal, round_id: UUID, body: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Make the move and return the answer with its headers."""
    now_ms = clock.now_ms()
    action = body["action"]
    key = key_of(request)
    with metrics.MOVES.time(), limits.calls_limited(round_id, player.player_id, action.get("type")):
        moved = play.round_act(
            round_id=round_id,
            player_id=player.player_id,
            session_id=player.session_id,
            action=action,
            seen=body["seen"],
            now_ms=now_ms,
            request_key=key,
            request_sha256=None if key is None else hashlib.sha256(request.body).digest(),
        )
    if moved.message is None:
        return replay.answer(round_id=round_id, seq=moved.seq, seat=moved.seat), {"Idempotency-Replayed": "true"}
    return moved.message, {}
