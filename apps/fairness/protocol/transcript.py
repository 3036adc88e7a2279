"""Transcript entries and the chain of heads over them.

Protocol: docs/fairness/protocol.md, section 7.  Never judges what an entry says: the verifier does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

from apps.fairness.protocol import canonical
from apps.fairness.protocol.frames import frame, u32

KINDS: Final = ("start", "act", "wake", "leave", "connection")
LEAVE_REASONS: Final = ("left", "timeouts", "connection")

_HEAD_PREFIX = frame("sealdeck/1/ev") + u32(32)


def entry(
    *, seq: int, at: int, kind: str, seat: int | None, input_: Mapping[str, Any], events: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return one transcript entry as an object.

    Args:
        at: Unix time, milliseconds.
        input_: the action, ``{reason}``, ``{connected}`` or nothing, by kind.
    """
    return {
        "seq": seq,
        "at": at,
        "kind": kind,
        "seat": seat,
        "input": dict(input_),
        "events": [dict(e) for e in events],
    }


def entry_bytes(value: Mapping[str, Any]) -> bytes:
    """Return the canonical bytes of an entry, which are stored, served and hashed.

    Raises:
        CanonicalError: the entry has no canonical form.
    """
    return canonical.encode(dict(value))


def head_first(deck_hash: bytes) -> bytes:
    """Return the head before the first entry.

    Args:
        deck_hash: hash of the deck record.
    """
    return sha256(frame("sealdeck/1/ev0", deck_hash)).digest()


def head_next(head: bytes, entry_: bytes) -> bytes:
    """Return the head after one more entry.

    Args:
        entry_: canonical bytes of the entry.
    """
    return sha256(_HEAD_PREFIX + head + len(entry_).to_bytes(4, "big") + entry_).digest()


def heads(deck_hash: bytes, entries: Iterable[bytes]) -> Iterator[bytes]:
    """Give the head before the first entry and that after each one.

    Args:
        entries: canonical bytes of the entries in order.
    """
    head = head_first(deck_hash)
    yield head
    for data in entries:
        head = sha256(_HEAD_PREFIX + head + len(data).to_bytes(4, "big") + data).digest()
        yield head
