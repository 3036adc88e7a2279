"""Tests of Mongooz.  Rules: docs/games/mongooz.md."""
