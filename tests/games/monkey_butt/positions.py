"""Positions of Monkey Butt for the rule tests: what lies where is written down, the rest of the pack is put away.

Cards are written without ``#1``: ``P7`` is ``P7#1``.  In a position the place of a card is its canonical index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.games.contract import Seat, Setup, Step
from apps.games.monkey_butt import GAME
from tests.games.staging import Scripted, Table

FAR = 1_000_000
"""Deadline of a position that says nothing else."""


def code(text: str) -> str:
    return text if "#" in text else f"{text}#1"


def codes(text: str) -> list[str]:
    return [code(part) for part in text.split()]


def brief(events: Sequence[str]) -> list[str]:
    """Return written events without the places of shown cards and without ``#1``."""
    return [re.sub(r"@\d+\.\d+=", "", event).replace("#1", "") for event in events]


def position(
    *,
    hands: Mapping[int, str],
    rows: Mapping[int, str] | None = None,
    down: Mapping[int, str] | None = None,
    pile: str = "",
    burn: str = "",
    deck: str = "",
    aside: Mapping[int, str] | None = None,
    seat: int = 0,
    opener: int = 0,
    phase: str = "play",
    victim: int | None = None,
    in_play: tuple[str, str] | None = None,
    lowest: int = 0,
    out: Sequence[int] = (),
    targets: Mapping[int, int] | None = None,
    locks: Mapping[int, str] | None = None,
    turn: int = 5,
    acted: bool = False,
    offline: Sequence[int] = (),
    deadline: int = FAR,
    options: Mapping[str, Any] | None = None,
) -> Table:
    """Return a running round.

    Args:
        hands: of every seat dealt in, those that left included.
        rows: A, B and C by seat, ``-`` for an empty place.
        aside: set-aside cards; a seat that is named here has left.
        in_play: card and zone.
    """
    options = options or {}
    ring = tuple(Seat(each) for each in hands)
    pack = GAME.deck(options, len(ring))
    index = {its: number for number, its in enumerate(pack)}
    step = GAME.start(Setup(ring, pack, options, 0, Seat(opener)), Scripted())
    data: dict[str, Any] = GAME.dump(step.state)

    def numbers(text: str) -> list[int]:
        return [index[each] for each in codes(text)]

    open_rows = {str(each): [None, None, None] for each in ring} | {
        str(each): [None if part == "-" else index[code(part)] for part in text.split()]
        for each, text in (rows or {}).items()
    }
    downs = {str(each): numbers((down or {}).get(each, "")) for each in ring}
    placed = [number for text in hands.values() for number in numbers(text)]
    placed += [number for row in open_rows.values() for number in row if number is not None]
    placed += [number for row in downs.values() for number in row]
    asides = {str(each): numbers((aside or {}).get(each, "")) for each in ring}
    placed += [number for row in asides.values() for number in row]
    placed += numbers(pile) + numbers(burn) + numbers(deck) + (numbers(in_play[0]) if in_play else [])
    assert len(set(placed)) == len(placed), "a card lies in two places"
    data.update(
        hands={str(each): numbers(text) for each, text in hands.items()},
        open=open_rows,
        down=downs,
        aside=asides,
        pile=numbers(pile),
        burn=numbers(burn),
        deck=numbers(deck),
        removed=[number for number in range(len(pack)) if number not in placed],
        active=[each for each in ring if each not in (aside or {}) and each not in out],
        offline=sorted(offline),
        seat=seat,
        turn=turn,
        acted=acted,
        deadline=deadline,
        phase=phase,
        victim=victim,
        in_play=None if in_play is None else numbers(in_play[0])[0],
        in_play_zone="" if in_play is None else in_play[1],
        lowest=lowest,
        out=list(out),
        targets={str(by): target for by, target in (targets or {}).items()},
        locks={str(by): numbers(text) for by, text in (locks or {}).items()},
    )
    return Table(GAME, Step(GAME.load(data), ()), Scripted())


def act(table: Table, who: int, kind: str, *, now: int = 1, **keys: Any) -> list[str]:
    """Apply an action whose cards may be written without ``#1`` and return its events in brief."""
    return brief(table.act(who, action(kind, **keys), now))


def action(kind: str, **keys: Any) -> dict[str, Any]:
    """Return an action; ``card`` is completed, ``cards`` is a text, ``first`` and ``second`` are like ``0A``."""
    made: dict[str, Any] = {"type": kind}
    for key, value in keys.items():
        if key in ("card", "a", "b") and value is not None:
            made[key] = code(value)
        elif key == "cards":
            made[key] = codes(value)
        elif key in ("first", "second") and value is not None:
            made[key] = {"seat": int(value[:-1]), "place": value[-1]}
        else:
            made[key] = value
    return made


def refused(table: Table, who: int, kind: str, *, now: int = 1, **keys: Any) -> str:
    """Return the code with which such an action is refused."""
    return table.refused(who, action(kind, **keys), now)


def listed(table: Table, seat: int, now: int = 1) -> list[str]:
    """Return the listed actions in brief: verb and its values."""
    return [brief_action(each) for each in table.legal(seat, now)]


def brief_action(made: Mapping[str, Any]) -> str:
    words = [made["type"]]
    for key, value in made.items():
        if key == "type":
            continue
        if isinstance(value, dict):
            words.append(f"{value['seat']}{value['place']}")
        elif isinstance(value, list):
            words.append("+".join(value))
        else:
            words.append("null" if value is None else str(value))
    return " ".join(words).replace("#1", "")


def hand(table: Table, seat: int) -> str:
    """Return a hand in brief."""
    return table.hand(seat).replace("#1", "")


def row(table: Table, seat: int) -> str:
    """Return A, B and C of a seat in brief, ``-`` for an empty place."""
    cards = table.state.deal.cards.codes
    return " ".join("-" if card is None else cards[card] for card in table.state.open[Seat(seat)]).replace("#1", "")


def zone(table: Table, name: str) -> str:
    """Return the pile, burn, deck or removed cards in brief."""
    return " ".join(table.state.deal.cards.texts(getattr(table.state, name))).replace("#1", "")
