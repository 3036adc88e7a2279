"""Monko: a shedding game for 2 to 4 seats.  Rules: docs/games/monko.md."""

from apps.games.monko.game import Monko

GAME = Monko()
