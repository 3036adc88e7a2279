"""Voids that fall by chance pass; rounds that were called off for somebody, at one table or one time, are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from scipy.stats import kstest

from apps.fairness.verify.statistics.battery import battery
from apps.fairness.verify.statistics.decks import Deck
from apps.fairness.verify.statistics.results import SUSPICIOUS, TOO_LITTLE, Result
from apps.fairness.verify.statistics.simulated import simulated_round
from apps.fairness.verify.statistics.voids import (
    CONTROLS_PER_VOID,
    PLAYED_MAX,
    Stratum,
    rate_tests,
    result_tests,
    strata,
    void_decks_test,
)
from apps.fairness.verify.statistics.would_be import shares_of
from tests.fairness.verify.statistics.friends import FRIENDS, ROUND, called_off
from tests.fairness.verify.statistics.shufflers import honest

Chosen = Callable[[int, int], float]
"""Table and winner to the probability with which the round is called off."""
SEATS = (0, 1, 2, 3)
PAIR = (0, 1)


def scored(
    rng: np.random.Generator, chosen: Chosen, *, tables: int = 2, rounds: int = 400
) -> list[tuple[Stratum, list[dict[int, float]]]]:
    """Return rounds in which one seat takes all, of a house that calls some off."""
    found = []
    for table in range(tables):
        winners = rng.integers(len(SEATS), size=rounds).tolist()
        void = [bool(rng.random() < chosen(table, winner)) for winner in winners]
        lists: tuple[list[int], list[int]] = ([], [])
        for winner, stopped in zip(winners, void, strict=True):
            lists[not stopped].append(winner)
        if not lists[0]:
            continue
        stratum = Stratum(f"{table}", SEATS, [ROUND] * len(lists[0]), [ROUND] * len(lists[1]))
        played = lists[0] + lists[1][: CONTROLS_PER_VOID * len(lists[0])]
        found.append((stratum, [{seat: float(seat == winner) for seat in SEATS} for winner in played]))
    return found


def results_ps(seed: int, chosen: Chosen, **members: int) -> dict[str, float | None]:
    rng = np.random.default_rng([11, seed])
    return {result.test: result.p for result in result_tests(scored(rng, chosen, **members), rng)}


def test_voids_by_chance_have_uniform_p_values() -> None:
    runs = [results_ps(seed, lambda table, winner: 0.1, rounds=150) for seed in range(50)]
    for test in ("void_results", "void_seat"):
        assert kstest([run[test] for run in runs], "uniform").pvalue > 0.001


@pytest.mark.parametrize(("seats", "voids"), FRIENDS)
def test_rounds_called_off_when_a_friend_loses_are_found(seats: int, voids: int) -> None:
    for seed in range(2):
        rng = np.random.default_rng([13, seed])
        for result in result_tests([called_off(rng, seats, voids)], rng):
            assert result.p is not None
            assert result.p < 0.0005


@pytest.mark.parametrize("seed", range(2))
def test_one_bad_table_among_many_is_found_by_its_seat(seed: int) -> None:
    def chosen(table: int, winner: int) -> float:
        return 0.03 if table else (0.0 if winner == 2 else 0.25)

    ps = results_ps(seed, chosen, tables=6)
    assert ps["void_seat"] is not None
    assert ps["void_seat"] < 0.0005


def test_few_voids_say_nothing() -> None:
    rng = np.random.default_rng(1)
    few = result_tests(scored(rng, lambda table, winner: 0.002, tables=1), rng)
    assert {result.test: result.verdict for result in few} == {"void_results": TOO_LITTLE, "void_seat": TOO_LITTLE}
    stratum = Stratum("a", SEATS, [ROUND] * 20, [ROUND] * 20)
    alike = result_tests([(stratum, [dict.fromkeys(SEATS, 0.25)] * 40)], rng)
    assert {result.p for result in alike} == {None}


def rounds_at(table: str, number: int, void: Callable[[int], bool], reason: str = "operator_fault") -> list[Deck]:
    return [replace(ROUND, table=table, index=n, void=reason if void(n) else None) for n in range(number)]


def rates(decks: list[Deck]) -> dict[str, Result]:
    return {result.test: result for result in rate_tests(decks, np.random.default_rng(2))}


def test_rates_by_chance_have_uniform_p_values() -> None:
    tables: list[float] = []
    indexes: list[float] = []
    for seed in range(30):
        rng = np.random.default_rng([12, seed])
        drawn = [(name, (rng.random(100) < 0.1).tolist()) for name in "abcdefgh"]
        found = rates([deck for name, void in drawn for deck in rounds_at(name, 100, void.__getitem__)])
        assert found["void_tables"].p is not None
        assert found["void_indexes"].p is not None
        tables.append(found["void_tables"].p)
        indexes.append(found["void_indexes"].p)
    assert kstest(tables, "uniform").pvalue > 0.001
    assert kstest(indexes, "uniform").pvalue > 0.001


def test_a_table_that_is_called_off_more_often_is_found() -> None:
    decks = [deck for name in "abdefgh" for deck in rounds_at(name, 200, lambda n: n % 100 == 5)]
    found = rates([*decks, *rounds_at("c", 200, lambda n: n % 10 == 5)])["void_tables"]
    assert found.p is not None
    assert found.p < 0.001
    assert "table c, 20 of 200 rounds" in found.text


def test_voids_that_come_late_are_found() -> None:
    found = rates([deck for name in "abc" for deck in rounds_at(name, 100, lambda n: n > 80 and n % 3 == 0)])
    late = found["void_indexes"]
    assert late.p is not None
    assert late.p < 0.001
    assert late.text.startswith("voids come later")


def test_rounds_that_nobody_started_are_no_voids_of_the_house() -> None:
    found = rates([deck for name in "ab" for deck in rounds_at(name, 200, lambda n: n % 10 == 5, "not_started")])
    assert {result.count for result in found.values()} == {0}
    assert {result.verdict for result in found.values()} == {TOO_LITTLE}


def test_one_table_alone_has_no_rate_to_compare() -> None:
    assert set(rates(rounds_at("a", 200, lambda n: n % 10 == 5))) == {"void_indexes"}
    assert rates(rounds_at("a", 20, lambda n: True))["void_indexes"].p is None


def test_voided_decks_that_begin_like_others_pass_and_others_do_not() -> None:
    rng, kind_of = np.random.default_rng(3), np.arange(52) % 13
    ps = [void_decks_test("group", honest(rng, 25, 52), kind_of).p for _ in range(200)]
    assert kstest(ps, "uniform").pvalue > 0.001
    decks = honest(rng, 4000, 52)
    # Called off where the seat that is dealt every fourth card gets no ace and no king.
    bad = decks[~(kind_of[decks[:, 0:28:4]] >= 11).any(axis=1)][:100]
    p = void_decks_test("group", bad, kind_of).p
    assert p is not None
    assert p < 0.0005
    assert void_decks_test("group", bad[:19], kind_of).p is None


def with_voids(decks: list[Deck], void: set[str]) -> list[Deck]:
    return [replace(deck, void="operator_fault") if deck.round in void else deck for deck in decks]


@pytest.fixture(scope="module")
def monko() -> list[Deck]:
    return [simulated_round("monko", number, b"voids", PAIR) for number in range(201)]


def test_a_dealer_who_calls_rounds_off_for_a_friend_is_found(monko: list[Deck]) -> None:
    # The dealer cannot know how the round would go: it lets other computer players try.
    tries = [replace(deck, round=f"{number:032x}") for number, deck in enumerate(monko)]
    lost = [deck.round for deck, tried in zip(monko, tries, strict=True) if shares_of(tried)[1] == 0]
    void = set(lost[::4])
    found = battery(with_voids(monko, void), alpha=0.01, jobs=1)
    verdicts = {result.test: result.verdict for result in found.results}
    assert verdicts["void_results"] == verdicts["void_seat"] == SUSPICIOUS
    (seat,) = [result for result in found.results if result.test == "void_seat"]
    assert "good for it" in seat.text if "seat 0 of" in seat.text else "bad for it" in seat.text
    assert verdicts["position_by_card"] == verdicts["repeated_seeds"] == "pass"
    assert len(void) == 27


def test_a_dealer_whose_machine_stops_now_and_then_is_not(monko: list[Deck]) -> None:
    found = battery(with_voids(monko, {deck.round for deck in monko[5::8]}), alpha=0.01, jobs=1)
    tested = [result for result in found.results if result.test.startswith("void_")]
    assert {result.test for result in tested if result.verdict == "pass"} == {
        "void_decks",
        "void_indexes",
        "void_results",
        "void_seat",
    }


def test_only_so_many_rounds_are_played_whoever_chooses(monko: list[Deck]) -> None:
    ids = count()
    many = [replace(monko[0], round=f"{next(ids):032x}", void="operator_fault") for _ in range(PLAYED_MAX + 5)]
    (stratum,) = strata([*many, *monko[1:]])
    assert stratum.voids == many[:PLAYED_MAX]
    few = strata([replace(monko[0], void="operator_fault"), *monko[1:]])
    assert len(few[0].compared()) == 1 + CONTROLS_PER_VOID
    assert strata(monko) == []
    unknown = replace(monko[0], rules="chess/1", void="operator_fault")
    assert strata([unknown, *monko[1:]]) == []
    assert monko[0].dealt is not None
    unopened = replace(monko[0], dealt=replace(monko[0].dealt, opener=None), void="operator_fault")
    assert strata([unopened, *monko[1:]]) == []


def test_the_shares_of_a_round_add_up(monko: list[Deck]) -> None:
    shares = shares_of(monko[0])
    assert shares == shares_of(monko[0])
    assert tuple(shares) == PAIR
    assert sum(shares.values()) == pytest.approx(1)
