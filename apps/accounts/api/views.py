"""Routes of players, player sessions and API keys.

Source: docs/operators/keys-and-sessions.md.
"""

from __future__ import annotations

import base64
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import selectors, services
from apps.accounts.api.permissions import IsOperatorOrPlayer, operator_of, principal_of, scope, scope_check
from apps.accounts.api.serializers import (
    AnswerKeySerializer,
    KeyCreateSerializer,
    KeySerializer,
    NewKeySerializer,
    PlayerSerializer,
    PlayerStatusSerializer,
    PlayerUpsertSerializer,
    SessionCreateSerializer,
    SessionSerializer,
)
from apps.accounts.errors import (
    KeyLimitReached,
    KeyNotFound,
    PlayerClosed,
    PlayerConflict,
    PlayerNotFound,
    SessionNotFound,
    SignatureKeyInvalid,
)
from apps.accounts.models import ApiKey, PlayerStatus
from apps.accounts.principals import PlayerPrincipal
from apps.accounts.signatures import Algorithm, answer_keys, hmac_secret
from apps.core.api.document import refuses
from apps.core.api.views import ApiView, PublicView


def validated(serializer_class: type[Any], request: Request) -> dict[str, Any]:
    """Return the validated body of a request.

    Raises:
        ValidationError: with a pointer to each member that is wrong.
    """
    serializer = serializer_class(data=request.data)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


class PlayersView(ApiView):
    """Players of the operator."""

    permission_classes = (scope("play"),)

    @extend_schema(operation_id="player_upsert", request=PlayerUpsertSerializer, responses={200: PlayerSerializer})
    @refuses(PlayerConflict)
    def post(self, request: Request) -> Response:
        """Create a player under your own id, or return the one that has it."""
        body = validated(PlayerUpsertSerializer, request)
        caller = operator_of(request)
        player = services.player_upsert(operator_id=caller.operator_id, actor=caller.actor, **body)
        return Response(_player(caller.operator_id, player.pk))


class PlayerView(ApiView):
    """One player."""

    def get_permissions(self) -> list[BasePermission]:
        """Let a player read himself; changing a status is for operators."""
        return [scope("admin")() if self.request.method == "PATCH" else IsOperatorOrPlayer()]

    @extend_schema(operation_id="player_get", responses={200: PlayerSerializer})
    @refuses(PlayerNotFound)
    def get(self, request: Request, player_id: UUID) -> Response:
        """Return a player."""
        return Response(PlayerSerializer(player_visible(request, player_id, scope="read")).data)

    @extend_schema(operation_id="player_status_set", request=PlayerStatusSerializer, responses={200: PlayerSerializer})
    @refuses(PlayerNotFound, PlayerClosed)
    def patch(self, request: Request, player_id: UUID) -> Response:
        """Freeze, thaw or close a player. A closed player's sessions end at once, and it never opens again."""
        caller = operator_of(request)
        selectors.player_get(operator_id=caller.operator_id, player_id=player_id)
        body = validated(PlayerStatusSerializer, request)
        services.player_status_set(
            player_id=player_id, status=PlayerStatus(body["status"]), actor=caller.actor, reason=body["reason"]
        )
        return Response(_player(caller.operator_id, player_id))


class SessionsView(ApiView):
    """Player sessions."""

    permission_classes = (scope("play"),)

    @extend_schema(operation_id="session_create", request=SessionCreateSerializer, responses={201: SessionSerializer})
    @refuses(PlayerNotFound, PlayerClosed)
    def post(self, request: Request) -> Response:
        """Start a session of a player and return its token."""
        body = validated(SessionCreateSerializer, request)
        selectors.player_get(operator_id=operator_of(request).operator_id, player_id=body["player_id"])
        made = services.session_create(player_id=body["player_id"], ttl_s=body["ttl_s"])
        return Response(SessionSerializer(made).data, status=status.HTTP_201_CREATED)


class SessionView(ApiView):
    """One player session."""

    permission_classes = (scope("play"),)

    @extend_schema(operation_id="session_revoke", request=None, responses={204: None})
    @refuses(SessionNotFound)
    def delete(self, request: Request, session_id: UUID) -> Response:
        """End a player's session at once, and every other session of the player with it."""
        services.session_revoke(operator_id=operator_of(request).operator_id, session_id=session_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class KeysView(ApiView):
    """API keys of the operator."""

    permission_classes = (scope("admin"),)

    @extend_schema(operation_id="key_list", responses={200: KeySerializer(many=True)})
    def get(self, request: Request) -> Response:
        """Return the newest keys, revoked ones too, without their secrets."""
        found = selectors.keys(operator_id=operator_of(request).operator_id)
        return Response(KeySerializer(found, many=True).data)

    @extend_schema(operation_id="key_create", request=KeyCreateSerializer, responses={201: NewKeySerializer})
    @refuses(KeyLimitReached, SignatureKeyInvalid)
    def post(self, request: Request) -> Response:
        """Create an API key. The answer holds the key itself, this once."""
        body = validated(KeyCreateSerializer, request)
        signing = _signing(body.pop("signature", None))
        caller = operator_of(request)
        key, plaintext = services.key_create(
            operator_id=caller.operator_id, signing=signing, actor=caller.actor, **body
        )
        return Response(_new_key(key, plaintext), status=status.HTTP_201_CREATED)


class AnswerKeysView(PublicView):
    """Keys that sign the server's answers."""

    @extend_schema(operation_id="answer_keys", responses={200: AnswerKeySerializer(many=True)})
    def get(self, request: Request) -> Response:
        """Return the public keys that sign answers, the one in use first."""
        return Response(
            [
                {"kid": key.kid, "algorithm": "ed25519", "public_key": base64.b64encode(key.public_key).decode()}
                for key in answer_keys()
            ]
        )


class KeyView(ApiView):
    """One API key."""

    permission_classes = (scope("admin"),)

    @extend_schema(operation_id="key_revoke", request=None, responses={200: KeySerializer})
    @refuses(KeyNotFound)
    def delete(self, request: Request, key_id: UUID) -> Response:
        """Revoke an API key at once."""
        caller = operator_of(request)
        key = services.key_revoke(operator_id=caller.operator_id, key_id=key_id, actor=caller.actor)
        return Response(KeySerializer(key).data)


def player_visible(request: Request, player_id: UUID, *, scope: str) -> selectors.PlayerFacts:
    """Return a player for whom the caller may act: any of an operator's own, or the player who calls.

    Args:
        scope: what an operator's key needs for it.

    Raises:
        PlayerNotFound: there is none, for this caller.
        ScopeMissing: the operator's key has not the scope.
    """
    principal = principal_of(request)
    if isinstance(principal, PlayerPrincipal):
        if principal.player_id != player_id:
            raise PlayerNotFound
    else:
        scope_check(principal, scope)
    return selectors.player_get(operator_id=principal.operator_id, player_id=player_id)


def _player(operator_id: UUID, player_id: UUID) -> dict[str, Any]:
    return dict(PlayerSerializer(selectors.player_get(operator_id=operator_id, player_id=player_id)).data)


def _new_key(key: ApiKey, plaintext: str) -> dict[str, Any]:
    is_hmac = key.signature_alg == Algorithm.HMAC_SHA256
    secret = base64.b64encode(hmac_secret(key.pk)).decode() if is_hmac else None
    return {**KeySerializer(key).data, "api_key": plaintext, "hmac_secret": secret}


def _signing(body: dict[str, Any] | None) -> services.Signing | None:
    if body is None:
        return None
    return services.Signing(Algorithm(body["algorithm"]), base64.b64decode(body.get("public_key", "")))
