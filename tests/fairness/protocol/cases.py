"""Ways to break a round: what the tables of cases in the clause tests are written with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.fairness.protocol.house import Body, House, Plan

Edit = Callable[[Any], Any]
Build = Callable[[House], Body]
Case = tuple[str, str, Build]
"""First code that fails, what was done, and how the bundle is made."""


def _at(target: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        target = target[step]
    return target


def put(*path: Any, value: Any) -> Edit:
    """Return an edit that sets the member at a path."""

    def edit(target: Any) -> None:
        _at(target, path[:-1])[path[-1]] = value

    return edit


def drop(*path: Any) -> Edit:
    """Return an edit that takes out the member at a path."""

    def edit(target: Any) -> None:
        del _at(target, path[:-1])[path[-1]]

    return edit


def change(*path: Any, by: Callable[[Any], Any]) -> Edit:
    """Return an edit that replaces the member at a path by what a function makes of it."""

    def edit(target: Any) -> None:
        holder = _at(target, path[:-1])
        holder[path[-1]] = by(holder[path[-1]])

    return edit


def each(*edits: Edit) -> Edit:
    """Return an edit that does several."""

    def edit(target: Any) -> None:
        for one in edits:
            one(target)

    return edit


def plan(*edits: tuple[str, Edit], **members: Any) -> Build:
    """Return how to play a round by a plan with some of its steps edited."""
    return lambda house: house.play(Plan(**members, edits=dict(edits))).bundle


def bundle(edit: Edit, **members: Any) -> Build:
    """Return how to change a finished bundle, without signing anything again."""
    return plan(("bundle", edit), **members)


def body(type_: str, edit: Edit, **members: Any) -> Build:
    """Return how to sign a changed body of one record."""
    return plan((type_, edit), **members)


def entries(edit: Edit, **members: Any) -> Build:
    """Return how to change a transcript before its head is signed."""
    return plan(("entries", edit), **members)


def void(reason: str, fault: str, stop: str = "open", **members: Any) -> Build:
    """Return how to void a round; members of the plan go there, all others into the void record."""
    known = {name: members.pop(name) for name in ("mode", "beacon", "seats", "keyed", "ended") if name in members}
    return plan(**known, stop=stop, void={"reason": reason, "fault": fault, **members})


def opened_by(*seats: int, **altered: Any) -> Callable[[Any], list[Body]]:
    """Return the rows of the seats that opened before a void."""
    return lambda play: [{**play.entropy_row(seat), **altered} for seat in seats]


def other_hex(text: str) -> str:
    """Return hex that differs in its first digit."""
    return ("1" if text[0] == "0" else "0") + text[1:]


def ids(cases: list[Case]) -> list[str]:
    """Return the names of the cases."""
    return [f"{code}: {about}" for code, about, _ in cases]
