"""Re-executing a stored round: the same pure function over the same inputs gives the same entries and states.

Used to answer a repeated request as the first one was answered, to rebuild a snapshot, and by ``manage.py fsck``.

Source: docs/developers/architecture.md, The idea.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.fairness import dealer
from apps.games import registry
from apps.games.contract import Chance, Game, Seat, Setup, Step
from apps.history.selectors import StoredEntry, transcript
from apps.tables import feed
from apps.tables.errors import RoundNotRunning
from apps.tables.models import Round


@dataclass(frozen=True, slots=True)
class Replayed:
    """One stored entry, and what the rules make of its input now."""

    entry: StoredEntry
    step: Step[Any]


def replay(round_: Round, *, upto: int | None = None) -> Iterator[Replayed]:
    """Yield every entry of a dealt round with the step that its input gives, in order, up to ``upto``.

    Raises:
        RuleError: the rules refuse a stored input; the transcript is not theirs.
        RoundNotRunning: the round was never dealt.
    """
    if not round_.numbers or round_.dealt_ms is None or round_.opener is None:
        raise RoundNotRunning("The round was never dealt.")
    game = registry.game(round_.game)
    chance = dealer.chance(round_.pk)
    state: Any = None
    for entry in transcript(round_id=round_.pk):
        if upto is not None and entry.seq > upto:
            return
        given = json.loads(entry.body)["input"]
        if entry.kind == "start":
            step = game.start(setup_of(round_, dealer.opening_deck(round_.pk)), chance)
        else:
            step = apply(game, state, entry, given, chance)
        state = step.state
        yield Replayed(entry, step)


def setup_of(round_: Round, deck: tuple[str, ...]) -> Setup:
    """Return what a dealt round began with, if this deck was dealt."""
    assert round_.opener is not None
    assert round_.dealt_ms is not None
    return Setup(
        seats=tuple(Seat(number) for number in round_.numbers),
        deck=deck,
        options=round_.table.options,
        now=round_.dealt_ms,
        opener=Seat(round_.opener),
        carry=round_.carry,
    )


def apply(game: Game[Any], state: Any, entry: StoredEntry, given: dict[str, Any], chance: Chance) -> Step[Any]:
    """Give the input of a stored entry to the rules."""
    seat = Seat(-1 if entry.seat is None else entry.seat)
    match entry.kind:
        case "act":
            return game.act(state, seat, given, entry.at_ms, chance)
        case "wake":
            return game.wake(state, entry.at_ms, chance)
        case "leave":
            return game.leave(state, seat, given["reason"], entry.at_ms, chance)
        case "connection":
            return game.connection(state, seat, given["connected"], entry.at_ms)
        case _:
            raise AssertionError(entry.kind)


def answer(*, round_id: UUID, seq: int, seat: int) -> dict[str, Any]:
    """Return what the request that made entry ``seq`` was answered."""
    round_ = Round.objects.select_related("table").get(pk=round_id)
    *_, last = replay(round_, upto=seq)
    message = feed.entry_message(last.entry, index=round_.index, seat=seat)
    message["view"] = registry.game(round_.game).view(last.step.state, Seat(seat))
    return message
