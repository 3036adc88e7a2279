"""Wonky: what a player may do: the grammar, the guards in their order, and the list of legal actions.

Rules: docs/games/wonky.md, section Actions: the guards stand in the order of its table, after the common ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain
from typing import Final

from apps.games.contract import Action, RuleError, Seat
from apps.games.kit import grammar
from apps.games.kit.grammar import Verb
from apps.games.kit.round import Call
from apps.games.wonky import rules
from apps.games.wonky.blocks import BLOCK_INDEX, BLOCKS, DOWNS, OFFSET_MAX, blocks_in
from apps.games.wonky.cards import MATCHES, TABLE
from apps.games.wonky.state import State

VERBS: Final = {
    "stack": Verb(
        card=grammar.card,
        block=grammar.one_of(*BLOCKS),
        down=grammar.one_of(*DOWNS),
        offset=grammar.integer(-OFFSET_MAX, OFFSET_MAX),
    ),
    "play": Verb(card=grammar.card),
    "draw": Verb(),
    "keep": Verb(),
}


def _held_card(s: State, seat: Seat, action: Action) -> int:
    """Return the card that the action names, if it is one the seat may use in this turn."""
    card = TABLE.index[action["card"]]
    if card not in s.hands[seat]:
        raise RuleError("card_not_held")
    if s.drawn is not None and card != s.drawn:
        raise RuleError("only_drawn_card")
    return card


def stack(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Put a block on the tower."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    card = _held_card(s, seat, action)
    block = BLOCK_INDEX[action["block"]]
    if not MATCHES[card]:
        raise RuleError("not_a_block_card")
    if not s.free() >> block & 1:
        raise RuleError("block_in_tower")
    if not MATCHES[card] >> block & 1:
        raise RuleError("block_mismatch")
    if not s.tower and action["offset"] != 0:
        raise RuleError("bad_offset")
    rules.stack(s, seat, card, block, action["down"], action["offset"], call)


def play(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Play an action card."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    if s.rebuilding:
        raise RuleError("must_rebuild")
    card = _held_card(s, seat, action)
    if MATCHES[card]:
        raise RuleError("not_an_action_card")
    if len(s.hands[seat]) == 1:
        raise RuleError("last_card")
    rules.play(s, seat, card, call)


def _must_play(s: State, seat: Seat) -> bool:
    """Return whether drawing is refused: the drawn card can be played, or, with none drawn, some card of the hand."""
    hand = s.hands[seat]
    return s.any_playable(hand) if s.drawn is None else s.playable(hand, s.drawn)


def draw(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Draw one card; when nothing is left the turn ends."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    if _must_play(s, seat):
        raise RuleError("can_play")
    rules.draw_one(s, seat, call)


def keep(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Keep the drawn card and end the turn."""
    if seat != s.seat:
        raise RuleError("not_your_turn")
    if s.rebuilding:
        raise RuleError("must_rebuild")
    if s.drawn is None:
        raise RuleError("nothing_drawn")
    if not s.playable(s.hands[seat], s.drawn):
        raise RuleError("must_draw")
    rules.pass_turn(s, seat, "kept", call)


ACTIONS: Final[Mapping[str, Callable[[State, Seat, Action, Call], None]]] = {
    "stack": stack,
    "play": play,
    "draw": draw,
    "keep": keep,
}


@cache
def _stacks(card: int, blocks: int, first: bool) -> tuple[Action, ...]:
    """Return every way of placing one of these blocks with a card; ``first`` on an empty tower.

    A seat may have two thousand placements, so they are written once and shared by all rounds of a process.

    Args:
        blocks: a set of blocks that all go with the card.  There are 3 198 pairs of a card and such a set, and 126
            pairs of a card and a block, which bounds what is kept.
    """
    if blocks & (blocks - 1):  # More than one block: what is kept for each of them, in one.
        return sum([_stacks(card, 1 << block, first) for block in blocks_in(blocks)], ())
    (block,) = blocks_in(blocks)
    return tuple(
        {"type": "stack", "card": TABLE.codes[card], "block": BLOCKS[block], "down": down, "offset": offset}
        for down in DOWNS
        for offset in ((0,) if first else range(-OFFSET_MAX, OFFSET_MAX + 1))
    )


def legal(s: State, seat: Seat) -> tuple[Action, ...]:
    """Return the actions of an active, connected seat that no guard refuses, in the order of the page."""
    if seat != s.seat:
        return ()
    hand = s.hands[seat]
    free = s.free()
    first = not s.tower
    parts: list[tuple[Action, ...]] = []  # Joined at the end, so that a list of hundreds is copied once.
    for card in sorted(hand) if s.drawn is None else (s.drawn,):
        matches = MATCHES[card]
        if matches & free:
            parts.append(_stacks(card, matches & free, first))
        elif not matches and len(hand) >= 2 and not s.rebuilding:
            parts.append(({"type": "play", "card": TABLE.codes[card]},))
    if not parts:
        return ({"type": "draw"},)
    if s.drawn is not None:
        parts.append(({"type": "keep"},))
    return tuple(chain.from_iterable(parts))
