"""Monkey Butt: what a viewer may know.

Rules: docs/games/monkey_butt.md, section View.  A face-down card goes in by its place alone, unless the viewer holds it
in hand, picks from it or robs it.
"""

from __future__ import annotations

from apps.games.contract import JSON, Seat, View
from apps.games.kit import views
from apps.games.monkey_butt import rules
from apps.games.monkey_butt.cards import RANKS
from apps.games.monkey_butt.state import AB, OVER, PICK_C, PLAY, State


def actors(s: State) -> tuple[Seat, ...]:
    """Return the seats whose turn it is, ascending: in a set-up phase all that have to choose."""
    if s.phase == OVER:
        return ()
    if s.phase in (AB, PICK_C):
        return rules.choosers(s)
    return (s.seat,)


def _sees_hand(s: State, viewer: Seat | None, seat: Seat) -> bool:
    """Return whether the viewer sees this hand: its own, that of its target, or that of its victim."""
    if viewer is None:
        return False
    if viewer == seat:
        return True
    if s.phase == PICK_C:
        return viewer in s.active and s.targets.get(viewer) == seat
    return viewer == s.seat and s.victim == seat


def _seat(s: State, viewer: Seat | None, seat: Seat) -> dict[str, JSON]:
    a, b, c = [views.card(s, card, True) for card in s.open[seat]]
    return {
        "hand": views.cards(s, s.hands[seat], _sees_hand(s, viewer, seat)),
        "a": a,
        "b": b,
        "c": c,
        "down": views.card(s, s.down[seat][0], False) if s.down[seat] else None,
        "aside": views.cards(s, s.aside[seat], False),
        "locked": s.phase in (AB, PICK_C) and seat in s.locks,
    }


def view(s: State, viewer: Seat | None) -> View:
    """Return the view of a seat, or of a spectator (None)."""
    return views.shared(
        rules.SPEC,
        s,
        viewer,
        phase=s.phase,
        actors=actors(s),
        seats={seat: _seat(s, viewer, seat) for seat in s.deal.seats},
        board={
            "deck_count": len(s.deck),
            "pile": views.cards(s, s.pile, True),
            "burn": views.cards(s, s.burn, True),
            "removed": views.cards(s, s.removed, True),
            "out": list(s.out),
            "zone": s.zone(s.seat)[0] if s.phase == PLAY else None,
            "lowest": RANKS[s.lowest] if s.lowest else None,
            "victim": s.victim,
            "in_play": views.card(s, s.in_play, viewer == s.seat or s.in_play_zone == "down"),
        },
        out=s.out,
        turns=s.phase not in (AB, PICK_C),
    )
