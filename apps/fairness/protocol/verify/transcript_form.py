"""The form of transcript entries, and the places of cards that their events name.

Protocol: docs/fairness/protocol.md, section 7; codes transcript_form and transcript_head.  Never asks whether a move
was legal or a card the right one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from apps.fairness.protocol.canonical import INTEGER_MAX, NESTING_MAX
from apps.fairness.protocol.cards import GENERATION_MAX, is_card_code
from apps.fairness.protocol.shapes import CARDS_MAX
from apps.fairness.protocol.transcript import LEAVE_REASONS, heads
from apps.fairness.protocol.verify.context import Round
from apps.fairness.protocol.verify.story import record_time_ms

_ENTRY_MEMBERS = frozenset(("seq", "at", "kind", "seat", "input", "events"))
_ENTRY_NESTING: Final = 3
"""Objects and lists of a bundle around the members of an entry."""

Place = tuple[int, int, str | None]
"""Generation, position, and the card where it is shown."""
Event = dict[str, Any]
Play = list[list[tuple[Event, list[Place]]]]
"""Entries, their events, and the places that each event names, in their order."""


class _BadForm(Exception):
    def __init__(self, number: int, path: str, text: str) -> None:
        super().__init__(text)
        self.where = f"transcript[{number}]{path}"
        self.text = text


_code = re.compile(r"[a-z][a-z0-9_]{0,47}", re.ASCII).fullmatch


_is_card = lru_cache(maxsize=4096)(is_card_code)


@lru_cache(maxsize=4096)
def _is_code(value: str) -> bool:
    return _code(value) is not None


def transcript_read(round_: Round) -> Play | None:
    """Check the form of the transcript, code ``transcript_form``.

    Returns:
        The events with the places they name; None where the form is broken.
    """
    if round_.record("deck") is None:
        return None
    try:
        return _read(round_)
    except _BadForm as problem:
        round_.fail("transcript_form", problem.where, problem.text)
        return None


def _read(round_: Round) -> Play:
    seats = frozenset(round_.seats)
    deck, terminal = round_.record("deck"), round_.terminal
    earliest = deck.body["dealt_ms"] if deck is not None else 0
    play: Play = []
    for number, entry in enumerate(round_.bundle.value["transcript"]):
        if entry.keys() != _ENTRY_MEMBERS:
            raise _BadForm(number, "", "an entry has exactly the members seq, at, kind, seat, input and events")
        if type(entry["seq"]) is not int or entry["seq"] != number:
            raise _BadForm(number, ".seq", f"not {number}")
        at, events = entry["at"], entry["events"]
        if type(at) is not int or not earliest <= at <= INTEGER_MAX:
            text = "not a time, or before the deal" if number == 0 else "not a time, or earlier than the entry before"
            raise _BadForm(number, ".at", text)
        earliest = at
        _input(number, entry, seats)
        if type(events) is not list:
            raise _BadForm(number, ".events", "not a list")
        row: list[tuple[Event, list[Place]]] = []
        for event in events:
            places: list[Place] = []
            problem = _event(event, places, seats)
            if problem is not None:
                raise _BadForm(number, f".events[{len(row)}]", problem)
            row.append((event, places))
        play.append(row)
    if terminal is not None and play and earliest > terminal.body[record_time_ms(terminal.type)]:
        raise _BadForm(len(play) - 1, ".at", "later than the end of the round")
    return play


def _input(number: int, entry: Event, seats: frozenset[int]) -> None:
    kind, seat, given = entry["kind"], entry["seat"], entry["input"]
    if type(kind) is not str or (kind == "start") != (number == 0):
        raise _BadForm(number, ".kind", "the first entry, and no other, is start")
    if type(given) is not dict:
        raise _BadForm(number, ".input", "not an object")
    if kind == "start" or kind == "wake":
        if seat is not None or given:
            raise _BadForm(number, "", f"{kind} has neither a seat nor an input")
        return
    if type(seat) is not int or seat not in seats:
        raise _BadForm(number, ".seat", "not a seat of the roster")
    if kind == "act":
        sound = type(given.get("type")) is str and _is_plain(given, _ENTRY_NESTING)
    elif kind == "leave":
        sound = given.keys() == {"reason"} and given["reason"] in LEAVE_REASONS
    elif kind == "connection":
        sound = given.keys() == {"connected"} and type(given["connected"]) is bool
    else:
        raise _BadForm(number, ".kind", "there is no such kind of entry")
    if not sound:
        raise _BadForm(number, ".input", f"not an input of kind {kind}")


def _event(event: Any, places: list[Place], seats: frozenset[int]) -> str | None:
    """Collect the places that an event names; return what is wrong with its form."""
    if type(event) is not dict:
        return "not an object"
    type_ = event.get("type")
    if type(type_) is not str or not _is_code(type_):
        return "type is not a code"
    if "seat" in event:
        seat = event["seat"]
        if seat is not None and (type(seat) is not int or seat not in seats):
            return "seat is not a seat of the roster"
    if "pos" in event and "gen" in event:
        return "an event has both gen and pos"
    for value in event.values():
        kind = type(value)
        if kind is dict or kind is list:
            problem = _places(value, places, _ENTRY_NESTING + 2)
            if problem is not None:
                return problem
        elif kind is int and not -INTEGER_MAX <= value <= INTEGER_MAX:
            return "a number is beyond 2^53-1"
    return None


def _places(value: Any, places: list[Place], nesting: int) -> str | None:
    """Collect the places in an object or a list of an event."""
    if nesting >= NESTING_MAX:
        return "nesting is deeper than 32"
    if type(value) is dict:
        if "pos" in value and "gen" in value:
            return _place(value, places)
        value = value.values()
    for item in value:
        kind = type(item)
        if kind is dict or kind is list:
            problem = _places(item, places, nesting + 1)
            if problem is not None:
                return problem
        elif kind is int and not -INTEGER_MAX <= item <= INTEGER_MAX:
            return "a number is beyond 2^53-1"
    return None


def _place(value: Event, places: list[Place]) -> str | None:
    gen, pos = value["gen"], value["pos"]
    if type(gen) is not int or type(pos) is not int or not 0 <= gen <= GENERATION_MAX or not 0 <= pos < CARDS_MAX:
        return "gen and pos are not numbers of a place"
    if len(value) == 2:
        places.append((gen, pos, None))
        return None
    card = value.get("card")
    if len(value) != 3 or type(card) is not str or not _is_card(card):
        return "an object with gen and pos has only card besides, a card code"
    places.append((gen, pos, card))
    return None


def _is_plain(value: Any, nesting: int) -> bool:
    """Tell whether an object or a list that a seat sent is restricted JSON at its depth in the bundle."""
    if nesting >= NESTING_MAX:
        return False
    for item in value.values() if type(value) is dict else value:
        kind = type(item)
        if kind is dict or kind is list:
            if not _is_plain(item, nesting + 1):
                return False
        elif kind is int and not -INTEGER_MAX <= item <= INTEGER_MAX:
            return False
    return True


def head_check(round_: Round) -> None:
    """Check that the terminal record binds this transcript, code ``transcript_head``."""
    terminal, deck = round_.terminal, round_.record("deck")
    if terminal is None or deck is None:
        return
    entries = round_.bundle.entries
    if terminal.body["entries"] != len(entries):
        text = f"{terminal.body['entries']} entries are recorded, {len(entries)} are here"
        round_.fail("transcript_head", round_.where(terminal.type, "entries"), text)
    head = b""
    for after in heads(deck.hash, entries):
        head = after
    if head.hex() != terminal.body["head"]:
        text = f"the transcript and its recorded head differ; the head of these entries is {head.hex()}"
        round_.fail("transcript_head", round_.where(terminal.type, "head"), text)
