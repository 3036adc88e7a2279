"""Mongooz: how the computer player chooses, and how much it notices.

From the seat's own view and its listed actions it plays every card that it sees to fit, calls what it sees to have been
overlooked, and joins a call that was right.  Each look notices a thing with a chance of ``skill`` in a thousand, so a
bot with 1000 never slips and one with 500 is an inattentive child.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from apps.games.contract import Action, Seat, View
from apps.games.mongooz.cards import BELOW, RANK, RANKS, ROUND, SUIT, SUITS, TABLE

SKILL = 900
"""Chance in a thousand to notice a thing at a look."""
THOUSAND = 1_000


def choose(view: View, legal: Sequence[Action], rng_int: Callable[[int], int], skill: int = SKILL) -> Action | None:
    """Return one of the listed actions, or None to wait when it is not the seat's turn.

    Args:
        skill: chance in a thousand, 0 to 1000, to notice a thing.
    """
    for action in legal:
        if action["type"] == "call" and _overlooked(view, action["turn"]) and rng_int(THOUSAND) < skill:
            return action
    me: Seat = view["viewer"]
    if view["turn"] is None or view["turn"]["seat"] != me:
        return None
    card = view["board"]["flipped"] or _row(view, me)["discard_top"]
    fitting = [action for action in legal if card is not None and _fits(view, card["card"], action)]
    if fitting and rng_int(THOUSAND) < skill:
        return min(fitting, key=lambda action: _gift(view, action))
    return next((action for action in legal if action["type"] in ("flip", "discard")), None)


def _row(view: View, seat: Seat) -> dict[str, Any]:
    row: dict[str, Any] = next(row for row in view["seats"] if row["seat"] == seat)
    return row


def _fits(view: View, code: str, action: Action) -> bool:
    """Return whether this placement of a card would be accepted."""
    card = TABLE.index[code]
    if action["type"] == "to_middle":
        start = RANKS.index(view["board"]["start_rank"])
        return bool((RANK[card] - start) % ROUND == view["board"]["middle"][SUITS[SUIT[card]]]["count"])
    if action["type"] == "to_seat":
        top = _row(view, action["seat"])["discard_top"]
        return top is not None and RANK[TABLE.index[top["card"]]] == BELOW[card]
    return False


def _gift(view: View, action: Action) -> int:
    """Return how unwelcome a placement is: the middle first, then seats with many cards."""
    if action["type"] == "to_middle":
        return -THOUSAND
    row = _row(view, action["seat"])
    return -int(row["pile_count"] + row["discard_count"])


def _overlooked(view: View, turn: int) -> bool:
    """Return whether it can be seen that this turn overlooked a play.

    The top of the offender's discard fits somewhere: in its running turn after it has flipped, or after the turn that
    it ended with that card.  Or another seat has called it rightly.
    """
    window = next(window for window in view["board"]["callable"] if window["turn"] == turn)
    if window["callers"]:
        return True
    running = view["turn"]["number"] == turn
    if running and view["board"]["flipped"] is None:
        return False
    top = _row(view, window["seat"])["discard_top"]
    if top is None:
        return False
    places: list[Action] = [{"type": "to_middle"}]
    places += [{"type": "to_seat", "seat": row["seat"]} for row in view["seats"] if row["seat"] != window["seat"]]
    return any(_fits(view, top["card"], place) for place in places)
