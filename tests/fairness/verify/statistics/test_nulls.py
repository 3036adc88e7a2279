"""The distributions are those of all orders of a few cards, counted one by one, and have the known moments of many."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

from apps.fairness.verify.statistics import figures, nulls

NAMES = ("fixed_points", "cycles", "adjacent_pairs", "descents", "inversions")
ALL_ORDERS = {n: np.array(list(permutations(range(n))), dtype=np.uint16) for n in range(1, 7)}


def plain(name: str, order: tuple[int, ...]) -> int:
    """Count a figure of one order as its definition says."""
    n = len(order)
    if name == "fixed_points":
        return sum(order[place] == place for place in range(n))
    if name == "adjacent_pairs":
        return sum(order[place + 1] == order[place] + 1 for place in range(n - 1))
    if name == "descents":
        return sum(order[place] > order[place + 1] for place in range(n - 1))
    if name == "inversions":
        return sum(order[a] > order[b] for a in range(n) for b in range(a + 1, n))
    rest, found = set(range(n)), 0
    while rest:
        place, found = min(rest), found + 1
        while place in rest:
            rest.remove(place)
            place = order[place]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_figures_and_distributions_are_those_of_all_orders(name: str) -> None:
    for n, orders in ALL_ORDERS.items():
        values = getattr(figures, name)(orders)
        assert values.tolist() == [plain(name, tuple(order)) for order in orders.tolist()]
        law = getattr(nulls, name)(n)
        assert np.allclose(np.bincount(values, minlength=len(law)) / len(orders), law, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("law", "mean", "variance"),
    [
        (nulls.fixed_points, lambda n: 1, lambda n: 1),
        (
            nulls.cycles,
            lambda n: sum(1 / i for i in range(1, n + 1)),
            lambda n: sum((i - 1) / i**2 for i in range(1, n + 1)),
        ),
        (nulls.adjacent_pairs, lambda n: (n - 1) / n, lambda n: (n - 1) / n - 1 / n**2),
        (nulls.descents, lambda n: (n - 1) / 2, lambda n: (n + 1) / 12),
        (nulls.inversions, lambda n: n * (n - 1) / 4, lambda n: n * (n - 1) * (2 * n + 5) / 72),
    ],
    ids=NAMES,
)
@pytest.mark.parametrize("n", [52, 108, 300])
def test_moments_are_the_known_ones(
    n: int, law: Callable[[int], nulls.Floats], mean: Callable[[int], float], variance: Callable[[int], float]
) -> None:
    assert law(n).sum() == pytest.approx(1)
    assert nulls.moments(law(n)) == pytest.approx((mean(n), variance(n)))


def test_the_change_from_a_deck_to_the_next_says_where_its_cards_lay() -> None:
    before = np.array([[2, 0, 1, 3]], dtype=np.uint16)
    after = np.array([[3, 2, 1, 0]], dtype=np.uint16)
    assert figures.relative(before, after).tolist() == [[3, 0, 2, 1]]
