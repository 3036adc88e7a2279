"""Log context: the request id that every line of one request, and every problem document, carries."""

from __future__ import annotations

import re
from contextvars import ContextVar
from uuid import uuid4

ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""A request id from outside is taken over when it has this form."""

_request_id: ContextVar[str] = ContextVar("request_id", default="")


def request_id() -> str:
    """Return the id of the request being answered; outside of one, a new one."""
    return _request_id.get() or uuid4().hex


def request_id_set(offered: str | None) -> str:
    """Begin a request: take over the id its caller offers, or make one."""
    chosen = offered if offered and ACCEPTED.fullmatch(offered) else uuid4().hex
    _request_id.set(chosen)
    return chosen
