"""What the table keeps beside the engine while a round runs: time-outs in a row, lost connections, who left why.

Rules: docs/games/common.md, X-16, X-17, X-26, X-28.  Pure: no database, no clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from apps.games.contract import Event, Seat

TIMEOUTS_MAX = 5
"""Counted time-outs in a row that remove a seat (X-17)."""

GRACE_MS = 120_000
"""Time to come back to the same hand after a lost connection (X-16)."""


@dataclass(slots=True)
class Desk:
    """Counters and times per seat; times are engine time, milliseconds."""

    timeouts: dict[int, int] = field(default_factory=dict)
    lost_at: dict[int, int] = field(default_factory=dict)
    left: dict[int, str] = field(default_factory=dict)

    def timeouts_count(self, events: Iterable[Event]) -> None:
        """Count the time-outs among the events that count (X-28)."""
        for event in events:
            if event["type"] == "timed_out" and event["counts"]:
                seat = event["seat"]
                self.timeouts[seat] = self.timeouts.get(seat, 0) + 1

    def to_remove(self) -> list[Seat]:
        """Return the seats that five counted time-outs in a row remove, ascending."""
        return [Seat(s) for s, n in sorted(self.timeouts.items()) if n >= TIMEOUTS_MAX and s not in self.left]

    def grace_ended(self, now: int) -> list[Seat]:
        """Return the seats that did not come back in time by ``now``, by their time, then by seat (X-26)."""
        due = sorted((at, seat) for seat, at in self.lost_at.items() if at + GRACE_MS <= now)
        return [Seat(seat) for _, seat in due]

    def wake_at(self) -> int | None:
        """Return when the next grace period ends, engine time; None if nobody is away."""
        return min(self.lost_at.values()) + GRACE_MS if self.lost_at else None

    def dump(self) -> dict[str, Any]:
        """Return plain JSON with string keys."""
        return {
            "timeouts": {str(s): n for s, n in self.timeouts.items() if n},
            "lost_at": {str(s): at for s, at in self.lost_at.items()},
            "left": {str(s): reason for s, reason in self.left.items()},
        }

    @classmethod
    def load(cls, data: dict[str, Any]) -> Desk:
        """Return the desk that was dumped."""
        return cls(
            timeouts={int(s): n for s, n in data.get("timeouts", {}).items()},
            lost_at={int(s): at for s, at in data.get("lost_at", {}).items()},
            left={int(s): reason for s, reason in data.get("left", {}).items()},
        )
