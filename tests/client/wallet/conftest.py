"""A wallet served on loopback, and a probe that calls it with keys it trusts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from apps.client.signing import key_kid
from apps.client.wallet.book import Book
from apps.client.wallet.caller import Caller
from apps.client.wallet.cells import Probe
from apps.client.wallet.server import Wallet, server_make
from apps.client.wallet.signed import Operator

OPERATOR_ID = UUID("6f9619ff-8b86-4011-b42d-00c04fc964ff")
CALLER_KEY, ANSWER_KEY = (Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32) for n in (1, 2))
CALLER_PUBLIC, ANSWER_PUBLIC = (key.public_key().public_bytes_raw() for key in (CALLER_KEY, ANSWER_KEY))
KEY_NAME = f"{OPERATOR_ID}.{key_kid(CALLER_PUBLIC)}"


@contextmanager
def serving(book_class: type[Book] = Book, wallet_class: type[Wallet] = Wallet) -> Iterator[str]:
    """Serve a wallet in which two players have 1,000 points each; give its address."""
    book = book_class()
    for player in ("ann", "bob"):
        book.deposit(player, "PTS", 1_000)
    wallet = wallet_class(book, Operator({KEY_NAME: CALLER_PUBLIC}, ANSWER_KEY))
    server = server_make(wallet)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/wallet"
    finally:
        server.shutdown()
        server.server_close()
        book.close()


def probe(url: str) -> Probe:
    """Return a probe of a wallet."""
    caller = Caller(url, KEY_NAME, CALLER_KEY, {key_kid(ANSWER_PUBLIC): ANSWER_PUBLIC})
    return Probe(caller, "ann", "bob", "PTS", 10)
