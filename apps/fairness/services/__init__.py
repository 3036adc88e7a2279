"""What the rest of the server may do in fairness: open, close, deal, reveal and void rounds; check contributions.

Implements docs/fairness/protocol.md, sections 3 to 9.  Every function runs in the caller's transaction and takes
keywords only.  Nothing here moves money, and nothing reads a clock.
"""

from __future__ import annotations

from apps.fairness.rosters import RosterRow
from apps.fairness.services.contributing import contribution_check, opening_check
from apps.fairness.services.dealing import Deal, round_deal
from apps.fairness.services.ending import round_reveal, round_void
from apps.fairness.services.opening import OpenedRound, deck_rows, round_close, round_open
from apps.fairness.signing import RecordRef

__all__ = [
    "Deal",
    "OpenedRound",
    "RecordRef",
    "RosterRow",
    "contribution_check",
    "deck_rows",
    "opening_check",
    "round_close",
    "round_deal",
    "round_open",
    "round_reveal",
    "round_void",
]
