"""Wonky: get rid of your cards by building a common tower.  Rules: docs/games/wonky.md."""

from apps.games.wonky.game import Wonky

GAME = Wonky()
