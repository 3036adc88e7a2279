"""Computer players: a lookup from a game's slug to the way its bot chooses.

A bot is a pure function ``choose(view, legal, rng_int) -> action`` in ``apps/games/<slug>/bot.py``: it is given what
its seat may know and may do, and a source of integers below m.  It never sees a state, a deck or another seat's cards.
A game without a bot of its own is played by ``at_random``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from apps.games import registry
from apps.games.contract import Action, View

RngInt = Callable[[int], int]
"""Gives an integer in [0, m) for m."""

Choose = Callable[[View, Sequence[Action], RngInt], Action | None]
"""Returns one of the listed actions, or None to wait (only for a seat whose turn it is not)."""


def at_random(view: View, legal: Sequence[Action], rng_int: RngInt) -> Action:
    """Choose any of the listed actions."""
    return legal[rng_int(len(legal))]


def bot(slug: str) -> Choose:
    """Return how the bot of a game chooses.

    Raises:
        KeyError: no game has this slug.
    """
    module = registry.part(slug, "bot")
    if module is None:
        return at_random
    choose: Choose = module.choose
    return choose
