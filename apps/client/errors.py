"""What can go wrong with a call, told apart by what its caller has to do.

``ApiError``: the server said no, with a code, and nothing happened.  ``OutcomeUnknown``: nobody can say whether it
happened; send the same again with the same Idempotency-Key.  ``AnswerInvalid``: whoever answered is not the server that
was expected, or not one that this client understands.

Source: docs/operators/errors.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class ClientError(Exception):
    """Base of all that this package raises."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One member of the request that is wrong."""

    pointer: str
    code: str
    detail: str


class ApiError(ClientError):
    """The server refused; ``code`` is stable, the texts are for people."""

    def __init__(self, document: Mapping[str, Any], status: int) -> None:
        self.document = dict(document)
        self.status = status
        self.code = str(document.get("code", "unknown"))
        self.title = str(document.get("title", ""))
        self.detail = str(document.get("detail", ""))
        self.trace_id = str(document.get("trace_id", ""))
        self.is_retryable = document.get("retryable") is True
        super().__init__(f"{self.code}: {self.detail or self.title} (HTTP {status}, trace {self.trace_id})")

    @property
    def errors(self) -> tuple[FieldError, ...]:
        """Return the members of the request that are wrong."""
        listed = self.document.get("errors")
        if not isinstance(listed, Sequence) or isinstance(listed, str):
            return ()
        return tuple(
            FieldError(str(one.get("pointer", "")), str(one.get("code", "")), str(one.get("detail", "")))
            for one in listed
            if isinstance(one, Mapping)
        )


class OutcomeUnknown(ClientError):
    """No usable answer came, and the request may have had its effect or not.

    Send it again with the same ``idempotency_key`` to find out; it has its effect once.
    """

    def __init__(self, why: str, idempotency_key: str) -> None:
        self.idempotency_key = idempotency_key
        super().__init__(why)


class AnswerInvalid(ClientError):
    """An answer came that is not JSON, or is not signed as it should be."""


class StreamInvalid(ClientError):
    """A stream sent what is no message of a table."""


class StreamLost(ClientError):
    """A stream broke off; connect again with the last cursor."""
