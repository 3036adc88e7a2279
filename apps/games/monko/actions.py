"""Monko: which actions there are, when each is refused, and what a seat may do.

Rules: docs/games/monko.md, section Actions: the guards stand in the order of its table, after the common ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from apps.games.contract import Action, RuleError, Seat
from apps.games.kit import grammar
from apps.games.kit.grammar import Verb
from apps.games.kit.round import Call
from apps.games.monko import rules
from apps.games.monko.cards import CODES, COLOUR, COLOURS, INDEX
from apps.games.monko.state import State, Window

VERBS: Final = {
    "play": Verb(card=grammar.card, optional={"colour": grammar.one_of(*COLOURS)}),
    "draw": Verb(),
    "pass": Verb(),
    "take": Verb(),
    "call": Verb(window=grammar.integer(1)),
    "catch": Verb(window=grammar.integer(1)),
}


def play(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Lay a card."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    card = INDEX[action["card"]]
    if card not in s.hands[seat]:
        raise RuleError("card_not_held")
    if s.drawn is not None and card != s.drawn:
        raise RuleError("only_drawn_card")  # M-11
    if card not in s.playable():
        raise RuleError("stack_waiting" if s.stack else "no_match")
    colour = COLOUR[card]
    if not colour:
        if "colour" not in action:
            raise RuleError("colour_needed")
        colour = action["colour"]
    elif "colour" in action:
        raise RuleError("colour_not_allowed")
    rules.play(s, seat, card, colour, call)


def draw(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Draw one card; the turn and its deadline go on.  When nothing is left the turn ends (M-39)."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    if s.stack:
        raise RuleError("stack_waiting")  # M-22
    if s.drawn is not None:
        raise RuleError("already_drew")
    if s.nothing_left():
        rules.pass_turn(s, "nothing_left", False, call)
        return
    (s.drawn,) = rules.draw(s, seat, 1, "turn", call)


def pass_turn(s: State, seat: Seat, action: Action, call: Call) -> None:
    """End the turn without a play."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    if s.stack:
        raise RuleError("stack_waiting")
    if s.drawn is None and not s.nothing_left():
        raise RuleError("must_draw_first")  # M-16
    rules.pass_turn(s, "chosen", s.drawn is not None, call)


def take(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Take the stack."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    if not s.stack:
        raise RuleError("no_stack")
    rules.take_stack(s, seat, call)


def _window(s: State, number: int) -> Window:
    for window in s.windows:
        if window.number == number:
            return window
    raise RuleError("no_such_window")


def call_monko(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Call "Monko" in the own window (M-31)."""
    window = _window(s, action["window"])
    if window.seat != seat:
        raise RuleError("not_your_window")
    rules.close_window(s, seat, "called", None, call)


def catch(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Catch a seat that has not called (M-32); it draws two, nothing else changes (M-34)."""
    window = _window(s, action["window"])
    if window.seat == seat:
        raise RuleError("own_window")
    if not window.exposed:
        raise RuleError("not_exposed")
    rules.close_window(s, window.seat, "caught", seat, call)
    rules.draw(s, window.seat, rules.PENALTY, "penalty", call)


ACTIONS: Final[Mapping[str, Callable[[State, Seat, Action, Call], None]]] = {
    "play": play,
    "draw": draw,
    "pass": pass_turn,
    "take": take,
    "call": call_monko,
    "catch": catch,
}


def legal(s: State, seat: Seat) -> tuple[Action, ...]:
    """Return the actions of an active, connected seat that no guard refuses, in the order of the page."""
    actions: list[Action] = []
    if seat == s.seat:
        playable = s.playable()
        if s.drawn is None:
            cards = sorted(playable.intersection(s.hands[seat]))
        else:
            cards = [s.drawn] if s.drawn in playable else []
        for card in cards:
            code = CODES[card]
            if COLOUR[card]:
                actions.append({"type": "play", "card": code})
            else:
                actions += [{"type": "play", "card": code, "colour": colour} for colour in COLOURS]
        if s.stack:
            actions.append({"type": "take"})
        elif s.drawn is not None:
            actions.append({"type": "pass"})
        else:
            actions.append({"type": "draw"})
            if s.nothing_left():
                actions.append({"type": "pass"})
    if s.windows:
        mine = [window for window in s.windows if window.seat == seat]
        catchable = [window for window in s.windows if window.seat != seat and window.exposed]
        actions += [{"type": "call", "window": window.number} for window in mine]
        actions += [{"type": "catch", "window": window.number} for window in catchable]
    return tuple(actions)
