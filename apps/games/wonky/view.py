"""Wonky: what a viewer may know.

Rules: docs/games/wonky.md, section View, W-20.
"""

from __future__ import annotations

from apps.games.contract import Seat, View
from apps.games.kit import views
from apps.games.wonky.blocks import BLOCKS, blocks_in
from apps.games.wonky.rules import SPEC
from apps.games.wonky.state import State


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
        phase="rebuild" if s.rebuilding else "play",
        actors=() if over else (s.seat,),
        seats={
            seat: {
                "hand": views.cards(s, s.hands[seat], seat == viewer),
                "aside": views.cards(s, s.aside[seat], False),
            }
            for seat in s.deal.seats
        },
        board={
            "deck_count": len(s.deck),
            "direction": s.direction,
            "placements": s.placements,
            "discard": views.cards(s, s.discard, True),
            "tower": [{"block": BLOCKS[block], "down": down, "x": x} for block, down, x in s.tower],
            "free": [BLOCKS[block] for block in blocks_in(s.free())],
            "drawn": None if over else views.card(s, s.drawn, viewer == s.seat),
        },
    )
