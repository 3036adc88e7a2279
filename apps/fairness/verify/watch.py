"""``sealdeck-verify --log``: follow the public log of a server with a state file.

Protocol: docs/fairness/protocol.md, sections 11 and 13.  Reads checkpoint and entry bundles as C2SP tlog-tiles lays
them out; everything else is worked out from the entries themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from apps.fairness.protocol import tiles
from apps.fairness.protocol.errors import NoteError, ProtocolError, RecordError, TileError
from apps.fairness.protocol.hexes import unhex
from apps.fairness.protocol.log import HASH_BYTES
from apps.fairness.protocol.monitor import EntryFacts, LogMonitor, entry_facts, verify_log
from apps.fairness.protocol.notes import checkpoint_read
from apps.fairness.protocol.records import entry_read, key_id
from apps.fairness.protocol.trust import Trust
from apps.fairness.protocol.verdict import PASS, Verdict
from apps.fairness.verify.logstate import LogState, StateError
from apps.fairness.verify.progress import Progress
from apps.fairness.verify.sources import SourceError, fetch, log_address
from apps.fairness.verify.workers import in_order

_KEY_ENTRY = b'"type":"key"}'
"""How the canonical bytes of a key entry end."""
PARALLEL_FROM: Final = 4 * tiles.TILE_WIDTH
"""Fewer new entries than this are checked in one process."""


@dataclass(frozen=True, slots=True)
class Watched:
    """The result of one run."""

    origin: str
    size: int
    """Entries seen so far."""
    verdict: Verdict


def watch(*, base: str, state_path: str, trust: Trust | None, now_ms: int, jobs: int) -> Watched:
    """Fetch what is new in a log and check it against all that was seen before.

    Args:
        base: the server's address.
        now_ms: Unix time, milliseconds.
        jobs: number of processes.

    Raises:
        SourceError: the server cannot be reached, or sends what is not a log.
        StateError: the state file is none, or of another log.
    """
    url = log_address(base, "checkpoint")
    try:
        note = fetch(url).decode()
        checkpoint = checkpoint_read(note)
    except (UnicodeDecodeError, NoteError) as problem:
        raise SourceError(f"{url}: not a checkpoint") from problem
    state = LogState(state_path)
    try:
        origin = trust.log.name if trust is not None else state.facts().get("origin", checkpoint.origin)
        if state.facts().get("origin", origin) != origin:
            raise StateError(f"{state_path}: the state of another log, {state.facts()['origin']}")
        monitor = LogMonitor(origin=origin, trust=trust, state=state.load())
        if checkpoint.origin == origin:
            for facts in _new_facts(base, monitor, checkpoint.size, jobs):
                monitor.take(facts)
        monitor.checkpoint(note)
        monitor.last(note)
        monitor.overdue(now_ms)
        verdict = monitor.verdict()
        if verdict.verdict == PASS:
            state.keep(monitor, seen_ms=now_ms)
        else:
            state.keep_evidence(note, verdict.verdict, seen_ms=now_ms)
    finally:
        state.close()
    return Watched(origin, monitor.size, verdict)


def log_file_check(path: str, trust: Trust | None) -> Watched:
    """Check a log that somebody has kept in a file: ``{origin, entries, checkpoints: [{note, consistency}]}``.

    Entries are texts, proofs lists of hex.  Deadlines are left out: nobody says what time it is in a file.

    Raises:
        SourceError: the file cannot be read or is not of this form.
    """
    try:
        value = json.loads(Path(path).read_bytes())
        origin, entries = value["origin"], [entry.encode() for entry in value["entries"]]
        checkpoints = [
            (row["note"], [unhex(node, HASH_BYTES) for node in row["consistency"]]) for row in value["checkpoints"]
        ]
    except OSError as problem:
        raise SourceError(f"{path}: {problem.strerror or problem}") from problem
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, ProtocolError) as problem:
        raise SourceError(f"{path}: not a log of origin, entries and checkpoints") from problem
    verdict = verify_log(origin=origin, entries=entries, checkpoints=checkpoints, trust=trust)
    return Watched(str(origin), len(entries), verdict)


def _new_facts(base: str, monitor: LogMonitor, size: int, jobs: int) -> Iterator[EntryFacts]:
    new = size - monitor.size
    progress = Progress("entries", new)
    work = _batches(base, monitor, size)
    for batch in in_order(_facts, work, jobs if new >= PARALLEL_FROM else 1):
        yield from batch
        progress.add(len(batch))
    progress.end()


def _facts(batch: tuple[list[bytes], Mapping[str, bytes]]) -> list[EntryFacts]:
    entries, keys = batch
    return [entry_facts(entry, keys) for entry in entries]


def _batches(base: str, monitor: LogMonitor, size: int) -> Iterator[tuple[list[bytes], Mapping[str, bytes]]]:
    """Give the new entries with the keys that may have signed them.

    The keys announced among them are read ahead: whether each was valid at its entry is judged in order, later.
    """
    keys = dict(monitor.records_keys)
    at = monitor.size
    while at < size:
        number = at // tiles.TILE_WIDTH
        width = min(tiles.TILE_WIDTH, size - number * tiles.TILE_WIDTH)
        entries = _entries(base, number, width)[at - number * tiles.TILE_WIDTH :]
        for entry in entries:
            if entry.endswith(_KEY_ENTRY):
                keys |= _announced(entry)
        yield entries, dict(keys)
        at += len(entries)


def _announced(entry: bytes) -> dict[str, bytes]:
    try:
        record = entry_read(entry)
    except RecordError:
        return {}
    if record.type != "key" or record.body["use"] != "records":
        return {}
    public_key = bytes.fromhex(record.body["pk"])
    return {key_id(public_key): public_key}


def _entries(base: str, number: int, width: int) -> list[bytes]:
    """Return the first ``width`` entries of a bundle; a full one serves where the partial one is gone already."""
    url = log_address(base, tiles.tile_path(tiles.ENTRIES, number, width))
    try:
        try:
            data = fetch(url)
        except SourceError:
            if width == tiles.TILE_WIDTH:
                raise
            url = log_address(base, tiles.tile_path(tiles.ENTRIES, number))
            data = fetch(url)
        entries = tiles.bundle_decode(data)
    except TileError as problem:
        raise SourceError(f"{url}: {problem.detail}") from problem
    if len(entries) < width:
        raise SourceError(f"{url}: has {len(entries)} entries, not {width}")
    return entries[:width]
