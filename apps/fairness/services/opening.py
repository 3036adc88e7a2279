"""Opening a round with its commitment, and closing it where entropy is sealed or a beacon is bound.

Implements docs/fairness/protocol.md, section 3, steps 1 and 3, and section 4 for the beacon's round.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from apps.fairness import locks, rosters, sealing
from apps.fairness.errors import DeadlinePassed, RoundStage, TableRunning
from apps.fairness.models import FairRound, Record, RecordType, Stage
from apps.fairness.protocol import beacon as beacon_rules
from apps.fairness.protocol import records as record_rules
from apps.fairness.protocol.cards import order_hash
from apps.fairness.services.deadlines import OPEN_MS
from apps.fairness.signing import RecordRef, body_of, record_add
from apps.games.contract import Game, Options

SEED_BYTES = 32

_LATEST = (
    "SELECT r.index, r.last_hash, r.ended_at_ms, (SELECT d.opener FROM fairness_round d"
    " WHERE d.table_id = r.table_id AND d.deck_hash IS NOT NULL ORDER BY d.index DESC LIMIT 1)"
    " FROM fairness_round r WHERE r.table_id = %s ORDER BY r.index DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class OpenedRound:
    """A round whose commitment is signed; it counts once it is in a published checkpoint."""

    round_id: UUID
    open_hash: str
    seed_commit: str


def deck_rows(game: Game[Any], options: Options) -> list[dict[str, Any]]:
    """Return the ``decks`` member of an open record: which canonical order applies to how many seats."""
    rows: list[dict[str, Any]] = []
    for seats in range(game.spec.seats_min, game.spec.seats_max + 1):
        codes = game.deck(options, seats)
        digest = order_hash(codes).hex()
        if rows and rows[-1]["order_hash"] == digest:
            rows[-1]["seats_max"] = seats
        else:
            rows.append({"seats_min": seats, "seats_max": seats, "n": len(codes), "order_hash": digest})
    return rows


def round_open(
    *,
    table_id: UUID,
    index: int,
    game: str,
    rules: str,
    options: Mapping[str, Any],
    entropy: str,
    beacon: Mapping[str, Any] | None,
    stake: Mapping[str, Any],
    decks: Sequence[Mapping[str, Any]],
    last_opener: int | None,
    now_ms: int,
) -> OpenedRound:
    """Commit to a new seed for the next round of a table.

    The caller holds the table's lock.

    Args:
        options: with all defaults filled in.
        beacon: None, or ``chain`` as hex and ``margin``.
        stake: ``currency``, ``buy_in`` in minor units, ``fee_bp``.
        decks: as ``deck_rows`` gives them.
        last_opener: opener of the table's latest dealt round; None where none was dealt.
        now_ms: Unix time, milliseconds.

    Raises:
        TableRunning: the table's last round has not ended, or the index is not the next one.
        KeysUnavailable: this process cannot seal or sign.

    Source: docs/fairness/protocol.md, section 3.
    """
    assert connection.in_atomic_block, "a round is opened in the caller's transaction"
    assert beacon is None or beacon["chain"] == beacon_rules.QUICKNET.hex(), "a chain this server can check"
    prev, opened_ms = _prev(table_id, index, last_opener, now_ms)
    table = table_id.bytes
    seed = os.urandom(SEED_BYTES)
    round_bytes = record_rules.round_id(table, index)
    seed_commit = record_rules.seed_commitment(table, index, seed)
    body = {
        "v": record_rules.VERSION,
        "table": table.hex(),
        "index": index,
        "round": round_bytes.hex(),
        "prev": prev,
        "seed_commit": seed_commit.hex(),
        "game": game,
        "rules": rules,
        "options": dict(options),
        "entropy": entropy,
        "beacon": dict(beacon) if beacon is not None else None,
        "stake": dict(stake),
        "decks": [dict(row) for row in decks],
        "last_opener": last_opener,
        "opened_ms": opened_ms,
    }
    open_hash = record_rules.record_hash("open", body)
    round_ = FairRound.objects.create(
        id=UUID(bytes=round_bytes),
        table_id=table_id,
        index=index,
        game=game,
        entropy=entropy,
        seed_commit=seed_commit,
        seed_sealed=sealing.seed_seal(seed, table=table, index=index, seed_commit=seed_commit),
        open_hash=open_hash,
        last_hash=open_hash,
        opened_at_ms=opened_ms,
    )
    record_add(round_id=round_.id, place=0, type_="open", body=body, now_ms=opened_ms)
    return OpenedRound(round_.id, open_hash.hex(), seed_commit.hex())


def _prev(table_id: UUID, index: int, last_opener: int | None, now_ms: int) -> tuple[str, int]:
    """Return what the open record quotes as ``prev`` and its time."""
    with connection.cursor() as cursor:
        cursor.execute(_LATEST, [table_id])
        latest = cursor.fetchone()
    if latest is None:
        assert last_opener is None, "last_opener is the opener of the table's latest dealt round"
        if index != 0:
            raise TableRunning("The table's first round has index 0.")
        return "", now_ms
    latest_index, last_hash, ended_at_ms, opener = latest
    assert last_opener == opener, "last_opener is the opener of the table's latest dealt round"
    if ended_at_ms is None or index != latest_index + 1:
        raise TableRunning
    return bytes(last_hash).hex(), max(now_ms, ended_at_ms)


def round_close(*, round_id: UUID, roster: Sequence[Mapping[str, Any]], now_ms: int) -> RecordRef:
    """Close the roster of a round that is sealed or bound to a beacon.

    Args:
        roster: ascending by seat, members of the ready call.  Sealed: ``seat``, ``pk``, ``commit``, ``cp``, ``sig``.
            Open: ``entropy`` in place of ``commit``.  None: ``seat`` alone.

    Raises:
        RoundUnknown, RoundStage: there is no such round, or it is not open or has no close record.
        DeadlinePassed: it was open for longer than a day.
        ContributionForm, ContributionRepeated, ContributionSignature: a row is not as the mode asks for.

    Source: docs/fairness/protocol.md, sections 3 and 4.
    """
    round_ = locks.round_lock(round_id)
    opened = body_of(bytes(Record.objects.only("entry").get(round=round_, type=RecordType.OPEN).entry))
    if round_.stage != Stage.OPEN or (round_.entropy != "sealed" and opened["beacon"] is None):
        raise RoundStage(stage=round_.stage)
    closed_ms = max(now_ms, round_.opened_at_ms)
    if closed_ms > round_.opened_at_ms + OPEN_MS:
        raise DeadlinePassed
    open_hash = bytes(round_.open_hash).hex()
    rows = rosters.close_rows(roster=roster, entropy=round_.entropy, round_id=round_.id.hex, open_hash=open_hash)
    seats = rosters.seats_check(rows)
    assert any(row["seats_min"] <= len(seats) <= row["seats_max"] for row in opened["decks"]), "a deck for these seats"
    bound = opened["beacon"]
    beacon_round = None if bound is None else beacon_rules.round_for(closed_ms, bound["margin"])
    body = {
        "v": record_rules.VERSION,
        "round": round_.id.hex,
        "open": open_hash,
        "roster": rows,
        "beacon_round": beacon_round,
        "closed_ms": closed_ms,
    }
    signed = record_add(round_id=round_.id, place=1, type_="close", body=body, now_ms=closed_ms)
    FairRound.objects.filter(pk=round_.id).update(
        stage=Stage.CLOSE,
        last_hash=signed.hash,
        close_hash=signed.hash,
        beacon_round=beacon_round,
        closed_at_ms=closed_ms,
    )
    return RecordRef("close", signed.hash_hex, closed_ms)
