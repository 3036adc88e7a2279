"""Rings, turns and clocks.

Common rules: section 2 (next, ring from s), section 4, section 5 (turn_started, clock_changed, timed_out,
connection_changed).  Times are Unix milliseconds and come from the caller.
"""

from __future__ import annotations

from collections.abc import Callable

from apps.games.contract import Chance, Event, Seat, Step
from apps.games.kit import guards
from apps.games.kit.round import Call, Round, State

OFFLINE_MS = 5_000
"""What is left at most of a clock for a seat without connection."""


def after(seats: tuple[Seat, ...], seat: Seat, direction: int = 1) -> Seat:
    """Return the first of these ascending seats after the place of ``seat``, which need not be among them.

    With the active seats this is next(s) of the common rules.  Direction 1 is clockwise, -1 counter-clockwise.
    """
    if direction > 0:
        for other in seats:
            if other > seat:
                return other
        return seats[0]
    for other in reversed(seats):
        if other < seat:
            return other
    return seats[-1]


def ring_from(seats: tuple[Seat, ...], seat: Seat) -> tuple[Seat, ...]:
    """Return these ascending seats clockwise, beginning with ``seat`` or, if it is not among them, the one after it."""
    return tuple([s for s in seats if s >= seat] + [s for s in seats if s < seat])


def clock(s: Round, seat: Seat, ms: int, now: int) -> int:
    """Return the deadline of a clock of ``ms`` for this seat, starting now."""
    return now + (min(ms, OFFLINE_MS) if seat in s.offline else ms)


def start_turn(s: Round, seat: Seat, ms: int, call: Call) -> None:
    """Begin the next turn: the last event of most calls."""
    s.turn += 1
    s.seat = seat
    s.acted = False
    s.deadline = deadline = call.now + ms if seat not in s.offline else clock(s, seat, ms, call.now)
    call.emit({"type": "turn_started", "seat": seat, "turn": s.turn, "deadline": deadline})


def fresh_clock(s: Round, ms: int, call: Call) -> None:
    """Give the turn's seat a fresh clock; the event comes even if the value is the same."""
    s.deadline = clock(s, s.seat, ms, call.now)
    call.emit({"type": "clock_changed", "seat": s.seat, "deadline": s.deadline})


def time_out(s: Round, call: Call) -> None:
    """Tell that the turn's seat ran out of time: before the effects of it.

    It counts towards the five in a row (X-17) when the seat is there and has done nothing in this turn.
    """
    counts = not s.acted and s.seat not in s.offline
    call.emit({"type": "timed_out", "seat": s.seat, "counts": counts})


def wake(state: State, now: int, chance: Chance, happen: Callable[[State, Call], None]) -> Step[State]:
    """Let everything due by ``now`` happen, the earliest first.

    Args:
        happen: lets the one item happen that ``state.due()`` is the time of; every deadline it makes is later than now.
    """
    if state.outcome is not None or now < state.due():
        return Step(state, ())
    s, call = state.copy(), Call(now, chance)
    while s.outcome is None and s.due() <= now:
        happen(s, call)
    return call.step(s)


def connection(state: State, seat: Seat, connected: bool, now: int, *, shortens: bool = True) -> Step[State]:
    """Note that a seat's connection was lost or is back; its own running turn clock shortens when it is lost.

    Args:
        shortens: False while a set-up clock runs, which a lost connection does not shorten.

    Raises:
        RuleError: round_over, clock_due or not_in_round.
    """
    guards.may_change_connection(state, seat, now)
    if connected == (seat not in state.offline):
        return Step(state, ())
    s = state.copy()
    s.offline = state.offline - {seat} if connected else state.offline | {seat}
    events: list[Event] = [{"type": "connection_changed", "seat": seat, "connected": connected}]
    if shortens and not connected and seat == s.seat and now + OFFLINE_MS < s.deadline:
        s.deadline = now + OFFLINE_MS
        events.append({"type": "clock_changed", "seat": seat, "deadline": s.deadline})
    return Step(s, tuple(events))
