"""Monko: what a viewer may know.

Rules: docs/games/monko.md, section View.  A face-down card that is not the viewer's own goes in by its place alone.
"""

from __future__ import annotations

from apps.games.contract import Seat, View
from apps.games.kit import views
from apps.games.monko.rules import SPEC
from apps.games.monko.state import State


def view(s: State, viewer: Seat | None) -> View:
    """Return the view of a seat, or of a spectator (None)."""
    return views.shared(
        SPEC,
        s,
        viewer,
        phase="play",
        actors=(s.seat,) if s.outcome is None else (),
        seats={
            seat: {
                "hand": views.cards(s, s.hands[seat], seat == viewer),
                "aside": views.cards(s, s.aside[seat], False),
            }
            for seat in s.deal.seats
        },
        board={
            "deck_count": len(s.deck),
            "pile": views.cards(s, s.pile, True),
            "colour": s.colour,
            "direction": s.direction,
            "stack": {"size": s.stack, "plus4": s.plus4},
            "drawn": views.card(s, s.drawn, viewer == s.seat),
            "pending": list(s.pending),
            "windows": [
                {
                    "window": window.number,
                    "seat": window.seat,
                    "exposed": window.exposed,
                    "exposed_at": window.exposed_at,
                    "closes_at": window.closes_at,
                }
                for window in s.windows
            ],
        },
    )
