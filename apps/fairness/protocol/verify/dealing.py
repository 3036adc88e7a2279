"""Beacon, seed, void, order, opener and root: whether the deck is the one the committed seed gives.

Protocol: docs/fairness/protocol.md, sections 4, 5, 6 and 9; codes beacon_round to root.  Never fetches a beacon.
"""

from __future__ import annotations

import re
from typing import Any

from apps.fairness.protocol import beacon as beacons
from apps.fairness.protocol.cards import CardTree, order_hash
from apps.fairness.protocol.errors import BeaconError, BeaconUnavailable, NoteError
from apps.fairness.protocol.limits import beacon_time_ms
from apps.fairness.protocol.log import consistency_verify, inclusion_verify, leaf_hash
from apps.fairness.protocol.records import Signed, seed_commitment
from apps.fairness.protocol.streams import CARD_SALT, DECK, KeySchedule, next_clockwise, opener
from apps.fairness.protocol.verify.context import Round
from apps.fairness.protocol.verify.evidence import checkpoint_opened, checkpoint_signed, cosigned
from apps.fairness.protocol.verify.seats import seats_covered

_seat_at_fault = re.compile(r"seat:([0-9]+)", re.ASCII).fullmatch


def beacon_check(round_: Round) -> None:
    """Check the beacon: codes ``beacon_round``, ``close_late`` and ``beacon_signature``."""
    close, deck, bound = round_.record("close"), round_.record("deck"), round_.beacon
    known = bound is not None and bound["chain"] == beacons.QUICKNET.hex()
    if close is not None:
        _beacon_round(round_, close, known)
        if known:
            _close_in_time(round_, close)
        elif bound is not None:
            round_.findings.cannot("beacon_unchecked", "the beacon's chain is not one this verifier knows")
    if deck is None:
        return
    signature = deck.body["beacon"]
    where = round_.where("deck", "beacon")
    if bound is None:
        if signature != "":
            round_.fail("beacon_signature", where, "a beacon is used that the open record does not bind")
    elif signature == "":
        round_.fail("beacon_signature", where, "the bound beacon is missing")
    elif close is not None and close.body["beacon_round"] is not None:
        try:
            if not round_.settings.bls:
                raise BeaconUnavailable("beacon signatures are not checked here")
            chain = bytes.fromhex(bound["chain"])
            beacons.verify(chain, close.body["beacon_round"], bytes.fromhex(signature))
        except BeaconUnavailable as problem:
            round_.findings.cannot("beacon_unchecked", problem.detail, where)
        except BeaconError as problem:
            round_.fail("beacon_signature", where, problem.detail)


def _beacon_round(round_: Round, close: Signed, known: bool) -> None:
    number, bound = close.body["beacon_round"], round_.beacon
    where = round_.where("close", "beacon_round")
    if bound is None:
        if number is not None:
            round_.fail("beacon_round", where, "a beacon round is bound, but no beacon")
    elif number is None:
        round_.fail("beacon_round", where, "no beacon round is bound")
    elif known:
        expected = beacons.round_for(close.body["closed_ms"], bound["margin"])
        if number != expected:
            round_.fail("beacon_round", where, f"the round bound is {number}, by the rule it is {expected}")


def _close_in_time(round_: Round, close: Signed) -> None:
    """Check that witnesses saw the close record before the beacon was out."""
    trust, log = round_.settings.trust, round_.bundle.value["log"]
    quorum = trust.quorum if trust is not None else 0
    beacon_ms = beacon_time_ms(round_.beacon, close.body["beacon_round"])
    if log["close"] is None:
        if quorum and round_.record("deck") is not None:
            round_.fail("close_late", "log.close", "there is no checkpoint that was cosigned in time")
        return
    note = log["close"]["checkpoint"]
    try:
        seen = checkpoint_opened(note)
        if seen.origin != log["origin"]:
            raise NoteError("the checkpoint is of another log")
        checkpoint_signed(round_, note)
    except NoteError as problem:
        round_.fail("close_late", "log.close.checkpoint", problem.detail)
        return
    path = [bytes.fromhex(node) for node in log["close"]["proof"]]
    if not inclusion_verify(seen.root, seen.size, round_.index("close"), leaf_hash(close.entry), path):
        round_.fail("close_late", "log.close.proof", "the close record is not in that checkpoint")
    whole = round_.checkpoint
    path = [bytes.fromhex(node) for node in log["close"]["consistency"]]
    if whole is not None and not consistency_verify(seen.size, whole.size, seen.root, whole.root, path):
        round_.fail("close_late", "log.close.consistency", "that checkpoint is not part of the log's tree")
    if trust is None or not quorum or beacon_ms is None or round_.record("deck") is None:
        return
    in_time = sum(cosignature.time_s * 1000 < beacon_ms for cosignature in cosigned(note, trust.witnesses))
    if in_time < quorum:
        text = f"{in_time} of {quorum} trusted witnesses cosigned it before the beacon was out"
        round_.fail("close_late", "log.close.checkpoint", text)


def seed_check(round_: Round) -> None:
    """Check the revealed seed, code ``seed``, and work out the key schedule of a dealt round."""
    terminal, deck, close = round_.terminal, round_.record("deck"), round_.record("close")
    if terminal is None:
        return
    seed, opened = bytes.fromhex(terminal.body["seed"]), round_.open
    if seed_commitment(bytes.fromhex(opened["table"]), opened["index"], seed).hex() != opened["seed_commit"]:
        round_.fail("seed", round_.where(terminal.type, "seed"), "does not give the commitment of the open record")
        return
    if deck is None or round_.findings.failed("roster"):
        return
    rows = [(row["seat"], bytes.fromhex(row["pk"]), bytes.fromhex(row["entropy"])) for row in deck.body["roster"]]
    beacon = b""
    if deck.body["beacon"] and opened["beacon"] and close is not None and close.body["beacon_round"] is not None:
        chain, signature = bytes.fromhex(opened["beacon"]["chain"]), bytes.fromhex(deck.body["beacon"])
        beacon = beacons.beacon_bytes(chain, close.body["beacon_round"], signature)
    round_.schedule = KeySchedule.derive(
        seed=seed,
        rows=rows,
        round_=round_.round_bytes,
        open_hash=round_.open_hash,
        close_hash=close.hash if close is not None else b"",
        beacon=beacon,
    )


_REASONS: dict[str, tuple[str | None, str | None]] = {
    "not_started": ("open", "none"),
    "entropy_missing": ("close", None),
    "beacon_missing": ("close", "none"),
    "operator_fault": (None, "operator"),
}
"""Reason of a void to the stage it may have, None for any, and the fault it names, None for a seat."""


def void_check(round_: Round) -> None:
    """Check a void record: codes ``void_stage`` and ``void_fault``."""
    void = round_.record("void")
    if void is None:
        return
    body: dict[str, Any] = void.body
    last = round_.records[-2].type
    for name, problem in _stage_problems(round_, body, last).items():
        round_.fail("void_stage", round_.where("void", name), problem)
    if body["reason"] not in _REASONS:
        return
    where, fault = round_.where("void", "fault"), _REASONS[body["reason"]][1]
    if fault is not None:
        if body["fault"] != fault:
            round_.fail("void_fault", where, f"the fault of {body['reason']} is {fault}")
        return
    seat, close = _seat_at_fault(body["fault"]), round_.record("close")
    if seat is None:
        round_.fail("void_fault", where, "no seat is named")
    elif close is not None and int(seat[1]) not in {row["seat"] for row in close.body["roster"]}:
        round_.fail("void_fault", where, f"seat {seat[1]} is not in the close record")
    elif int(seat[1]) in {row["seat"] for row in body["entropies"]}:
        round_.fail("void_fault", where, f"seat {seat[1]} did open")


def _stage_problems(round_: Round, body: dict[str, Any], last: str) -> dict[str, str]:
    """Return what is wrong, by member."""
    problems: dict[str, str] = {}
    stage, reason = body["stage"], body["reason"]
    if stage != last:
        problems["stage"] = f"the last record of the round is {last}"
    if reason not in _REASONS:
        problems["reason"] = "there is no such reason"
    else:
        allowed = _REASONS[reason][0]
        if allowed is not None and last != allowed:
            problems["reason"] = f"{reason} is for a round whose last record is {allowed}"
        elif reason == "entropy_missing" and round_.mode != "sealed":
            problems["reason"] = "nothing had to be opened"
        elif reason == "beacon_missing" and round_.beacon is None:
            problems["reason"] = "no beacon was bound"
    empty = last == "deck" or round_.mode == "none" or (last == "open" and round_.mode == "sealed")
    if empty and body["entropies"]:
        problems["entropies"] = "no entropies belong to a void at this stage"
    if last != "deck":
        if body["entries"] != 0:
            problems["entries"] = "nothing was dealt"
        if body["head"] != "":
            problems["head"] = "nothing was dealt"
    return problems


def deck_check(round_: Round) -> None:
    """Check the deck record against order, opener and seed: codes ``order``, ``opener`` and ``root``."""
    deck = round_.record("deck")
    if deck is None:
        return
    body, order = deck.body, round_.bundle.value["order"]
    row = seats_covered(round_, len(body["roster"]))
    if row is not None and (body["n"], body["order_hash"]) != (row["n"], row["order_hash"]):
        text = f"not the deck that the open record binds for {len(body['roster'])} seats"
        round_.fail("order", round_.where("deck", "order_hash"), text)
    given = len(order) == body["n"] and order_hash(order).hex() == body["order_hash"]
    if not given:
        round_.fail("order", "order", "the codes do not give n and order_hash of the deck record")
    if len(set(order)) != len(order):
        round_.fail("order", "order", "a code is there twice")
    _opener_check(round_, body)
    schedule = round_.schedule
    if schedule is None or not given:
        return
    cards = schedule.chance().shuffle(DECK, order)
    tree = CardTree(round_=round_.round_bytes, gen=0, cards=cards, salt_key=schedule.key(CARD_SALT))
    round_.trees[0] = tree
    if tree.root.hex() != body["root"]:
        round_.fail("root", round_.where("deck", "root"), f"the seed gives another deck, of root {tree.root.hex()}")


def _opener_check(round_: Round, body: dict[str, Any]) -> None:
    seats, last_opener = round_.seats, round_.open["last_opener"]
    where = round_.where("deck", "opener")
    if body["opener"] not in seats:
        round_.fail("opener", where, "not a seat of the deck record")
        return
    if round_.match_game or round_.findings.failed("roster"):
        return
    if last_opener is not None:
        expected = next_clockwise(seats, last_opener + 1)
    elif round_.schedule is not None:
        expected = opener(seats, None, round_.schedule.chance())
    else:
        return
    if body["opener"] != expected:
        round_.fail("opener", where, f"by the rule seat {expected} opens")
