"""Routes of a player's limits and exclusion, for the operator and for the player himself.

Source: docs/operators/responsible-play.md.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import selectors, services
from apps.accounts.api.permissions import IsOperatorOrPlayer, principal_of
from apps.accounts.api.serializers import (
    ExclusionCreateSerializer,
    ExclusionSerializer,
    LimitsSerializer,
    LimitsSetSerializer,
)
from apps.accounts.api.views import player_visible, validated
from apps.accounts.errors import ExclusionTooShort, LimitCurrencyInvalid, PlayerNotFound
from apps.accounts.limits import MONEY_KINDS, LimitKind
from apps.core.api.document import refuses
from apps.core.api.views import ApiView
from apps.core.clock import now_ms


class LimitsView(ApiView):
    """Limits of one player."""

    permission_classes = (IsOperatorOrPlayer,)

    @extend_schema(operation_id="player_limits_get", responses={200: LimitsSerializer})
    @refuses(PlayerNotFound)
    def get(self, request: Request, player_id: UUID) -> Response:
        """Return what holds now, what is waiting, and the newest changes."""
        player = player_visible(request, player_id, scope="read")
        return Response(_limits(player.operator_id, player_id, now_ms()))

    @extend_schema(operation_id="player_limits_set", request=LimitsSetSerializer, responses={200: LimitsSerializer})
    @refuses(PlayerNotFound, LimitCurrencyInvalid)
    def patch(self, request: Request, player_id: UUID) -> Response:
        """Change limits. What tightens holds at once, what loosens 24 hours later; what is not named stays."""
        player = player_visible(request, player_id, scope="play")
        wishes = [_wish(wish, index) for index, wish in enumerate(validated(LimitsSetSerializer, request)["limits"])]
        now = now_ms()
        services.limits_set(player_id=player_id, wishes=wishes, actor=principal_of(request).actor, now=now)
        return Response(_limits(player.operator_id, player_id, now))


class ExclusionView(ApiView):
    """Exclusion of one player."""

    permission_classes = (IsOperatorOrPlayer,)

    @extend_schema(operation_id="player_exclusion_get", responses={200: ExclusionSerializer})
    @refuses(PlayerNotFound)
    def get(self, request: Request, player_id: UUID) -> Response:
        """Return whether the player is excluded, and until when."""
        player = player_visible(request, player_id, scope="read")
        return Response(_exclusion(player.operator_id, player_id, now_ms()))

    @extend_schema(
        operation_id="player_exclude", request=ExclusionCreateSerializer, responses={201: ExclusionSerializer}
    )
    @refuses(PlayerNotFound, ExclusionTooShort)
    def post(self, request: Request, player_id: UUID) -> Response:
        """Exclude the player from play. Nobody can take it back; payouts and withdrawals go on."""
        player = player_visible(request, player_id, scope="play")
        until_ms = validated(ExclusionCreateSerializer, request)["until_ms"]
        now = now_ms()
        services.player_exclude(player_id=player_id, until_ms=until_ms, actor=principal_of(request).actor, now=now)
        return Response(_exclusion(player.operator_id, player_id, now), status=status.HTTP_201_CREATED)


def _wish(wish: dict[str, Any], index: int) -> services.LimitWish:
    kind, currency = LimitKind(wish["kind"]), wish.get("currency", "")
    if (kind in MONEY_KINDS) != bool(currency):
        raise LimitCurrencyInvalid(pointer=f"/limits/{index}/currency")
    return services.LimitWish(kind, currency, wish["value"])


def _limits(operator_id: UUID, player_id: UUID, now: int) -> dict[str, Any]:
    limits = selectors.limits_of(persons=selectors.person_of(player_id=player_id), now=now)[player_id]
    return {
        "limits": [
            {
                "kind": kind,
                "currency": currency or None,
                "value": limit.value,
                "is_loosening": limit.pending is not None,
                "next_value": limit.pending.value if limit.pending else None,
                "next_at_ms": limit.pending.effective_at_ms if limit.pending else None,
            }
            for (kind, currency), limit in limits.items()
        ],
        "changes": [
            {
                "kind": change.kind,
                "currency": change.currency or None,
                "value": change.value,
                "actor": change.actor,
                "created_at_ms": change.created_at_ms,
                "effective_at_ms": change.effective_at_ms,
            }
            for change in selectors.limit_changes(operator_id=operator_id, player_id=player_id)
        ],
    }


def _exclusion(operator_id: UUID, player_id: UUID, now: int) -> dict[str, Any]:
    excluded = selectors.players_excluded(operator_id=operator_id, player_ids=[player_id], now=now)
    return {"is_excluded": player_id in excluded, "until_ms": excluded.get(player_id)}
