"""The check of everything that fairness stored, against itself: entries, tree, checkpoints, rounds, seeds, statistics.

Implements the operator's side of docs/fairness/protocol.md, sections 2 to 6, 10 and 11, on stored rows.  Reads only,
goes through each table once in batches, and believes no stored hash: every one is worked out again from the bytes under
it.  What an auditor checks from outside is in apps.fairness.protocol.verify.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from apps.fairness import sealing, tallies
from apps.fairness.entries import Rules, Unfit
from apps.fairness.errors import KeysUnavailable, SealBroken
from apps.fairness.models import (
    Checkpoint,
    DeckOrder,
    FairRound,
    Generation,
    KeyUse,
    Log,
    Record,
    SigningKey,
    Stage,
    Tally,
    Tile,
)
from apps.fairness.protocol import beacon as beacon_rules
from apps.fairness.protocol import log as log_rules
from apps.fairness.protocol import notes, streams
from apps.fairness.protocol import records as record_rules
from apps.fairness.protocol.cards import CardTree, order_hash
from apps.fairness.protocol.errors import NoteError, ProtocolError
from apps.fairness.protocol.tiles import TILE_WIDTH, tile_encode

BATCH = 500
"""Rows read at a time."""
PENDING_MS = 10_000
"""A signed record that waits longer than this for the log's writer is a finding."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it must be."""

    code: str
    where: str
    detail: str


def check(*, now_ms: int) -> Iterator[Finding]:
    """Check everything.

    Args:
        now_ms: Unix time, milliseconds.
    """
    yield from log_check()
    yield from pending_check(now_ms=now_ms)
    yield from orders_check()
    yield from rounds_check()
    yield from tallies_check()


def log_check() -> Iterator[Finding]:
    """Check every entry, tile and checkpoint of the log, from its first entry on."""
    log = Log.objects.first()
    if log is None:
        yield Finding("log_missing", "log", "there is no log")
        return
    rules, frontier, size = Rules(), log_rules.Frontier(), 0
    tiles = _Tiles()
    checkpoints = _checkpoints(log)
    next_checkpoint = next(checkpoints, None)
    for batch in _merged():
        rules.prepare(batch, before=size)
        for record in batch:
            if record.log_index != size:
                yield Finding("log_index", f"entry {size}", f"the next entry has index {record.log_index}")
                return
            leaf = log_rules.leaf_hash(bytes(record.entry))
            try:
                rules.admit(record)
            except Unfit as problem:
                yield Finding("entry", f"entry {size}", str(problem))
            frontier.append(leaf)
            yield from tiles.add(leaf)
            size += 1
            if next_checkpoint is not None and next_checkpoint.size == size:
                yield from _checkpoint_check(log, next_checkpoint, frontier.root())
                next_checkpoint = next(checkpoints, None)
        rules.forget()
    if next_checkpoint is not None:
        yield Finding("checkpoint", f"checkpoint {next_checkpoint.size}", f"the log has only {size} entries")
    if log.size != size:
        yield Finding("log_size", "log", f"the log's row says {log.size}, there are {size} entries")
    yield from tiles.left()


def _merged() -> Iterator[list[Record]]:
    last = -1
    while True:
        rows = Record.objects.filter(log_index__gt=last).select_related("round").defer("round__seed_sealed")
        batch = list(rows.order_by("log_index")[:BATCH])
        if not batch:
            return
        yield batch
        last = batch[-1].log_index or 0


def _checkpoints(log: Log) -> Iterator[Checkpoint]:
    last = 0
    while True:
        batch = list(Checkpoint.objects.filter(size__gt=last).order_by("size")[:BATCH])
        if not batch:
            return
        yield from batch
        last = batch[-1].size


def _checkpoint_check(log: Log, checkpoint: Checkpoint, root: bytes) -> Iterator[Finding]:
    where = f"checkpoint {checkpoint.size}"
    if bytes(checkpoint.root) != root:
        yield Finding("checkpoint_root", where, "its root is not that of the entries")
    try:
        note = notes.checkpoint_read(checkpoint.note)
    except NoteError as problem:
        yield Finding("checkpoint_note", where, problem.detail)
        return
    if (note.origin, note.size, note.root) != (log.origin, checkpoint.size, bytes(checkpoint.root)):
        yield Finding("checkpoint_note", where, "its note says something else than its row")
    keys = SigningKey.objects.filter(use=KeyUse.LOG).values_list("public_key", flat=True)
    if not any(_signed(note, log.origin, bytes(key)) for key in keys):
        yield Finding("checkpoint_signature", where, "no key of the log signed it")


def _signed(note: notes.Checkpoint, origin: str, key: bytes) -> bool:
    try:
        notes.checkpoint_verify(note, notes.VerifierKey(origin, notes.TYPE_ED25519, key))
    except NoteError:
        return False
    return True


class _Tiles:
    """The full tiles that the leaves seen so far make, compared with the stored ones as they fill."""

    def __init__(self) -> None:
        self._levels: list[list[bytes]] = [[]]
        self._full: list[int] = [0]

    def add(self, leaf: bytes) -> Iterator[Finding]:
        """Add a leaf hash and compare every tile it fills."""
        level, node = 0, leaf
        while True:
            if level == len(self._levels):
                self._levels.append([])
                self._full.append(0)
            row = self._levels[level]
            row.append(node)
            if len(row) < TILE_WIDTH:
                return
            index = self._full[level]
            node = log_rules.tree_root(row)
            stored = Tile.objects.filter(level=level, index=index).first()
            if stored is None:
                yield Finding("tile_missing", f"tile {level}/{index}", "it is full and not stored")
            elif (bytes(stored.hashes), bytes(stored.root)) != (tile_encode(row), node):
                yield Finding("tile", f"tile {level}/{index}", "its hashes are not those of the entries")
            self._full[level] += 1
            self._levels[level] = []
            level += 1

    def left(self) -> Iterator[Finding]:
        """Compare the number of stored tiles with those that were filled."""
        stored = Counter(Tile.objects.values_list("level", flat=True))
        for level, full in enumerate(self._full):
            if stored.pop(level, 0) != full:
                yield Finding("tile_extra", f"level {level}", f"there are {full} full tiles, another number is stored")
        for level in stored:
            yield Finding("tile_extra", f"level {level}", "the log has no tile of this level")


def pending_check(*, now_ms: int) -> Iterator[Finding]:
    """Name records that a running log's writer left waiting; a stopped one merges nothing."""
    if Log.objects.filter(stopped_at_ms__isnull=False).exists():
        return
    late = Record.objects.filter(log_index__isnull=True, signed_at_ms__lt=now_ms - PENDING_MS).order_by("id")
    for record in late[:BATCH]:
        yield Finding("pending", f"record {record.pk}", f"a signed {record.type} record is not in the log")


def orders_check() -> Iterator[Finding]:
    """Check that every stored order is the one its hash names."""
    for row in DeckOrder.objects.iterator(BATCH):
        if order_hash(row.codes) != bytes(row.order_hash):
            yield Finding("order", bytes(row.order_hash).hex(), "the codes have another hash")


def rounds_check() -> Iterator[Finding]:
    """Check every round: its row against its records, its sealed seed, its deck and its generations."""
    rows = FairRound.objects.order_by("pk")
    batch = list(rows[:BATCH])
    while batch:
        for round_ in batch:
            yield from round_check(round_)
        batch = list(rows.filter(pk__gt=batch[-1].pk)[:BATCH])


def round_check(round_: FairRound) -> Iterator[Finding]:
    """Check one round."""
    where = f"round {round_.pk.hex}"
    records = {record.type: record for record in Record.objects.filter(round=round_)}
    bodies = {type_: _body(record) for type_, record in records.items()}
    known = {type_: body for type_, body in bodies.items() if body is not None}
    if len(known) != len(bodies):
        yield Finding("round_entry", where, "a record of it cannot be read")
        return
    for problem in _row_problems(round_, records):
        yield Finding("round_row", where, problem)
    try:
        seed = sealing.seed_open(
            bytes(round_.seed_sealed),
            table=round_.table_id.bytes,
            index=round_.index,
            seed_commit=bytes(round_.seed_commit),
        )
    except KeysUnavailable as problem:
        yield Finding("seed_key", where, f"its seed is sealed under a key that is not here: {problem.facts}")
        return
    except SealBroken:
        yield Finding("seed_sealed", where, "its sealed seed does not open")
        return
    if record_rules.seed_commitment(round_.table_id.bytes, round_.index, seed) != bytes(round_.seed_commit):
        yield Finding("seed_commit", where, "its seed does not give its commitment")
    for type_ in ("reveal", "void"):
        if type_ in known and known[type_]["seed"] != seed.hex():
            yield Finding("seed_revealed", where, f"the {type_} record shows another seed")
    if "deck" in known:
        yield from _deck_check(round_, known, seed, where)


def _body(record: Record) -> dict[str, Any] | None:
    """Return the body of a stored entry, or None where its bytes are no entry."""
    try:
        return record_rules.entry_read(bytes(record.entry)).body
    except ProtocolError:
        return None


def _row_problems(round_: FairRound, records: dict[str, Record]) -> Iterator[str]:
    """Compare the copies in a round's row with its records."""
    hashes = {type_: bytes(record.record_hash) for type_, record in records.items()}
    last = max(records.values(), key=lambda record: record.place, default=None)
    if last is None:
        yield "it has no record"
        return
    stage = Stage.ENDED if last.type in ("reveal", "void") else last.type
    facts = {
        "id": (round_.pk.bytes, record_rules.round_id(round_.table_id.bytes, round_.index)),
        "stage": (str(round_.stage), str(stage)),
        "last_hash": (bytes(round_.last_hash), bytes(last.record_hash)),
        "open_hash": (bytes(round_.open_hash), hashes.get("open")),
        "close_hash": (_bytes(round_.close_hash), hashes.get("close")),
        "deck_hash": (_bytes(round_.deck_hash), hashes.get("deck")),
    }
    for name, (stored, told) in facts.items():
        if stored != told:
            yield f"{name} is not that of its records"


def _deck_check(round_: FairRound, bodies: dict[str, dict[str, Any]], seed: bytes, where: str) -> Iterator[Finding]:
    """Deal the round again and compare opener, root and generations."""
    deck = bodies["deck"]
    codes = DeckOrder.objects.filter(pk=bytes.fromhex(deck["order_hash"])).values_list("codes", flat=True).first()
    if codes is None:
        yield Finding("order_missing", where, "its canonical order is not stored")
        return
    beacon = b""
    if deck["beacon"]:
        beacon = beacon_rules.beacon_bytes(
            bytes.fromhex(bodies["open"]["beacon"]["chain"]),
            bodies["close"]["beacon_round"],
            bytes.fromhex(deck["beacon"]),
        )
    schedule = streams.KeySchedule.derive(
        seed=seed,
        rows=[(row["seat"], bytes.fromhex(row["pk"]), bytes.fromhex(row["entropy"])) for row in deck["roster"]],
        round_=round_.pk.bytes,
        open_hash=bytes(round_.open_hash),
        close_hash=bytes.fromhex(deck["close"]),
        beacon=beacon,
    )
    salt_key = schedule.key(streams.CARD_SALT)
    dealt = schedule.chance().shuffle(streams.DECK, codes)
    if CardTree(round_=round_.pk.bytes, gen=0, cards=dealt, salt_key=salt_key).root.hex() != deck["root"]:
        yield Finding("deck_root", where, "the deck dealt again has another root")
    for row in Generation.objects.filter(round=round_).order_by("gen"):
        at = f"{where} generation {row.gen}"
        try:
            source = sealing.cards_open(bytes(row.source_sealed), round_id=round_.pk, gen=row.gen)
            chance = schedule.chance()
            returns = row.stream.startswith("start-return/")
            order = chance.insert_back(row.stream, source) if returns else chance.shuffle(row.stream, source)
            tree = CardTree(round_=round_.pk.bytes, gen=row.gen, cards=order, salt_key=salt_key)
        except (KeysUnavailable, SealBroken, ProtocolError) as problem:
            yield Finding("generation_source", at, f"its source cannot be read: {type(problem).__name__}")
            continue
        if (tree.root, len(order)) != (bytes(row.root), row.n):
            yield Finding("generation_root", at, "the order drawn again has another root")


def tallies_check() -> Iterator[Finding]:
    """Count all merged endings anew and compare."""
    counted: Counter[tallies.Key] = Counter()
    rows = Record.objects.filter(type__in=("reveal", "void"), log_index__isnull=False).select_related("round")
    for record in rows.iterator(BATCH):
        body = _body(record)
        if body is not None and record.round is not None:
            counted[tallies.key_of(record.type, body, record.round.game, record.round.entropy)] += 1
    stored = {
        (row.day, row.game, row.entropy, row.ending, row.stage, row.reason, row.fault): row.rounds
        for row in Tally.objects.all()
    }
    for key in sorted(counted.keys() | stored.keys()):
        if counted[key] != stored.get(key, 0):
            yield Finding(
                "tally", " ".join(map(str, key)), f"{counted[key]} rounds ended so, {stored.get(key, 0)} told"
            )


def _bytes(value: Any) -> bytes | None:
    return None if value is None else bytes(value)
