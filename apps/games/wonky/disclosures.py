"""Wonky: which events may depend on faces that nobody was shown.

Rules: docs/games/wonky.md, section View, last paragraph (X-15).
"""

from __future__ import annotations

from apps.games.contract import View
from apps.games.inputs import Input


def discloses(before: View, given: Input, after: View) -> bool:
    """Return whether the clock ended a turn by looking at a hand: in ``rebuild``, or at a drawn card in ``play``."""
    return given.kind == "wake" and (before["phase"] == "rebuild" or before["board"]["drawn"] is not None)
