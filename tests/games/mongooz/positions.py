"""Positions of Mongooz for the rule tests: what lies where is written down, the rest goes under the piles.

Cards are written without ``#1``: ``H8`` is ``H8#1``.  In a position the place of a card is its canonical index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.games.contract import Seat, Setup, Step
from apps.games.mongooz import GAME
from apps.games.mongooz.cards import RANKS, SUITS, TABLE
from tests.games.staging import Scripted, Table, written

FAR = 1_000_000
"""Deadline of a position that says nothing else."""

Record = tuple[int, int, str, str]
"""A turn, its seat, its offences (``H8`` fitted the middle, ``H8-`` a seat only) and callers like ``02``."""


def codes(text: str) -> list[str]:
    return [f"{part}#1" for part in text.split()]


def numbers(text: str) -> list[int]:
    return [TABLE.index[code] for code in codes(text)]


def brief(events: Sequence[str]) -> list[str]:
    """Return written events without the places of shown cards and without ``#1``."""
    return [re.sub(r"@\d+\.\d+=", "", event).replace("#1", "") for event in events]


def position(
    *,
    piles: Mapping[int, str],
    discards: Mapping[int, str] | None = None,
    middle: Mapping[str, int] | None = None,
    start_rank: str = "7",
    flipped: str = "",
    seat: int = 0,
    turn: int = 5,
    offences: str = "",
    callers: str = "",
    previous: Record | None = None,
    blocked: Sequence[int] = (),
    left: Sequence[int] = (),
    rest: int | None = None,
    acted: bool = False,
    offline: Sequence[int] = (),
    deadline: int = FAR,
) -> Table:
    """Return a running round.

    Args:
        piles: of every seat dealt in, top first.
        middle: number of cards by suit.
        rest: the seat whose pile gets all cards that are not written down, at its bottom; without it they are put away.
    """
    ring = tuple(Seat(each) for each in piles)
    middle = middle or {}
    start = RANKS.index(start_rank)
    stacks = [[suit * 13 + (start + step) % 13 for step in range(middle.get(SUITS[suit], 0))] for suit in range(4)]
    own = {each: numbers(text) for each, text in piles.items()}
    open_cards = {each: numbers((discards or {}).get(each, "")) for each in ring}
    placed = [card for stack in (*stacks, *own.values(), *open_cards.values()) for card in stack]
    placed += numbers(flipped)
    assert len(set(placed)) == len(placed), "a card lies in two places"
    spare = [card for card in range(52) if card not in placed]
    if rest is not None:
        own[rest] = own[rest] + spare
        spare = []

    def record(its: Record) -> list[Any]:
        number, offender, overlooked, called = its
        rows = [[TABLE.index[f"{part.rstrip('-')}#1"], not part.endswith("-")] for part in overlooked.split()]
        return [number, offender, rows, [int(caller) for caller in called]]

    step = GAME.start(Setup(ring, TABLE.codes, {}, 0, ring[0]), Scripted())
    data: dict[str, Any] = GAME.dump(step.state)
    data.update(
        places=[[0, card] for card in range(52)],
        deck=spare,
        piles={str(each): cards for each, cards in own.items()},
        discards={str(each): cards for each, cards in open_cards.items()},
        middle=stacks,
        start_rank=start,
        flipped=numbers(flipped)[0] if flipped else None,
        active=[each for each in ring if each not in left],
        offline=sorted(offline),
        seat=seat,
        turn=turn,
        acted=acted,
        deadline=deadline,
        current=record((turn, seat, offences, callers)),
        previous=None if previous is None else record(previous),
        blocked=sorted(blocked),
    )
    return Table(GAME, Step(GAME.load(data), ()), Scripted())


def act(table: Table, who: int, kind: str, *, now: int = 1, **keys: Any) -> list[str]:
    """Apply an action and return its events in brief."""
    return brief(table.act(who, {"type": kind, **keys}, now))


def listed(table: Table, seat: int, now: int = 1) -> list[str]:
    """Return the listed actions in brief: verb and value."""
    return [" ".join(str(value) for value in action.values()) for action in table.legal(seat, now)]


def pile(table: Table, seat: int) -> str:
    """Return a pile, top first."""
    return " ".join(TABLE.texts(table.state.piles[Seat(seat)])).replace("#1", "")


def discard(table: Table, seat: int) -> str:
    """Return a discard, bottom to top."""
    return " ".join(TABLE.texts(table.state.discards[Seat(seat)])).replace("#1", "")


def told(table: Table) -> list[str]:
    """Return the events of the last call in brief."""
    return brief(written(table.events))
