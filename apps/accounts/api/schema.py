"""How the API document describes the two kinds of credentials, and what every caller with one may be refused with."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

from apps.accounts.api.permissions import IsOperatorOrPlayer, IsPlayer
from apps.accounts.errors import (
    AddressNotAllowed,
    KeyInvalid,
    NonceReused,
    RateLimited,
    ScopeMissing,
    SessionExpired,
    SignatureInvalid,
    SignatureRequired,
    TimestampOutOfRange,
    TokenInvalid,
    Unauthenticated,
)
from apps.core.api.document import DocumentedSchema


class ApiSchema(DocumentedSchema):
    """Describes every operation of the API."""

    caller_refusals = (
        Unauthenticated,
        KeyInvalid,
        TokenInvalid,
        SessionExpired,
        SignatureInvalid,
        SignatureRequired,
        TimestampOutOfRange,
        NonceReused,
        AddressNotAllowed,
        ScopeMissing,
        RateLimited,
    )

    def get_auth(self) -> list[dict[str, Any]]:
        """Name the credentials that the operation takes, out of those that its view knows."""
        schemes: list[dict[str, Any]] = super().get_auth()
        asked = {type(permission) for permission in self.view.get_permissions()}
        if IsOperatorOrPlayer in asked:
            return schemes
        is_for_player = IsPlayer in asked
        return [scheme for scheme in schemes if any(name.startswith("player") == is_for_player for name in scheme)]


class OperatorKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # Of drf-spectacular.
    """An operator's API key."""

    target_class = "apps.accounts.api.authentication.OperatorKeyAuthentication"
    name = "operatorKey"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """Return the scheme."""
        return {"type": "http", "scheme": "bearer", "bearerFormat": "sk_...", "description": "An operator's API key."}


class PlayerTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # Of drf-spectacular.
    """A player's session token."""

    target_class = "apps.accounts.api.authentication.PlayerTokenAuthentication"
    name = "playerToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """Return the scheme."""
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "pt_...",
            "description": "A player token.",
        }


class PlayerMoveScheme(PlayerTokenScheme):  # type: ignore[no-untyped-call]  # Of drf-spectacular.
    """A player's session token where a move is made; the session is looked at together with the move."""

    target_class = "apps.accounts.api.authentication.PlayerSignatureAuthentication"
    name = "playerMoveToken"
