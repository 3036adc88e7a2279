"""Calling the ledger's functions in the database, and the fingerprint that tells equal requests from different ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, LiteralString

from django.db import connection


def in_transaction() -> None:
    """Assert that the caller has opened the transaction that the movement belongs to."""
    assert connection.in_atomic_block, "the ledger moves money only inside its caller's transaction"


def row(statement: LiteralString, arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Run one statement that answers exactly one row."""
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        answer: tuple[Any, ...] | None = cursor.fetchone()
    assert answer is not None, "a function of the ledger always answers"
    return answer


def fingerprint(*facts: object) -> bytes:
    """Return the SHA-256 of the facts of a request; a list is for facts in an order that matters."""
    text = json.dumps(facts, separators=(",", ":"), ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode("ascii")).digest()
