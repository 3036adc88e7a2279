"""The games of this server: one line each.

A game module is imported when it is first asked for, so that the verifier pays only for what it replays.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from apps.games.contract import Game

GAMES: dict[str, str] = {
    "monko": "apps.games.monko",
}


def slugs() -> tuple[str, ...]:
    """Return the slugs of all games, in the order they are offered."""
    return tuple(GAMES)


@cache
def game(slug: str) -> Game[Any]:
    """Return the rules of one game.

    Raises:
        KeyError: no game has this slug.
    """
    rules: Game[Any] = import_module(GAMES[slug]).GAME
    return rules
