"""Settlement: buy-ins, fee, sum and split of the pot.

Protocol: docs/fairness/protocol.md, section 8; codes money and payout.  Never moves money.
"""

from __future__ import annotations

from typing import Any

from apps.fairness.protocol.settlement import fee, split
from apps.fairness.protocol.verify.context import Round
from apps.fairness.protocol.verify.evidence import is_ascending


def money_check(round_: Round) -> None:
    """Check the settlement of a finished round."""
    reveal = round_.record("reveal")
    if reveal is None:
        return
    body = reveal.body
    where = round_.where("reveal", "payouts")
    goes_on = round_.match_game and not body["outcome"]["shares"]
    if goes_on:
        if body["payouts"] or body["fee"] != 0:
            round_.fail("money", where, "the match goes on, and money is moved")
    else:
        _rows(round_, body, where)
        _sums(round_, body)
    _outcome(round_, body)
    if not goes_on:
        _split(round_, body, where)


def _rows(round_: Round, body: dict[str, Any], where: str) -> None:
    paid, seats = [row["seat"] for row in body["payouts"]], round_.seats
    if round_.match_game:
        if not is_ascending(paid) or not set(seats) <= set(paid):
            round_.fail("money", where, "not one row, in order, for each seat that paid")
    elif paid != seats or not is_ascending(paid):
        round_.fail("money", where, "not one row, in order, for each seat of the deck record")
    buy_in = round_.open["stake"]["buy_in"]
    for number, row in enumerate(body["payouts"]):
        if row["buy_in"] != buy_in:
            round_.fail("money", f"{where}[{number}].buy_in", f"the buy-in of this round is {buy_in}")


def _sums(round_: Round, body: dict[str, Any]) -> None:
    pot = sum(row["buy_in"] for row in body["payouts"])
    due = fee(pot, round_.open["stake"]["fee_bp"])
    if body["fee"] != due:
        round_.fail("money", round_.where("reveal", "fee"), f"the fee on a pot of {pot} is {due}")
    paid = sum(row["payout"] for row in body["payouts"])
    if paid + body["fee"] != pot:
        text = f"payouts {paid} and fee {body['fee']} do not add up to the pot {pot}"
        round_.fail("money", round_.where("reveal", "payouts"), text)


def _outcome(round_: Round, body: dict[str, Any]) -> None:
    outcome, seats = body["outcome"], set(round_.seats)
    if round_.match_game:
        seats |= {row["seat"] for row in body["payouts"]}
    for name in outcome["shares"]:
        if int(name) not in seats:
            round_.fail("payout", round_.where("reveal", f"outcome.shares.{name}"), "not a seat of this round")
    ranked = [seat for group in outcome["ranking"] for seat in group]
    where = round_.where("reveal", "outcome.ranking")
    if not set(ranked) <= seats or len(set(ranked)) != len(ranked):
        round_.fail("payout", where, "names another seat, or a seat twice")
    elif not all(is_ascending(group) for group in outcome["ranking"]):
        round_.fail("payout", where, "the seats of a group do not ascend")


def _split(round_: Round, body: dict[str, Any], where: str) -> None:
    shares = {int(name): weight for name, weight in body["outcome"]["shares"].items()}
    if not shares:
        round_.fail("payout", where, "nobody has a share of the pot")
        return
    pot = sum(row["buy_in"] for row in body["payouts"])
    net = pot - fee(pot, round_.open["stake"]["fee_bp"])
    given = {row["seat"]: row["payout"] for row in body["payouts"]}
    deck = round_.record("deck")
    assert deck is not None, "a finished round was dealt"
    # The opener of a match's first round is not in the bundle of its last one: any seat may have been it.
    openers = sorted(shares) if round_.match_game else [deck.body["opener"]]
    for opener in openers:
        parts = split(net, shares, opener)
        if given == {seat: parts.get(seat, 0) for seat in given} and parts.keys() <= given.keys():
            return
    parts = split(net, shares, openers[0])
    for seat, amount in sorted({**dict.fromkeys(given, 0), **parts}.items()):
        if given.get(seat) != amount:
            round_.fail("payout", where, f"seat {seat} is due {amount} and gets {given.get(seat, 'nothing')}")
