"""Base classes of every API view: what the body may be, who may call."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.core import heartbeat, logs, sandbox

UNSAFE = ("POST", "PUT", "PATCH", "DELETE")


class ApiView(APIView):
    """A view for callers with credentials; settings name the authentication classes."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Read the body once, see that the clocks are right, find out who calls, and tell the log."""
        if request.method in UNSAFE:
            # Signatures and idempotency want the very bytes that were sent.
            _ = request._request.body
        heartbeat.ensure()
        logs.bind(table=kwargs.get("table_id"), round=kwargs.get("round_id"))
        super().initial(request, *args, **kwargs)
        logs.bind(
            operator=getattr(request.auth, "operator_id", None),
            player=getattr(request.auth, "player_id", None),
        )
        sandbox.before(request)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Finish an answer, or lose it, where a sandbox was asked to."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        is_lost = answer.status_code < 400 and sandbox.wish_of(request).is_lost
        return sandbox.lost() if is_lost else answer


class PublicView(ApiView):
    """A view for everybody: it looks at no credentials and shows nothing that is not public."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
