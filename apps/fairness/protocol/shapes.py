"""The shape of every record body: its members, and what each of them may be.

Protocol: docs/fairness/protocol.md, sections 2 and 3.  Never looks at more than one body: what a body says about
another record is checked by the verifier.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from apps.fairness.protocol.canonical import INTEGER_MAX
from apps.fairness.protocol.errors import RecordError, VersionError

VERSION: Final = "sealdeck/1"
"""Version of the protocol, the member ``v`` of every body."""
SEAT_MAX: Final = 254
"""Greatest seat number."""
INDEX_MAX: Final = 2**32 - 1
"""Greatest index of a round at its table."""
ROSTER_MAX: Final = 255
"""Greatest number of roster rows."""
DECKS_MAX: Final = 16
"""Greatest number of rows in ``decks``."""
CARDS_MAX: Final = 65536
"""Greatest number of cards in a deck."""
SHARE_MAX: Final = 65536
"""Greatest weight of a seat in the outcome."""
MARGIN_MAX: Final = 1000
"""Greatest beacon margin, in periods of the beacon."""
BASIS_POINTS: Final = 10000
"""The whole, in basis points."""

Check = Callable[[Any], bool]

_code = re.compile(r"[a-z][a-z0-9_]{0,47}", re.ASCII).fullmatch
_currency = re.compile(r"[A-Z][A-Z0-9]{2,7}", re.ASCII).fullmatch
_game = re.compile(r"[a-z][a-z0-9_-]{0,31}", re.ASCII).fullmatch
_rules = re.compile(r"[a-z][a-z0-9_-]{0,31}/[0-9a-z][0-9a-z._-]{0,31}", re.ASCII).fullmatch
_fault = re.compile(r"none|operator|seat:(0|[1-9][0-9]{0,2})", re.ASCII).fullmatch
_decimal = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII).fullmatch
_hex8 = re.compile(r"[0-9a-f]{16}", re.ASCII).fullmatch
_hex16 = re.compile(r"[0-9a-f]{32}", re.ASCII).fullmatch
_hex32 = re.compile(r"[0-9a-f]{64}", re.ASCII).fullmatch
_hex48 = re.compile(r"[0-9a-f]{96}", re.ASCII).fullmatch
_hex64 = re.compile(r"[0-9a-f]{128}", re.ASCII).fullmatch


def _matches(pattern: Callable[[str], Any], *, empty: bool = False) -> Check:
    def check(value: Any) -> bool:
        return type(value) is str and (pattern(value) is not None or (empty and value == ""))

    return check


def _between(least: int, most: int) -> Check:
    def check(value: Any) -> bool:
        return type(value) is int and least <= value <= most

    return check


def _one_of(*values: str) -> Check:
    allowed = frozenset(values)

    def check(value: Any) -> bool:
        return type(value) is str and value in allowed

    return check


def _nothing_or(inner: Check) -> Check:
    def check(value: Any) -> bool:
        return value is None or inner(value)

    return check


def _members(**checks: Check) -> Check:
    names = frozenset(checks)
    pairs = tuple(checks.items())

    def check(value: Any) -> bool:
        return type(value) is dict and value.keys() == names and all(inner(value[name]) for name, inner in pairs)

    return check


def _rows(inner: Check, least: int, most: int) -> Check:
    def check(value: Any) -> bool:
        return type(value) is list and least <= len(value) <= most and all(inner(row) for row in value)

    return check


hex8 = _matches(_hex8)
hex16 = _matches(_hex16)
hex32 = _matches(_hex32)
hex64 = _matches(_hex64)
hex32_or_empty = _matches(_hex32, empty=True)
hex64_or_empty = _matches(_hex64, empty=True)
code = _matches(_code)
seat = _between(0, SEAT_MAX)
amount = _between(0, INTEGER_MAX)
count = _between(0, INTEGER_MAX)
time_ms = _between(0, INTEGER_MAX)


def _anything_object(value: Any) -> bool:
    return type(value) is dict


def seat_key(value: Any) -> bool:
    """Tell whether a name of a seat map is a seat in decimal."""
    return type(value) is str and _decimal(value) is not None and int(value) <= SEAT_MAX


def _shares(value: Any) -> bool:
    return type(value) is dict and all(
        seat_key(key) and type(weight) is int and 1 <= weight <= SHARE_MAX for key, weight in value.items()
    )


def _ranking(value: Any) -> bool:
    return type(value) is list and all(type(group) is list and all(map(seat, group)) for group in value)


def _fault_of(value: Any) -> bool:
    if type(value) is not str:
        return False
    found = _fault(value)
    return found is not None and (found[1] is None or int(found[1]) <= SEAT_MAX)


_view = _nothing_or(_members(size=count, root=hex32))
_roster_deck_row = _members(seat=seat, pk=hex32_or_empty, entropy=hex32_or_empty, cp=_view, sig=hex64_or_empty)
_roster_close_row = _members(seat=seat, pk=hex32_or_empty, commit=hex32_or_empty, cp=_view, sig=hex64_or_empty)
_outcome = _members(reason=code, shares=_shares, ranking=_ranking)

BODIES: Final[Mapping[str, Mapping[str, Check]]] = {
    "open": {
        "table": hex16,
        "index": _between(0, INDEX_MAX),
        "round": hex16,
        "prev": hex32_or_empty,
        "seed_commit": hex32,
        "game": _matches(_game),
        "rules": _matches(_rules),
        "options": _anything_object,
        "entropy": _one_of("none", "open", "sealed"),
        "beacon": _nothing_or(_members(chain=hex32, margin=_between(1, MARGIN_MAX))),
        "stake": _members(currency=_matches(_currency), buy_in=amount, fee_bp=_between(0, BASIS_POINTS)),
        "decks": _rows(
            _members(
                seats_min=_between(1, ROSTER_MAX),
                seats_max=_between(1, ROSTER_MAX),
                n=_between(1, CARDS_MAX),
                order_hash=hex32,
            ),
            1,
            DECKS_MAX,
        ),
        "last_opener": _nothing_or(seat),
        "opened_ms": time_ms,
    },
    "close": {
        "round": hex16,
        "open": hex32,
        "roster": _rows(_roster_close_row, 1, ROSTER_MAX),
        "beacon_round": _nothing_or(_between(1, INTEGER_MAX)),
        "closed_ms": time_ms,
    },
    "deck": {
        "round": hex16,
        "open": hex32,
        "close": hex32_or_empty,
        "roster": _rows(_roster_deck_row, 1, ROSTER_MAX),
        "beacon": _matches(_hex48, empty=True),
        "opener": seat,
        "n": _between(1, CARDS_MAX),
        "order_hash": hex32,
        "root": hex32,
        "dealt_ms": time_ms,
    },
    "reveal": {
        "round": hex16,
        "deck": hex32,
        "entries": count,
        "head": hex32,
        "seed": hex32,
        "outcome": _outcome,
        "payouts": _rows(_members(seat=seat, buy_in=amount, payout=amount), 0, ROSTER_MAX),
        "fee": amount,
        "ended_ms": time_ms,
    },
    "void": {
        "round": hex16,
        "last": hex32,
        "stage": _one_of("open", "close", "deck"),
        "reason": code,
        "fault": _fault_of,
        "entropies": _rows(_roster_deck_row, 0, ROSTER_MAX),
        "entries": count,
        "head": hex32_or_empty,
        "seed": hex32,
        "voided_ms": time_ms,
    },
    "key": {
        "op": _one_of("add", "revoke"),
        "use": _one_of("root", "records", "log"),
        "pk": hex32,
        "reason": code,
        "at_ms": time_ms,
    },
}
"""Type of a record to its members besides ``v``, each with the check of its value."""

ROUND_TYPES: Final = ("open", "close", "deck", "reveal", "void")
"""Types of the records of a round; ``key`` belongs to the log as a whole."""

_NAMES = {type_: frozenset(members) | {"v"} for type_, members in BODIES.items()}


def body_check(type_: str, body: Any) -> None:
    """Check that a body has exactly the members of its type and that each is well formed.

    Raises:
        VersionError: ``v`` names another version of the protocol.
        RecordError: anything else; the text names the member.

    Source: docs/fairness/protocol.md, sections 2 and 3.
    """
    names = _NAMES.get(type_)
    if names is None:
        raise RecordError(f"there is no record type {type_[:40]!r}")
    if type(body) is not dict:
        raise RecordError(f"the body of the {type_} record is not an object")
    version = body.get("v")
    if version != VERSION:
        if type(version) is str:
            raise VersionError(f"the {type_} record is of version {version[:40]!r}")
        raise RecordError(f"{type_}.v is missing")
    if body.keys() != names:
        odd = sorted(body.keys() ^ names, key=str)
        raise RecordError(f"the {type_} record misses a member or has one too many: {', '.join(odd)[:200]}")
    for name, check in BODIES[type_].items():
        if not check(body[name]):
            raise RecordError(f"{type_}.{name} is not of its form")
    if type_ == "open":
        _open_check(body)


def _open_check(body: Mapping[str, Any]) -> None:
    if body["rules"].partition("/")[0] != body["game"]:
        raise RecordError("open.rules is not of open.game")
    seats = 0
    for row in body["decks"]:
        if not seats < row["seats_min"] <= row["seats_max"]:
            raise RecordError("open.decks overlap or are not ascending")
        seats = row["seats_max"]
