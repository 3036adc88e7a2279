"""Monkey Butt: what happens when a clock runs out.

Rules: docs/games/monkey_butt.md, section Clocks, B-5, B-31.
"""

from __future__ import annotations

from apps.games.kit import turns
from apps.games.kit.cards import Cards
from apps.games.kit.round import Call
from apps.games.monkey_butt import rules
from apps.games.monkey_butt.cards import KONG, PYRO, SUPER, ZEN, Pack
from apps.games.monkey_butt.state import AB, PICK_C, STEAL, USE, State


def happen(s: State, call: Call) -> None:
    """Let the one clock that runs play for those who did not."""
    if s.phase in (AB, PICK_C):
        _setup_due(s, call)
        return
    turns.time_out(s, call)
    if s.phase == STEAL:
        assert s.victim is not None, "phase steal has a victim"
        rules.steal(s, min(s.hands[s.victim]), call, by_clock=True)
    elif s.phase == USE:
        rules.waste(s, *rules.take_in_play(s), call)
    else:
        _play_due(s, call)


def _setup_due(s: State, call: Call) -> None:
    """Choose by strength for everybody who has not chosen (B-5)."""
    late = rules.choosers(s)
    for seat in turns.ring_from(late, s.deal.opener):
        call.emit({"type": "timed_out", "seat": seat, "counts": False})
        if s.phase == AB:
            strongest = sorted(s.hands[seat], key=s.pack.strength.__getitem__)
            rules.lock(s, seat, (strongest[-1], strongest[-2]), call)
        else:
            rules.lock(s, seat, (rules.weakest(s, s.hands[s.targets[seat]]),), call)
    rules.show_if_locked(s, call)


def _play_due(s: State, call: Call) -> None:
    """Flip, take the pile, or on an empty pile play a single card."""
    seat = s.seat
    zone, cards = s.zone(seat)
    if zone == "down":
        rules.flip(s, call, by_clock=True)
    elif s.pile:
        rules.pick_up(s, "A" if zone == "a" else None, call)
    else:
        card = _lead(s.pack, cards)
        if s.pack.rank[card] == SUPER:
            rules.discard_from(s, seat, zone, (card,))
            rules.waste(s, zone, card, call)
        else:
            rules.play(s, seat, zone, (card,), call)


def _lead(pack: Pack, cards: Cards) -> int:
    """Return what the clock plays on an empty pile: the lowest number, else Z, G, F, else the first super special."""
    after_numbers = {ZEN: 13, KONG: 14, PYRO: 15, SUPER: 16}
    return min(cards, key=lambda card: (after_numbers.get(pack.rank[card], pack.rank[card]), card))
