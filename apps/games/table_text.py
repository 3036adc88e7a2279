"""A view as text: what a seat sees, for the terminal and for golden rounds.

It knows no game: every key of a view is shown, cards by their face, hidden cards as blanks.  It reads views and events
only, so it cannot show more than the viewer may know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apps.games.contract import Event, View

Paint = Callable[[str], str]
"""Returns a card's code as it is to be shown."""

HIDDEN = "▒▒"
CARDS_SHOWN_MAX = 16
"""Of a longer open pile the last so many cards are shown, and how many lie below them."""


def plain(code: str) -> str:
    """Return a card's code without colour."""
    return code


def text_of(value: Any, paint: Paint = plain) -> str:
    """Return a value of a view or event as a person reads it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        if "gen" in value and "pos" in value:
            return paint(value["card"]) if "card" in value else HIDDEN
        return ", ".join(f"{key} {text_of(inner, paint)}" for key, inner in value.items()) or "none"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _list_text(value, paint)
    return str(value)


def _list_text(values: Sequence[Any], paint: Paint) -> str:
    if not values:
        return "none"
    hidden = sum(isinstance(value, Mapping) and "gen" in value and "card" not in value for value in values)
    if hidden == len(values):
        return f"{HIDDEN} x {hidden}"
    if any(isinstance(value, list) or (isinstance(value, Mapping) and "gen" not in value) for value in values):
        return "; ".join(f"({text_of(value, paint)})" for value in values)
    shown = [text_of(value, paint) for value in values[-CARDS_SHOWN_MAX:]]
    below = len(values) - len(shown)
    return " ".join([f"({below} below)", *shown] if below else shown)


def rows_of(view: View, paint: Paint = plain) -> dict[str, str]:
    """Return what a view says, row by row: a label and its text.  What is empty is left out."""
    turn = view["turn"]
    rows = {"phase": view["phase"]}
    if turn is not None:
        rows["turn"] = f"number {turn['number']}, seat {turn['seat']}"
    if view["deadline"] is not None:
        rows["deadline"] = text_of(view["deadline"])
    rows["actors"] = text_of(view["actors"])
    for key, value in view["board"].items():
        rows[key] = text_of(value, paint)
    for row in view["seats"]:
        parts = [] if row["status"] == "active" else [row["status"]]
        if not row["connected"]:
            parts.append("no connection")
        for key, value in row.items():
            if key not in ("seat", "status", "connected") and value not in (None, [], False):
                parts.append(f"{key} {text_of(value, paint)}")
        rows[f"seat {row['seat']}"] = ", ".join(parts) or "nothing"
    if view["outcome"] is not None:
        rows["outcome"] = text_of(view["outcome"], paint)
    return rows


def event_text(event: Event, paint: Paint = plain) -> str:
    """Return an event as a line for people: who first, then what, then the rest."""
    rest = []
    for key, value in event.items():
        if key in ("card", "cards"):
            rest.append(text_of(value, paint))
        elif key not in ("type", "seat"):
            rest.append(f"{key} {text_of(value, paint)}")
    name = str(event["type"]).replace("_", " ")
    who = f"seat {event['seat']} " if "seat" in event else ""
    return f"{who}{name}: {', '.join(rest)}" if rest else f"{who}{name}"
