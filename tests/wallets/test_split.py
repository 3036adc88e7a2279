"""Pots of every size, split by the published rule and by nobody's floats (hazard W2)."""

from __future__ import annotations

import pytest

from apps.fairness.protocol.settlement import fee, settle, split

POTS = 100_000
FEE_BP = 500


class TestSplit:
    @pytest.mark.parametrize("winners", range(1, 11))
    def test_every_pot_is_paid_out_to_the_unit_and_evenly(self, winners: int) -> None:
        """All pots to 10^5: payouts and fee add up, nobody is more than one unit ahead, the first ones are."""
        shares = dict.fromkeys(range(winners), 1)
        opener = winners // 2
        in_order = sorted(shares, key=lambda seat: (seat < opener, seat))
        for pot in range(1, POTS + 1):
            taken = fee(pot, FEE_BP)
            parts = split(pot - taken, shares, opener)
            amounts = [parts[seat] for seat in in_order]
            if sum(amounts) + taken != pot or amounts[0] - amounts[-1] > 1 or amounts != sorted(amounts, reverse=True):
                pytest.fail(f"pot {pot}, {winners} winners: {amounts}, fee {taken}")
            if not 0 <= pot * FEE_BP - taken * 10_000 < 10_000:
                pytest.fail(f"pot {pot}: fee {taken}")

    def test_the_examples_of_the_common_rules(self) -> None:
        cases = [
            (4_000, {2: 1}, 2, 200, {2: 3_800}),
            (30, {0: 1}, 0, 1, {0: 29}),
            (4_000, {0: 1, 1: 1, 3: 1}, 3, 200, {3: 1_267, 0: 1_267, 1: 1_266}),
            (40, {0: 1, 1: 1}, 1, 2, {0: 19, 1: 19}),
            (19, {0: 1, 1: 1}, 1, 0, {1: 10, 0: 9}),
        ]
        for pot, shares, opener, taken, payouts in cases:
            assert fee(pot, FEE_BP) == taken
            assert split(pot - taken, shares, opener) == payouts

    def test_a_seat_that_left_has_paid_too(self) -> None:
        paid = settle(seats=[0, 2, 5], buy_in_minor=7, fee_bp=0, shares={2: 1}, opener=5)
        assert (paid.fee_minor, paid.payouts_minor) == (0, {0: 0, 2: 21, 5: 0})
