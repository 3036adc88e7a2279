"""Failures to order, where the whole installation is a sandbox: a refusal, a delay, an answer that is lost.

A request's header ``Sealdeck-Sandbox`` says what shall go wrong with it.  Without SEALDECK_SANDBOX the header means
nothing at all.

Source: docs/operators/sandbox.md.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpResponse
from rest_framework.request import Request

from apps.core.errors import ApplicationError, error_classes

HEADER = "Sealdeck-Sandbox"
DELAY_MS_MAX = 10_000
_WISH = re.compile(r"(lost)|delay=([0-9]{1,5})|refuse=([a-z][a-z0-9_]{1,47})", re.ASCII)


class SandboxWishInvalid(ApplicationError):
    """The header asks for something that there is not."""

    code = "sandbox_wish_invalid"
    status = 400
    title = f"{HEADER} is 'lost', 'delay=MILLISECONDS' up to {DELAY_MS_MAX}, or 'refuse=CODE' of a code in errors.md."


@dataclass(frozen=True, slots=True)
class Wish:
    """What shall go wrong with one request."""

    is_lost: bool = False
    delay_ms: int = 0
    refusal: type[ApplicationError] | None = None


def is_sandbox() -> bool:
    """Tell whether this installation is for trying out."""
    return bool(settings.SEALDECK_SANDBOX)


def wish_of(request: Request) -> Wish:
    """Return what the request asks for; nothing where this is no sandbox.

    Raises:
        SandboxWishInvalid: it cannot be had.
    """
    text = request.headers.get(HEADER)
    if text is None or not is_sandbox():
        return Wish()
    found = _WISH.fullmatch(text)
    if found is None:
        raise SandboxWishInvalid
    lost, delay, code = found.groups()
    if delay is not None and int(delay) > DELAY_MS_MAX:
        raise SandboxWishInvalid
    refusal = error_classes().get(code) if code else None
    if code and refusal is None:
        raise SandboxWishInvalid(f"There is no refusal {code!r}.")
    return Wish(bool(lost), int(delay or 0), refusal)


def before(request: Request) -> None:
    """Let the request wait, or refuse it before anything is done.

    Raises:
        SandboxWishInvalid: as wish_of.
        ApplicationError: the refusal that was ordered.
    """
    wish = wish_of(request)
    if wish.delay_ms:
        time.sleep(wish.delay_ms / 1000)
    if wish.refusal is not None:
        raise wish.refusal("The sandbox was asked to refuse this.")


def lost() -> HttpResponse:
    """Return what a proxy says when the answer did not come through; what was asked for is done."""
    return HttpResponse(b"", status=504)
