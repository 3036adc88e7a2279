"""One call of the API from first attempt to last, without any input or output.

``exchange`` is a generator: it yields what to send or how long to wait, is sent what came back, and returns the result.
The synchronous and the asynchronous client drive one and the same code.

Retries carry the same Idempotency-Key and are signed anew.  Only what has its effect once however often it is sent is
repeated after a lost answer.

Source: docs/operators/README.md, section Retries.
"""

from __future__ import annotations

import json
import random
import secrets
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from apps.client.errors import AnswerInvalid, ApiError, OutcomeUnknown
from apps.client.signing import (
    HEADER_ANSWER_SIGNATURE,
    HEADER_ANSWER_TIMESTAMP,
    HEADER_IDEMPOTENCY,
    Exchange,
    Signer,
    answer_is_signed,
    key_prefix,
    request_headers,
)

BODY_MAX_BYTES = 16 * 1024 * 1024
"""A longer answer is not read to its end."""
READ_S = 10.0
RETRIED_STATUSES = frozenset({409, 429, 500, 502, 503, 504})
REDIRECTS = frozenset({307, 308})
SAFE_METHODS = frozenset({"GET", "HEAD"})
AGENT = "sealdeck-client/1"


@dataclass(frozen=True, slots=True)
class Call:
    """What to ask of the server."""

    method: str
    path: str
    """Below the base address, percent-encoded, beginning with ``/``."""
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    idempotency_key: str = ""
    is_repeatable: bool = False
    """Whether it has its effect once however often it is sent, key or not."""
    is_public: bool = False
    """Whether it is for everybody: then no credentials go with it, and the answer carries no signature."""
    read_s: float = READ_S
    """How long to wait for the next bytes of the answer."""

    @property
    def may_repeat(self) -> bool:
        """Tell whether it may be sent again when nobody knows what became of it."""
        return self.is_repeatable or bool(self.idempotency_key) or self.method in SAFE_METHODS

    @property
    def target(self) -> str:
        """Return path and query."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path


def call(
    method: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    query: Mapping[str, str | int | None] | None = None,
    idempotency_key: str = "",
    is_repeatable: bool = False,
    is_public: bool = False,
    read_s: float = READ_S,
) -> Call:
    """Return a call with a JSON body; query members that are None are left out."""
    return Call(
        method=method,
        path=path,
        query={name: str(value) for name, value in (query or {}).items() if value is not None},
        body=b"" if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(),
        idempotency_key=idempotency_key,
        is_repeatable=is_repeatable,
        is_public=is_public,
        read_s=read_s,
    )


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and how patiently to try again."""

    attempts_max: int = 5
    wait_first_s: float = 0.2
    wait_max_s: float = 10.0

    def wait_s(self, attempt: int, told_s: float | None) -> float:
        """Return how long to wait after an attempt, counted from 1: what the server said, else ever longer."""
        if told_s is not None:
            return min(told_s, self.wait_max_s)
        longest = min(self.wait_first_s * 2 ** (attempt - 1), self.wait_max_s)
        return random.uniform(longest / 2, longest)  # noqa: S311  # Spreads retries; secures nothing.


NEVER = Retries(attempts_max=1)


@dataclass(slots=True)
class Credentials:
    """How a client proves who it is, and whose answers it believes."""

    token: str = field(repr=False)
    """An API key or a player token."""
    signer: Signer | None = None
    answer_keys: Mapping[str, bytes] = field(default_factory=dict)
    """Keys of the server by kid; with any, an answer that is not signed by one of them is not believed."""
    clock_offset_s: int = 0
    """What the server's clock is ahead of ours, learned from its refusals."""

    @property
    def prefix(self) -> str:
        """Return the name of the API key, '' for a player token."""
        return key_prefix(self.token) if self.token.startswith("sk_") else ""

    def timestamp_s(self) -> int:
        """Return the server's time as far as we know it."""
        return int(time.time()) + self.clock_offset_s


@dataclass(frozen=True, slots=True)
class Send:
    """Send this, and send back an Answer or a Lost."""

    method: str
    target: str
    """Below the base address, or a whole address after a redirect."""
    headers: Mapping[str, str]
    body: bytes
    read_s: float


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait this long, and send back None."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; names of headers in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Lost:
    """Nothing usable came back.  ``was_sent`` is False only if the request certainly did not leave."""

    why: str
    was_sent: bool


Steps = Generator[Send | Wait, Answer | Lost | None, Any]


def exchange(call: Call, credentials: Credentials, retries: Retries, base_path: str = "") -> Steps:
    """Do a call: yield what to send and how long to wait, return the decoded answer (None where it is empty).

    Args:
        base_path: path under which the API lies on its host, without a final ``/``; it is part of what is signed.

    Raises:
        ApiError: the server refused for good.
        OutcomeUnknown: the attempts are used up, or the call must not be repeated.
        AnswerInvalid: what answered is not the server.
    """
    call = replace(call, path=base_path + call.path)
    attempt, is_clock_set, was_lost = 0, False, False
    while True:
        attempt += 1
        sending, nonce = _sending(call, credentials)
        came = yield sending
        assert came is not None
        is_last = attempt >= retries.attempts_max
        if isinstance(came, Lost):
            was_lost = was_lost or came.was_sent
            if is_last or (came.was_sent and not call.may_repeat):
                raise OutcomeUnknown(came.why, call.idempotency_key)
            yield Wait(retries.wait_s(attempt, None))
            continue
        _signature_check(call, credentials, nonce, came)
        if came.status in REDIRECTS and call.method == "GET":
            # Where streams and long polls are served.  The address carries its own ticket, so no credentials go there.
            came = yield Send("GET", location_of(came), {"Accept": "application/json"}, b"", call.read_s)
            assert came is not None
            if isinstance(came, Lost):
                came = Answer(503, {}, came.why.encode())
        if 200 <= came.status < 300:
            return _decoded(came) if came.body else None
        error = refusal(came)
        if error.code == "timestamp_out_of_range" and not is_clock_set:
            credentials.clock_offset_s += int(error.document["now_s"]) - credentials.timestamp_s()
            is_clock_set, attempt = True, attempt - 1
            continue
        was_lost = was_lost or error.status >= 500
        if is_last or not _is_repeated(call, error):
            if was_lost and call.method not in SAFE_METHODS and not _is_decision(error):
                raise OutcomeUnknown(str(error), call.idempotency_key) from error
            raise error
        yield Wait(retries.wait_s(attempt, _told_s(came)))


def location_of(answer: Answer) -> str:
    """Return the whole address that a redirect names.

    Raises:
        AnswerInvalid: it names none.
    """
    location = answer.headers.get("location", "")
    parts = urlsplit(location)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.username is not None:
        raise AnswerInvalid("A redirect without a whole address.")
    return location


def _is_decision(error: ApiError) -> bool:
    """Tell whether the refusal says what became of the request, and of earlier attempts with it."""
    return 400 <= error.status < 500 and error.status not in (401, 429) and not error.is_retryable


def _sending(call: Call, credentials: Credentials) -> tuple[Send, str]:
    headers = {"Accept": "application/json", "User-Agent": AGENT}
    if credentials.token and not call.is_public:
        headers["Authorization"] = f"Bearer {credentials.token}"
    if call.body:
        headers["Content-Type"] = "application/json"
    if call.idempotency_key:
        headers[HEADER_IDEMPOTENCY] = call.idempotency_key
    nonce = ""
    if credentials.signer is not None and not call.is_public:
        nonce = secrets.token_urlsafe(18)
        headers |= request_headers(
            signer=credentials.signer,
            prefix=credentials.prefix,
            method=call.method,
            url=call.target,
            timestamp_s=credentials.timestamp_s(),
            nonce=nonce,
            body=call.body,
            idempotency_key=call.idempotency_key,
        )
    return Send(call.method, call.target, headers, call.body, call.read_s), nonce


def _signature_check(call: Call, credentials: Credentials, nonce: str, answer: Answer) -> None:
    """Refuse an answer that should be signed and is not.

    What says that nobody was recognised, or that the server failed, is never signed and is never a result either.
    """
    if not credentials.answer_keys or call.is_public or answer.status == 401 or answer.status >= 500:
        return
    exchange = Exchange(
        prefix=credentials.prefix,
        method=call.method,
        url=call.target,
        nonce=nonce,
        timestamp=answer.headers.get(HEADER_ANSWER_TIMESTAMP.lower(), ""),
        status=answer.status,
        body=answer.body,
    )
    header = answer.headers.get(HEADER_ANSWER_SIGNATURE.lower(), "")
    if not answer_is_signed(exchange, header, credentials.answer_keys):
        raise AnswerInvalid("The answer is not signed by the server's key; whether something happened is unknown.")


def _decoded(answer: Answer) -> Any:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip()
    if kind.startswith("text/"):
        return answer.body.decode("utf-8", "strict")
    try:
        return json.loads(answer.body)
    except ValueError:
        raise AnswerInvalid(f"HTTP {answer.status} with a body that is not JSON.") from None


def refusal(answer: Answer) -> ApiError:
    """Return the error that an answer tells of."""
    try:
        document = json.loads(answer.body)
    except ValueError:
        document = None
    if isinstance(document, dict) and isinstance(document.get("code"), str):
        return ApiError(document, answer.status)
    # A proxy's page, perhaps: the status is all there is to know.
    return ApiError({"code": f"http_{answer.status}", "title": "The answer was not one of the API."}, answer.status)


def _is_repeated(call: Call, error: ApiError) -> bool:
    if error.status == 429:
        return True
    if error.status == 409:
        return error.is_retryable and call.may_repeat
    return error.status in RETRIED_STATUSES and call.may_repeat


def _told_s(answer: Answer) -> float | None:
    text = answer.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() else None
