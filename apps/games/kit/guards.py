"""The common guards of the calls into a game, in their order.

Common rules: section 3.  The first guard that fails answers; nothing has changed then.
"""

from __future__ import annotations

from apps.games.contract import RuleError, Seat
from apps.games.kit.round import Round

LEAVE_REASONS = ("left", "timeouts", "connection")


def _running(s: Round, seat: Seat, now: int) -> None:
    if s.outcome is not None:
        raise RuleError("round_over")
    if now >= s.due():
        raise RuleError("clock_due")
    if seat not in s.active:
        raise RuleError("not_in_round")


def may_act(s: Round, seat: Seat, now: int) -> None:
    """Raise round_over, clock_due, not_in_round or disconnected; ``bad_action`` and the page's own guards follow."""
    if s.outcome is not None:
        raise RuleError("round_over")
    if now >= s.due():
        raise RuleError("clock_due")
    if seat not in s.active:
        raise RuleError("not_in_round")
    if seat in s.offline:
        raise RuleError("disconnected")


def may_leave(s: Round, seat: Seat, reason: str, now: int) -> None:
    """Raise round_over, clock_due, not_in_round or bad_reason."""
    _running(s, seat, now)
    if reason not in LEAVE_REASONS:
        raise RuleError("bad_reason")


def may_change_connection(s: Round, seat: Seat, now: int) -> None:
    """Raise round_over, clock_due or not_in_round."""
    _running(s, seat, now)


def may_view(s: Round, viewer: Seat | None) -> None:
    """Raise not_in_round for a number that was not dealt in; seats that left may look, and so may a spectator."""
    if viewer is not None and viewer not in s.deal.seats:
        raise RuleError("not_in_round")


def listens(s: Round, seat: Seat, now: int) -> bool:
    """Return whether ``legal`` may list anything: the round runs, nothing is due, the seat is active and connected."""
    return s.outcome is None and now < s.due() and seat in s.active and seat not in s.offline


def refuse(when: bool, code: str) -> None:
    """Raise this code when the condition holds: a guard of a page in one line, where speed does not matter."""
    if when:
        raise RuleError(code)
