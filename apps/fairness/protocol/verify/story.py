"""Identity, links and times: whether the records of a round make up one story.

Protocol: docs/fairness/protocol.md, sections 3 and 9; codes round_id, prev, link, times and deadline.  Never looks at
another round.
"""

from __future__ import annotations

from apps.fairness.protocol.limits import DECK_MS, OPEN_MS, beacon_time_ms, close_deadline_ms
from apps.fairness.protocol.verify.context import Round


def story_check(round_: Round) -> None:
    """Check what ties the records together."""
    _identity(round_)
    _links(round_)
    _times(round_)
    _deadlines(round_)


def _identity(round_: Round) -> None:
    opened = round_.open
    if round_.round_bytes.hex() != opened["round"]:
        round_.fail("round_id", round_.where("open", "round"), "not the id of this index at this table")
    for record in round_.records[1:]:
        if record.body["round"] != opened["round"]:
            round_.fail("round_id", round_.where(record.type, "round"), "names another round than the open record")
    if (opened["index"] == 0) != (opened["prev"] == ""):
        text = "index 0 names a predecessor" if opened["index"] == 0 else "no predecessor is named"
        round_.fail("prev", round_.where("open", "prev"), text)


def _links(round_: Round) -> None:
    close = round_.record("close")
    expected = {
        "close": {"open": round_.open_hash.hex()},
        "deck": {"open": round_.open_hash.hex(), "close": close.hash_hex if close else ""},
        "reveal": {"deck": round_.records[-2].hash_hex if len(round_.records) > 1 else ""},
        "void": {"last": round_.records[-2].hash_hex if len(round_.records) > 1 else ""},
    }
    for record in round_.records[1:]:
        for name, value in expected[record.type].items():
            if record.body[name] != value:
                text = f"not the hash of that record, which is {value or 'empty'}"
                round_.fail("link", round_.where(record.type, name), text)


_TIMES = {
    "open": "opened_ms",
    "close": "closed_ms",
    "deck": "dealt_ms",
    "reveal": "ended_ms",
    "void": "voided_ms",
}
"""Type of a record to the member that holds its time."""


def record_time_ms(type_: str) -> str:
    """Return the name of the member that holds the time of a record."""
    return _TIMES[type_]


def _beacon_ms(round_: Round) -> int | None:
    close = round_.record("close")
    return beacon_time_ms(round_.beacon, close.body["beacon_round"]) if close else None


def _times(round_: Round) -> None:
    latest = 0
    for record in round_.records:
        name = _TIMES[record.type]
        if record.body[name] < latest:
            round_.fail(
                "times", round_.where(record.type, name), f"{latest - record.body[name]} ms before the record before"
            )
        latest = record.body[name]
    beacon_ms, deck = _beacon_ms(round_), round_.record("deck")
    if deck is not None and beacon_ms is not None and deck.body["dealt_ms"] < beacon_ms:
        text = f"dealt {beacon_ms - deck.body['dealt_ms']} ms before the beacon was published"
        round_.fail("times", round_.where("deck", "dealt_ms"), text)


def _deadlines(round_: Round) -> None:
    opened, close, deck = round_.open, round_.record("close"), round_.record("deck")
    void, reveal = round_.record("void"), round_.record("reveal")
    end_ms = None
    if reveal is not None:
        end_ms = reveal.body["ended_ms"]
    elif void is not None and void.body["fault"] != "operator":
        end_ms = void.body["voided_ms"]
    terminal = "reveal" if reveal is not None else "void"
    steps: list[tuple[str, int | None, int | None]] = []
    if close is not None:
        steps.append(("close", close.body["closed_ms"], opened["opened_ms"] + OPEN_MS))
        due_ms = close_deadline_ms(close.body["closed_ms"], round_.beacon, close.body["beacon_round"])
        if deck is not None:
            steps.append(("deck", deck.body["dealt_ms"], due_ms))
        else:
            steps.append((terminal, end_ms, due_ms))
    elif deck is not None:
        steps.append(("deck", deck.body["dealt_ms"], opened["opened_ms"] + OPEN_MS))
    if deck is not None:
        steps.append((terminal, end_ms, deck.body["dealt_ms"] + DECK_MS))
    for type_, time_ms, last_ms in steps:
        if time_ms is not None and last_ms is not None and time_ms > last_ms:
            round_.fail("deadline", round_.where(type_, _TIMES[type_]), f"{time_ms - last_ms} ms past the deadline")
