"""Positions of Monko for the rule tests: what lies where is written down; cards that are not named are nowhere.

A card is written ``R7`` for ``R7#1``.  The place of a card in a position is its canonical index.  The turn's deadline
is at 10 000, and nothing else is due.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from apps.games.contract import Action, Seat
from apps.games.kit.cards import Cards
from apps.games.kit.round import Deal
from apps.games.monko.cards import CODES, COLOUR, COLOURS, INDEX, TABLE
from apps.games.monko.state import State, Window
from tests.games.table import FixedChance, Table

DEADLINE = 10_000


def code(text: str) -> str:
    """Return the card code of a face; the first copy where none is named."""
    return text if "#" in text else f"{text}#1"


def cards(text: str) -> Cards:
    """Return cards by their canonical index."""
    return tuple(INDEX[code(part)] for part in text.split())


def play(card: str, colour: str | None = None) -> Action:
    """Return the action that plays a card."""
    return {"type": "play", "card": code(card)} | ({} if colour is None else {"colour": colour})


DRAW: Action = {"type": "draw"}
PASS: Action = {"type": "pass"}
TAKE: Action = {"type": "take"}


def call(window: int = 1) -> Action:
    """Return the action that calls in a window."""
    return {"type": "call", "window": window}


def catch(window: int = 1) -> Action:
    """Return the action that catches in a window."""
    return {"type": "catch", "window": window}


def window(seat: int, opened: int = 1_000, number: int = 1, exposed: bool = False) -> Window:
    """Return an open window."""
    return Window(number, Seat(seat), opened + 3_000, opened + 6_000, exposed)


def position(
    hands: Mapping[int, str],
    *,
    pile: str = "R9",
    colour: str | None = None,
    deck: str = "G1 G2 G3 G4 G5 G6",
    seat: int = 0,
    direction: int = 1,
    stack: int = 0,
    plus4: bool = False,
    pending: Sequence[int] = (),
    drawn: str | None = None,
    windows: Sequence[Window] = (),
    dry: int = 0,
    turn: int = 5,
    acted: bool = False,
    left: Sequence[int] = (),
    offline: Sequence[int] = (),
    opener: int = 0,
    deadline: int = DEADLINE,
) -> Table:
    """Return a running round with these hands, by seat."""
    seats = tuple(Seat(number) for number in sorted(hands))
    laid = cards(pile)
    state = State(
        deal=Deal(TABLE, seats, {}, Seat(opener), None),
        places=tuple((0, card) for card in range(len(CODES))),
        deck=cards(deck),
        hands={number: () if number in left else cards(hands[number]) for number in seats},
        aside={number: cards(hands[number]) if number in left else () for number in seats},
        active=tuple(number for number in seats if number not in left),
        offline=frozenset(Seat(number) for number in offline),
        turn=turn,
        seat=Seat(seat),
        deadline=deadline,
        acted=acted,
        gen=0,
        reshuffles=0,
        outcome=None,
        pile=laid,
        colour=colour or COLOUR[laid[-1]] or COLOURS[0],
        direction=direction,
        stack=stack,
        plus4=plus4,
        pending=tuple(Seat(number) for number in pending),
        drawn=None if drawn is None else INDEX[code(drawn)],
        windows=tuple(windows),
        windows_opened=max((each.number for each in windows), default=0),
        dry=dry,
    )
    return Table("monko", state, FixedChance())


def hand(table: Table, seat: int) -> str:
    """Return a seat's hand, with ``#1`` left out."""
    return _faces(table.state.hands[seat])


def aside(table: Table, seat: int) -> str:
    """Return a seat's set-aside cards, with ``#1`` left out."""
    return _faces(table.state.aside[seat])


def _faces(held: Cards) -> str:
    return " ".join(CODES[card].removesuffix("#1") for card in held)
