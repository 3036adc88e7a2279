"""Computer players: a lookup from a game's slug to the way its bot chooses.

A bot is a pure function ``choose(view, legal, rng_int) -> action`` in ``apps/games/<slug>/bot.py``: it is given what
its seat may know and may do, and a source of integers below m.  It never sees a state, a deck or another seat's cards.
A game without a bot of its own is played by ``at_random``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from apps.games import registry
from apps.games.chance import Dice
from apps.games.contract import Action, Game, View
from apps.games.inputs import START_MS, Input

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


class BotPlay:
    """A source of inputs like ``RandomPlay``, with the game's bot in every seat."""

    def __init__(self, game: Game[Any], seed: int) -> None:
        self.game = game
        self.dice = Dice(seed)
        self.choose = bot(game.spec.slug)
        self.now = START_MS

    def next(self, state: Any) -> Input:
        """Return the next input: an action of a bot, or a wake when all of them wait."""
        game = self.game
        due = game.wake_at(state)
        assert due is not None, "a running round has something due"
        self.now += 200 + self.dice.below(800)
        if self.now < due:
            rows = game.view(state, None)["seats"]
            seats = [row["seat"] for row in rows if row["status"] == "active"]
            first = self.dice.below(len(seats))
            for seat in seats[first:] + seats[:first]:
                legal = game.legal(state, seat, self.now)
                action = self.choose(game.view(state, seat), legal, self.dice.below) if legal else None
                if action is not None:
                    return Input("act", self.now, seat, action)
        self.now = max(self.now, due)
        return Input("wake", self.now)
