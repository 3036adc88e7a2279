"""Checking stored rounds: executing each again and comparing it with everything that was stored about it.

``round_findings`` is for ``manage.py fsck``; ``round_audit`` tells the ledger's check (setting SEALDECK_ROUND_AUDIT)
what a round should have paid, from its public records and the rules alone.

Source: docs/developers/architecture.md; docs/auditors/ledger.md, I8, I9 and I18.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from apps.fairness import dealer
from apps.fairness import selectors as fairness
from apps.fairness.protocol import settlement, transcript
from apps.fairness.protocol.errors import SettlementError
from apps.fairness.protocol.records import record_hash
from apps.games import registry
from apps.games.contract import Outcome, RuleError
from apps.tables.models import Round, RoundSeat
from apps.tables.replay import Replayed, replay
from apps.wallets.fsck import RoundAudit


def round_findings(round_: Round) -> Iterator[str]:
    """Yield what is wrong with a dealt round, in words; nothing if all of it is as its inputs give it.

    Compared are: each entry's bytes and head, the snapshot, the outcome, and the terminal record with its payouts.
    """
    records = {row["type"]: row["body"] for row in fairness.records(round_.pk)}
    if "deck" not in records:
        if round_.numbers:
            yield "was dealt, but has no deck record"
        return
    head = transcript.head_first(record_hash("deck", records["deck"]))
    last: Replayed | None = None
    try:
        for made in replay(round_):
            stored = made.entry.body.encode()
            if stored != _entry_bytes(round_, made):
                yield f"entry {made.entry.seq} is not what its input gives"
            head = transcript.head_next(head, stored)
            if head != made.entry.head:
                yield f"entry {made.entry.seq} has another head than its bytes give"
            last = made
    except RuleError as refusal:
        yield f"the rules refuse a stored input: {refusal.code}"
        return
    if last is None:
        yield "has no transcript"
        return
    yield from _row_findings(round_, last, head)
    yield from _record_findings(round_, last, records)


def _entry_bytes(round_: Round, made: Replayed) -> bytes:
    """Return the entry that a step gives; what makes a generation says so with its size and root."""
    entry = made.entry
    events = [dict(event) for event in made.step.events]
    for event in events:
        if "gen" in event and "pos" not in event:
            event |= fairness.generation_said(round_.pk, event["gen"])
    given = json.loads(entry.body)["input"]
    return transcript.entry_bytes(
        transcript.entry(seq=entry.seq, at=entry.at_ms, kind=entry.kind, seat=entry.seat, input_=given, events=events)
    )


def _row_findings(round_: Round, last: Replayed, head: bytes) -> Iterator[str]:
    if (round_.seq, bytes(round_.head)) != (last.entry.seq, head):
        yield f"its row says entry {round_.seq}, its transcript ends with {last.entry.seq}"
    if round_.state is not None:
        game = registry.game(round_.game)
        kept = json.loads(dealer.state_open(round_.pk, round_.seq, bytes(round_.state)))
        if kept != json.loads(json.dumps(game.dump(last.step.state))):
            yield "its snapshot is not the state its inputs give"


def _record_findings(round_: Round, last: Replayed, records: dict[str, Any]) -> Iterator[str]:
    outcome = registry.game(round_.game).outcome(last.step.state)
    terminal = records.get("reveal") or records.get("void")
    ended = round_.status in (Round.Status.FINISHED, Round.Status.VOID)
    if ended != (terminal is not None):
        yield f"is {round_.status}, but its records say otherwise"
    if terminal is None:
        return
    if (terminal["entries"], terminal["head"]) != (round_.seq + 1, bytes(round_.head).hex()):
        yield "its terminal record binds another transcript"
    if "void" in records:
        if outcome is not None:
            yield "is void, but had ended by the rules"
        return
    if outcome is None:
        yield "was revealed, but had not ended by the rules"
        return
    shares = {str(seat): weight for seat, weight in outcome.shares.items()}
    said = terminal["outcome"]
    if (said["reason"], said["shares"], said["ranking"]) != (
        outcome.reason,
        shares,
        [list(group) for group in outcome.ranking],
    ):
        yield "its reveal record has another outcome than its inputs give"
    if outcome.final:
        paid = {row["seat"]: row["payout"] for row in terminal["payouts"]}
        try:
            owed = _payouts(round_, outcome)
        except SettlementError:
            yield "its outcome names a seat that did not pay"
            return
        if paid != owed:
            yield "its reveal record has other payouts than its outcome gives"


def _payouts(round_: Round, outcome: Outcome) -> dict[int, int]:
    rows = list(RoundSeat.objects.filter(round_id=round_.match_id))
    assert round_.match_opener is not None
    return settlement.settle(
        seats=[row.number for row in rows],
        buy_in_minor=round_.table.buy_in_minor,
        fee_bp=round_.table.fee_bp,
        shares={int(seat): weight for seat, weight in outcome.shares.items()},
        opener=round_.match_opener,
    ).payouts_minor


def round_audit(round_id: UUID) -> RoundAudit | None:
    """Return what a settled round, or match, should have paid; None if its records do not say.

    Args:
        round_id: of the round, for a match of its first one.
    """
    rounds = list(Round.objects.filter(match_id=round_id).select_related("table").order_by("index"))
    rows = {row.number: row for row in RoundSeat.objects.filter(round_id=round_id)}
    if not rounds or not rows:
        return None
    shares = _shares(rounds, rows)
    if not shares or not shares.keys() <= rows.keys():
        return None
    table, opener = rounds[0].table, rounds[0].match_opener
    assert opener is not None
    settled = settlement.settle(
        seats=list(rows), buy_in_minor=table.buy_in_minor, fee_bp=table.fee_bp, shares=shares, opener=opener
    )
    return RoundAudit(
        pot_minor=table.buy_in_minor * len(rows),
        fee_bp=table.fee_bp,
        payouts={rows[seat].player_id: amount for seat, amount in settled.payouts_minor.items() if amount},
        is_equal_split=len(set(shares.values())) == 1,
    )


def _shares(rounds: list[Round], rows: dict[int, RoundSeat]) -> dict[int, int]:
    """Return the weights of a finished round or match, from executing it again."""
    last = rounds[-1]
    if last.status == Round.Status.VOID and len(rounds) > 1:
        # The match ended between two rounds: the one seat that had not left gets the payout.
        paid = [number for number, row in rows.items() if row.payout_minor]
        return {paid[0]: 1} if len(paid) == 1 else {}
    *_, end = replay(last)
    outcome = registry.game(last.game).outcome(end.step.state)
    return {} if outcome is None else {int(seat): weight for seat, weight in outcome.shares.items()}
