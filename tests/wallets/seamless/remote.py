"""An operator's wallet on loopback: the reference wallet, which a test can make fail call by call."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from apps.accounts import signatures
from apps.client.wallet.book import Book
from apps.client.wallet.server import Answer, Wallet, server_make
from apps.client.wallet.signed import Operator, Request

ANSWER_KEY = Ed25519PrivateKey.from_private_bytes(b"\x02" * 32)
ANSWER_PUBLIC = ANSWER_KEY.public_key().public_bytes_raw()
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(b"\x03" * 32)

Fault = Callable[["Remote", Request], Answer | None]


class Remote(Wallet):
    """The reference wallet; ``faults`` are used up one for each call, then it works."""

    def __init__(self, operator_id: UUID) -> None:
        key = signatures.answer_keys()[0]
        super().__init__(Book(), Operator({f"{operator_id}.{key.kid}": key.public_key}, ANSWER_KEY))
        self.faults: dict[str, list[Fault]] = defaultdict(list)
        self.is_down = False
        self.seen: list[tuple[str, bytes]] = []
        self.port = 0

    @property
    def url(self) -> str:
        """Return the wallet's address."""
        return f"http://127.0.0.1:{self.port}/wallet"

    def answer(self, request: Request) -> Answer | None:
        """Answer as the next fault says, or rightly."""
        call = request.url.rpartition("/")[2]
        self.seen.append((call, request.body))
        if self.is_down:
            return 503, {}, b"down"
        if self.faults[call]:
            return self.faults[call].pop(0)(self, request)
        return super().answer(request)

    def calls(self, *names: str) -> list[dict[str, Any]]:
        """Return the bodies of the calls of these names, in order."""
        return [json.loads(body) for call, body in self.seen if call in names]


def right(remote: Remote, request: Request) -> Answer:
    """Do the call and return its right answer."""
    answer = Wallet.answer(remote, request)
    assert answer is not None
    return answer


def lost(remote: Remote, request: Request) -> None:
    """Do the call; its answer is lost."""
    right(remote, request)


def ignored(_remote: Remote, _request: Request) -> None:
    """Hang up."""


def status(code: int, body: bytes = b"<html>") -> Fault:
    """Answer with a bare status, having done nothing."""
    return lambda _remote, _request: (code, {"Retry-After": "1"}, body)


def unsigned(remote: Remote, request: Request) -> Answer:
    """Do the call and do not sign the answer."""
    code, _, body = right(remote, request)
    return code, {}, body


def signed(remote: Remote, request: Request, code: int, body: bytes, key: Ed25519PrivateKey = ANSWER_KEY) -> Answer:
    """Return an answer with a signature."""
    signer = Operator(remote.operator.caller_keys, key)
    return code, signer.answer_headers(request, code, body, 1_800_000_000), body


def signed_by_another(remote: Remote, request: Request) -> Answer:
    """Do the call; somebody else signs."""
    code, _, body = right(remote, request)
    return signed(remote, request, code, body, OTHER_KEY)


def said(code: int, body: bytes) -> Fault:
    """Answer with these bytes, signed, having done nothing."""
    return lambda remote, request: signed(remote, request, code, body)


def altered(**members: Any) -> Fault:
    """Do the call and answer with other members."""

    def fault(remote: Remote, request: Request) -> Answer:
        code, _, body = right(remote, request)
        return signed(remote, request, code, json.dumps({**json.loads(body), **members}).encode())

    return fault


def refused(reason: str, code: int = 409, **members: Any) -> Fault:
    """Refuse, having done nothing."""

    def fault(remote: Remote, request: Request) -> Answer:
        told = {"transaction_id": json.loads(request.body).get("transaction_id"), "code": reason, **members}
        return signed(remote, request, code, json.dumps(told).encode())

    return fault


@contextmanager
def remote_serving(operator_id: UUID) -> Iterator[Remote]:
    """Serve an operator's wallet while the block runs."""
    remote = Remote(operator_id)
    server = server_make(remote)
    server.daemon_threads = True
    remote.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield remote
    finally:
        server.shutdown()
        server.server_close()
        remote.book.close()
