"""How often a key or a player may call.

A view names its bucket with ``rate_policy``; None is no limit, which is right for whatever confirms a payout or takes
a bet back.  A view that says nothing is counted as ``money`` if it asks for that scope, else by its method.

Source: docs/operators/rate-limits.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from apps.accounts.api.permissions import scope
from apps.accounts.callers import rate_set
from apps.accounts.errors import RateLimited
from apps.accounts.principals import OperatorPrincipal, PlayerPrincipal
from apps.accounts.rates import Verdict, move_take, rate_take

if TYPE_CHECKING:
    from rest_framework.views import APIView  # Which reads the settings that name this module.

SAFE = ("GET", "HEAD", "OPTIONS")


class CallerThrottle(BaseThrottle):
    """A bucket for every key and every player."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Return True, or raise RateLimited."""
        match request.auth:
            case PlayerPrincipal():
                usual, owner = "player", str(request.auth.player_id)
            case OperatorPrincipal():
                usual, owner = _operator_policy(request, view), str(request.auth.key_id)
            case _:
                return True
        policy: str | None = getattr(view, "rate_policy", usual)
        if policy is None:
            return True
        rate_apply(
            request._request, move_take(owner=owner) if policy == "move" else rate_take(policy=policy, owner=owner)
        )
        return True


def rate_apply(request: HttpRequest, verdict: Verdict | None) -> None:
    """Let the answer tell where the caller stands.

    Raises:
        RateLimited: the bucket is empty.
    """
    if verdict is None:
        return
    rate_set(request, verdict.rate)
    if not verdict.is_allowed:
        raise RateLimited(retry_after_s=verdict.retry_after_s)


def _operator_policy(request: Request, view: APIView) -> str:
    if scope("money") in view.permission_classes:
        return "money"
    return "read" if request.method in SAFE else "write"
