"""Mongooz: what a viewer may know, which is the same for all: nobody sees a face-down pile.

Rules: docs/games/mongooz.md, section View.
"""

from __future__ import annotations

from apps.games.contract import JSON, Seat, View
from apps.games.kit import views
from apps.games.mongooz import rules
from apps.games.mongooz.cards import RANKS, SUITS
from apps.games.mongooz.state import State


def actors(s: State) -> tuple[Seat, ...]:
    """Return the turn's seat, or nobody while an autopilot's turn runs."""
    return (s.seat,) if s.outcome is None and s.seat in s.active else ()


def _seat(s: State, seat: Seat) -> dict[str, JSON]:
    discard = s.discards[seat]
    return {
        "pile_count": len(s.piles[seat]),
        "discard_count": len(discard),
        "discard_top": views.card(s, discard[-1] if discard else None, True),
        "pile": None if s.outcome is None else views.cards(s, s.piles[seat], True),
    }


def view(s: State, viewer: Seat | None) -> View:
    """Return the view of a seat, or of a spectator (None)."""
    return views.shared(
        rules.SPEC,
        s,
        viewer,
        phase="play",
        actors=actors(s),
        seats={seat: _seat(s, seat) for seat in s.deal.seats},
        board={
            "middle": {
                suit: {"top": views.card(s, cards[-1] if cards else None, True), "count": len(cards)}
                for suit, cards in zip(SUITS, s.middle, strict=True)
            },
            "start_rank": RANKS[s.start_rank],
            "flipped": views.card(s, s.flipped, True),
            "callable": [
                {"turn": record.turn, "seat": record.offender, "callers": list(record.callers)}
                for record in (s.callable() if s.outcome is None else ())
            ],
            "blocked": sorted(s.blocked),
        },
    )
