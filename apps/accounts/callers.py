"""What the middleware has to know of a request once a view has looked at its credentials.

Source: docs/operators/signatures.md and docs/operators/rate-limits.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

_ATTRIBUTE = "sealdeck_caller"
_RATE = "sealdeck_rate"


@dataclass(frozen=True, slots=True)
class Caller:
    """An operator whose key is known; whether the request is accepted is another question."""

    key_prefix: str


@dataclass(frozen=True, slots=True)
class Rate:
    """Where a caller stands in the bucket that this request was taken from."""

    policy: str
    quota: int
    window_s: int
    remaining: int
    reset_s: int


def caller_set(request: HttpRequest, caller: Caller) -> None:
    """Remember who sent the request."""
    setattr(request, _ATTRIBUTE, caller)


def caller_of(request: HttpRequest) -> Caller | None:
    """Return the operator that sent the request, or None if no valid key came."""
    caller: Any = getattr(request, _ATTRIBUTE, None)
    return caller if isinstance(caller, Caller) else None


def rate_set(request: HttpRequest, rate: Rate) -> None:
    """Remember the bucket of the request."""
    setattr(request, _RATE, rate)


def rate_of(request: HttpRequest) -> Rate | None:
    """Return the bucket of the request, or None if it was not counted."""
    rate: Any = getattr(request, _RATE, None)
    return rate if isinstance(rate, Rate) else None
