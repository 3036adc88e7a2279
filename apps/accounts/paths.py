"""The path of a request as signatures see it."""

from __future__ import annotations

from django.http import HttpRequest


def path_of(request: HttpRequest) -> bytes:
    """Return the path of a request, percent-decoded, as the bytes that were routed."""
    return request.path.encode()
