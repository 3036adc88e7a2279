"""Mojo: a match of short deals in which low scores are good.  Rules: docs/games/mojo.md."""

from apps.games.mojo.game import Mojo

GAME = Mojo()
