"""The reference wallet as a server: what an operator's endpoint does, as small as it can be.

    python -m apps.client.wallet.server --key-file answer.key --trust "<operator id>.<kid>=<public key, hex>" \\
        --player alice:EUR:100000

It speaks plain HTTP on loopback, to try things out and to read; an operator's own wallet stands behind TLS.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from apps.client import signing
from apps.client.wallet.book import Body, Book, Reply
from apps.client.wallet.signed import SKEW_S_MAX, Operator, Request

BODY_BYTES_MAX = 65_536
TEXTS = ("currency", "player_id")
FORMS: dict[str, tuple[tuple[str, ...], bool]] = {
    "balance": (TEXTS, False),
    "bet": ((*TEXTS, "round_id", "table_id", "transaction_id"), True),
    "win": ((*TEXTS, "round_id", "table_id", "transaction_id", "bet_transaction_id"), True),
    "rollback": ((*TEXTS, "round_id", "table_id", "transaction_id", "bet_transaction_id"), True),
}
"""For each call: the members that are text, and whether there is an amount."""

Answer = tuple[int, dict[str, str], bytes]


class Wallet:
    """Answers calls: looks at the signature, then at the form, then asks the book."""

    def __init__(self, book: Book, operator: Operator, clock: Callable[[], float] = time.time) -> None:
        self.book = book
        self.operator = operator
        self._clock = clock

    def answer(self, request: Request) -> Answer | None:
        """Return status, headers and body of the answer; None closes the connection without one."""
        now_s = int(self._clock())
        if not self.is_trusted(request, now_s):
            return 401, {}, b'{"code":"signature_invalid"}'
        reply = self._reply(request)
        body = json.dumps(reply.members, sort_keys=True, separators=(",", ":")).encode()
        return reply.status, self.operator.answer_headers(request, reply.status, body, now_s), body

    def is_trusted(self, request: Request, now_s: int) -> bool:
        """Tell whether a call is signed and comes for the first time."""
        if not self.operator.request_is_signed(request, now_s):
            return False
        return self.book.nonce_use(request.header(signing.HEADER_NONCE), now_s, 2 * SKEW_S_MAX)

    def _reply(self, request: Request) -> Reply:
        call = request.url.rpartition("/")[2]
        if call not in FORMS:
            return Reply(404, {"code": "not_found"})
        body = _body_read(call, request.body)
        if body is None:
            return Reply(422, {"code": "invalid"})
        work: Callable[[Body], Reply] = getattr(self.book, call)
        return self.book.transaction(lambda: work(body))


def _body_read(call: str, raw: bytes) -> Body | None:
    """Return a call's body if it has its form."""
    try:
        body = json.loads(raw)
    except ValueError:
        return None
    texts, has_amount = FORMS[call]
    names = {*texts, *(("amount_minor",) if has_amount else ())}
    if not isinstance(body, dict) or set(body) != names or not all(isinstance(body[name], str) for name in texts):
        return None
    least = 0 if call == "win" else 1
    if has_amount and (type(body["amount_minor"]) is not int or not least <= body["amount_minor"] < 2**53):
        return None
    return body


def server_make(wallet: Wallet, port: int = 0) -> ThreadingHTTPServer:
    """Return a server on loopback that answers with a wallet; its caller runs and closes it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > BODY_BYTES_MAX:
                self.send_error(413)
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = wallet.answer(Request(self.path, headers, self.rfile.read(int(length))))
            if answer is None:
                return
            status, more, body = answer
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **more}.items():
                self.send_header(name, value)
            with contextlib.suppress(ConnectionError):  # Who has hung up asks again.
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Write no log; the book tells what happened."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def key_read(path: Path) -> Ed25519PrivateKey:
    """Return the private key in a file, 32 bytes in hex; a file that is not there is made, for its owner only."""
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(Ed25519PrivateKey.generate().private_bytes_raw().hex() + "\n")
    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(path.read_text().strip()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m apps.client.wallet.server", description=__doc__)
    parser.add_argument("--port", type=int, default=8010)
    parser.add_argument("--database", default=":memory:", help="SQLite file; without it everything is forgotten")
    parser.add_argument("--key-file", type=Path, required=True, help="key that signs answers; made if not there")
    parser.add_argument("--trust", action="append", required=True, help="SEALDECK-KEY=PUBLIC-KEY-HEX")
    parser.add_argument("--player", action="append", default=[], help="ID:CURRENCY:AMOUNT to begin with")
    options = parser.parse_args(arguments)
    trusted = {name: bytes.fromhex(key) for name, _, key in (text.partition("=") for text in options.trust)}
    book = Book(options.database)
    for text in options.player:
        player, currency, amount = text.split(":")
        book.deposit(player, currency, int(amount))
    key = key_read(options.key_file)
    print(f"answer key  {key.public_key().public_bytes_raw().hex()}")
    print(f"wallet      http://127.0.0.1:{options.port}", flush=True)
    with server_make(Wallet(book, Operator(trusted, key)), options.port) as server:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
