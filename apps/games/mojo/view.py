"""Mojo: what a viewer may know.

Rules: docs/games/mojo.md, section View, J-23.
"""

from __future__ import annotations

from typing import Any

from apps.games.contract import Seat, View
from apps.games.kit import views
from apps.games.mojo.rules import SPEC
from apps.games.mojo.state import State


def view(s: State, viewer: Seat | None) -> View:
    """Return the view of one seat, or of a spectator for None.

    Raises:
        RuleError: not_in_round.
    """
    over = s.outcome is not None
    return views.shared(
        SPEC,
        s,
        viewer,
        phase="play",
        actors=() if over else (s.seat,),
        seats={
            seat: {
                "hand": views.cards(s, s.hands[seat], seat == viewer),
                "laid": _laid(s, seat, viewer),
                "aside": views.cards(s, s.aside[seat], False),
                "total": s.totals[seat],
            }
            for seat in s.deal.seats
        },
        board={
            "round": s.number,
            "face": s.face,
            "direction": s.direction,
            "threshold": s.threshold,
            "deck_count": len(s.deck),
            "piles": [views.cards(s, pile, True) for pile in s.piles],
            "locked": None if over else s.locked,
        },
    )


def _laid(s: State, seat: Seat, viewer: Seat | None) -> list[dict[str, Any]] | None:
    if seat not in s.laid:
        return None
    return [{"card": views.card(s, card, up or seat == viewer), "up": up} for card, up in s.laid[seat]]
