"""The form of actions, as a table of verbs: what ``bad_action`` means.

Common rules: section 3, last paragraph.  Nothing about the state is looked at but which cards are in the round's deck
and which seats were dealt in.

    VERBS = {
        "play": Verb(card=card, optional={"colour": one_of("R", "Y", "G", "B")}),
        "draw": Verb(),
        "call": Verb(window=integer(1)),
    }
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from apps.games.contract import RuleError
from apps.games.kit.round import Deal

Fits = Callable[[Any, Deal], bool]
"""Tells whether a JSON value has the form that a key asks for."""


class Verb:
    """The keys of one verb besides ``type``: those that must be there, and those that may."""

    __slots__ = ("optional", "required")

    def __init__(self, optional: Mapping[str, Fits] | None = None, **required: Fits) -> None:
        self.required = tuple(required.items())
        self.optional = tuple((optional or {}).items())


def check(verbs: Mapping[str, Verb], action: Any, deal: Deal) -> str:
    """Return the verb of a well-formed action.

    Raises:
        RuleError: bad_action.
    """
    if not isinstance(action, dict):
        raise RuleError("bad_action")
    name = action.get("type")
    if not isinstance(name, str) or name not in verbs:
        raise RuleError("bad_action")
    verb = verbs[name]
    keys = 1
    for key, fits in verb.required:
        if key not in action or not fits(action[key], deal):
            raise RuleError("bad_action", key=key)
        keys += 1
    for key, fits in verb.optional:
        if key in action:
            if not fits(action[key], deal):
                raise RuleError("bad_action", key=key)
            keys += 1
    if len(action) != keys:
        raise RuleError("bad_action")
    return name


def card(value: Any, deal: Deal) -> bool:
    """Tell whether the value is the code of a card of this round's deck."""
    return isinstance(value, str) and value in deal.cards.index


def seat(value: Any, deal: Deal) -> bool:
    """Tell whether the value is the number of a seat that was dealt in; ``true`` is not 1."""
    return type(value) is int and value in deal.seats


def integer(low: int, high: int | None = None) -> Fits:
    """Ask for an integer from ``low`` to ``high``; without ``high`` there is no upper end."""

    def fits(value: Any, deal: Deal) -> bool:
        return type(value) is int and low <= value and (high is None or value <= high)

    return fits


def one_of(*texts: str) -> Fits:
    """Ask for one of these texts, capitals mattering."""
    allowed = frozenset(texts)

    def fits(value: Any, deal: Deal) -> bool:
        return isinstance(value, str) and value in allowed

    return fits


def null_or(other: Fits) -> Fits:
    """Ask for null or for what another form asks for."""

    def fits(value: Any, deal: Deal) -> bool:
        return value is None or other(value, deal)

    return fits


def record(**keys: Fits) -> Fits:
    """Ask for a JSON object with exactly these keys."""

    def fits(value: Any, deal: Deal) -> bool:
        return (
            isinstance(value, dict)
            and value.keys() == keys.keys()
            and all(form(value[key], deal) for key, form in keys.items())
        )

    return fits


def rising_cards(value: Any, deal: Deal) -> bool:
    """Tell whether the value is a list of one or more card codes in strictly rising canonical order."""
    if not isinstance(value, list) or not value:
        return False
    index, last = deal.cards.index, -1
    for code in value:
        number = index.get(code, -1) if isinstance(code, str) else -1
        if number <= last:
            return False
        last = number
    return True
