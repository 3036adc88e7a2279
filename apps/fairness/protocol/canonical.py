"""Restricted canonical JSON: a strict reader, the one canonical writer, and the check that bytes are canonical.

Protocol: docs/fairness/protocol.md, section 1 (RFC 8785 with ASCII keys, integers within 2^53-1 in magnitude, nesting
of at most 32, no lone surrogates).  Never accepts what another reader could understand differently: duplicate keys,
fractions, exponents and -0 are refused.
"""

from __future__ import annotations

import json
from typing import Any

from apps.fairness.protocol.errors import CanonicalError

INTEGER_MAX = 2**53 - 1
"""Greatest magnitude of a number."""
NESTING_MAX = 32
"""Objects and lists within each other."""

_DIGITS_MAX = 17
"""Longest text of an allowed integer, sign included."""

_write = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


def _no_fraction(text: str) -> Any:
    raise CanonicalError(f"the number {text[:40]} is not an integer")


def _integer(text: str) -> int:
    if len(text) > _DIGITS_MAX or text == "-0":
        raise CanonicalError(f"the number {text[:40]} is not allowed")
    value = int(text)
    if not -INTEGER_MAX <= value <= INTEGER_MAX:
        raise CanonicalError(f"the number {text} is beyond 2^53-1")
    return value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise CanonicalError("an object names a member twice")
    return result


_plain = json.JSONDecoder(parse_float=_no_fraction, parse_constant=_no_fraction)
_strict = json.JSONDecoder(
    object_pairs_hook=_members, parse_float=_no_fraction, parse_int=_integer, parse_constant=_no_fraction
)


def check(value: Any, nesting: int = 0) -> None:
    """Check that a value has a canonical form.

    Args:
        nesting: how many objects and lists are around the value already.

    Raises:
        CanonicalError: the value holds something that restricted JSON has no form for.
    """
    if value is None or value is True or value is False:
        return
    kind = type(value)
    if kind is str:
        if not value.isascii():
            _check_text(value)
    elif kind is int:
        if not -INTEGER_MAX <= value <= INTEGER_MAX:
            raise CanonicalError("an integer is beyond 2^53-1")
    elif kind is dict or kind is list or kind is tuple:
        if nesting >= NESTING_MAX:
            raise CanonicalError("nesting is deeper than 32")
        if kind is dict:
            for key in value:
                if type(key) is not str or not key.isascii():
                    raise CanonicalError("the name of a member is not ASCII")
            value = value.values()
        for item in value:
            check(item, nesting + 1)
    else:
        raise CanonicalError(f"a {kind.__name__} has no canonical form")


def _check_text(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as problem:
        raise CanonicalError("a string holds a lone surrogate") from problem


def encode(value: Any) -> bytes:
    """Return the canonical bytes of a value.

    Raises:
        CanonicalError: the value has no canonical form.

    Source: docs/fairness/protocol.md, section 1.
    """
    check(value)
    return _write(value).encode()


def encode_checked(value: Any) -> bytes:
    """Return the canonical bytes of a value that ``decode`` gave or ``check`` passed; checks nothing again."""
    return _write(value).encode()


def decode(data: bytes | str) -> Any:
    """Read strict JSON, canonical or not.

    Raises:
        CanonicalError: not JSON, not UTF-8, or with duplicate keys, fractions, exponents, ``-0``, numbers beyond
            2^53-1, names that are not ASCII, lone surrogates or too deep nesting.
    """
    text = _text(data)
    try:
        value = _strict.decode(text)
    except (ValueError, RecursionError) as problem:
        raise CanonicalError("not JSON") from problem
    check(value)
    return value


def decode_canonical(data: bytes | str) -> Any:
    """Read JSON that must be canonical already, byte for byte.

    Raises:
        CanonicalError: as ``decode``, or the bytes are not the canonical ones.
    """
    text = _text(data)
    # What is written back byte for byte holds no name twice and no number in another form.
    try:
        value = _plain.decode(text)
        same = _write(value) == text
    except (ValueError, RecursionError) as problem:
        raise CanonicalError("not JSON") from problem
    if not same:
        raise CanonicalError("not in canonical form")
    check(value)
    return value


def _text(data: bytes | str) -> str:
    if isinstance(data, str):
        return data
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        raise CanonicalError("not UTF-8") from problem
