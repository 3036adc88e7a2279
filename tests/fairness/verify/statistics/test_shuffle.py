"""An honest shuffle passes with p-values as they should be, and each bad one is found at its stated number of decks."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from scipy.special import bdtrc
from scipy.stats import kstest

from apps.fairness.verify.statistics.results import ALL, SUSPICIOUS, TOO_LITTLE, Result, judged
from apps.fairness.verify.statistics.shuffle import CARDS_MAX, DECKS_MIN, goodness, places_p, shuffle_tests
from tests.fairness.verify.statistics.power import suspicious
from tests.fairness.verify.statistics.shufflers import BAD, Decks, honest

REPETITIONS = 300
ALPHA = 0.05
STEPPED = {"repeated_decks", "parity"}
"""Tests of few possible results: their p-values are not smaller than fair ones, but not uniform either."""


def results_of(decks: Decks) -> list[Result]:
    before = np.arange(len(decks) - 1)
    return shuffle_tests("group", decks, before, before + 1)


@pytest.fixture(scope="module")
def honest_runs() -> list[list[Result]]:
    return [results_of(honest(np.random.default_rng([1, seed]), DECKS_MIN + 1, 40)) for seed in range(REPETITIONS)]


def test_p_values_of_an_honest_shuffle_are_uniform(honest_runs: list[list[Result]]) -> None:
    ps: dict[str, list[float]] = defaultdict(list)
    for run in honest_runs:
        for result in run:
            assert result.p is not None
            ps[result.test].append(result.p)
    assert len(ps) == 13
    for test, found in ps.items():
        below = kstest(found, "uniform", alternative="greater" if test in STEPPED else "two-sided")
        assert below.pvalue > 0.001, f"{test}: {below}"


def test_an_honest_shuffle_is_suspected_no_more_often_than_alpha(honest_runs: list[list[Result]]) -> None:
    alarms = sum(any(result.verdict == SUSPICIOUS for result in judged(run, ALPHA)) for run in honest_runs)
    # So many or more would come with a probability below a thousandth if alpha were held.
    assert bdtrc(alarms - 1, REPETITIONS, ALPHA) > 0.001, alarms
    assert alarms > 0, "a battery that never suspects anybody tests nothing"


@pytest.mark.parametrize("name", BAD)
def test_a_bad_shuffler_is_found_by_the_tests_that_are_made_for_it(name: str) -> None:
    bad = BAD[name]
    for seed in range(1 if bad.decks > 10_000 else 3):
        assert bad.found_by <= set(suspicious(bad.shuffle, bad.decks, seed)), f"seed {seed}"


def test_decks_used_again_are_found_by_their_places() -> None:
    decks = np.repeat(honest(np.random.default_rng(3), 150, 52), 2, axis=0)
    verdicts = {result.test: result.verdict for result in judged(results_of(decks), 0.01)}
    assert verdicts["lag_places"] == verdicts["repeated_decks"] == SUSPICIOUS


def test_decks_that_are_too_even_are_suspicious() -> None:
    # Each card lies at each place exactly four times: nobody chooses so well by chance.
    rng, turns = np.random.default_rng(4), (np.arange(52)[:, None] + np.arange(52)) % 52
    decks = np.concatenate([rng.permutation(52)[rng.permutation(turns)] for _ in range(4)]).astype(np.uint16)
    verdicts = {result.test: result.verdict for result in judged(results_of(decks), 0.01)}
    assert verdicts["position_by_card"] == SUSPICIOUS


def test_too_little_data_is_no_pass() -> None:
    few = judged(results_of(honest(np.random.default_rng(5), DECKS_MIN - 1, 52)), 0.01)
    assert {result.test for result in few if result.verdict != TOO_LITTLE} == {"repeated_decks"}
    assert all(f"needs at least {DECKS_MIN}" in result.text for result in few if result.verdict == TOO_LITTLE)
    one_short = judged(results_of(honest(np.random.default_rng(5), DECKS_MIN, 52)), 0.01)
    assert {result.test for result in one_short if result.verdict == TOO_LITTLE} == {
        "lag_places",
        "lag_neighbours",
        "lag_order",
    }


@pytest.mark.parametrize("cards", [2, 4, CARDS_MAX + 1])
def test_decks_of_very_few_or_very_many_cards_are_looked_at_for_repeats_only(cards: int) -> None:
    results = results_of(honest(np.random.default_rng(6), DECKS_MIN + 1, cards))
    assert [result.test for result in results] == ["repeated_decks"]


def test_small_decks_may_repeat_as_often_as_chance_has_it() -> None:
    # Of 120 orders, 300 decks: 374 pairs that are the same are expected.
    (repeated, *_) = results_of(honest(np.random.default_rng(7), 300, 5))
    assert "pairs of decks are the same" in repeated.text
    assert repeated.p is not None
    assert repeated.p > 0.01
    (always, *_) = results_of(np.tile(np.arange(5, dtype=np.uint16), (300, 1)))
    assert always.p == 0


def test_rare_values_are_taken_together() -> None:
    law = np.array([0.5, 0.3, 0.15, 0.04, 0.01])
    observed = np.array([50, 30, 15, 4, 1])
    p, parts = goodness(observed, law)
    assert (round(p, 9), parts) == (1.0, 3)
    p, _ = goodness(np.array([30, 30, 15, 4, 21]), law)
    assert p < 1e-6


def test_copies_of_a_face_count_as_often_as_they_are_there() -> None:
    kinds = np.array([0] * 20 + [1] * 10 + [2, 3])
    ps = [
        places_p(_counts(kinds[honest(np.random.default_rng([8, seed]), 40, 32)]), 40, np.bincount(kinds))
        for seed in range(200)
    ]
    assert kstest(ps, "uniform").pvalue > 0.001


def _counts(decks: Decks) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array([np.bincount(decks[:, place], minlength=4) for place in range(10)])


def test_holm_holds_the_error_over_all_tests() -> None:
    ps = (0.004, None, 0.001, 0.03, 0.02)
    results = judged([Result(f"t{n}", ALL, 1, 1, p, "") for n, p in enumerate(ps)], 0.016)
    assert [result.p_adjusted for result in results] == [pytest.approx(0.012), None, 0.004, 0.04, 0.04]
    assert [result.verdict for result in results] == [SUSPICIOUS, TOO_LITTLE, SUSPICIOUS, "pass", "pass"]
    assert [result.status for result in results] == [1, 2, 1, 0, 0]
