"""A round of the hand history as text that a person reads: who paid, every choice, every clock, the result, the proof.

It is made from the document of apps.tables.hands and from nothing else, so it tells exactly what that document tells.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from apps.games.table_text import event_text

TIMES = ("deadline",)
"""Members of events that are engine times."""


def text(hand: dict[str, Any]) -> str:
    """Return a round as text, one thing that happened to a line."""
    return "\n".join(_lines(hand)) + "\n"


def _lines(hand: dict[str, Any]) -> Iterator[str]:
    name = f" '{hand['table_name']}'" if hand["table_name"] else ""
    yield f"Sealdeck round {hand['id']}"
    yield f"{hand['rules']} at table {hand['table_id']}{name}, round {hand['index']} of the table"
    if hand["match_id"] != hand["id"]:
        yield f"Goes on with the match that began with round {hand['match_id']}, where its stakes and payouts are."
    if hand["options"]:
        yield "Options: " + ", ".join(f"{key} {json.dumps(value)}" for key, value in hand["options"].items())
    yield f"Opened {_moment(hand['opened_ms'])}, dealt {_moment(hand['dealt_ms'])}, ended {_moment(hand['ended_ms'])}"
    yield f"Status: {_status(hand)}"
    yield ""
    yield from _money(hand)
    if hand["entries"]:
        offset = hand["clock_offset_ms"]
        stood = f"; in all the clocks stood still for {offset} ms" if offset else ""
        yield f"What happened (times are the game's, UTC{stood})"
        for entry in hand["entries"]:
            yield from _entry(entry)
        yield ""
    for gen, deck in enumerate(hand["decks"]):
        yield f"Deck {gen}, top first: {' '.join(deck)}"
    if hand["decks"]:
        yield ""
    yield f"Proof: {hand['proof']}"


def _status(hand: dict[str, Any]) -> str:
    if hand["status"] == "void":
        fault = "nobody's fault" if hand["fault"] == "none" else f"fault of {hand['fault'].replace(':', ' ')}"
        return f"void, {hand['reason']}, {fault}: every stake went back"
    return f"{hand['status']}, {hand['reason']}" if hand["reason"] else str(hand["status"])


def _money(hand: dict[str, Any]) -> Iterator[str]:
    unit = f"{hand['currency']} (minor units)"
    yield f"Stake {hand['buy_in_minor']} {unit} a seat, pot {hand['pot_minor']}, fee {hand['fee_minor']}"
    for seat in hand["seats"]:
        who = " (you)" if seat["is_yours"] else f" ({seat['external_id']})" if "external_id" in seat else ""
        returned = "not known yet" if seat["returned_minor"] is None else seat["returned_minor"]
        line = f"  seat {seat['seat']}{who}: paid {seat['stake_minor']}, got back {returned}"
        if seat.get("balance_before_minor") is not None:
            after = seat["balance_after_minor"]
            line += f", balance {seat['balance_before_minor']} -> {'not known yet' if after is None else after}"
        if seat["left_reason"]:
            line += f", left ({seat['left_reason']})"
        yield line
    for line in hand["movements"]:
        yield (
            f"  {_moment(line['created_at_ms'])} {line['kind']} seat {line['seat']}: {line['amount_minor']:+},"
            f" balance {line['balance_after_minor']}, transaction {line['transaction_id']}"
        )
    yield ""


def _entry(entry: dict[str, Any]) -> Iterator[str]:
    who = "" if entry["seat"] is None else f" seat {entry['seat']}"
    given = f" {json.dumps(entry['input'])}" if entry["input"] else ""
    yield f"  {entry['seq']:>4} {_moment(entry['at_ms'])} {entry['kind']}{who}{given}"
    for event in entry["events"]:
        told = event | {name: _moment(event[name]) for name in TIMES if event.get(name) is not None}
        yield f"         {event_text(told)}"


def _moment(ms: int | None) -> str:
    if ms is None:
        return "-"
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
