"""Calling a wallet as Sealdeck does, and looking at its answers as Sealdeck does: what the check stands on.

Source: docs/operators/seamless-wallet.md.
"""

from __future__ import annotations

import http.client
import json
import secrets
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from apps.client import signing
from apps.client.wallet.signed import HEADER_KEY

TIMEOUT_S = 8.0
ANSWER_BYTES_MAX = 65_536


class Unfit(Exception):
    """The wallet did something else than the protocol says."""


@dataclass(frozen=True, slots=True)
class Said:
    """A signed answer."""

    status: int
    members: dict[str, Any]

    @property
    def code(self) -> str:
        """Return the code of a refusal, '' otherwise."""
        return "" if self.status == 200 else str(self.members.get("code", ""))


@dataclass(frozen=True, slots=True)
class Bent:
    """What is wrong with a call on purpose."""

    signature: str | None = None
    """Sent instead of the right one; '' sends none."""
    nonce: str | None = None
    late_s: int = 0
    signed_body: bytes | None = None
    """Another body than the one sent."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls which wallet, and whose answers are believed."""

    url: str
    key_name: str
    """The value of ``Sealdeck-Key``."""
    key: Ed25519PrivateKey = field(repr=False)
    answer_keys: Mapping[str, bytes] = field(default_factory=dict)

    def call(self, what: str, members: Mapping[str, Any]) -> Said:
        """Do a call and return its answer.

        Raises:
            Unfit: there is no answer, or it is not signed, or it is of another call.
        """
        nonce = secrets.token_urlsafe(18)
        body = _json(members)
        status, headers, said = self._exchange(what, body, self._headers(what, body, nonce, members, Bent()))
        exchange = signing.Exchange(
            prefix=self.key_name,
            method="POST",
            url=f"{self.url}/{what}",
            nonce=nonce,
            timestamp=headers.get(signing.HEADER_ANSWER_TIMESTAMP.lower(), ""),
            status=status,
            body=said,
        )
        signature = headers.get(signing.HEADER_ANSWER_SIGNATURE.lower(), "")
        if not signing.answer_is_signed(exchange, signature, self.answer_keys):
            raise Unfit(f"{what}: status {status}, and the answer is not signed by the answer key")
        try:
            read = json.loads(said)
        except ValueError:
            read = None
        if not isinstance(read, dict) or read.get("transaction_id") != members.get("transaction_id"):
            raise Unfit(f"{what}: the answer is no JSON object with the call's transaction_id")
        return Said(status, read)

    def status(self, what: str, members: Mapping[str, Any], bent: Bent) -> int:
        """Do a call that is signed in a wrong way and return the status."""
        body, nonce = _json(members), bent.nonce or secrets.token_urlsafe(18)
        return self._exchange(what, body, self._headers(what, body, nonce, members, bent))[0]

    def lose(self, what: str, members: Mapping[str, Any]) -> None:
        """Do a call and hang up without reading the answer."""
        body = _json(members)
        connection = self._connection()
        headers = self._headers(what, body, secrets.token_urlsafe(18), members, Bent())
        try:
            connection.request("POST", urlsplit(f"{self.url}/{what}").path, body, headers)
        except OSError as error:
            raise Unfit(f"{what}: {error!r}") from error
        finally:
            connection.close()

    def _headers(self, what: str, body: bytes, nonce: str, members: Mapping[str, Any], bent: Bent) -> dict[str, str]:
        idempotency_key = str(members.get("transaction_id", ""))
        headers = signing.request_headers(
            signer=signing.Ed25519Signer(self.key),
            prefix=self.key_name,
            method="POST",
            url=f"{self.url}/{what}",
            timestamp_s=int(time.time()) - bent.late_s,
            nonce=nonce,
            body=body if bent.signed_body is None else bent.signed_body,
            idempotency_key=idempotency_key,
        )
        headers |= {HEADER_KEY: self.key_name, "Content-Type": "application/json"}
        if idempotency_key:
            headers[signing.HEADER_IDEMPOTENCY] = idempotency_key
        if bent.signature is not None:
            headers[signing.HEADER_SIGNATURE] = bent.signature
        return {name: value for name, value in headers.items() if value}

    def _connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        if parts.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(parts.netloc, timeout=TIMEOUT_S, context=context)
        return http.client.HTTPConnection(parts.netloc, timeout=TIMEOUT_S)

    def _exchange(self, what: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, dict[str, str], bytes]:
        connection = self._connection()
        try:
            connection.request("POST", urlsplit(f"{self.url}/{what}").path, body, dict(headers))
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, named, answer.read(ANSWER_BYTES_MAX)
        except (OSError, http.client.HTTPException) as error:
            raise Unfit(f"{what}: no answer ({error!r})") from error
        finally:
            connection.close()


def _json(members: Mapping[str, Any]) -> bytes:
    return json.dumps(members, sort_keys=True, separators=(",", ":")).encode("ascii")
