"""Ending a round: the reveal of a finished one, the void of one that cannot go on.  Both publish the seed.

Implements docs/fairness/protocol.md, section 3, step 7, and sections 8 and 9.  What a record would say wrong is refused
before it is signed, since a signed record is never replaced.  Moves no money: the caller pays or refunds in the same
transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from apps.fairness import dealer, locks, rosters, sealing
from apps.fairness.errors import DeadlinePassed, RoundStage
from apps.fairness.models import FairRound, Record, RecordType, Stage
from apps.fairness.protocol import records as record_rules
from apps.fairness.protocol import settlement
from apps.fairness.rosters import RosterRow
from apps.fairness.services.deadlines import due_ms
from apps.fairness.signing import RecordRef, body_of, record_add

OPERATOR_FAULT = "operator_fault"
NOT_STARTED = "not_started"
ENTROPY_MISSING = "entropy_missing"
BEACON_MISSING = "beacon_missing"


def round_reveal(
    *,
    round_id: UUID,
    entries: int,
    head: str,
    outcome: Mapping[str, Any],
    payouts: Sequence[Mapping[str, Any]],
    fee: int,
    ended_ms: int,
) -> RecordRef:
    """End a finished round and publish its seed.

    Args:
        entries: number of transcript entries.
        head: the last head, as hex.
        outcome: ``reason``, ``shares`` with seats as text, ``ranking``.
        payouts: ``seat``, ``buy_in``, ``payout`` in minor units, one row for each seat that paid; empty where a match
            goes on.
        ended_ms: Unix time of the last entry or later, milliseconds.

    Raises:
        RoundUnknown, RoundStage: there is no such round, or it is not in play.
        DeadlinePassed: the round can only be voided.
        KeysUnavailable, SealBroken: the seed cannot be opened here.

    Source: docs/fairness/protocol.md, sections 3, 7 and 8.
    """
    round_ = locks.round_lock(round_id)
    if round_.stage != Stage.DECK:
        raise RoundStage(stage=round_.stage)
    assert round_.dealt_at_ms is not None
    ended_ms = max(ended_ms, round_.dealt_at_ms)
    if ended_ms > due_ms(round_):
        raise DeadlinePassed
    bodies = _bodies(round_)
    _money_check(bodies, outcome, payouts, fee)
    body = {
        "v": record_rules.VERSION,
        "round": round_.id.hex,
        "deck": bytes(round_.last_hash).hex(),
        "entries": entries,
        "head": head,
        "seed": _seed(round_).hex(),
        "outcome": {
            "reason": outcome["reason"],
            "shares": {str(seat): weight for seat, weight in outcome["shares"].items()},
            "ranking": [list(group) for group in outcome["ranking"]],
        },
        "payouts": [dict(row) for row in payouts],
        "fee": fee,
        "ended_ms": ended_ms,
    }
    return _end(round_, "reveal", len(bodies), body, ended_ms)


def round_void(
    *,
    round_id: UUID,
    stage: str,
    reason: str,
    fault: str,
    entropies: Sequence[RosterRow],
    entries: int,
    head: str,
    now_ms: int,
) -> RecordRef:
    """End a round that cannot go on, and publish its seed; the caller gives every buy-in back.

    Args:
        stage: type of the round's last record, as the caller knows it.
        reason: not_started, entropy_missing, beacon_missing or operator_fault.
        fault: none, operator or ``seat:N``.
        entropies: rows the seats gave, ascending; none at stage deck, in mode none, and at stage open of a sealed
            round.
        entries: number of transcript entries; 0 before the deal.
        head: the last head, as hex; empty before the deal.
        now_ms: Unix time, milliseconds.

    Raises:
        RoundUnknown, RoundStage: there is no such round, it has ended, or it is at another stage.
        DeadlinePassed: the deadline has passed, and the reason is not operator_fault.
        ContributionForm, ContributionMismatch, ContributionRepeated, ContributionSignature: a row is not as it must be.
        KeysUnavailable, SealBroken: the seed cannot be opened here.

    Source: docs/fairness/protocol.md, section 9.
    """
    round_ = locks.round_lock(round_id)
    if round_.stage == Stage.ENDED or round_.stage != stage:
        raise RoundStage(stage=round_.stage)
    voided_ms = max(now_ms, round_.dealt_at_ms or round_.closed_at_ms or round_.opened_at_ms)
    if stage != Stage.OPEN and reason != OPERATOR_FAULT and voided_ms > due_ms(round_):
        raise DeadlinePassed
    bodies = _bodies(round_)
    rows = [row.body() for row in entropies]
    _void_check(round_, bodies, reason, fault, rows, entries, head)
    body = {
        "v": record_rules.VERSION,
        "round": round_.id.hex,
        "last": bytes(round_.last_hash).hex(),
        "stage": stage,
        "reason": reason,
        "fault": fault,
        "entropies": rows,
        "entries": entries,
        "head": head,
        "seed": _seed(round_).hex(),
        "voided_ms": voided_ms,
    }
    return _end(round_, "void", len(bodies), body, voided_ms)


def _bodies(round_: FairRound) -> dict[str, dict[str, Any]]:
    rows = Record.objects.filter(round=round_).values_list("type", "entry")
    return {type_: body_of(bytes(entry)) for type_, entry in rows}


def _seed(round_: FairRound) -> bytes:
    sealed = bytes(round_.seed_sealed)
    seed = sealing.seed_open(
        sealed, table=round_.table_id.bytes, index=round_.index, seed_commit=bytes(round_.seed_commit)
    )
    commit = record_rules.seed_commitment(round_.table_id.bytes, round_.index, seed)
    assert commit == bytes(round_.seed_commit), "a sealed seed opens its commitment"
    return seed


def _end(round_: FairRound, type_: str, place: int, body: dict[str, Any], ended_ms: int) -> RecordRef:
    signed = record_add(round_id=round_.id, place=place, type_=type_, body=body, now_ms=ended_ms)
    FairRound.objects.filter(pk=round_.id).update(stage=Stage.ENDED, last_hash=signed.hash, ended_at_ms=ended_ms)
    dealer.forget(round_.id)
    return RecordRef(type_, signed.hash_hex, ended_ms)


def _money_check(
    bodies: Mapping[str, Mapping[str, Any]],
    outcome: Mapping[str, Any],
    payouts: Sequence[Mapping[str, Any]],
    fee: int,
) -> None:
    """Check that the rows are the pot, less the fee, split by the shares.

    The left-over units of a match go by the opener of its first round, which is not known here: a split from any opener
    passes.
    """
    stake, deck = bodies[RecordType.OPEN]["stake"], bodies[RecordType.DECK]
    shares = {int(seat): weight for seat, weight in outcome["shares"].items()}
    if not shares:
        assert not payouts, "no money moves while a match goes on"
        assert fee == 0, "no money moves while a match goes on"
        return
    seats = rosters.seats_check(payouts)
    assert all(row["buy_in"] == stake["buy_in"] for row in payouts), "every row has the buy-in of the open record"
    assert {row["seat"] for row in deck["roster"]} <= set(seats), "one row for each seat that was dealt in"
    pot = stake["buy_in"] * len(seats)
    assert fee == settlement.fee(pot, stake["fee_bp"]), "the fee is that of the open record"
    paid = {row["seat"]: row["payout"] for row in payouts}
    assert sum(paid.values()) + fee == pot, "payouts and fee are the pot"
    possible = [
        settlement.settle(
            seats=seats, buy_in_minor=stake["buy_in"], fee_bp=stake["fee_bp"], shares=shares, opener=first
        ).payouts_minor
        for first in {deck["opener"], *seats}
    ]
    assert paid in possible, "payouts are the split of section 8"


def _void_check(
    round_: FairRound,
    bodies: Mapping[str, Mapping[str, Any]],
    reason: str,
    fault: str,
    rows: Sequence[dict[str, Any]],
    entries: int,
    head: str,
) -> None:
    """Check reason, fault, entropies, entries and head against the table of section 9."""
    stage = round_.stage
    closed = bodies.get(RecordType.CLOSE)
    sealed = round_.entropy == "sealed"
    if stage == Stage.DECK:
        assert len(head) == 64, "at stage deck the head binds the transcript"
    else:
        assert (entries, head) == (0, ""), "nothing was dealt"
    if stage == Stage.DECK or round_.entropy == "none" or (sealed and stage == Stage.OPEN):
        assert not rows, "no entropies are listed here"
    missing = {row["seat"] for row in closed["roster"]} - {row["seat"] for row in rows} if closed else set()
    allowed = {
        OPERATOR_FAULT: {"operator"},
        NOT_STARTED: {"none"} if stage == Stage.OPEN else set(),
        BEACON_MISSING: {"none"} if stage == Stage.CLOSE and round_.beacon_round is not None else set(),
        ENTROPY_MISSING: {f"seat:{seat}" for seat in missing} if stage == Stage.CLOSE and sealed else set(),
    }
    assert fault in allowed[reason], f"a void for {reason} at stage {stage} is not the fault of {fault}"
    if rows:
        rosters.seats_check(rows)
        rosters.entropies_check(
            rows=rows,
            entropy=round_.entropy,
            round_id=round_.id.hex,
            open_hash=bytes(round_.open_hash).hex(),
            close_hash=bytes(round_.close_hash or b"").hex(),
            close_roster=None if closed is None else closed["roster"],
        )
