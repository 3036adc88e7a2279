"""Deadlines of a round: how long each step may take.

Protocol: docs/fairness/protocol.md, section 9.  Never reads a clock.
"""

from __future__ import annotations

from typing import Any, Final

from apps.fairness.protocol import beacon

OPEN_MS: Final = 24 * 60 * 60 * 1000
"""From ``open`` to ``close``, or to ``deck`` where there is no close."""
CLOSE_MS: Final = 60 * 1000
"""From ``close``, or the beacon's time if that is later, to ``deck`` or ``void``."""
DECK_MS: Final = 6 * 60 * 60 * 1000
"""From ``deck`` to ``reveal`` or ``void``."""
MERGE_MS: Final = 1000
"""From the signing of a record to a published checkpoint that contains it."""


def beacon_time_ms(bound: dict[str, Any] | None, number: int | None) -> int | None:
    """Return when the beacon round of a close record is published; None where that is not known.

    Args:
        bound: the member ``beacon`` of the open record.
        number: the member ``beacon_round`` of the close record.
    """
    if bound is None or number is None or bound["chain"] != beacon.QUICKNET.hex():
        return None
    return beacon.round_time_s(number) * 1000


def close_deadline_ms(closed_ms: int, bound: dict[str, Any] | None, number: int | None) -> int | None:
    """Return the last moment for the deck record, or the void, after a close record.

    None where a beacon is bound whose time is not known: then nobody can say.

    Args:
        bound: the member ``beacon`` of the open record.
        number: the member ``beacon_round`` of the close record.
    """
    if bound is None:
        return closed_ms + CLOSE_MS
    beacon_ms = beacon_time_ms(bound, number)
    return None if beacon_ms is None else max(closed_ms, beacon_ms) + CLOSE_MS
