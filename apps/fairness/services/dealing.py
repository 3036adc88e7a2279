"""Dealing: the deck record, signed before any card is shown.

Implements docs/fairness/protocol.md, section 3, step 5, and sections 4 to 6.  The seed is opened here and dropped; what
the dealer keeps of it lives in this process only.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from apps.fairness import dealer, locks, rosters, sealing
from apps.fairness.errors import BeaconInvalid, DeadlinePassed, RoundStage
from apps.fairness.models import FairRound, Record, RecordType, Stage
from apps.fairness.protocol import beacon as beacon_rules
from apps.fairness.protocol import records as record_rules
from apps.fairness.protocol import streams
from apps.fairness.protocol.cards import CardTree, order_hash
from apps.fairness.protocol.errors import BeaconError
from apps.fairness.rosters import RosterRow
from apps.fairness.services.deadlines import due_ms
from apps.fairness.signing import body_of, record_add

_ORDER_KEEP = "INSERT INTO fairness_deck_order (order_hash, codes) VALUES (%s, %s) ON CONFLICT DO NOTHING"
_DEALT = (
    "UPDATE fairness_round SET stage = 'deck', last_hash = %s, deck_hash = %s, order_hash = %s, opener = %s,"
    " dealt_at_ms = %s WHERE id = %s"
)


@dataclass(frozen=True, slots=True)
class Deal:
    """A dealt round.  ``deck`` is secret: it goes to the rules and nowhere else."""

    deck: tuple[str, ...]
    opener: int
    deck_hash: str
    root: str
    dealt_ms: int


def round_deal(
    *,
    round_id: UUID,
    roster: Sequence[RosterRow],
    beacon_signature: bytes | None,
    order: tuple[str, ...],
    opener: int | None,
    now_ms: int,
) -> Deal:
    """Shuffle the deck from the seed and what the seats gave, and sign the deck record.

    Args:
        roster: the seats dealt in, ascending.
        beacon_signature: of the round that the close record binds; None without beacon.
        order: the canonical order of the cards for this many seats.
        opener: None draws or continues it by section 5; a match game gives its own.
        now_ms: Unix time, milliseconds.

    Raises:
        RoundUnknown, RoundStage: there is no such round, or it is not ready for this.
        DeadlinePassed: the round can only be voided.
        BeaconInvalid: the signature is missing, early or not that of the bound round.
        ContributionForm, ContributionMismatch, ContributionRepeated, ContributionSignature: a row is not as it must be.
        KeysUnavailable, SealBroken: the seed cannot be opened here.

    Source: docs/fairness/protocol.md, sections 3 to 6.
    """
    round_ = locks.round_lock(round_id)
    entries = Record.objects.filter(round=round_).values_list("type", "entry")
    bodies = {type_: body_of(bytes(entry)) for type_, entry in entries}
    opened, closed = bodies[RecordType.OPEN], bodies.get(RecordType.CLOSE)
    needed = Stage.CLOSE if round_.entropy == "sealed" or opened["beacon"] is not None else Stage.OPEN
    if round_.stage != needed:
        raise RoundStage(stage=round_.stage)
    dealt_ms = max(now_ms, round_.closed_at_ms or round_.opened_at_ms)
    if dealt_ms > due_ms(round_):
        raise DeadlinePassed
    rows = [row.body() for row in roster]
    seats = _roster_check(round_, rows, closed)
    _order_check(opened["decks"], len(seats), order)
    beacon = _beacon_check(round_, opened, beacon_signature, dealt_ms)
    schedule = _schedule(round_, rows, beacon)
    chance = schedule.chance()
    deck = chance.shuffle(streams.DECK, order)
    if opener is None:
        opener = streams.opener(seats, opened["last_opener"], chance)
    assert opener in seats, "the opener is dealt in"
    tree = CardTree(round_=round_.id.bytes, gen=0, cards=deck, salt_key=schedule.key(streams.CARD_SALT))
    digest = order_hash(order)
    body = {
        "v": record_rules.VERSION,
        "round": round_.id.hex,
        "open": bytes(round_.open_hash).hex(),
        "close": bytes(round_.close_hash or b"").hex(),
        "roster": rows,
        "beacon": (beacon_signature or b"").hex(),
        "opener": opener,
        "n": len(order),
        "order_hash": digest.hex(),
        "root": tree.root.hex(),
        "dealt_ms": dealt_ms,
    }
    place = 1 if closed is None else 2
    signed = record_add(round_id=round_.id, place=place, type_="deck", body=body, now_ms=dealt_ms)
    with connection.cursor() as cursor:
        cursor.execute(_ORDER_KEEP, [digest, json.dumps(order)])
        cursor.execute(_DEALT, [signed.hash, signed.hash, digest, opener, dealt_ms, round_.id])
    dealer.remember(round_.id, schedule, tree)
    return Deal(deck, opener, signed.hash_hex, tree.root.hex(), dealt_ms)


def _roster_check(round_: FairRound, rows: Sequence[dict[str, Any]], closed: dict[str, Any] | None) -> tuple[int, ...]:
    seats = rosters.seats_check(rows)
    if closed is not None:
        assert [row["seat"] for row in closed["roster"]] == list(seats), "who is in the close record is dealt in"
    rosters.entropies_check(
        rows=rows,
        entropy=round_.entropy,
        round_id=round_.id.hex,
        open_hash=bytes(round_.open_hash).hex(),
        close_hash=bytes(round_.close_hash or b"").hex(),
        close_roster=None if closed is None else closed["roster"],
    )
    return seats


def _order_check(decks: Sequence[dict[str, Any]], seats: int, order: tuple[str, ...]) -> None:
    row = next((row for row in decks if row["seats_min"] <= seats <= row["seats_max"]), None)
    assert row is not None, "the open record has a deck for this many seats"
    assert len(set(order)) == len(order) == row["n"], "the canonical order is that of the open record"
    assert order_hash(order).hex() == row["order_hash"], "the canonical order is that of the open record"


def _beacon_check(round_: FairRound, opened: dict[str, Any], signature: bytes | None, dealt_ms: int) -> bytes:
    """Return ``B`` of section 4, after checking that the signature is the bound round's and not early."""
    bound = opened["beacon"]
    if bound is None:
        assert signature is None, "no beacon is bound"
        return b""
    number = round_.beacon_round
    assert number is not None, "the close record binds a beacon round"
    if signature is None or dealt_ms < 1000 * beacon_rules.round_time_s(number):
        raise BeaconInvalid
    chain = bytes.fromhex(bound["chain"])
    try:
        beacon_rules.verify(chain, number, signature)
    except BeaconError as problem:
        raise BeaconInvalid from problem
    return beacon_rules.beacon_bytes(chain, number, signature)


def _schedule(round_: FairRound, rows: Sequence[dict[str, Any]], beacon: bytes) -> streams.KeySchedule:
    seed = sealing.seed_open(
        bytes(round_.seed_sealed),
        table=round_.table_id.bytes,
        index=round_.index,
        seed_commit=bytes(round_.seed_commit),
    )
    return streams.KeySchedule.derive(
        seed=seed,
        rows=[(row["seat"], bytes.fromhex(row["pk"]), bytes.fromhex(row["entropy"])) for row in rows],
        round_=round_.id.bytes,
        open_hash=bytes(round_.open_hash),
        close_hash=bytes(round_.close_hash or b""),
        beacon=beacon,
    )
