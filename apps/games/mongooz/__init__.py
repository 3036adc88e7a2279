"""Mongooz: a shedding game of attention for 2 to 4 seats.  Rules: docs/games/mongooz.md."""

from apps.games.mongooz.game import Mongooz

GAME = Mongooz()
