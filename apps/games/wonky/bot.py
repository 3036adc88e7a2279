"""Wonky: how the computer player chooses.

A simple sensible strategy from the seat's own view and its listed actions: work out the risk of every placement, take
the safest one, keep cards that fit everywhere for later, and pass on a tower that is too shaky to touch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from apps.games.contract import Action, View
from apps.games.wonky.blocks import BASE, BLOCK_INDEX, BLOCKS, Tower, blocks_in, risk
from apps.games.wonky.cards import MATCHES, TABLE

TOO_SHAKY = 3_500
"""From this risk on an action card, or keeping the drawn card, is better."""
FIT_COST = 60
"""What using up a card costs for each block that it would have fitted, as a risk."""


def choose(view: View, legal: Sequence[Action], rng_int: Callable[[int], int]) -> Action | None:
    """Return one of the listed actions, or None to wait when it is not the seat's turn."""
    if not legal:
        return None
    row = next(row for row in view["seats"] if row["seat"] == view["viewer"])
    tower: Tower = tuple((BLOCK_INDEX[b["block"]], b["down"], b["x"]) for b in view["board"]["tower"])
    stacks = [action for action in legal if action["type"] == "stack"]
    plays = [action for action in legal if action["type"] == "play"]
    waits = plays or [action for action in legal if action["type"] in ("keep", "draw")]
    if plays and (not stacks or len(row["hand"]) == 2):
        return plays[rng_int(len(plays))]  # An action card cannot be the last one.
    if not stacks:
        return waits[0]
    costs = [_cost(action, tower) for action in stacks]
    least = min(costs)
    if least >= TOO_SHAKY and waits and len(tower) < len(BLOCKS) - 1:
        return waits[rng_int(len(waits))]
    best = [action for action, cost in zip(stacks, costs, strict=True) if cost == least]
    return best[rng_int(len(best))]


def _cost(action: Action, tower: Tower) -> int:
    """Return the risk of a placement and what it costs to use up its card."""
    below = tower[-1][2] if tower else 0
    after = (*tower, (BLOCK_INDEX[action["block"]], action["down"], below + action["offset"]))
    fits = len(blocks_in(MATCHES[TABLE.index[action["card"]]]))
    return risk(after, BASE["shaky"]) + FIT_COST * fits
