"""The notation of the rule pages for events: ``played(seat=0, card=@0.0=RS#1, stack=0)``, written and read.

``@g.p`` is a hidden card with its place, ``@g.p=CODE`` a shown one.  Key order means nothing.
"""

from __future__ import annotations

import re
from typing import Any

from apps.games.contract import Event

_TOKEN = re.compile(r"@\d+\.\d+(?:=[^\s,\]})]+)?|-?\d+(?![\w#])|[\w#]+|[()\[\]{},:=]")


def written(value: Any) -> str:
    """Return a JSON value in the notation of the pages."""
    if isinstance(value, dict):
        if value.keys() == {"gen", "pos"}:
            return f"@{value['gen']}.{value['pos']}"
        if value.keys() == {"gen", "pos", "card"}:
            return f"@{value['gen']}.{value['pos']}={value['card']}"
        return "{" + ", ".join(f"{key}:{written(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(written(inner) for inner in value) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def written_event(event: Event) -> str:
    """Return an event in the notation of the pages."""
    inside = ", ".join(f"{key}={written(value)}" for key, value in event.items() if key != "type")
    return f"{event['type']}({inside})"


def read_events(text: str) -> list[Event]:
    """Return the events of a table cell: each stands in backquotes."""
    return [read_event(part) for part in re.findall(r"`([^`]+)`", text)]


def read_event(text: str) -> Event:
    """Return the event written in this text."""
    reader = _Reader(text)
    name = reader.take()
    reader.expect("(")
    event: Event = {"type": name}
    while reader.peek() != ")":
        key = reader.take()
        reader.expect("=")
        event[key] = reader.value()
        if reader.peek() == ",":
            reader.take()
    return event


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens: list[str] = _TOKEN.findall(text)
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at]

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, token: str) -> None:
        assert self.take() == token, (token, self.tokens)

    def value(self) -> Any:
        token = self.take()
        if token.startswith("@"):
            place, _, code = token[1:].partition("=")
            gen, pos = place.split(".")
            card = {"gen": int(gen), "pos": int(pos)}
            return {**card, "card": code} if code else card
        if token == "[":
            return self._many("]", self.value)
        if token == "{":
            return dict(self._many("}", self._pair))
        if token in ("null", "true", "false"):
            return {"null": None, "true": True, "false": False}[token]
        return int(token) if re.fullmatch(r"-?\d+", token) else token

    def _pair(self) -> tuple[str, Any]:
        key = self.take()
        self.expect(":")
        return key, self.value()

    def _many(self, end: str, read: Any) -> list[Any]:
        values = []
        while self.peek() != end:
            values.append(read())
            if self.peek() == ",":
                self.take()
        self.take()
        return values
