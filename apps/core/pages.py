"""Middleware that only pages for people need, so that requests of the API do not pay for it."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]


class PagesOnly:
    """Passes the API's requests by: they have no cookie, no session, no user and no static files."""

    def __call__(self, request: HttpRequest) -> Any:
        """Let the middleware that is mixed in work on pages."""
        if request.path.startswith("/v1/"):
            return self.get_response(request)  # type: ignore[attr-defined]  # Of the class that this is mixed into.
        return super().__call__(request)  # type: ignore[misc]


class PagesWhiteNoise(PagesOnly, WhiteNoiseMiddleware):  # type: ignore[misc]  # Untyped.
    """Static files."""


class PagesSession(PagesOnly, SessionMiddleware):
    """Sessions of the admin site."""


class PagesAuthentication(PagesOnly, AuthenticationMiddleware):
    """Users of the admin site."""


class PagesMessage(PagesOnly, MessageMiddleware):
    """Messages of the admin site."""
