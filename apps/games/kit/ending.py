"""Leaving, END, and the groups of a ranking.

Common rules: section 5 (left, END, revealed, round_over), section 7, X-9, X-10.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from apps.games.contract import Outcome, Seat
from apps.games.kit.cards import Cards
from apps.games.kit.round import Call, Round, outcome_json

Zone = tuple[str, Mapping[Seat, Cards]]
"""A hidden zone of each seat: its name in ``revealed``, and its cards by seat."""

Ranking = tuple[tuple[Seat, ...], ...]


def depart(s: Round, seat: Seat, reason: str, call: Call) -> None:
    """Emit ``left`` and take the seat out of the active ones; where its cards go is for the game to say."""
    call.emit({"type": "left", "seat": seat, "reason": reason})
    s.active = tuple([other for other in s.active if other != seat])


def set_aside(s: Round, seat: Seat, cards: Cards) -> None:
    """Put cards of a seat that left to the end of its set-aside cards (X-9)."""
    s.aside = {**s.aside, seat: s.aside[seat] + cards}


def hand_aside(s: Round, seat: Seat) -> None:
    """Set the whole hand of a seat that left aside (X-9)."""
    set_aside(s, seat, s.hands[seat])
    s.put(seat, ())


def reveal(s: Round, zones: Sequence[Zone], call: Call) -> None:
    """Emit ``revealed`` for every hidden zone that holds cards: by seat ascending, then in the order given."""
    for seat in s.deal.seats:
        for name, cards in zones:
            held = cards.get(seat, ())
            if held:
                faces = [s.shown(card) for card in held]
                call.emit({"type": "revealed", "seat": seat, "zone": name, "cards": faces})


def finish(s: Round, outcome: Outcome, call: Call) -> None:
    """End the round: the outcome stands from now on, and ``round_over`` is the last event."""
    s.outcome = outcome
    call.emit({"type": "round_over", **outcome_json(outcome)})


def groups(scores: Mapping[Seat, int]) -> Ranking:
    """Return the seats in groups of equal score, lowest score first, each group ascending."""
    return tuple(
        tuple(sorted(seat for seat, score in scores.items() if score == value))
        for value in sorted(set(scores.values()))
    )


def ranked(winners: Iterable[Seat], scores: Mapping[Seat, int]) -> Ranking:
    """Return the winners as the first group, then the other scored seats by score, lowest first."""
    first = tuple(sorted(winners))
    return (first, *groups({seat: score for seat, score in scores.items() if seat not in first}))
