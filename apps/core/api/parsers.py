"""JSON as the API accepts it: strict, bounded, and with a pointer to what is wrong.

Refused: duplicate keys, NaN and infinities, numbers with a fraction or an exponent, integers that JavaScript cannot
hold exactly, text that PostgreSQL or UTF-8 cannot store, and anything too deep, too long or too large.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.parsers import BaseParser

from apps.core.errors import ApplicationError

DEPTH_MAX = 16
ITEMS_MAX = 10_000
"""Members and elements of the whole document."""
INTEGER_MAX = 2**53 - 1
DIGITS_MAX = 17


class MalformedJson(ApplicationError):
    """The body cannot be read, or has a form that is never accepted."""

    code = "malformed_json"
    status = 400
    title = "The body is not JSON as this API accepts it."


class BodyTooLarge(ApplicationError):
    """The body is longer than any request needs."""

    code = "body_too_large"
    status = 413
    title = "The body is too large."


class _Refused:
    """Stands in the decoded document for what is refused, so that the walk can say where it is."""

    __slots__ = ("why",)

    def __init__(self, why: str) -> None:
        self.why = why


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        members[name] = _Refused("The key appears twice.") if name in members else value
    return members


def _integer(digits: str) -> int | _Refused:
    if len(digits) > DIGITS_MAX or abs(int(digits)) > INTEGER_MAX:
        return _Refused("The integer is beyond 2^53 - 1.")
    return int(digits)


def _fraction(_digits: str) -> _Refused:
    return _Refused("Numbers are integers, without fraction or exponent.")


def _constant(name: str) -> _Refused:
    return _Refused(f"{name} is not JSON.")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=_integer, parse_float=_fraction, parse_constant=_constant
)


def pointer_part(name: object) -> str:
    """Return one reference token of a JSON pointer (RFC 6901)."""
    return str(name).replace("~", "~0").replace("/", "~1")


def _storable(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def strict_loads(raw: bytes) -> dict[str, Any]:
    """Decode one JSON object.

    Raises:
        MalformedJson: with a pointer to the first offending value, where there is one.
    """
    try:
        document = _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise MalformedJson("The body is not UTF-8.") from None
    except RecursionError:
        raise MalformedJson(f"The body is nested deeper than {DEPTH_MAX}.") from None
    except json.JSONDecodeError as problem:
        raise MalformedJson(f"{problem.msg} at character {problem.pos}.") from None
    _check(document)
    if not isinstance(document, dict):
        raise MalformedJson("The body is a JSON object.", pointer="")
    return document


def _check(document: Any) -> None:
    waiting: list[tuple[str, int, Any]] = [("", 1, document)]
    seen = 0
    while waiting:
        pointer, depth, value = waiting.pop()
        seen += 1
        if seen > ITEMS_MAX:
            raise MalformedJson(f"The body has more than {ITEMS_MAX} values.")
        match value:
            case _Refused():
                raise MalformedJson(value.why, pointer=pointer)
            case str() if not _storable(value):
                raise MalformedJson("The text holds NUL or half a character.", pointer=pointer)
            case dict() | list() if depth > DEPTH_MAX:
                raise MalformedJson(f"The body is nested deeper than {DEPTH_MAX}.", pointer=pointer)
            case dict():
                if not all(map(_storable, value)):
                    raise MalformedJson("A key holds NUL or half a character.", pointer=pointer)
                members = [(f"{pointer}/{pointer_part(name)}", depth + 1, member) for name, member in value.items()]
                waiting.extend(reversed(members))
            case list():
                waiting.extend((f"{pointer}/{index}", depth + 1, value[index]) for index in reversed(range(len(value))))
            case _:
                pass


class StrictJSONParser(BaseParser):
    """DRF's parser for application/json."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Read and decode the body.

        Raises:
            BodyTooLarge: it is longer than DATA_UPLOAD_MAX_MEMORY_SIZE.
            MalformedJson: as strict_loads says.
        """
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        raw = stream.read(limit + 1)
        if len(raw) > limit:
            raise BodyTooLarge(f"The body is longer than {limit} bytes.")
        return strict_loads(raw)
