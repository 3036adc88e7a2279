"""The view that all games share.

Common rules: section 6, X-15.  A view does not depend on the time, and a face goes in only where the rule page says so
or the round is over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from apps.games.contract import JSON, Seat, Spec, View
from apps.games.kit import guards
from apps.games.kit.cards import Cards
from apps.games.kit.round import Round, outcome_json


def cards(s: Round, zone: Cards, shown: bool) -> list[dict[str, Any]]:
    """Return a zone for a view: ``<s>`` each if the viewer may see it or the round is over, else ``<h>``."""
    places = s.places
    if shown or s.outcome is not None:
        codes = s.deal.cards.codes
        return [{"gen": places[card][0], "pos": places[card][1], "card": codes[card]} for card in zone]
    return [{"gen": places[card][0], "pos": places[card][1]} for card in zone]


def card(s: Round, which: int | None, shown: bool) -> dict[str, Any] | None:
    """Return one card for a view, or null if there is none."""
    if which is None:
        return None
    return s.shown(which) if shown or s.outcome is not None else s.hidden(which)


def shared(
    spec: Spec,
    s: Round,
    viewer: Seat | None,
    *,
    phase: str,
    actors: Iterable[Seat],
    seats: Mapping[Seat, Mapping[str, JSON]],
    board: Mapping[str, JSON],
    out: tuple[Seat, ...] = (),
    turns: bool = True,
) -> View:
    """Return the shared view with the page's own keys in it.

    Args:
        phase: of the page; "over" is put in here.
        seats: by seat, what the page adds to the seat's row.
        board: of the page.
        out: seats that are out (Monkey Butt).
        turns: False in a set-up phase, where no turn runs.

    Raises:
        RuleError: not_in_round, for a viewer that was not dealt in.
    """
    guards.may_view(s, viewer)
    over = s.outcome is not None
    return {
        "game": spec.slug,
        "rules": spec.rules,
        "phase": "over" if over else phase,
        "viewer": viewer,
        "opener": s.deal.opener,
        "turn": {"number": s.turn, "seat": s.seat} if turns and not over else None,
        "deadline": None if over else s.deadline,
        "actors": sorted(actors),
        "seats": [
            {
                "seat": seat,
                "status": "active" if seat in s.active else "out" if seat in out else "left",
                "connected": seat not in s.offline,
                **seats[seat],
            }
            for seat in s.deal.seats
        ],
        "board": dict(board),
        "outcome": None if s.outcome is None else outcome_json(s.outcome),
    }
