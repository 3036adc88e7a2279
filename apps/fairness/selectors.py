"""What the rest of the server, and everybody, may read: records, checkpoints, proofs, keys, evidence, statistics.

Implements docs/fairness/protocol.md, sections 11 and 12.  Nothing here opens a sealed value before its round has ended.
Proofs read O(log n) tiles; no request counts or hashes a whole table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, QuerySet, Sum

from apps.fairness import conf, sealing, tree
from apps.fairness.errors import LogUnavailable, ProofRange, RoundUnknown, TileUnknown
from apps.fairness.models import (
    LOG_ROW_ID,
    BeaconValue,
    Checkpoint,
    Cosignature,
    DeckOrder,
    FairRound,
    Generation,
    KeyUse,
    Log,
    Record,
    RecordType,
    SigningKey,
    Stage,
    Tally,
)
from apps.fairness.protocol import log as log_rules
from apps.fairness.protocol.beacon import QUICKNET, round_time_s
from apps.fairness.protocol.notes import TYPE_ED25519, VerifierKey, checkpoint_read
from apps.fairness.protocol.tiles import ENTRIES, TILE_HEIGHT, TILE_WIDTH, Level

KEYS_MAX = 4000
"""Key entries of one bundle at most (section 12)."""


@dataclass(frozen=True, slots=True)
class Published:
    """The newest checkpoint that counts: signed by the log and, where a quorum is set, cosigned."""

    size: int
    root: str
    note: str
    """With the lines of its cosigners."""

    def view(self) -> dict[str, Any]:
        """Return it for clients."""
        return {"size": self.size, "root": self.root, "note": self.note}


def published() -> Published | None:
    """Return the newest checkpoint that counts, or None while there is none."""
    quorum = conf.quorum()
    if quorum:
        # By the index of cosignatures, newest first: the first that has enough ends the search.
        size = _cosigned(quorum).order_by("-checkpoint").values_list("checkpoint", flat=True).first()
        newest = Checkpoint.objects.filter(pk=size or 0).first()
    else:
        newest = Checkpoint.objects.order_by("-size").first()
    if newest is None:
        return None
    return Published(newest.size, bytes(newest.root).hex(), _note_fresh(newest))


def _cosigned(quorum: int, **where: Any) -> QuerySet[Any, Any]:
    """Return the sizes of the checkpoints that enough of the configured witnesses cosigned."""
    names = [witness.id for witness in conf.witnesses()]
    rows = Cosignature.objects.filter(witness__in=names, **where).values("checkpoint")
    return rows.annotate(witnesses=Count("witness", distinct=True)).filter(witnesses__gte=quorum)


def _note_fresh(checkpoint: Checkpoint) -> str:
    """Return a checkpoint's note with the latest line of each witness, which shows that it is fresh."""
    if not conf.witnesses():
        return checkpoint.note
    return _note(checkpoint, Cosignature.objects.order_by("-id"))


def _note_first(checkpoint: Checkpoint, *, before_s: int | None = None) -> str:
    """Return a checkpoint's note with the first line of each witness, which stays what it is.

    Args:
        before_s: only cosignatures of an earlier time, Unix seconds.
    """
    rows = Cosignature.objects.order_by("id")
    return _note(checkpoint, rows if before_s is None else rows.filter(at_s__lt=before_s))


def _note(checkpoint: Checkpoint, rows: QuerySet[Cosignature]) -> str:
    lines: dict[str, str] = {}
    for row in rows.filter(checkpoint=checkpoint):
        lines.setdefault(row.witness, row.line)
    return checkpoint.note + "".join(lines[witness] for witness in sorted(lines))


class _Unpublished(Exception):
    """Not yet."""


@lru_cache(maxsize=4096)
def _containing(round_id: UUID, type_: RecordType) -> tuple[int, Published]:
    """Return a record's index and a published checkpoint that contains it.

    What is published stays so; this process asks again only for what was not, since an exception is not kept.
    """
    index = Record.objects.filter(round_id=round_id, type=type_).values_list("log_index", flat=True).first()
    newest = None if index is None else published()
    if index is None or newest is None or newest.size <= index:
        raise _Unpublished
    return index, newest


def published_index(round_id: UUID, type_: RecordType) -> int | None:
    """Return the place in the log of a round's record of this type, None until a published checkpoint contains it."""
    try:
        return _containing(round_id, type_)[0]
    except _Unpublished:
        return None


def open_published(round_id: UUID) -> dict[str, Any] | None:
    """Return a published checkpoint that contains the round's open record, if any: ``size``, ``root``, ``note``."""
    try:
        return _containing(round_id, RecordType.OPEN)[1].view()
    except _Unpublished:
        return None


def close_published(round_id: UUID) -> dict[str, Any] | None:
    """Return a published checkpoint that contains the round's close record: ``size``, ``root``, ``note``."""
    try:
        return _containing(round_id, RecordType.CLOSE)[1].view()
    except _Unpublished:
        return None


def records(round_id: UUID) -> list[dict[str, Any]]:
    """Return the round's log entries in order, as objects, merged or not; empty where there is no such round."""
    rows = Record.objects.filter(round_id=round_id).order_by("place").values_list("entry", flat=True)
    return [json.loads(bytes(entry)) for entry in rows]


def generation_said(round_id: UUID, gen: int) -> dict[str, Any]:
    """Return what the event that made a generation says of it: ``n`` and ``root``."""
    row = Generation.objects.only("n", "root").get(round_id=round_id, gen=gen)
    return {"n": row.n, "root": bytes(row.root).hex()}


def round_records(round_id: UUID) -> list[dict[str, Any]]:
    """Return the round's log entries in order with their hash and place in the log.

    Raises:
        RoundUnknown: there is no such round.
    """
    rows = Record.objects.filter(round_id=round_id).order_by("place")
    result = [
        {
            "record": json.loads(bytes(row.entry)),
            "hash": bytes(row.record_hash).hex(),
            "index": row.log_index,
            "signed_ms": row.signed_at_ms,
            "merged_ms": row.merged_at_ms,
        }
        for row in rows
    ]
    if not result:
        raise RoundUnknown
    return result


def beacon_signature(round_id: UUID) -> bytes | None:
    """Return the verified beacon signature that a closed round waits for, once it was fetched."""
    number = FairRound.objects.filter(pk=round_id).values_list("beacon_round", flat=True).first()
    if number is None:
        return None
    row = BeaconValue.objects.filter(chain=QUICKNET, beacon_round=number).values_list("signature", flat=True).first()
    return None if row is None else bytes(row)


def log_origin() -> str:
    """Return the log's name.

    Raises:
        LogUnavailable: there is no log yet.
    """
    origin = Log.objects.filter(pk=LOG_ROW_ID).values_list("origin", flat=True).first()
    if origin is None:
        raise LogUnavailable
    return origin


def keys() -> list[dict[str, Any]]:
    """Return all merged key entries in log order, each with its index."""
    rows = Record.objects.filter(type=RecordType.KEY, log_index__isnull=False).order_by("log_index")
    return [{"index": row.log_index, "record": json.loads(bytes(row.entry))} for row in rows]


def trust() -> dict[str, Any]:
    """Return what this server says should be believed of it: a trust file of section 11.

    It pins the newest live log key, and the root key that began the log, whoever that has handed over to since.

    Raises:
        LogUnavailable: there is no log yet.
    """
    origin = log_origin()
    log_key = SigningKey.objects.filter(use=KeyUse.LOG, revoked__isnull=True).order_by("-added").first()
    root_key = SigningKey.objects.filter(use=KeyUse.ROOT).order_by("added").first()
    if log_key is None or root_key is None:
        raise LogUnavailable
    return {
        "log": str(VerifierKey(origin, TYPE_ED25519, bytes(log_key.public_key))),
        "root": bytes(root_key.public_key).hex(),
        "witnesses": [witness.vkey for witness in conf.witnesses()],
        "quorum": conf.quorum(),
    }


def _size(given: int | None) -> int:
    newest = Checkpoint.objects.aggregate(size=Max("size"))["size"] or 0
    if given is None:
        return newest
    if not 0 <= given <= newest:
        raise ProofRange(size=newest)
    return given


def inclusion(index: int, size: int | None) -> dict[str, Any]:
    """Return the proof that an entry is in the tree of a size.

    Raises:
        ProofRange: the size is not published, or the index not below it.
    """
    size = _size(size)
    if not 0 <= index < size:
        raise ProofRange(size=size)
    source = tree.source(size)
    path = log_rules.inclusion_path(source, index, size)
    return {
        "index": index,
        "size": size,
        "leaf": source(0, index).hex(),
        "root": log_rules.stored_root(source, size).hex(),
        "path": _hex(path),
    }


def consistency(old: int, new: int | None) -> dict[str, Any]:
    """Return the proof that the tree of one size extends that of a smaller one.

    Raises:
        ProofRange: a size is not published, or the first is the greater.
    """
    new = _size(new)
    if not 0 <= old <= new:
        raise ProofRange(size=new)
    return {"from": old, "to": new, "path": _hex(log_rules.consistency_path(tree.source(new), old, new))}


def tile(level: Level, index: int, width: int) -> bytes:
    """Return a tile or an entry bundle of the signed tree.

    Raises:
        TileUnknown: the signed tree does not have it, at this width.
    """
    size = _size(None)
    height = 0 if level == ENTRIES else TILE_HEIGHT * int(level)
    if (size >> height) - index * TILE_WIDTH < width:
        raise TileUnknown
    return tree.entries_bytes(index, width) if level == ENTRIES else tree.tile_bytes(int(level), index, width)


def round_evidence(round_id: UUID) -> dict[str, Any]:
    """Return the members ``records``, ``keys``, ``order``, ``generations`` and ``log`` of a round's bundle.

    Only records in a published checkpoint are in it: the newest while the round runs, and then for ever the first that
    has its terminal record.  ``order`` is given once the deck record is; ``generations``, whose sources are secret
    while the round runs, once the terminal record is.

    Raises:
        RoundUnknown: there is no such round.
        LogUnavailable: nothing is published yet.

    Source: docs/fairness/protocol.md, section 12.
    """
    round_ = FairRound.objects.defer("seed_sealed").filter(pk=round_id).first()
    if round_ is None:
        raise RoundUnknown
    newest = published()
    if newest is None:
        raise LogUnavailable
    own = list(Record.objects.filter(round=round_, log_index__lt=newest.size).order_by("place"))
    entries = [json.loads(bytes(record.entry)) for record in own]
    types = [record.type for record in own]
    key_rows = _keys_needed(own)
    indexes = [row.log_index for row in (*key_rows, *own) if row.log_index is not None]
    ended = bool({"reveal", "void"} & set(types))
    shown = _first_with(own[-1]) if ended else newest
    source = tree.source(shown.size)
    return {
        "records": entries,
        "keys": [json.loads(bytes(row.entry)) for row in key_rows],
        "order": _order(round_) if RecordType.DECK in types else [],
        "generations": _generations(round_) if ended else [],
        "log": {
            "origin": log_origin(),
            "checkpoint": shown.note,
            "indexes": indexes,
            "proofs": [_hex(log_rules.inclusion_path(source, index, shown.size)) for index in indexes],
            "views": [
                {"size": size, "proof": _hex(log_rules.consistency_path(source, size, shown.size))}
                for size in _quoted(entries)
            ],
            "close": _close_evidence(round_, own, shown, source),
        },
    }


def _first_counting(index: int, **where: Any) -> Checkpoint | None:
    """Return the first checkpoint with the entry at an index that, where a quorum is set, enough witnesses cosigned."""
    inside: dict[str, Any] = {"size__gt": index}
    quorum = conf.quorum()
    if quorum:
        counting = _cosigned(quorum, checkpoint__size__gt=index, **where).order_by("checkpoint")
        inside = {"size": counting.values_list("checkpoint", flat=True).first() or 0}
    return Checkpoint.objects.filter(**inside).order_by("size").first()


def _first_with(record: Record) -> Published:
    """Return the first checkpoint that counts and has a published record."""
    assert record.log_index is not None, "the record is merged"
    first = _first_counting(record.log_index)
    assert first is not None, "the record is published"
    return Published(first.size, bytes(first.root).hex(), _note_first(first))


def evidence_is_final(evidence: dict[str, Any]) -> bool:
    """Tell whether a round's bundle stays as it is, byte for byte: it has ended, and no witness may add its line."""
    records, note = evidence["records"], evidence["log"]["checkpoint"]
    if not records or records[-1]["type"] not in ("reveal", "void"):
        return False
    signers = {(line.name, line.key_id.hex()) for line in checkpoint_read(note).lines}
    return all(tuple(witness.id.split("+")) in signers for witness in conf.witnesses())


def _keys_needed(own: Sequence[Record]) -> list[Record]:
    """Return the key entries before the last record, the newest of them where there are too many for a bundle."""
    if not own:
        return []
    last = own[-1].log_index
    rows = Record.objects.filter(type=RecordType.KEY, log_index__lt=last).order_by("log_index")
    return list(rows[:KEYS_MAX])


def _order(round_: FairRound) -> list[str]:
    assert round_.order_hash is not None
    codes: list[str] = DeckOrder.objects.values_list("codes", flat=True).get(pk=bytes(round_.order_hash))
    return codes


def _generations(round_: FairRound) -> list[dict[str, Any]]:
    assert round_.stage == Stage.ENDED, "the sources of generations are secret while a round runs"
    return [
        {
            "gen": row.gen,
            "stream": row.stream,
            "from": list(sealing.cards_open(bytes(row.source_sealed), round_id=round_.pk, gen=row.gen)),
        }
        for row in Generation.objects.filter(round=round_).order_by("gen")
    ]


def _quoted(entries: Iterable[dict[str, Any]]) -> list[int]:
    """Return the sizes of the checkpoints that seats quoted, ascending."""
    rows = [row for entry in entries for row in (*entry["body"].get("roster", ()), *entry["body"].get("entropies", ()))]
    return sorted({row["cp"]["size"] for row in rows if row["cp"] is not None})


def _cosigned_in_time(close_index: int, beacon_round: int) -> Checkpoint | None:
    """Return the earliest checkpoint with the close record that enough witnesses cosigned before the beacon's time."""
    return _first_counting(close_index, at_s__lt=round_time_s(beacon_round))


def close_in_time(round_id: UUID) -> bool:
    """Tell whether a round that waits for a beacon may be dealt: witnesses saw its close record before the beacon.

    Source: docs/fairness/protocol.md, section 4.
    """
    close = Record.objects.filter(round_id=round_id, type=RecordType.CLOSE).values_list("log_index", flat=True).first()
    number = FairRound.objects.values_list("beacon_round", flat=True).get(pk=round_id)
    assert number is not None, "the close record binds a beacon round"
    return not conf.quorum() or (close is not None and _cosigned_in_time(close, number) is not None)


def _close_evidence(
    round_: FairRound, own: Sequence[Record], newest: Published, source: log_rules.NodeSource
) -> dict[str, Any] | None:
    """Return what shows that the close record was there before the beacon."""
    close = next((record for record in own if record.type == RecordType.CLOSE), None)
    if close is None or close.log_index is None or round_.beacon_round is None:
        return None
    checkpoint = _cosigned_in_time(close.log_index, round_.beacon_round)
    if checkpoint is None or checkpoint.size > newest.size:
        return None
    size = checkpoint.size
    return {
        "checkpoint": _note_first(checkpoint, before_s=round_time_s(round_.beacon_round)),
        "proof": _hex(log_rules.inclusion_path(tree.source(size), close.log_index, size)),
        "consistency": _hex(log_rules.consistency_path(source, size, newest.size)),
    }


def statistics(*, since: date | None = None) -> list[dict[str, Any]]:
    """Return how rounds ended, by game and mode: counts, shares of all rounds, and delays of the last record.

    Args:
        since: first day counted, UTC; None counts all.

    Source: docs/fairness/protocol.md, section 9.
    """
    rows = Tally.objects.all()
    if since is not None:
        rows = rows.filter(day__gte=since)
    by = ("game", "entropy", "ending", "stage", "reason", "fault")
    counted = list(
        rows.values(*by)
        .annotate(
            count=Sum("rounds"), delay_ms=Sum("delay_sum_ms"), delay_longest_ms=Max("delay_max_ms"), overdue=Sum("late")
        )
        .order_by(*(F(name) for name in by))
    )
    whole: dict[tuple[str, str], int] = {}
    for row in counted:
        pair = (row["game"], row["entropy"])
        whole[pair] = whole.get(pair, 0) + row["count"]
    return [
        {
            **{name: row[name] for name in by},
            "rounds": row["count"],
            "share_ppm": row["count"] * 1_000_000 // whole[row["game"], row["entropy"]],
            "delay_mean_ms": row["delay_ms"] // row["count"],
            "delay_max_ms": row["delay_longest_ms"],
            "late": row["overdue"],
        }
        for row in counted
    ]


def _hex(path: Iterable[bytes]) -> list[str]:
    return [node.hex() for node in path]
