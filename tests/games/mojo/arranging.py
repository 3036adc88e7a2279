"""Mojo rounds in the middle of play, put together from the zones that a test names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.games.contract import Seat
from apps.games.mojo import GAME
from apps.games.mojo.cards import TABLE
from apps.games.mojo.state import State
from tests.games.staging import Scripted, Table


def zone(codes: str) -> tuple[int, ...]:
    return TABLE.numbers(codes.split())


def arranged(
    hands: Mapping[int, str],
    *piles: str,
    laid: Mapping[int, str] | None = None,
    deck: str | None = None,
    turn: int = 1,
    seat: int | None = None,
    locked: int | None = None,
    totals: Mapping[int, int] | None = None,
    face: int = 0,
    number: int = 1,
    chance: Scripted | None = None,
) -> Table:
    """Return a running round.

    Args:
        hands: by seat; the seats of the round are these.  An empty text for a seat that has laid down.
        piles: one or two, bottom to top.
        laid: cards laid down by seat, a ``+`` behind those that are turned up.
        deck: the whole draw deck, and then all other cards are set aside; without it they are the draw deck.
        seat: whose turn it is; without it the first one's.
    """
    table = Table.start(GAME, seats=tuple(hands), options={"piles": len(piles)}, chance=chance)
    s: State = table.state.copy()
    s.hands = {Seat(owner): zone(codes) for owner, codes in hands.items()}
    s.piles = tuple(zone(codes) for codes in piles)
    s.laid = {
        Seat(owner): tuple((TABLE.index[code.rstrip("+")], code.endswith("+")) for code in codes.split())
        for owner, codes in (laid or {}).items()
    }
    s.deck = () if deck is None else zone(deck)
    named = {card for cards in (*s.hands.values(), *s.piles, s.deck) for card in cards}
    named |= {card for entries in s.laid.values() for card, _ in entries}
    rest = tuple(card for card in range(len(TABLE.codes)) if card not in named)
    if deck is None:
        s.deck = rest
    else:
        s.aside = {**s.aside, s.deal.seats[0]: rest}
    s.turn, s.seat, s.locked = turn, s.deal.seats[0] if seat is None else Seat(seat), locked
    s.totals = {owner: (totals or {}).get(owner, 0) for owner in s.deal.seats}
    s.face, s.number = face, number
    table.state = s
    return table


def discard(card: str, pile: int | None = None, source: str | None = None) -> dict[str, Any]:
    action: dict[str, Any] = {"type": "discard", "card": card}
    if pile is not None:
        action["pile"] = pile
    if source is not None:
        action["from"] = source
    return action


def reveal(card: str) -> dict[str, Any]:
    return {"type": "reveal", "card": card}


def names(events: list[str]) -> list[str]:
    """Return the names of written events."""
    return [event.partition("(")[0] for event in events]
