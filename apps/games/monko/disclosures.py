"""Monko: which events may depend on faces that nobody was shown.

Rules: docs/games/monko.md, section View, last paragraph (X-15).
"""

from __future__ import annotations

from apps.games.contract import View
from apps.games.inputs import Input


def discloses(before: View, given: Input, after: View) -> bool:
    """Return whether a turn began while nothing was left: END(blocked) or its absence tells what the hands hold."""
    board = after["board"]
    return board["deck_count"] == 0 and len(board["pile"]) == 1
