"""Monkey Butt: a shedding game with one loser, for 2 to 8 seats.  Rules: docs/games/monkey_butt.md."""

from apps.games.monkey_butt.game import MonkeyButt

GAME = MonkeyButt()
