"""Mongooz: which actions there are, when each is refused, and what a seat may try.

Rules: docs/games/mongooz.md, section Actions: the guards stand in the order of its table, after the common ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from apps.games.contract import Action, RuleError, Seat
from apps.games.kit import grammar, turns
from apps.games.kit.grammar import Verb
from apps.games.kit.round import Call
from apps.games.mongooz import rules
from apps.games.mongooz.state import Record, State

VERBS: Final = {
    "to_middle": Verb(),
    "to_seat": Verb(seat=grammar.seat),
    "flip": Verb(),
    "discard": Verb(),
    "call": Verb(turn=grammar.integer(1)),
}


def to_middle(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Place the card to play on its suit's pile."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    card = s.to_play()
    if card is None:
        raise RuleError("nothing_to_play")
    if not s.fits_middle(card):
        raise RuleError("does_not_fit")
    rules.place(s, None, call)


def to_seat(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Place the card to play on another seat's discard (Z-6)."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    onto = action["seat"]
    if onto == seat:
        raise RuleError("own_pile")
    card = s.to_play()
    if card is None:
        raise RuleError("nothing_to_play")
    if not s.fits_seat(card, onto):
        raise RuleError("does_not_fit")
    rules.place(s, onto, call)


def flip(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Turn up the next card, whether or not a play is overlooked by it (Z-9)."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    if s.flipped is not None:
        raise RuleError("already_flipped")
    rules.flip(s, call)
    turns.fresh_clock(s, rules.TURN_MS, call)


def discard(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Lay the flipped card on the own discard and end the turn, whether or not a play is overlooked by it (Z-9)."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    if s.flipped is None:
        raise RuleError("nothing_flipped")
    rules.end_turn(s, call)


def call_turn(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Say that a turn overlooked a play; whether it did is not a guard (Z-11, Z-12)."""
    for record in s.callable():
        if record.turn == action["turn"]:
            break
    else:
        raise RuleError("window_closed")
    refusal = _call_refusal(s, seat, record)
    if refusal is not None:
        raise RuleError(refusal)
    rules.call_turn(s, seat, record, call)


def _call_refusal(s: State, seat: Seat, record: Record) -> str | None:
    """Return why the seat may not call this turn, which is callable."""
    if seat == record.offender:
        return "own_turn"
    if seat in record.callers:
        return "already_called"
    if seat in s.blocked:
        return "call_blocked"  # Z-18
    return None


ACTIONS: Final[Mapping[str, Callable[[State, Seat, Action, Call], None]]] = {
    "to_middle": to_middle,
    "to_seat": to_seat,
    "flip": flip,
    "discard": discard,
    "call": call_turn,
}


def legal(s: State, seat: Seat) -> tuple[Action, ...]:
    """Return what an active, connected seat may try, in the order of the page.

    Whether a card fits and whether a turn has an offence is not looked at: seeing that is the game.
    """
    actions: list[Action] = []
    if seat == s.seat:
        if s.to_play() is not None:
            actions.append({"type": "to_middle"})
            actions += [
                {"type": "to_seat", "seat": other} for other in s.deal.seats if other != seat and s.discards[other]
            ]
        actions.append({"type": "flip"} if s.flipped is None else {"type": "discard"})
    if seat not in s.blocked:
        actions += [
            {"type": "call", "turn": record.turn}
            for record in s.callable()
            if seat != record.offender and seat not in record.callers
        ]
    return tuple(actions)
