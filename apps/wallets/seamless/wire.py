"""Calling an operator's wallet: signed, to a checked address, within a bounded time, never inside a transaction.

Requests are signed with the server's answer key and answers with the operator's, in the forms of
docs/operators/signatures.md; in both, ``<operator id>.<kid>`` stands where an API key's prefix would, so that a call
for one operator is nobody else's.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.db import connection

from apps.accounts.signatures import answer_keys
from apps.client import signing
from apps.core import egress
from apps.core.clock import now_ms
from apps.wallets.seamless.protocol import Call, Outcome, Verdict, verdict

TOTAL_S = 8.0
"""For connecting (3 s of it at most), sending and reading; below an operator's own limit."""
HEADER_KEY = "Sealdeck-Key"


@dataclass(frozen=True, slots=True)
class Target:
    """Where an operator's wallet is, and whose signatures are believed."""

    operator_id: UUID
    url: str
    answer_keys: tuple[bytes, ...]


def call(*, target: Target, what: Call, body: bytes, idempotency_key: str = "") -> Verdict:
    """Do one call and return what became of it; never raises for what the other side does."""
    assert not connection.in_atomic_block, "no transaction is open while an operator is called"
    key = answer_keys()[0]
    url = f"{target.url}/{what}"
    name, nonce = f"{target.operator_id}.{key.kid}", secrets.token_urlsafe(18)
    headers = signing.request_headers(
        signer=signing.Ed25519Signer(key.private_key),
        prefix=name,
        method="POST",
        url=url,
        timestamp_s=now_ms() // 1000,
        nonce=nonce,
        body=body,
        idempotency_key=idempotency_key,
    )
    headers |= {HEADER_KEY: name, "Content-Type": "application/json"}
    if idempotency_key:
        headers[signing.HEADER_IDEMPOTENCY] = idempotency_key
    answer = egress.post(url, headers=headers, body=body, total_s=TOTAL_S)
    unknown = partial(Verdict, Outcome.UNKNOWN, retry_after_s=answer.retry_after_s)
    if answer.status is None:
        return unknown(answer.error)
    exchange = signing.Exchange(
        prefix=name,
        method="POST",
        url=url,
        nonce=nonce,
        timestamp=answer.headers.get(signing.HEADER_ANSWER_TIMESTAMP.lower(), ""),
        status=answer.status,
        body=answer.body,
    )
    signature = answer.headers.get(signing.HEADER_ANSWER_SIGNATURE.lower(), "")
    keys = {signing.key_kid(public): public for public in target.answer_keys}
    said = verdict(call=what, sent=body, status=answer.status, body=answer.body)
    if said.outcome is Outcome.UNKNOWN:
        return unknown(said.code)
    return said if signing.answer_is_signed(exchange, signature, keys) else unknown("answer_not_signed")
