"""What the seats of a pot get.

Rules: docs/games/common.md, X-11 and X-12.  Integers in minor units only; nothing here moves money.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from apps.games.contract import Seat
from apps.games.kit.turns import ring_from

FEE_BP = 500
"""The fee in hundredths of a percent of the pot."""


def fee_of(pot_minor: int, fee_bp: int = FEE_BP) -> int:
    """Return the fee taken from a pot, rounded down (X-11)."""
    return pot_minor * fee_bp // 10_000


def payouts(net_minor: int, shares: Mapping[Seat, int], seats: Sequence[Seat], opener: Seat) -> dict[Seat, int]:
    """Return what each seat in ``shares`` gets of a pot after the fee (X-12).

    Args:
        shares: weights of the outcome; not empty.
        seats: the ring, ascending.
        opener: of the round, or of a match's first round; units left over go one each in the ring from it.
    """
    total = sum(shares.values())
    paid = {seat: net_minor * weight // total for seat, weight in shares.items()}
    left = net_minor - sum(paid.values())
    for seat in [seat for seat in ring_from(tuple(seats), opener) if seat in shares][:left]:
        paid[seat] += 1
    return paid
