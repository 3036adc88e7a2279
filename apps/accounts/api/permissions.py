"""What a caller may do.

A refusal says which of the two it is: nobody called (401 ``unauthenticated``) or somebody who may not (403
``scope_missing``).

Source: docs/operators/keys-and-sessions.md, section Scopes.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.accounts import conf
from apps.accounts.errors import ScopeMissing, SignatureRequired, Unauthenticated
from apps.accounts.principals import SCOPES, OperatorPrincipal, PlayerPrincipal

if TYPE_CHECKING:
    from rest_framework.views import APIView  # Which reads the settings that name this module.

SIGNED_SCOPES = frozenset({"money", "admin"})
"""A stolen key alone neither moves money nor makes itself a key that could."""


class IsOperator(BasePermission):
    """Any key of any operator."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return True, or raise Unauthenticated or ScopeMissing."""
        operator_of(request)
        return True


class IsPlayer(BasePermission):
    """Any player."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return True, or raise Unauthenticated or ScopeMissing."""
        player_of(request)
        return True


class IsOperatorOrPlayer(BasePermission):
    """Anybody with credentials."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return True, or raise Unauthenticated."""
        principal_of(request)
        return True


@cache
def scope(name: str) -> type[BasePermission]:
    """Return the permission that asks for an operator's key with this scope."""
    assert name in SCOPES, name

    class HasScope(BasePermission):
        """A key with the scope."""

        def has_permission(self, request: Request, view: APIView) -> bool:
            """Return True, or raise Unauthenticated or ScopeMissing."""
            scope_check(operator_of(request), name)
            return True

    HasScope.__name__ = HasScope.__qualname__ = f"Has{name.capitalize()}Scope"
    return HasScope


def scope_check(principal: OperatorPrincipal, name: str) -> None:
    """Return if the key has the scope, and the request the signature that the scope may ask for.

    Raises:
        ScopeMissing: the key has not the scope.
        SignatureRequired: the scope asks for a signature.
    """
    if name not in principal.scopes:
        raise ScopeMissing(f"This needs a key with the scope '{name}'.", scope=name)
    if name in SIGNED_SCOPES and not principal.is_signed and (principal.must_sign or conf.requires_signatures()):
        raise SignatureRequired


def principal_of(request: Request) -> OperatorPrincipal | PlayerPrincipal:
    """Return who calls.

    Raises:
        Unauthenticated: nobody did.
    """
    if isinstance(request.auth, OperatorPrincipal | PlayerPrincipal):
        return request.auth
    raise Unauthenticated("Send 'Authorization: Bearer' and an API key or a player token.")


def operator_of(request: Request) -> OperatorPrincipal:
    """Return the operator that calls.

    Raises:
        Unauthenticated: nobody does.
        ScopeMissing: a player does.
    """
    principal = principal_of(request)
    if isinstance(principal, OperatorPrincipal):
        return principal
    raise ScopeMissing("This is for operators, with an API key.")


def player_of(request: Request) -> PlayerPrincipal:
    """Return the player that calls.

    Raises:
        Unauthenticated: nobody does.
        ScopeMissing: an operator does.
    """
    principal = principal_of(request)
    if isinstance(principal, PlayerPrincipal):
        return principal
    raise ScopeMissing("This is for players, with a player token.")
