"""Lowercase hexadecimal, the form of all byte strings in records, transcripts and bundles.

Protocol: docs/fairness/protocol.md, section 1.
"""

from __future__ import annotations

import re
from typing import Any

from apps.fairness.protocol.errors import ProtocolError

_HEX = re.compile(r"[0-9a-f]*", re.ASCII)
_fullmatch = _HEX.fullmatch
_HASH_LENGTHS = frozenset((64,))


def is_hex(value: Any, size: int) -> bool:
    """Tell whether a value is the lowercase hex of exactly ``size`` bytes."""
    return type(value) is str and len(value) == 2 * size and _fullmatch(value) is not None


def are_hashes(values: list[Any]) -> bool:
    """Tell whether each value is the lowercase hex of 32 bytes."""
    try:
        return set(map(len, values)) <= _HASH_LENGTHS and _fullmatch("".join(values)) is not None
    except TypeError:
        return False


def unhex(value: str, size: int | None = None) -> bytes:
    """Return the bytes of a lowercase hex text.

    Args:
        size: number of bytes it must have; None takes any.

    Raises:
        ProtocolError: not lowercase hex, or of another length.
    """
    if (
        type(value) is not str
        or _fullmatch(value) is None
        or len(value) != 2 * (len(value) // 2 if size is None else size)
    ):
        raise ProtocolError("not lowercase hex of the right length")
    return bytes.fromhex(value)
