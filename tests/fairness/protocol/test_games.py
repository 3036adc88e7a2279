"""Rounds of every registered game verify with their rules, and not when anything in them is altered.

Source: docs/fairness/protocol.md, sections 8 and 13, codes rules, money and payout.
"""

from __future__ import annotations

from typing import Any

import pytest

from apps.fairness.protocol.bundle import bundle_encode
from apps.fairness.protocol.verify import verify_bundles
from apps.games import registry
from tests.fairness.protocol.cases import change, put
from tests.fairness.protocol.house import Body, Edit, House, Played


def game_round(house: House, slug: str, edits: dict[str, Edit] | None = None, **members: Any) -> Played:
    """Play one round of a registered game with its default options."""
    game = registry.game(slug)
    options: Body = {option.name: option.default for option in game.spec.options}
    seats = members.pop("seats", (0, 1, 3))

    def opened(body: Body) -> None:
        body["rules"] = game.spec.rules
        if edits and "open" in edits:
            edits["open"](body)

    return house.play(
        game=slug,
        options=options,
        order=game.deck(options, len(seats)),
        seats=seats,
        edits={**(edits or {}), "open": opened},
        **members,
    )


@pytest.mark.parametrize("slug", registry.slugs())
@pytest.mark.parametrize("mode", ["none", "open", "sealed"])
def test_a_round_of_every_game_passes_with_its_rules(slug: str, mode: str) -> None:
    house = House()
    value = game_round(house, slug, mode=mode).bundle
    for data in (value, bundle_encode(value)):
        (verdict,) = verify_bundles([data], house.trust)
        assert (verdict.verdict, verdict.notes) == ("pass", ())


ALTERED: dict[str, Edit] = {
    "an event left out": change(-1, "events", by=lambda events: events[1:]),
    "an event too many": change(1, "events", by=lambda events: [{"type": "noted"}, *events]),
    "a member of an event too many": put(1, "events", 0, "x", value=0),
    "a truth value for a number": put(1, "events", 0, "seat", value=None),
    "a later time": lambda entries: [put("at", value=entry["at"] + 1)(entry) for entry in entries[3:]] and None,
}


@pytest.mark.parametrize("slug", registry.slugs())
@pytest.mark.parametrize("about", list(ALTERED))
def test_an_altered_round_of_every_game_fails(slug: str, about: str) -> None:
    house = House()
    value = game_round(house, slug, {"entries": ALTERED[about]}).bundle
    (verdict,) = verify_bundles([value], house.trust)
    assert "rules" in verdict.codes
    assert set(verdict.codes) <= {"rules", "money", "payout", "generation", "card_place"}
    (unchecked,) = verify_bundles([value], house.trust, rules=False)
    assert "rules" not in unchecked.codes


def match(house: House, **last: Any) -> list[Played]:
    """Play a match of Mojo to its end; members of the plan may be given for its last round."""
    rounds: list[Played] = []
    carry: Any = None
    members: Body = {"buy_in": 1003, "fee_bp": 0}
    while True:
        before = rounds[-1] if rounds else None
        if before is not None:
            members |= {"prev": before.terminal, "last_opener": before.opener, "match_opener": rounds[0].opener}
            members |= {"opener": carry["lead"], "carry": carry}
        rounds.append(game_round(house, "mojo", index=len(rounds), **members))
        over = rounds[-1].bundle["transcript"][-1]["events"][-1]
        carry = over["carry"]
        if over["final"]:
            return rounds


def test_a_match_passes_round_by_round_and_as_a_whole() -> None:
    house = House()
    bundles = [played.bundle for played in match(house)]
    assert len(bundles) > 2
    assert {verdict.verdict for verdict in verify_bundles(bundles, house.trust, complete=True)} == {"pass"}
    for value in bundles:
        assert verify_bundles([value], house.trust)[0].verdict == "pass"


def test_a_round_that_takes_over_what_nobody_handed_on() -> None:
    house = House()
    first = game_round(house, "mojo")
    carry = first.bundle["transcript"][-1]["events"][-1]["carry"]
    false = {**carry, "totals": dict.fromkeys(carry["totals"], 0)}
    second = game_round(
        house, "mojo", index=1, prev=first.terminal, last_opener=first.opener, opener=carry["lead"], carry=false
    )
    bundles = [first.bundle, second.bundle]
    assert [verdict.verdict for verdict in verify_bundles(bundles, house.trust)] == ["pass", "rules"]
    assert [verdict.verdict for verdict in verify_bundles(bundles, house.trust, rules=False)] == ["pass", "pass"]
    assert verify_bundles(bundles[1:], house.trust)[0].verdict == "pass"


def test_a_first_round_takes_nothing_over() -> None:
    house = House()
    carry = {"round": 2, "totals": {"0": 5, "1": 5, "3": 5}, "face": 0, "lead": 1}
    value = game_round(house, "mojo", opener=1, carry=carry).bundle
    assert verify_bundles([value], house.trust)[0].verdict == "rules"


def test_money_that_moves_while_a_match_goes_on() -> None:
    house = House()
    value = game_round(house, "mojo", {"reveal": put("fee", value=1)}).bundle
    assert verify_bundles([value], house.trust)[0].verdict == "money"
