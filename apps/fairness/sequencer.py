"""The log's one writer: merges stored records in order, hashes every leaf twice from stored bytes, signs the tree.

Implements docs/fairness/protocol.md, section 11.  At most one process writes at a time (an advisory lock held by the
transaction, and the log's row).  A tree that is smaller than, or inconsistent with, one that was signed before is never
signed: the writer stops, says why in the log's row, and stays stopped until a person has looked
(docs/fairness/operations.md, section Sequencer).  Never changes an entry, never removes one, never asks the network.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection, transaction

from apps.fairness import anchor, locks, metrics, sealing, tallies, tree
from apps.fairness.entries import Rules, Unfit
from apps.fairness.errors import LogUnavailable
from apps.fairness.models import LOG_ROW_ID, Checkpoint, KeyUse, Log, Record, SigningKey, Tile
from apps.fairness.protocol import log as log_rules
from apps.fairness.protocol import notes, signatures
from apps.fairness.protocol.errors import NoteError, TileError
from apps.fairness.protocol.notes import TYPE_ED25519, VerifierKey
from apps.fairness.protocol.tiles import TILE_WIDTH, tile_encode

BATCH_MAX = 500
"""Records merged under one checkpoint at most."""
BATCHES_MAX = 4
"""Batches of one tick at most."""
HEARTBEAT_MS = 1000
"""How often an idle writer says that it is there."""


@dataclass(frozen=True, slots=True)
class Merge:
    """What one batch did."""

    size: int
    root: bytes
    merged: int


class Stopped(Exception):
    """The writer found what it must not sign."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def holder() -> str:
    """Return the name of this process as a writer."""
    return f"{socket.gethostname()[:40]}:{os.getpid()}"


def is_idle(*, now_ms: int) -> bool:
    """Tell, in one statement, that nothing waits and that a writer has looked at everything within HEARTBEAT_MS."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT stopped_at_ms IS NULL AND seen_at_ms > %s"
            " AND NOT EXISTS (SELECT FROM fairness_record WHERE log_index IS NULL) FROM fairness_log WHERE id = %s",
            [now_ms - HEARTBEAT_MS, LOG_ROW_ID],
        )
        return bool(cursor.fetchone() == (True,))


def tick(*, now_ms: int, name: str | None = None) -> list[Merge]:
    """Merge what is pending, in at most four batches.

    Args:
        now_ms: Unix time, milliseconds.
        name: of this writer; the process by default.

    Returns:
        The batches that were published; empty where nothing was pending, or another process is writing.

    Raises:
        LogUnavailable: there is no log yet, or its writer is stopped.
    """
    done: list[Merge] = []
    for _ in range(BATCHES_MAX):
        merge = _batch(name or holder(), now_ms)
        if merge is None:
            break
        done.append(merge)
        if merge.merged < BATCH_MAX:
            break
    return done


def _batch(name: str, now_ms: int) -> Merge | None:
    """Merge one batch in one transaction; where it must not be signed, undo it and stop the log."""
    try:
        with transaction.atomic(durable=True):
            merge = _merge(name, now_ms)
    except Stopped as stop:
        _stop(stop, now_ms)
        raise LogUnavailable(f"The log's writer stopped: {stop.reason}.") from stop
    if merge is not None:
        anchor.write(merge.size, merge.root)
        metrics.LOG_SIZE.set(merge.size)
    return merge


def _stop(stop: Stopped, now_ms: int) -> None:
    with transaction.atomic(durable=True):
        Log.objects.filter(pk=LOG_ROW_ID, stopped_at_ms__isnull=True).update(
            stopped_reason=stop.reason, stopped_detail=stop.detail[:2000], stopped_at_ms=now_ms
        )
    metrics.LOG_STOPPED.set(1)


def _merge(name: str, now_ms: int) -> Merge | None:
    if not locks.log_try():
        return None
    log = Log.objects.select_for_update(no_key=True).filter(pk=LOG_ROW_ID).first()
    if log is None:
        raise LogUnavailable("There is no log yet: run fairness_keys init.")
    if log.stopped_at_ms is not None:
        metrics.LOG_STOPPED.set(1)
        raise LogUnavailable(f"The log's writer is stopped: {log.stopped_reason}.")
    metrics.LOG_STOPPED.set(0)
    newest = Checkpoint.objects.order_by("-size").first()
    _continuity_check(log, newest)
    # What this statement sees is closed under cause: who signed because of another record took a later id, and had
    # seen that record committed.  So the order of ids is the order of every round and of every change of keys.
    waiting = Record.objects.filter(log_index__isnull=True).select_related("round").defer("round__seed_sealed")
    pending = list(waiting.order_by("id")[:BATCH_MAX])
    metrics.LOG_PENDING.set(len(pending))
    if not pending:
        _heartbeat(log, name, now_ms)
        return None
    frontier = _frontier(log.size, newest)
    rules = Rules.read(before=log.size)
    rules.prepare(pending, before=log.size)
    for record in pending:
        try:
            rules.admit(record)
        except Unfit as problem:
            raise Stopped("entry_unfit", f"record {record.pk}: {problem}") from problem
    leaves = [log_rules.leaf_hash(bytes(record.entry)) for record in pending]
    _indexes_give(pending, log.size, now_ms)
    _tiles_add(log.size, leaves)
    for leaf in leaves:
        frontier.append(leaf)
    stored = tree.source_stored(frontier.size)
    _second_hash_check(log.size, leaves, frontier, stored)
    checkpoint = _sign(log, newest, frontier, stored, now_ms)
    tallies.count(pending, rules.endings, now_ms)
    _advance(log, name, checkpoint.size, now_ms)
    for record in pending:
        metrics.MERGE_DELAY.observe(max(0, now_ms - record.signed_at_ms) / 1000)
    return Merge(checkpoint.size, frontier.root(), len(pending))


def _continuity_check(log: Log, newest: Checkpoint | None) -> None:
    """Check that the log is where its last checkpoint left it, here and outside of the database."""
    if log.size != (newest.size if newest else 0):
        raise Stopped("log_size", f"the log has {log.size} entries, its newest checkpoint another number")
    known = anchor.read()
    if known is None:
        return
    size, root = known
    row = Checkpoint.objects.filter(pk=size).first()
    if row is None or bytes(row.root) != root:
        raise Stopped("log_rolled_back", f"the tree of {size} entries that was signed before is not in this database")


def _frontier(size: int, newest: Checkpoint | None) -> log_rules.Frontier:
    """Return the right edge of the stored tree, which must have the root that was signed."""
    if newest is None:
        return log_rules.Frontier()
    try:
        frontier = log_rules.Frontier.read(tree.source_stored(size), size)
    except TileError as problem:
        raise Stopped("tree_broken", problem.detail) from problem
    if frontier.root() != bytes(newest.root):
        raise Stopped("tree_inconsistent", f"the stored tree of {size} entries has not the root that was signed")
    return frontier


def _indexes_give(pending: Sequence[Record], size: int, now_ms: int) -> None:
    """Give the records their indexes, in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE fairness_record r SET log_index = %s + v.place - 1, merged_at_ms = %s"
            " FROM unnest(%s::bigint[]) WITH ORDINALITY AS v(id, place) WHERE r.id = v.id AND r.log_index IS NULL",
            [size, now_ms, [record.pk for record in pending]],
        )
        if cursor.rowcount != len(pending):
            raise Stopped("record_missing", "a record was merged or lost while this batch was")


def _tiles_add(size: int, leaves: Sequence[bytes]) -> None:
    """Store every tile that these leaves fill, level by level."""
    level, start, new = 0, size, list(leaves)
    while new:
        index, width = divmod(start, TILE_WIDTH)
        row = tree.edge(level, index, width)
        if len(row) != width:
            raise Stopped("tree_broken", f"tile {level}/{index} has {len(row)} hashes instead of {width}")
        row += new
        full = [row[at : at + TILE_WIDTH] for at in range(0, len(row) - TILE_WIDTH + 1, TILE_WIDTH)]
        tiles = [
            Tile(level=level, index=index + n, hashes=tile_encode(hashes), root=log_rules.tree_root(hashes))
            for n, hashes in enumerate(full)
        ]
        Tile.objects.bulk_create(tiles)
        level, start, new = level + 1, start // TILE_WIDTH, [bytes(tile.root) for tile in tiles]


def _second_hash_check(
    size: int, leaves: Sequence[bytes], frontier: log_rules.Frontier, source: log_rules.NodeSource
) -> None:
    """Read the merged entries back and hash them again; rebuild the root from what is stored."""
    stored = Record.objects.filter(log_index__gte=size).order_by("log_index").values_list("entry", "leaf_hash")
    again = [(log_rules.leaf_hash(bytes(entry)), bytes(leaf)) for entry, leaf in stored]
    if again != [(leaf, leaf) for leaf in leaves]:
        raise Stopped("leaf_changed", f"the entries from {size} on hash differently when they are read again")
    try:
        root = log_rules.stored_root(source, frontier.size)
    except TileError as problem:
        raise Stopped("tree_broken", problem.detail) from problem
    if root != frontier.root():
        raise Stopped("tree_inconsistent", f"the stored tree of {frontier.size} entries has another root")


def _sign(
    log: Log, newest: Checkpoint | None, frontier: log_rules.Frontier, source: log_rules.NodeSource, now_ms: int
) -> Checkpoint:
    """Sign and store the checkpoint of a tree that extends the newest one."""
    size, root = frontier.size, frontier.root()
    if newest is not None:
        path = log_rules.consistency_path(source, newest.size, size)
        if size <= newest.size or not log_rules.consistency_verify(newest.size, size, bytes(newest.root), root, path):
            raise Stopped("tree_inconsistent", f"the tree of {size} entries does not extend that of {newest.size}")
    keys = SigningKey.objects.filter(use=KeyUse.LOG, revoked__isnull=True, secret_sealed__isnull=False)
    note = ""
    for key in keys.order_by("added"):
        assert key.secret_sealed is not None
        secret = sealing.signing_key_open(bytes(key.secret_sealed), use=key.use, pk=bytes(key.public_key))
        signed = notes.checkpoint_sign(secret, log.origin, size, root)
        note = signed if not note else note + signed.rpartition("\n\n")[2]
        try:
            public = VerifierKey(log.origin, TYPE_ED25519, signatures.public_key(secret))
            notes.checkpoint_verify(notes.checkpoint_read(note), public)
        except NoteError as problem:
            raise Stopped("checkpoint_unreadable", problem.detail) from problem
    if not note:
        raise LogUnavailable("The log has no live key: run fairness_keys.")
    return Checkpoint.objects.create(size=size, root=root, note=note, signed_at_ms=now_ms)


def _advance(log: Log, name: str, size: int, now_ms: int) -> None:
    epoch = log.epoch if log.holder == name else log.epoch + 1
    Log.objects.filter(pk=LOG_ROW_ID).update(size=size, holder=name, epoch=epoch, seen_at_ms=now_ms)


def _heartbeat(log: Log, name: str, now_ms: int) -> None:
    if now_ms - log.seen_at_ms >= HEARTBEAT_MS:
        _advance(log, name, log.size, now_ms)
