"""Logs: one JSON object a line, with the request it belongs to, and without secrets or hidden cards.

Every line of a request carries ``request_id`` and, as far as they are known, ``operator``, ``player``, ``table`` and
``round``.  What must never be read in a log is removed by name and by form, in our own lines as in those of libraries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from functools import lru_cache
from typing import Any
from uuid import uuid4

import structlog

ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""A request id from outside is taken over when it has this form."""

REDACTED = "[redacted]"
SECRET_NAMES = re.compile(
    r"token|secret|password|passwd|authorization|cookie|credential|seed|salt|private|signature|api[_-]?key|^key$|^keys$|kek"
    r"|^card$|cards|hand|^deck$|^order$|^source$|state|snapshot|opening|^view$|^body$|^payload$",
    re.IGNORECASE,
)
"""Names whose values are removed whole."""
PUBLIC_NAMES = frozenset({"sqlstate", "key_id", "api_key_id", "handler", "kek_id", "idempotency_key"})
SECRET_FORMS = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[^\s\"']+"), r"\1 " + REDACTED),
    (re.compile(r"\b(sk|pt|st|whsec)_[A-Za-z0-9_\-.=]{6,}"), r"\1_" + REDACTED),
    (re.compile(r"(://[^:/@\s]*):[^@/\s]+@"), r"\1:" + REDACTED + "@"),
    (re.compile(r"(?i)\b[0-9a-f]{64,}\b"), REDACTED),
    (re.compile(r"\b[A-Za-z0-9+*-]{1,6}#[0-9]{1,2}\b"), REDACTED),
)
"""Forms that are removed from any text: credentials, passwords in addresses, 32 bytes in hex (a seed looks like a
hash), cards."""
SUSPICIOUS = re.compile(r"(?i)bearer|basic|(sk|pt|st|whsec)_|://|#|[0-9a-f]{64}")
"""What every one of SECRET_FORMS needs: a text without it, as nearly all are, is looked at once."""
DEPTH_MAX = 6


def request_id() -> str:
    """Return the id of the request being answered; outside of one, a new one."""
    return str(structlog.contextvars.get_contextvars().get("request_id") or uuid4().hex)


def request_begin(offered: str | None) -> str:
    """Forget the request before, take over the id that the caller offers, or make one, and return it."""
    chosen = offered if offered and ACCEPTED.fullmatch(offered) else uuid4().hex
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=chosen)
    return chosen


def bind(**context: object) -> None:
    """Add what becomes known about the request; None is left out."""
    structlog.contextvars.bind_contextvars(**{name: str(value) for name, value in context.items() if value is not None})


def redact(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Remove secrets and hidden cards from a line: a structlog processor, the last one before rendering."""
    for name in list(event):
        event[name] = _redacted(name, event[name], DEPTH_MAX)
    return event


@lru_cache(maxsize=1024)
def _is_secret(name: str) -> bool:
    return name not in PUBLIC_NAMES and SECRET_NAMES.search(name) is not None


def _redacted(name: str, value: Any, depth: int) -> Any:
    if _is_secret(name):
        return value if isinstance(value, bool | None) else REDACTED
    if isinstance(value, bool | int | float | None):
        return value
    if depth == 0 or isinstance(value, bytes | bytearray | memoryview):
        return REDACTED
    if isinstance(value, Mapping):
        return {str(key): _redacted(str(key), inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_redacted("", inner, depth - 1) for inner in value]
    text = str(value)
    if not SUSPICIOUS.search(text):
        return text
    for form, instead in SECRET_FORMS:
        text = form.sub(instead, text)
    return text


SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]


def configuration(level: str) -> dict[str, Any]:
    """Return Django's LOGGING, and set structlog up to go the same way."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": [*SHARED, structlog.stdlib.PositionalArgumentsFormatter()],
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    redact,
                    structlog.processors.JSONRenderer(sort_keys=True),
                ],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django would answer for these itself, as text.
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            # Refusals have their line in sealdeck.access already.
            "django.request": {"level": "ERROR", "propagate": True},
            "celery": {"level": "WARNING", "propagate": True},
            # Every tick of beat and every task of a worker would be a line.
            "celery.beat": {"level": "WARNING", "propagate": True},
            "celery.app.trace": {"level": "WARNING", "propagate": True},
            "httpx": {"level": "WARNING", "propagate": True},
        },
    }
