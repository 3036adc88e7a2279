"""The games of this server: one line each.

A game module is imported when it is first asked for, so that the verifier pays only for what it replays.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from apps.games.contract import Game

GAMES: dict[str, str] = {
    "monko": "apps.games.monko",
    "mojo": "apps.games.mojo",
    "monkey_butt": "apps.games.monkey_butt",
    "mongooz": "apps.games.mongooz",
    "wonky": "apps.games.wonky",
}


OLDER: dict[str, str] = {}
"""Packages of earlier rules versions, by version (``monko/1``); one that rounds were played with is never removed."""


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


@cache
def by_rules(rules: str) -> Game[Any]:
    """Return the rules of the version that a stored round was played with.

    Args:
        rules: slug and number, as ``round_started`` has them: ``monko/1``.

    Raises:
        KeyError: there has never been such a version.
    """
    slug = rules.partition("/")[0]
    if slug in GAMES and game(slug).spec.rules == rules:
        return game(slug)
    older: Game[Any] = import_module(OLDER[rules]).GAME
    return older


@cache
def part(slug: str, name: str) -> ModuleType | None:
    """Return an optional module of a game's package, or None if the game has none of this name.

    There are three: ``bot`` (how a computer player chooses), ``disclosures`` (what the game's page lists under X-15),
    ``paint`` (colours for the terminal).

    Raises:
        KeyError: no game has this slug.
    """
    module = f"{GAMES[slug]}.{name}"
    return import_module(module) if find_spec(module) else None
