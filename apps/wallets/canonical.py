"""The exact bytes under every hash and signature of the ledger, version 1.

Source: docs/auditors/ledger.md, section Canonical forms; values in tests/vectors/ledger_blocks.json.  Pure: never reads
a database, a clock or a key.  A later version gets its own number and functions; these never change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

FORM = 1
GENESIS = bytes(32)
"""What the first block and the first daily file name as the one before."""


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """One entry as a block holds it; ``account_seq`` is None for an account without a balance row."""

    id: int
    tx_id: UUID
    account_id: int
    currency: str
    amount: int
    account_seq: int | None
    kind: str
    external_id: str
    created_at_ms: int

    def line(self) -> str:
        """Return the entry's line; no field can hold the separator."""
        seq = "" if self.account_seq is None else self.account_seq
        return (
            f"{self.id}|{self.tx_id}|{self.account_id}|{self.currency}|{self.amount}|{seq}"
            f"|{self.kind}|{self.external_id}|{self.created_at_ms}"
        )


@dataclass(frozen=True, slots=True)
class Block:
    """What a block's hash covers; entries ascend by id."""

    operator_id: UUID
    seq: int
    prev_hash: bytes
    from_xid: int
    upto_xid: int
    entries: Sequence[BlockEntry]

    def sums(self) -> dict[str, int]:
        """Return what moved in each currency: the sum of the positive amounts."""
        moved: dict[str, int] = {}
        for entry in self.entries:
            moved[entry.currency] = moved.get(entry.currency, 0) + max(entry.amount, 0)
        return dict(sorted(moved.items()))

    def content(self) -> bytes:
        """Return the bytes that are hashed: lines of ASCII, each ended by one line feed."""
        lines = [
            "sealdeck-ledger/1",
            f"operator|{self.operator_id}",
            f"block|{self.seq}",
            f"prev|{self.prev_hash.hex()}",
            f"xids|{self.from_xid}|{self.upto_xid}",
            *(f"sum|{currency}|{amount}" for currency, amount in self.sums().items()),
            f"entries|{len(self.entries)}",
            *(entry.line() for entry in self.entries),
        ]
        return "".join(f"{line}\n" for line in lines).encode("ascii")

    def hash(self) -> bytes:
        """Return the block's hash."""
        return hashlib.sha256(self.content()).digest()


def kid_of(public_key: bytes) -> str:
    """Return the short name of a key: the first 8 bytes of its SHA-256, as hex."""
    return hashlib.sha256(public_key).hexdigest()[:16]


def block_statement(operator_id: UUID, seq: int, block_hash: bytes, sealed_at_ms: int) -> bytes:
    """Return the bytes that a block's signature covers."""
    return f"sealdeck-ledger/1|block|{operator_id}|{seq}|{block_hash.hex()}|{sealed_at_ms}".encode("ascii")


def daily_statement(operator_id: UUID, currency: str, day: str, file_hash: bytes) -> bytes:
    """Return the bytes that a daily file's signature covers; the day as YYYY-MM-DD."""
    return f"sealdeck-ledger/1|daily|{operator_id}|{currency}|{day}|{file_hash.hex()}".encode("ascii")


def json_line(value: Any) -> bytes:
    """Return a JSON value as one line: members sorted, no spaces, ASCII, ended by one line feed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii") + b"\n"


def daily_body(header: Any, transactions: Iterable[Any]) -> bytes:
    """Return the bytes of a daily file that are hashed: its header, then a line for each transaction."""
    return json_line(header) + b"".join(json_line(transaction) for transaction in transactions)


def daily_hash(body: bytes) -> bytes:
    """Return a daily file's hash."""
    return hashlib.sha256(body).digest()
