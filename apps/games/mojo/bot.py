"""Mojo: how the computer player chooses.

A simple sensible strategy from the seat's own view and its listed actions: get rid of cards, of dear ones first, take a
card that is known to be cheap rather than an unknown one, and keep secret for longest what costs most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from apps.games.contract import Action, View
from apps.games.mojo.cards import TABLE, VALUE, raw_points

CARD_WORTH = 4
"""What it is worth to have one card less, in points."""
AGAIN_WORTH = 3
"""What an equal discard is worth besides: the turn goes on."""
UNKNOWN_COST = 4
"""What a card from the deck is expected to cost."""


def choose(view: View, legal: Sequence[Action], rng_int: Callable[[int], int]) -> Action | None:
    """Return one of the listed actions, or None to wait when it is not the seat's turn."""
    if not legal:
        return None
    if legal[0]["type"] == "reveal":
        return min(legal, key=lambda action: VALUE[TABLE.index[action["card"]]])
    row = next(row for row in view["seats"] if row["seat"] == view["viewer"])
    hand = [TABLE.index[card["card"]] for card in row["hand"]]
    tops = [TABLE.index[pile[-1]["card"]] for pile in view["board"]["piles"]]
    worths = [_worth(action, hand, tops) for action in legal]
    best = [action for action, worth in zip(legal, worths, strict=True) if worth == max(worths)]
    return best[rng_int(len(best))]


def _worth(action: Action, hand: list[int], tops: list[int]) -> int:
    """Return how good a discard is: points saved, with what a card less or more is worth."""
    card = TABLE.index[action["card"]]
    pile = action.get("pile", 1)
    rest = [other for other in hand if other != card]
    difference = VALUE[card] - VALUE[tops[pile - 1]]
    if difference > 0 and action.get("from") == "other":
        return raw_points(hand) - raw_points([*rest, tops[2 - pile]])
    saved = raw_points(hand) - raw_points(rest)
    if difference > 0:
        return saved - UNKNOWN_COST
    return saved + CARD_WORTH + (AGAIN_WORTH if difference == 0 else 0)
