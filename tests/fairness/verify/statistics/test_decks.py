"""The deck of a round is the one that was dealt, or that would have been."""

from __future__ import annotations

from typing import Any

import pytest

from apps.fairness.protocol.verify import Settings, round_checked
from apps.fairness.verify.statistics.decks import Deck, deck_of
from apps.fairness.verify.statistics.simulated import simulated_round
from tests.fairness.protocol.house import House
from tests.fairness.protocol.test_games import game_round


def taken(house: House, bundle: Any) -> Deck | None:
    result, round_ = round_checked(bundle, Settings(trust=house.trust, bls=False))
    assert result.verdict().codes == ()
    assert round_ is not None
    return deck_of(round_)


def rows(play: Any) -> list[Any]:
    return [play.entropy_row(seat) for seat in play.plan.seats]


def test_a_finished_round_gives_the_deck_that_was_dealt() -> None:
    house, cards = House(), []
    played = game_round(house, "monko", {"cards": lambda made: cards.extend(made)})
    deck = taken(house, played.bundle)
    assert deck is not None
    assert deck.dealt is not None
    assert deck.dealt.codes() == tuple(cards)
    assert (deck.dealt.seats, deck.dealt.opener, deck.void) == ((0, 1, 3), played.opener, None)
    assert (deck.seed, len(set(deck.entropies)), deck.group) == (played.seed.hex(), 3, "monko/1, 108 cards")


def test_a_void_after_the_deal_gives_the_deck_it_stopped() -> None:
    house, cards = House(), []
    void = {"reason": "operator_fault", "fault": "operator"}
    played = game_round(house, "monko", {"cards": lambda made: cards.extend(made)}, stop="deck", void=void)
    deck = taken(house, played.bundle)
    assert deck is not None
    assert deck.dealt is not None
    assert (deck.dealt.codes(), deck.void, len(deck.entropies)) == (tuple(cards), "operator_fault", 3)


@pytest.mark.parametrize(("mode", "stage"), [("open", "open"), ("sealed", "close")])
def test_a_void_before_the_deal_gives_the_deck_that_would_have_been(mode: str, stage: str) -> None:
    finished = game_round(House(), "monko", mode=mode)
    house = House()
    void = {"reason": "operator_fault", "fault": "operator", "entropies": rows}
    stopped = game_round(house, "monko", mode=mode, stop=stage, void=void)
    assert stopped.records[0] == finished.records[0]
    dealt, would_be = taken(House(), finished.bundle), taken(house, stopped.bundle)
    assert dealt is not None
    assert would_be is not None
    assert would_be.void == "operator_fault"
    assert would_be.dealt is not None
    assert dealt.dealt is not None
    assert would_be.dealt.codes() == dealt.dealt.codes()
    assert would_be.dealt.opener == dealt.dealt.opener


def test_who_would_have_opened_a_round_of_a_match_is_not_guessed() -> None:
    house = House()
    void = {"reason": "operator_fault", "fault": "operator", "entropies": rows}
    deck = taken(house, game_round(house, "mojo", stop="open", void=void).bundle)
    assert deck is not None
    assert deck.dealt is not None
    assert (deck.dealt.opener, len(deck.dealt.codes())) == (None, 78)


@pytest.mark.parametrize(
    ("members", "void"),
    [
        ({"mode": "none", "stop": "open"}, {}),
        ({"mode": "open", "stop": "open"}, {"entropies": lambda play: rows(play)[:1]}),
        ({"mode": "sealed", "stop": "close"}, {"entropies": lambda play: rows(play)[:2]}),
        ({"mode": "open", "stop": "close", "beacon": True}, {"entropies": rows}),
    ],
    ids=["no contributions", "too few seats", "a seat did not open", "an unknown beacon"],
)
def test_a_deck_that_cannot_be_known_is_none(members: dict[str, Any], void: dict[str, Any]) -> None:
    house = House()
    void = {"reason": "operator_fault", "fault": "operator", **void}
    deck = taken(house, game_round(house, "monko", void=void, **members).bundle)
    assert deck is not None
    assert (deck.dealt, deck.void) == (None, "operator_fault")


def test_a_void_of_unknown_rules_has_no_deck_before_the_deal() -> None:
    house = House()
    void = {"reason": "operator_fault", "fault": "operator", "entropies": rows}
    deck = taken(house, house.play(stop="open", void=void).bundle)
    assert deck is not None
    assert deck.dealt is None


def test_a_round_that_runs_adds_nothing() -> None:
    house = House()
    assert taken(house, game_round(house, "monko", stop="deck").bundle) is None


def test_simulated_rounds_are_repeatable_and_all_different() -> None:
    first = simulated_round("wonky", 1000, b"x")
    again = simulated_round("wonky", 1000, b"x")
    assert first.dealt is not None
    assert again.dealt is not None
    assert (first.round, first.seed, first.dealt.cards) == (again.round, again.seed, again.dealt.cards)
    assert (first.index, first.rules, len(set(first.dealt.codes()))) == (0, "wonky/1", 54)
    others = [simulated_round("wonky", 1001, b"x"), simulated_round("wonky", 1000, b"y")]
    assert len({deck.seed for deck in (first, *others)}) == 3
    assert others[0].table == first.table != others[1].table
