"""The deadlines of a round, in milliseconds.

Source: docs/fairness/protocol.md, section 9.
"""

from __future__ import annotations

from apps.fairness.models import FairRound, Stage
from apps.fairness.protocol.beacon import round_time_s

OPEN_MS = 24 * 3600 * 1000
"""From the open record to the close record, or to the deck record where there is none."""
CLOSE_MS = 60 * 1000
"""From the close record, or the beacon's time if later, to the deck record or a void."""
DECK_MS = 6 * 3600 * 1000
"""From the deck record to the end."""
MERGE_MS = 1000
"""From signing to a published checkpoint."""


def due_ms(round_: FairRound) -> int:
    """Return the time after which a round at this stage can only be voided as the operator's fault.

    At stage open it bounds the next record; a void there is never late.
    """
    if round_.stage == Stage.OPEN:
        return round_.opened_at_ms + OPEN_MS
    if round_.stage == Stage.CLOSE:
        assert round_.closed_at_ms is not None
        beacon_ms = 0 if round_.beacon_round is None else 1000 * round_time_s(round_.beacon_round)
        return max(round_.closed_at_ms, beacon_ms) + CLOSE_MS
    assert round_.dealt_at_ms is not None, "an ended round has no deadline"
    return round_.dealt_at_ms + DECK_MS
