"""Mojo: what a player may do: the grammar, the guards in their order, and the list of legal actions.

Rules: docs/games/mojo.md, section Actions: the guards stand in the order of its table, after the common ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from apps.games.contract import Action, RuleError, Seat
from apps.games.kit import grammar
from apps.games.kit.grammar import Verb
from apps.games.kit.round import Call
from apps.games.mojo import rules
from apps.games.mojo.cards import TABLE, VALUE
from apps.games.mojo.state import State

_REVEAL: Final = Verb(card=grammar.card)
VERBS: Final = {
    1: {"discard": Verb(card=grammar.card), "reveal": _REVEAL},
    2: {
        "discard": Verb(
            card=grammar.card, pile=grammar.integer(1, 2), optional={"from": grammar.one_of("deck", "other")}
        ),
        "reveal": _REVEAL,
    },
}
"""The grammar by number of piles."""


def discard(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Put a card of the hand on a pile."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    if seat in s.laid:
        raise RuleError("must_reveal")
    card = TABLE.index[action["card"]]
    if card not in s.hands[seat]:
        raise RuleError("card_not_held")
    pile = action.get("pile", 1)
    if s.locked is not None and pile != s.locked:
        raise RuleError("wrong_pile")
    if len(s.piles) == 2:
        higher = VALUE[card] > VALUE[s.piles[pile - 1][-1]]
        if higher and "from" not in action:
            raise RuleError("choice_needed")
        if not higher and "from" in action:
            raise RuleError("choice_not_allowed")
    rules.discard(s, seat, card, pile, action.get("from", "deck"), call)


def reveal(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Turn up a card of one's own that was laid down."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    if seat not in s.laid:
        raise RuleError("nothing_laid")
    card = TABLE.index[action["card"]]
    if card not in s.face_down(seat):
        raise RuleError("card_not_laid")
    rules.turn_up(s, seat, card, call)


ACTIONS: Final[Mapping[str, Callable[[State, Seat, Action, Call], None]]] = {"discard": discard, "reveal": reveal}


def legal(s: State, seat: Seat) -> tuple[Action, ...]:
    """Return the actions of an active, connected seat that no guard refuses, in the order of the page."""
    if seat != s.seat:
        return ()
    codes = TABLE.codes
    if seat in s.laid:
        return tuple([{"type": "reveal", "card": codes[card]} for card in sorted(s.face_down(seat))])
    hand = sorted(s.hands[seat])
    if len(s.piles) == 1:
        return tuple([{"type": "discard", "card": codes[card]} for card in hand])
    tops = [(pile, VALUE[cards[-1]]) for pile, cards in enumerate(s.piles, start=1) if s.locked in (None, pile)]
    actions: list[Action] = []
    for card in hand:
        code = codes[card]
        for pile, top in tops:
            if VALUE[card] > top:
                actions.append({"type": "discard", "card": code, "pile": pile, "from": "deck"})
                actions.append({"type": "discard", "card": code, "pile": pile, "from": "other"})
            else:
                actions.append({"type": "discard", "card": code, "pile": pile})
    return tuple(actions)
