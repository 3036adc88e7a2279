"""The bundles of a file are checked against each other: chains, forks, gaps and last openers.

Source: docs/fairness/protocol.md, section 13, codes opener, chain, fork and gap.
"""

from __future__ import annotations

from typing import Any

import pytest

from apps.fairness.protocol.verify import verify_bundles
from tests.fairness.protocol.cases import put
from tests.fairness.protocol.house import Body, House, Played, secret

VOID: Body = {"reason": "not_started", "fault": "none"}


def table(house: House, rounds: int, *, voided: tuple[int, ...] = (), **members: Any) -> list[Played]:
    """Play rounds at one table; the voided ones end before the deal."""
    played: list[Played] = []
    prev, last_opener = "", None
    for index in range(rounds):
        how: Body = {"stop": "open", "void": VOID} if index in voided else {}
        one = house.play(index=index, prev=prev, last_opener=last_opener, **how, **members)
        prev = one.terminal
        last_opener = one.opener if one.opener is not None else last_opener
        played.append(one)
    return played


def verdicts(house: House, bundles: list[Body], *, complete: bool = False) -> list[str]:
    return [verdict.verdict for verdict in verify_bundles(bundles, house.trust, complete=complete)]


def test_a_table_in_any_order_passes() -> None:
    house = House()
    bundles = [one.bundle for one in table(house, 5, voided=(1, 2))]
    assert verdicts(house, bundles, complete=True) == ["pass"] * 5
    assert verdicts(house, bundles[::-1], complete=True) == ["pass"] * 5


def test_a_bundle_that_is_there_twice_is_no_fork() -> None:
    house = House()
    bundles = [one.bundle for one in table(house, 2)]
    assert verdicts(house, bundles + bundles, complete=True) == ["pass"] * 4


def test_a_gap_is_named_only_when_asked_for() -> None:
    house = House()
    bundles = [one.bundle for one in table(house, 4)]
    del bundles[2]
    assert verdicts(house, bundles) == ["pass"] * 3
    assert verdicts(house, bundles, complete=True) == ["pass", "pass", "gap"]


def test_the_begin_of_a_table_may_be_missing() -> None:
    house = House()
    bundles = [one.bundle for one in table(house, 4)]
    assert verdicts(house, bundles[2:], complete=True) == ["pass", "pass"]


def test_another_predecessor() -> None:
    house = House()
    first = house.play()
    second = house.play(index=1, prev="11" * 32, last_opener=first.opener)
    assert verdicts(house, [first.bundle, second.bundle]) == ["pass", "chain"]
    assert verdicts(house, [second.bundle, first.bundle]) == ["chain", "pass"]
    assert verdicts(house, [second.bundle]) == ["pass"]


@pytest.mark.parametrize("void", [False, True])
def test_two_ends_of_one_round(void: bool) -> None:
    house = House()
    first = house.play()
    if void:
        other = house.play(stop="deck", void={"reason": "operator_fault", "fault": "operator"})
    else:
        other = house.play(edits={"reveal": put("ended_ms", value=first.records[-1].body["ended_ms"] + 1)})
    assert verdicts(house, [first.bundle, other.bundle]) == ["pass", "fork"]


def test_two_decks_of_one_round() -> None:
    house = House()
    first = house.play(stop="deck", void={"reason": "operator_fault", "fault": "operator"})
    later = house.play(edits={"opened": lambda play: setattr(play, "now", play.now + 1)})
    assert verdicts(house, [first.bundle, later.bundle]) == ["pass", "fork"]


def test_a_forged_copy_makes_no_fork_and_no_broken_chain() -> None:
    house = House()
    first, second = (one.bundle for one in table(house, 2))
    forged = house.play(edits={"bundle": put("records", 2, "body", "ended_ms", value=1776190099999)}).bundle
    assert verdicts(house, [forged, first, second]) == ["record_signature", "pass", "pass"]


@pytest.mark.parametrize("voided", [(), (1,), (1, 2)])
def test_another_last_opener_than_the_latest_dealt_round(voided: tuple[int, ...]) -> None:
    house = House()
    played = table(house, 3, voided=voided)
    wrong = next(seat for seat in (0, 2, 3) if seat != _last(played))
    last = house.play(index=3, prev=played[-1].terminal, last_opener=wrong)
    bundles = [one.bundle for one in played] + [last.bundle]
    assert verdicts(house, bundles)[-1] == "opener"
    assert verdicts(house, bundles[3:]) == ["pass"]
    if voided:
        assert verdicts(house, [bundles[0], bundles[3]]) == ["pass", "pass"]


def _last(played: list[Played]) -> int | None:
    return next(one.opener for one in played[::-1] if one.opener is not None)


def test_a_last_opener_where_nothing_was_dealt_yet() -> None:
    house = House()
    first = house.play(stop="open", void=VOID)
    second = house.play(index=1, prev=first.terminal, last_opener=2)
    assert verdicts(house, [first.bundle, second.bundle]) == ["pass", "opener"]


def test_tables_do_not_mix() -> None:
    house = House()
    other = secret("other table")[:16].hex()
    bundles = [one.bundle for one in table(house, 2)] + [one.bundle for one in table(house, 2, table=other)]
    assert verdicts(house, bundles, complete=True) == ["pass"] * 4


def test_an_empty_file_has_no_verdicts() -> None:
    assert verify_bundles([]) == []
