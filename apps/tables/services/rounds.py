"""The life of a round: opened, closed, dealt, ended or void; each step one signed record and its money.

Every function works inside its caller's transaction, under the locks it names.

Source: docs/fairness/protocol.md, sections 3, 8 and 9; docs/games/common.md, X-4, X-11 to X-13, X-27.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.core.postgres.hot import Transaction, statement_run
from apps.fairness import dealer
from apps.fairness import services as fairness
from apps.fairness.protocol import settlement, transcript
from apps.fairness.protocol.beacon import QUICKNET
from apps.fairness.protocol.cards import order_hash
from apps.games import registry
from apps.games.contract import Chance, Outcome, Seat, Setup
from apps.history.services import WIDTH, entries_insert_sql, entries_parameters
from apps.tables import metrics
from apps.tables.desk import Desk
from apps.tables.live import Live
from apps.tables.models import Round, RoundSeat, Table
from apps.tables.models import Seat as TableSeat
from apps.wallets import services as wallets
from apps.webhooks.services import outbox_add


def decks(slug: str, options: Mapping[str, Any], seats_max: int) -> list[dict[str, Any]]:
    """Return the rows of the open record that say which canonical order applies to how many seats."""
    game = registry.game(slug)
    rows: list[dict[str, Any]] = []
    for count in range(game.spec.seats_min, min(game.spec.seats_max, seats_max) + 1):
        order = game.deck(options, count)
        digest = order_hash(order).hex()
        if rows and rows[-1]["order_hash"] == digest:
            rows[-1]["seats_max"] = count
        else:
            rows.append({"seats_min": count, "seats_max": count, "n": len(order), "order_hash": digest})
    return rows


def round_open(*, table: Table, now_ms: int) -> Round:
    """Commit to the next round of a locked table: seed, open record, row.

    A round that continues a match belongs to the match's first round, whose escrow holds the pot.
    """
    last = Round.objects.filter(table=table, index=table.next_index - 1).first() if table.next_index else None
    goes_on = last is not None and last.status == Round.Status.FINISHED and not (last.outcome or {}).get("final", True)
    opened = fairness.round_open(
        table_id=table.id,
        index=table.next_index,
        game=table.game,
        rules=table.rules,
        options=table.options,
        entropy=table.entropy,
        beacon=None if table.beacon_margin is None else {"chain": QUICKNET.hex(), "margin": table.beacon_margin},
        stake={"currency": table.currency, "buy_in": table.buy_in_minor, "fee_bp": table.fee_bp},
        decks=decks(table.game, table.options, table.seats_max),
        last_opener=table.last_opener,
        now_ms=now_ms,
    )
    round_ = Round.objects.create(
        id=opened.round_id,
        table=table,
        operator_id=table.operator_id,
        index=table.next_index,
        game=table.game,
        rules=table.rules,
        match_id=last.match_id if goes_on and last else opened.round_id,
        match_opener=last.match_opener if goes_on and last else None,
        carry=(last.outcome or {}).get("carry") if goes_on and last else None,
        opened_ms=now_ms,
    )
    table.round = round_
    table.next_index += 1
    return round_


def round_deal(
    *,
    table: Table,
    round_: Round,
    seats: Sequence[TableSeat],
    roster: Sequence[fairness.RosterRow],
    beacon_signature: bytes | None,
    balances: Mapping[UUID, int],
    now_ms: int,
) -> Live:
    """Take the stakes, sign the deck, deal, and write the first entry of the transcript.

    Args:
        seats: seats to deal in, ascending, each able to pay (table and round are locked).
        balances: available balance of each player before, for the hand history.

    Raises:
        InsufficientFunds: somebody spent the stake meanwhile; the caller tries again without that seat.
    """
    numbers = tuple(Seat(seat.number) for seat in seats)
    game = registry.game(table.game)
    order = game.deck(table.options, len(numbers))
    continues = round_.match_id != round_.id
    if not continues and table.buy_in_minor:
        wallets.buy_ins_take(
            operator_id=table.operator_id,
            round_id=round_.match_id,
            currency=table.currency,
            buy_ins=[(seat.player_id, table.buy_in_minor) for seat in seats],
        )
    opener = _match_opener(table, round_, numbers, order, now_ms) if continues else None
    deal = fairness.round_deal(
        round_id=round_.id,
        roster=list(roster),
        beacon_signature=beacon_signature,
        order=order,
        opener=opener,
        now_ms=now_ms,
    )
    chance = dealer.chance(round_.id)
    setup = Setup(numbers, deal.deck, table.options, deal.dealt_ms, Seat(deal.opener), round_.carry)
    live = Live(
        id=round_.id,
        table_id=table.id,
        operator_id=table.operator_id,
        index=round_.index,
        slug=table.game,
        game=game,
        state=None,
        seq=-1,
        head=transcript.head_first(bytes.fromhex(deal.deck_hash)),
        desk=Desk(timeouts={seat.number: seat.timeouts_row for seat in seats if seat.timeouts_row}),
        last_at_ms=deal.dealt_ms,
        offset_ms=0,
        seats=numbers,
    )
    live.append("start", None, {}, game.start(setup, chance), deal.dealt_ms)
    RoundSeat.objects.bulk_create(
        RoundSeat(
            round=round_,
            number=seat.number,
            player_id=seat.player_id,
            buy_in_minor=0 if continues else table.buy_in_minor,
            balance_before_minor=balances.get(seat.player_id),
        )
        for seat in seats
    )
    round_.status = Round.Status.RUNNING
    round_.numbers = list(numbers)
    round_.opener = deal.opener
    round_.match_opener = round_.match_opener if continues else deal.opener
    round_.dealt_ms = deal.dealt_ms
    round_.save(update_fields=["status", "numbers", "opener", "match_opener", "dealt_ms"])
    table.last_opener = deal.opener
    live_commit(live=live, now_ms=now_ms)
    return live


def _pay(table: Table, match_id: UUID, payouts: Sequence[tuple[UUID, int]], fee_minor: int) -> None:
    """Empty the escrow of a round, or of a match; a table without a stake has none."""
    if table.buy_in_minor:
        wallets.round_settle(
            operator_id=table.operator_id,
            round_id=match_id,
            currency=table.currency,
            payouts=[(player_id, amount) for player_id, amount in payouts if amount],
            fee_minor=fee_minor,
        )


class _NoChance:
    """A chance for asking who opens: nothing may be drawn."""

    def uniform(self, stream: str, m: int) -> int:
        raise AssertionError(f"{stream} drawn to find the opener")

    def shuffle(self, stream: str, items: Sequence[str]) -> tuple[str, ...]:
        raise AssertionError(f"{stream} drawn to find the opener")


def _match_opener(table: Table, round_: Round, numbers: tuple[Seat, ...], order: tuple[str, ...], now_ms: int) -> int:
    """Ask the rules who opens a later round of a match; it depends on the carry, never on the cards."""
    nothing: Chance = _NoChance()
    setup = Setup(numbers, order, table.options, now_ms, numbers[0], round_.carry)
    opener: int = registry.game(table.game).start(setup, nothing).events[0]["opener"]
    return opener


def live_commit(*, live: Live, now_ms: int, open_: Transaction | None = None) -> None:
    """Write what happened to a locked round: entries and snapshot in one statement, and its end if it ended.

    Args:
        open_: the hot transaction, if this is the last that it does.
    """
    if not live.fresh:
        return
    data = json.dumps(live.game.dump(live.state), separators=(",", ":")).encode()
    parameters = [
        *entries_parameters(live.id, live.fresh),
        live.seq,
        live.head,
        dealer.state_seal(round_id=live.id, seq=live.seq, data=data),
        json.dumps(live.desk.dump()),
        live.last_at_ms,
        live.wake_at_ms(),
        live.id,
    ]
    outcome = live.outcome
    if open_ is not None and outcome is None:
        open_.last(_commit_sql(len(live.fresh)), parameters)
        return
    statement_run(_commit_sql(len(live.fresh)), parameters)
    if outcome is not None:
        _round_finish(live, outcome, now_ms)


@cache
def _commit_sql(count: int) -> str:
    """Return the statement that adds so many entries to the transcript and brings the round's row up to them."""
    seq, head, state, desk, last, wake, id_ = (f"${count * WIDTH + place}" for place in range(1, 8))
    return (
        f"WITH added AS ({entries_insert_sql(count)}) UPDATE tables_round SET seq = {seq}, head = {head}, "  # noqa: S608
        f"state = {state}, desk = {desk}, last_at_ms = {last}, wake_at_ms = {wake} WHERE id = {id_}"
    )


def _round_finish(live: Live, outcome: Outcome, now_ms: int) -> None:
    """Pay out and reveal, in the transaction of the round's last entry.

    While a match goes on no money moves; its last round pays for every seat that paid (protocol, section 8).
    """
    assert transaction.get_connection().in_atomic_block
    round_ = Round.objects.select_related("table").get(pk=live.id)
    table = round_.table
    paid: list[RoundSeat] = []
    payouts: dict[int, int] = {}
    pot = fee = 0
    if outcome.final:
        paid = list(RoundSeat.objects.filter(round_id=round_.match_id).order_by("number"))
        pot = sum(row.buy_in_minor for row in paid)
        assert round_.match_opener is not None
        settled = settlement.settle(
            seats=[row.number for row in paid],
            buy_in_minor=table.buy_in_minor,
            fee_bp=table.fee_bp,
            shares={int(seat): weight for seat, weight in outcome.shares.items()},
            opener=round_.match_opener,
        )
        fee, payouts = settled.fee_minor, settled.payouts_minor
        _pay(table, round_.match_id, [(row.player_id, payouts[row.number]) for row in paid], fee)
        for row in paid:
            if payouts.get(row.number):
                RoundSeat.objects.filter(round_id=round_.match_id, number=row.number).update(
                    payout_minor=payouts[row.number]
                )
    for number, reason in live.desk.left.items():
        RoundSeat.objects.filter(round_id=live.id, number=number).update(left_reason=reason)
    shares = {str(seat): weight for seat, weight in sorted(outcome.shares.items())}
    ranking = [list(group) for group in outcome.ranking]
    ended_ms = max(now_ms, live.last_at_ms)
    fairness.round_reveal(
        round_id=live.id,
        entries=live.seq + 1,
        head=live.head.hex(),
        outcome={"reason": outcome.reason, "shares": shares, "ranking": ranking},
        payouts=[
            {"seat": row.number, "buy_in": row.buy_in_minor, "payout": payouts.get(row.number, 0)} for row in paid
        ],
        fee=fee,
        ended_ms=ended_ms,
    )
    told = {
        "final": outcome.final,
        "reason": outcome.reason,
        "shares": shares,
        "ranking": ranking,
        "scores": {str(seat): score for seat, score in sorted(outcome.scores.items())},
        "carry": outcome.carry,
        "payouts": {str(seat): amount for seat, amount in sorted(payouts.items())},
    }
    Round.objects.filter(pk=live.id).update(
        status=Round.Status.FINISHED,
        outcome=told,
        pot_minor=pot,
        fee_minor=fee,
        ended_ms=ended_ms,
        wake_at_ms=None,
    )
    metrics.ROUNDS.labels(game=live.slug, how=outcome.reason).inc()
    outbox_add(
        operator_id=live.operator_id,
        topic="round.finished",
        payload={
            "round_id": live.id.hex,
            "table_id": str(live.table_id),
            "index": live.index,
            "final": outcome.final,
            "reason": outcome.reason,
            "pot_minor": pot,
            "fee_minor": fee,
            "currency": table.currency,
        },
    )


def round_void(
    *,
    round_: Round,
    reason: str,
    fault: str,
    entropies: Sequence[fairness.RosterRow],
    now_ms: int,
    refund: bool = True,
) -> None:
    """End a round without a result: every buy-in goes back, no fee, the seed is revealed (X-13).

    Args:
        round_: locked and not ended.
        reason: not_started, entropy_missing, beacon_missing or operator_fault.
        fault: none, operator or seat:N.
        entropies: contributions received, as rows of the deck record; [] once the deck is signed.
        refund: False where the match's pot was paid out already (match_settle_to).

    A match whose round is void is void as a whole: every seat that paid gets its buy-in back.
    """
    stage = {"open": "open", "closing": "close", "running": "deck"}[round_.status]
    running = stage == "deck"
    fairness.round_void(
        round_id=round_.id,
        stage=stage,
        reason=reason,
        fault=fault,
        entropies=entropies,
        entries=round_.seq + 1 if running else 0,
        head=bytes(round_.head).hex() if running else "",
        now_ms=max(now_ms, round_.last_at_ms),
    )
    wallets.stakes_return(round_id=round_.id)
    if refund and round_.table.buy_in_minor and (running or round_.match_id != round_.id):
        wallets.round_refund(
            operator_id=round_.operator_id, round_id=round_.match_id, currency=round_.table.currency, reason=reason
        )
    round_.status = Round.Status.VOID
    round_.outcome = {"final": True, "void": reason, "fault": fault}
    round_.ended_ms = now_ms
    round_.wake_at_ms = None
    round_.save(update_fields=["status", "outcome", "ended_ms", "wake_at_ms"])
    dealer.forget(round_.id)
    metrics.ROUNDS.labels(game=round_.game, how=f"void_{reason}").inc()
    outbox_add(
        operator_id=round_.operator_id,
        topic="round.void",
        payload={
            "round_id": round_.id.hex,
            "table_id": str(round_.table_id),
            "index": round_.index,
            "reason": reason,
            "fault": fault,
        },
    )


def match_settle_to(*, round_: Round, table: Table, winner: int, now_ms: int) -> None:
    """Pay a match's pot to the only seat left between two of its rounds (X-27).

    Args:
        round_: the open round that will not be played; the caller voids it.
    """
    paid = list(RoundSeat.objects.filter(round_id=round_.match_id).order_by("number"))
    pot = sum(row.buy_in_minor for row in paid)
    assert round_.match_opener is not None
    settled = settlement.settle(
        seats=[row.number for row in paid],
        buy_in_minor=table.buy_in_minor,
        fee_bp=table.fee_bp,
        shares={winner: 1},
        opener=round_.match_opener,
    )
    fee, payouts = settled.fee_minor, settled.payouts_minor
    row = next(row for row in paid if row.number == winner)
    _pay(table, round_.match_id, [(row.player_id, payouts[winner])], fee)
    RoundSeat.objects.filter(round_id=round_.match_id, number=winner).update(payout_minor=payouts[winner])
    Round.objects.filter(pk=round_.match_id).update(pot_minor=pot, fee_minor=fee)
    outbox_add(
        operator_id=table.operator_id,
        topic="match.finished",
        payload={"match_id": round_.match_id.hex, "table_id": str(table.id), "winner": winner, "at_ms": now_ms},
    )
