"""Seeds, voids, orders, openers and roots that are wrong fail with their codes.

Source: docs/fairness/protocol.md, sections 5, 6, 9 and 13.
"""

from __future__ import annotations

from typing import Any

import pytest

from apps.fairness.protocol.verify import verify_bundles
from tests.fairness.protocol.cases import Build, Case, body, bundle, change, ids, opened_by, plan, put, void
from tests.fairness.protocol.house import Body, House

HASH = "11" * 32


def another(seat: int) -> int:
    """Return another seat of the roster 0, 2, 3."""
    return {0: 2, 2: 3, 3: 0}[seat]


def bare_rows(play: Any) -> list[Body]:
    """Return a row of a seat without key, for a round that has no close record."""
    return [{"seat": 2, "pk": "", "entropy": play.entropy[2].hex(), "cp": None, "sig": ""}]


VOIDS: list[Case] = [
    ("seed", "another seed in a void", void("not_started", "none", seed=HASH)),
    ("void_stage", "the stage of another record", void("operator_fault", "operator", stage="deck")),
    ("void_stage", "an unknown reason", void("bad_luck", "operator")),
    ("void_stage", "not started, but closed", void("not_started", "none", "close", mode="sealed")),
    ("void_stage", "not started, but dealt", void("not_started", "none", "deck")),
    ("void_stage", "nothing had to be opened", void("entropy_missing", "seat:3", "close", beacon=True)),
    ("void_stage", "an opening is missing before the close", void("entropy_missing", "seat:3", mode="sealed")),
    ("void_stage", "an opening is missing after the deal", void("entropy_missing", "seat:3", "deck", mode="sealed")),
    ("void_stage", "a beacon is missing that is not bound", void("beacon_missing", "none", "close", mode="sealed")),
    ("void_stage", "a beacon is missing after the deal", void("beacon_missing", "none", "deck", beacon=True)),
    ("void_stage", "entropies of a dealt round", void("operator_fault", "operator", "deck", entropies=opened_by(2))),
    (
        "void_stage",
        "entropies before the close of a sealed round",
        void("not_started", "none", mode="sealed", entropies=bare_rows),
    ),
    ("void_stage", "entries of a round that was not dealt", void("not_started", "none", entries=1)),
    ("void_stage", "a head of a round that was not dealt", void("not_started", "none", head=HASH)),
    ("void_fault", "nobody started, the operator is blamed", void("not_started", "operator")),
    ("void_fault", "nobody is blamed for an opening", void("entropy_missing", "none", "close", mode="sealed")),
    (
        "void_fault",
        "the operator takes it on itself",
        void("entropy_missing", "operator", "close", mode="sealed"),
    ),
    ("void_fault", "a seat is blamed that is not there", void("entropy_missing", "seat:9", "close", mode="sealed")),
    (
        "void_fault",
        "a seat is blamed that did open",
        void("entropy_missing", "seat:0", "close", mode="sealed", entropies=opened_by(0, 2)),
    ),
    ("void_fault", "a seat is blamed for a beacon", void("beacon_missing", "seat:0", "close", beacon=True)),
    ("void_fault", "a seat is blamed for the operator", void("operator_fault", "seat:0")),
    ("transcript_head", "an empty head of a dealt round", void("operator_fault", "operator", "deck", head="")),
    ("transcript_head", "an entry more than there are", void("operator_fault", "operator", "deck", entries=9)),
    ("end_event", "a finished round is voided", void("operator_fault", "operator", "deck", ended=True)),
]

GOOD_VOIDS: list[Case] = [
    ("pass", "nobody came", void("not_started", "none")),
    ("pass", "some came to an open round", void("not_started", "none", entropies=opened_by(0, 2))),
    ("pass", "the operator gives up before the close", void("operator_fault", "operator", mode="sealed")),
    ("pass", "nobody opened", void("entropy_missing", "seat:0", "close", mode="sealed")),
    (
        "pass",
        "one did not open",
        void("entropy_missing", "seat:3", "close", mode="sealed", entropies=opened_by(0, 2)),
    ),
    (
        "pass",
        "the beacon did not come",
        void("beacon_missing", "none", "close", beacon=True, entropies=opened_by(0, 2, 3)),
    ),
    ("pass", "no beacon came in mode none", void("beacon_missing", "none", "close", beacon=True, mode="none")),
    ("pass", "the operator gives up in play", void("operator_fault", "operator", "deck")),
    ("pass", "the operator gives up in play, sealed", void("operator_fault", "operator", "deck", mode="sealed")),
]

DECKS: list[Case] = [
    ("seed", "another seed", body("reveal", put("seed", value=HASH))),
    ("order", "another deck than bound", body("deck", put("order_hash", value=HASH))),
    ("order", "fewer cards than bound", body("open", put("decks", 0, "n", value=13))),
    ("order", "an order that does not give its hash", bundle(change("order", by=lambda codes: codes[::-1]))),
    ("order", "an order that is missing", bundle(put("order", value=[]))),
    ("order", "a code twice", plan(("order", lambda codes: codes[:-1] + codes[:1]))),
    ("opener", "a seat that is not drawn", body("deck", change("opener", by=another))),
    ("opener", "a seat that is not dealt in", body("deck", put("opener", value=9))),
    (
        "opener",
        "not the next after the last opener",
        body("deck", change("opener", by=another), index=1, prev="22" * 32, last_opener=0),
    ),
    ("opener", "a last opener at index 0", plan(last_opener=2)),
    ("root", "another root", body("deck", put("root", value=HASH))),
    ("root", "a stacked deck", plan(("cards", lambda cards: cards[::-1]))),
]


def first_code(build: Build) -> str:
    house = House()
    (verdict,) = verify_bundles([build(house)], house.trust)
    return verdict.verdict


@pytest.mark.parametrize(("code", "about", "build"), VOIDS, ids=ids(VOIDS))
def test_voids(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


@pytest.mark.parametrize(("code", "about", "build"), GOOD_VOIDS, ids=ids(GOOD_VOIDS))
def test_voids_that_are_as_they_should_be(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


@pytest.mark.parametrize(("code", "about", "build"), DECKS, ids=ids(DECKS))
def test_decks(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


def test_a_false_seed_spoils_what_is_derived_from_it_and_nothing_else() -> None:
    house = House()
    (verdict,) = verify_bundles([body("reveal", put("seed", value=HASH))(house)], house.trust)
    assert verdict.codes == ("seed",)


def test_a_running_round_is_checked_as_far_as_it_goes() -> None:
    for stop, mode in (("open", "open"), ("close", "sealed"), ("deck", "open")):
        house = House()
        (verdict,) = verify_bundles([house.play(stop=stop, mode=mode).bundle], house.trust)
        assert (verdict.verdict, verdict.status, verdict.codes) == ("unfinished", 2, ())
    house = House()
    value = body("deck", put("opener", value=9), stop="deck")(house)
    assert verify_bundles([value], house.trust)[0].verdict == "opener"
