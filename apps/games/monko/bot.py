"""Monko: how the computer player chooses.

A simple sensible strategy from the seat's own view and its listed actions: call in time, catch who forgot, keep wild
cards for later, get rid of many points, name the colour it holds most of, and hit a seat that is nearly out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from apps.games.contract import Action, Seat, View
from apps.games.monko.cards import ADDS, COLOUR, INDEX, POINTS, REVERSE, SKIP, SYMBOL

FORGETS_ONE_IN = 5
"""One in so many chances to call is slept through, so that catching is part of the game against bots."""
NEARLY_OUT = 2
"""A next seat with so few cards is worth a draw card or a skip."""


def choose(view: View, legal: Sequence[Action], rng_int: Callable[[int], int]) -> Action | None:
    """Return one of the listed actions, or None to wait when it is not the seat's turn."""
    for action in legal:
        if action["type"] in ("call", "catch") and rng_int(FORGETS_ONE_IN):
            return action
    me: Seat = view["viewer"]
    if view["turn"] is None or view["turn"]["seat"] != me:
        return None
    plays = [action for action in legal if action["type"] == "play"]
    if not plays:
        return next(action for kind in ("take", "draw", "pass") for action in legal if action["type"] == kind)
    hands = {row["seat"]: row["hand"] for row in view["seats"]}
    held = Counter(COLOUR[INDEX[card["card"]]] for card in hands[me])
    pressed = len(hands[_next_seat(view)]) <= NEARLY_OUT

    def worth(action: Action) -> tuple[int, int, int]:
        card = INDEX[action["card"]]
        colour = action.get("colour") or COLOUR[card]
        hits = ADDS[card] or SYMBOL[card] in (SKIP, REVERSE)
        wild = not COLOUR[card]
        first = 3 if pressed and hits else 1 if wild else 2
        return first, held[colour] * 10 + (0 if wild else POINTS[card]), -card

    return max(plays, key=worth)


def _next_seat(view: View) -> Seat:
    """Return the seat that would have the next turn after a plain card."""
    me = view["viewer"]
    active = [row["seat"] for row in view["seats"] if row["status"] == "active"]
    at = active.index(me) + view["board"]["direction"]
    seat: Seat = active[at % len(active)]
    return seat
