"""Monkey Butt: which events may depend on faces that nobody was shown.

Rules: docs/games/monkey_butt.md, section View, last paragraph (X-15).
"""

from __future__ import annotations

from apps.games.contract import View
from apps.games.inputs import Input
from apps.games.monkey_butt.state import AB, PICK_C, PLAY, STEAL


def discloses(before: View, given: Input, after: View) -> bool:
    """Return whether the page says that this input tells something about hidden faces.

    The opening seat and its rank when C is shown, what the clock locks, plays or steals, and whether a stolen card went
    on the pile, is to be used, or was kept.
    """
    phase = before["phase"]
    if phase == PICK_C:
        return after["phase"] == PLAY or given.kind == "wake"
    if phase in (AB, PLAY):
        return given.kind == "wake"
    return phase == STEAL and given.kind in ("act", "wake")
