"""Fee and split of the pot.

Protocol: docs/fairness/protocol.md, section 8.  Integers only; never moves money.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apps.fairness.protocol.errors import SettlementError
from apps.fairness.protocol.shapes import BASIS_POINTS


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a pot turned into; ``fee_minor`` and the payouts add up to it."""

    fee_minor: int
    payouts_minor: dict[int, int]
    """One amount for each seat that paid, ascending."""


def fee(pot_minor: int, fee_bp: int) -> int:
    """Return the fee on a pot, in minor units, rounded down."""
    return pot_minor * fee_bp // BASIS_POINTS


def split(net_minor: int, shares: Mapping[int, int], opener: int) -> dict[int, int]:
    """Split what is left after the fee in proportion to the shares.

    Units left over go one each to the seats with a share, clockwise from the opener.

    Raises:
        SettlementError: no shares, a weight below 1, or a negative amount.
    """
    if net_minor < 0 or not shares or any(weight < 1 for weight in shares.values()):
        raise SettlementError("a split needs an amount and weights of at least 1")
    whole = sum(shares.values())
    result = {seat: net_minor * weight // whole for seat, weight in shares.items()}
    left = net_minor - sum(result.values())
    clockwise = sorted(shares, key=lambda seat: (seat < opener, seat))
    for seat in clockwise[:left]:
        result[seat] += 1
    return result


def settle(
    *, seats: Iterable[int], buy_in_minor: int, fee_bp: int, shares: Mapping[int, int], opener: int
) -> Settlement:
    """Settle a round: one buy-in of each seat, less the fee, split by the shares.

    Args:
        seats: every seat that paid, those that left too.
        opener: opener of the round; for a match, of its first round.

    Raises:
        SettlementError: a share belongs to a seat that did not pay, or there are no shares.
    """
    paid = sorted(seats)
    if not shares.keys() <= set(paid):
        raise SettlementError("a share belongs to a seat that did not pay")
    pot = buy_in_minor * len(paid)
    fee_minor = fee(pot, fee_bp)
    parts = split(pot - fee_minor, shares, opener)
    return Settlement(fee_minor, {seat: parts.get(seat, 0) for seat in paid})
