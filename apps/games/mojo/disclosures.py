"""Mojo: which events may depend on faces that nobody was shown.

Rules: docs/games/mojo.md, section View, last paragraph (X-15).
"""

from __future__ import annotations

from apps.games.contract import View
from apps.games.inputs import Input


def discloses(before: View, given: Input, after: View) -> bool:
    """Return whether the clock discarded for a seat: its lowest card tells that the hand held none below."""
    rows = {row["seat"]: row for row in before["seats"]}
    return given.kind == "wake" and rows[before["turn"]["seat"]]["laid"] is None
