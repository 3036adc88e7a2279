"""How the API document describes the two kinds of credentials."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema


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
