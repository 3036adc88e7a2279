"""X-11 and X-12: the fee and the split of a pot."""

from __future__ import annotations

import pytest

from apps.games.contract import Seat
from apps.games.payout import fee_of, payouts

EXAMPLES = [
    (4_000, {2: 1}, (0, 1, 2, 3), 0, 200, {2: 3_800}),
    (30, {0: 1}, (0, 1, 2), 0, 1, {0: 29}),
    (4_000, {0: 1, 1: 1, 3: 1}, (0, 1, 2, 3), 3, 200, {3: 1_267, 0: 1_267, 1: 1_266}),
    (40, {0: 1, 1: 1}, (0, 1), 1, 2, {0: 19, 1: 19}),
    (19, {0: 1, 1: 1}, (0, 1), 1, 0, {1: 10, 0: 9}),
    (1_000, {0: 3, 4: 1}, (0, 2, 4), 2, 50, {0: 712, 4: 238}),
]


@pytest.mark.parametrize(("pot", "shares", "seats", "opener", "fee", "paid"), EXAMPLES)
def test_the_examples_of_the_common_rules(
    pot: int, shares: dict[int, int], seats: tuple[int, ...], opener: int, fee: int, paid: dict[int, int]
) -> None:
    assert fee_of(pot) == fee
    weights = {Seat(seat): weight for seat, weight in shares.items()}
    assert payouts(pot - fee, weights, tuple(Seat(seat) for seat in seats), Seat(opener)) == paid


def test_every_unit_is_paid_out_and_nobody_gets_two_more_than_another() -> None:
    for pot in range(2_000):
        for winners in range(1, 9):
            seats = tuple(Seat(seat) for seat in range(winners))
            paid = payouts(pot, dict.fromkeys(seats, 1), seats, Seat(winners // 2))
            assert sum(paid.values()) == pot
            assert max(paid.values()) - min(paid.values()) <= 1
