"""Base classes of every API view: what the body may be, who may call."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

UNSAFE = ("POST", "PUT", "PATCH", "DELETE")


class ApiView(APIView):
    """A view for callers with credentials; settings name the authentication classes."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Read the body once, so that signatures and idempotency see the very bytes that were sent."""
        if request.method in UNSAFE:
            _ = request._request.body
        super().initial(request, *args, **kwargs)


class PublicView(ApiView):
    """A view for everybody: it looks at no credentials and shows nothing that is not public."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
