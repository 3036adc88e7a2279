"""Limits of a player: what a change means, and which value holds when.

Changes are rows that are never altered.  A change that tightens holds at once, one that loosens holds 24 hours later; a
later change replaces an earlier one that does not hold yet.  Of the accounts of one person the strictest limit holds.
Pure: no database, no clock.

Source: docs/operators/responsible-play.md, section Limits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

LOOSENING_MS = 24 * 60 * 60 * 1000
MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS


class LimitKind(StrEnum):
    """What is limited; the first four in minor units of a currency, the others in minutes of an unbroken sitting."""

    STAKE_ROUND = "stake_round"
    LOSS_DAY = "loss_day"
    LOSS_WEEK = "loss_week"
    LOSS_MONTH = "loss_month"
    SESSION_MINUTES = "session_minutes"
    REALITY_CHECK_MINUTES = "reality_check_minutes"


LIMIT_KINDS = tuple(str(kind) for kind in LimitKind)
LOSS_WINDOWS_MS = {
    LimitKind.LOSS_DAY: DAY_MS,
    LimitKind.LOSS_WEEK: 7 * DAY_MS,
    LimitKind.LOSS_MONTH: 30 * DAY_MS,
}
"""The windows slide: a loss counts for exactly this long, so no calendar boundary gives a fresh start."""

MONEY_KINDS = frozenset({LimitKind.STAKE_ROUND, *LOSS_WINDOWS_MS})
MINUTE_KINDS = frozenset(LimitKind) - MONEY_KINDS


@dataclass(frozen=True, slots=True)
class LimitEntry:
    """A change of one limit, as it was asked for; ``value`` None is no limit."""

    value: int | None
    created_at_ms: int
    effective_at_ms: int


@dataclass(frozen=True, slots=True)
class Limit:
    """What holds of one limit at some time, and what will."""

    value: int | None = None
    pending: LimitEntry | None = None
    """The change that loosens the limit once its time has come."""


def limit_at(changes: Iterable[LimitEntry], now: int) -> Limit:
    """Return the limit at ``now`` (Unix milliseconds), of changes in the order in which they were asked for."""
    value: int | None = None
    pending: LimitEntry | None = None
    for change in changes:
        if pending is not None and pending.effective_at_ms <= change.created_at_ms:
            value = pending.value
        pending = None
        if change.effective_at_ms <= change.created_at_ms:
            value = change.value
        else:
            pending = change
    if pending is not None and pending.effective_at_ms <= now:
        return Limit(pending.value)
    return Limit(value, pending)


def change_of(limit: Limit, value: int | None, now: int) -> LimitEntry | None:
    """Return the change that a wish for ``value`` makes at ``now``, or None if that holds or is coming already."""
    if limit.pending is None and value == limit.value:
        return None
    if limit.pending is not None and value == limit.pending.value:
        return None  # Asking again does not start the 24 hours again.
    return LimitEntry(value, now, now + LOOSENING_MS if is_looser(value, limit.value) else now)


def limit_strictest(limits: Collection[Limit]) -> Limit:
    """Return what holds where several limits hold together: the strictest, and what it loosens to next."""
    value = _strictest(limit.value for limit in limits)
    for change in sorted((limit.pending for limit in limits if limit.pending), key=lambda one: one.effective_at_ms):
        then = _strictest(
            limit.pending.value
            if limit.pending is not None and limit.pending.effective_at_ms <= change.effective_at_ms
            else limit.value
            for limit in limits
        )
        if then != value:
            return Limit(value, LimitEntry(then, change.created_at_ms, change.effective_at_ms))
    return Limit(value)


def _strictest(values: Iterable[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)


def is_looser(value: int | None, than: int | None) -> bool:
    """Tell whether a value allows more than another; None allows everything."""
    if than is None:
        return False
    return value is None or value > than
