"""Wonky rounds in the middle of play, put together from the zones that a test names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from apps.games.contract import Seat
from apps.games.wonky import GAME
from apps.games.wonky.blocks import BLOCK_INDEX, Down, Tower
from apps.games.wonky.cards import TABLE
from apps.games.wonky.state import State
from tests.games.staging import Scripted, Table

SIDE: dict[str, Down] = {"f": "flat", "c": "curved"}


def zone(codes: str) -> tuple[int, ...]:
    return TABLE.numbers(codes.split())


def tower_of(text: str) -> Tower:
    """Return the tower written as ``LPf0 MGc-3``: block, side that is down, position."""
    parts = [re.fullmatch(r"(..)([fc])(-?\d+)", word) for word in text.split()]
    return tuple((BLOCK_INDEX[part[1]], SIDE[part[2]], int(part[3])) for part in parts if part)


def arranged(
    hands: Mapping[int, str],
    tower: str = "",
    *,
    tremor: int = 9_999,
    discard: str = "",
    deck: str | None = None,
    seat: int | None = None,
    turn: int = 1,
    direction: int = 1,
    placements: int = 0,
    rebuilding: bool = False,
    drawn: str | None = None,
    option: str = "shaky",
    orders: Mapping[str, tuple[str, ...]] | None = None,
) -> Table:
    """Return a running round.

    Args:
        hands: by seat; the seats of the round are these.
        tremor: of the next placement; a later one is 9 999, at which every tower stands that can.
        deck: the whole draw deck, and then all other cards are set aside; without it they are the draw deck.
        seat: whose turn it is; without it the first one's.
    """
    numbers = {f"tremor/{placements}": tremor, f"tremor/{placements + 1}": 9_999}
    table = Table.start(GAME, seats=tuple(hands), options={"tower": option}, chance=Scripted(numbers, orders))
    s: State = table.state.copy()
    s.hands = {Seat(owner): zone(codes) for owner, codes in hands.items()}
    s.tower = tower_of(tower)
    s.discard = zone(discard)
    named = {card for cards in (*s.hands.values(), s.discard, zone(deck or "")) for card in cards}
    rest = tuple(card for card in range(len(TABLE.codes)) if card not in named)
    if deck is None:
        s.deck = rest
    else:
        s.deck = zone(deck)
        s.aside = {**s.aside, s.deal.seats[0]: rest}
    s.seat = s.deal.seats[0] if seat is None else Seat(seat)
    s.turn, s.direction, s.placements, s.rebuilding = turn, direction, placements, rebuilding
    s.drawn = None if drawn is None else TABLE.index[drawn]
    table.state = s
    return table


def stack(card: str, block: str, down: str = "flat", offset: int = 0) -> dict[str, Any]:
    return {"type": "stack", "card": card, "block": block, "down": down, "offset": offset}


def play(card: str) -> dict[str, Any]:
    return {"type": "play", "card": card}


DRAW = {"type": "draw"}
KEEP = {"type": "keep"}


def names(events: list[str]) -> list[str]:
    """Return the names of written events."""
    return [event.partition("(")[0] for event in events]


def place_of(table: Table, code: str) -> dict[str, int]:
    place: dict[str, int] = table.state.hidden(TABLE.index[code])
    return place


def shown(table: Table, code: str) -> str:
    place = place_of(table, code)
    return f"@{place['gen']}.{place['pos']}={code}"


def hidden(table: Table, codes: str) -> str:
    places = [place_of(table, code) for code in codes.split()]
    return "[" + ", ".join(f"@{place['gen']}.{place['pos']}" for place in places) + "]"
