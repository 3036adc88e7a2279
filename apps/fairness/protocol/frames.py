"""Length-prefixed frames and big-endian integers: the bytes under every hash, MAC and signature.

Protocol: docs/fairness/protocol.md, section 1.  Never hashes or signs anything itself.
"""

from __future__ import annotations

from apps.fairness.protocol.errors import ProtocolError

LABEL_BYTES_MAX = 255
"""Longest label of a frame, in bytes."""


def u8(value: int) -> bytes:
    """Return one byte."""
    return value.to_bytes(1, "big")


def u16(value: int) -> bytes:
    """Return two bytes, big-endian."""
    return value.to_bytes(2, "big")


def u32(value: int) -> bytes:
    """Return four bytes, big-endian."""
    return value.to_bytes(4, "big")


def u64(value: int) -> bytes:
    """Return eight bytes, big-endian."""
    return value.to_bytes(8, "big")


def frame(label: str, *fields: bytes | str) -> bytes:
    """Join a label and fields so that no two different lists give the same bytes.

    A text field stands for its ASCII bytes.

    Raises:
        ProtocolError: the label is empty or too long, or a text is not ASCII.

    Source: docs/fairness/protocol.md, section 1.
    """
    parts: list[bytes] = []
    try:
        name = label.encode("ascii")
        for field in fields:
            data = field.encode("ascii") if isinstance(field, str) else field
            parts.append(len(data).to_bytes(4, "big"))
            parts.append(data)
    except UnicodeEncodeError as problem:
        raise ProtocolError("a text in a frame is not ASCII") from problem
    if not 1 <= len(name) <= LABEL_BYTES_MAX:
        raise ProtocolError("a frame's label has 1 to 255 bytes")
    return bytes((len(name),)) + name + b"".join(parts)
