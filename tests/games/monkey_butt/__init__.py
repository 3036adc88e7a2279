"""Tests of Monkey Butt.  Rules: docs/games/monkey_butt.md."""
