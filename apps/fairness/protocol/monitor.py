"""The whole log: every entry and every checkpoint followed in order, as a monitor does.

Protocol: docs/fairness/protocol.md, section 13, the whole log.  Never fetches anything and reads no clock; what a run
learned is kept in ``MonitorState``, so that the next one takes up where it ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.fairness.protocol import limits, signatures
from apps.fairness.protocol.errors import NoteError, RecordError
from apps.fairness.protocol.keyring import KeyRing
from apps.fairness.protocol.log import Frontier, consistency_verify, leaf_hash
from apps.fairness.protocol.notes import (
    TYPE_ED25519,
    Checkpoint,
    VerifierKey,
    checkpoint_read,
    checkpoint_verify,
    checkpoint_verify_any,
    cosignatures,
)
from apps.fairness.protocol.records import Signed, entry_read, key_id, round_id, seed_commitment
from apps.fairness.protocol.trust import Trust
from apps.fairness.protocol.verdict import Findings, Verdict

_KEPT = {
    "open": ("table", "index", "round", "prev", "seed_commit", "entropy", "beacon", "last_opener", "opened_ms"),
    "close": ("round", "open", "beacon_round", "closed_ms"),
    "deck": ("round", "open", "close", "opener", "dealt_ms"),
    "reveal": ("round", "deck", "seed"),
    "void": ("round", "last", "stage", "seed"),
    "key": (),
}
"""Type of a record to the members that the log as a whole is checked by."""


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """What the log as a whole needs to know of one entry; worked out without any other, so by any process."""

    leaf: bytes
    problem: str | None
    """What is wrong with its form; then the rest is empty."""
    type: str = ""
    hash: str = ""
    kid: str = ""
    signed: bool | None = None
    """Whether the signature verifies; None where the key was not among the given ones."""
    body: Mapping[str, Any] = field(default_factory=dict)
    key: Signed | None = None
    """The whole record where it is a key record."""


def entry_facts(data: bytes, keys: Mapping[str, bytes]) -> EntryFacts:
    """Read one log entry and check its signature where its key is given.

    Args:
        keys: key id to public key of the records keys that may sign it.
    """
    leaf = leaf_hash(data)
    try:
        record = entry_read(data)
    except RecordError as problem:
        return EntryFacts(leaf, problem.detail)
    if record.type == "key":
        return EntryFacts(leaf, None, "key", record.hash_hex, record.kid, key=record)
    public_key = keys.get(record.kid)
    signed = None
    if public_key is not None:
        signed = signatures.verify(public_key, record.message, bytes.fromhex(record.sig))
    body = {name: record.body[name] for name in _KEPT[record.type]}
    return EntryFacts(leaf, None, record.type, record.hash_hex, record.kid, signed, body)


@dataclass(slots=True)
class Running:
    """A round that has no terminal record yet."""

    table: str
    index: int
    seed_commit: str
    closes: bool
    """Whether a close record comes after the open record."""
    beacon: dict[str, Any] | None
    open_hash: str
    last_type: str
    last_hash: str
    close_hash: str
    due_ms: int
    """When the next record is due, Unix milliseconds."""


@dataclass(slots=True)
class TableState:
    """Where a table's chain of rounds stands."""

    index: int
    """Index of the latest round."""
    terminal: str
    """Hash of its terminal record; empty while it runs."""
    last_opener: int | None
    """Opener of the latest dealt round."""


@dataclass(slots=True)
class MonitorState:
    """All that a monitor knows after the entries it has seen."""

    frontier: Frontier = field(default_factory=Frontier)
    key_entries: list[tuple[int, bytes]] = field(default_factory=list)
    """Index and bytes of every well-formed key entry."""
    tables: dict[str, TableState] = field(default_factory=dict)
    running: dict[str, Running] = field(default_factory=dict)
    """Round id to round."""
    seeds: set[str] = field(default_factory=set)
    """Every seed revealed so far."""
    checkpoint: str = ""
    """The newest checkpoint that passed; empty before the first."""


class LogMonitor:
    """Follows a log entry by entry and checkpoint by checkpoint."""

    def __init__(self, *, origin: str, trust: Trust | None = None, state: MonitorState | None = None) -> None:
        """Begin, or take up a log where an earlier run left it.

        Args:
            origin: name of the log.
            trust: what to believe; None takes the keys from the log.
            state: where the last run ended.
        """
        self.origin = origin
        self.trust = trust
        self.state = state if state is not None else MonitorState()
        self.findings = Findings()
        self.ring = KeyRing(trust.root if trust else None)
        self.records_keys: dict[str, bytes] = {}
        """Key id to public key of every records key seen so far, the revoked ones too."""
        for index, data in self.state.key_entries:
            self._key(entry_read(data), index)
        self._newest: Checkpoint | None = checkpoint_read(self.state.checkpoint) if self.state.checkpoint else None
        self.new_seeds: list[str] = []
        """Seeds revealed since this monitor began."""
        self.changed_tables: set[str] = set()
        """Tables with a record since this monitor began."""

    @property
    def size(self) -> int:
        """Number of entries seen."""
        return self.state.frontier.size

    def entry(self, data: bytes) -> None:
        """Take the next entry from its exact bytes."""
        self.take(entry_facts(data, self.records_keys))

    def take(self, facts: EntryFacts) -> None:
        """Take the next entry from what was worked out about it."""
        index = self.size
        self.state.frontier.append(facts.leaf)
        where = f"entry {index}"
        if facts.problem is not None:
            self._fail("log_entry", where, facts.problem)
            return
        if facts.key is not None:
            problem = self._key(facts.key, index)
            self.state.key_entries.append((index, facts.key.entry))
            if problem is not None:
                self._fail("log_entry", where, problem)
            return
        if not self._signed(facts, index, where):
            return
        self._record(facts, where)

    def _fail(self, code: str, where: str, text: str) -> None:
        self.findings.fail(code, where, text)

    def _key(self, record: Signed, index: int) -> str | None:
        problem = self.ring.apply(record, index)
        if record.body["use"] == "records":
            public_key = bytes.fromhex(record.body["pk"])
            self.records_keys[key_id(public_key)] = public_key
        return problem

    def _signed(self, facts: EntryFacts, index: int, where: str) -> bool:
        key, wrong = self.ring.records_key(facts.kid, index)
        if wrong is not None:
            text = "was revoked earlier" if wrong == "key_revoked" else "was not added before"
            self._fail("log_entry", where, f"the key {facts.kid} {text}")
            return key is not None and bool(facts.signed)
        if not facts.signed:
            self._fail("log_entry", where, f"not the signature of key {facts.kid} over this {facts.type} record")
            return False
        return True

    def _record(self, facts: EntryFacts, where: str) -> None:
        if facts.type == "open":
            self._open(facts, where)
            return
        body, state = facts.body, self.state
        running = state.running.get(body["round"])
        if running is None:
            text = f"a {facts.type} record of a round that has ended or was never opened"
            self._fail("log_sequence", where, text)
            return
        problem = _sequence_problem(running, facts)
        if problem is not None:
            self._fail("log_sequence", where, problem)
            return
        running.last_type, running.last_hash = facts.type, facts.hash
        self.changed_tables.add(running.table)
        if facts.type == "close":
            running.close_hash = facts.hash
            due_ms = limits.close_deadline_ms(body["closed_ms"], running.beacon, body["beacon_round"])
            running.due_ms = body["closed_ms"] + limits.OPEN_MS if due_ms is None else due_ms
        elif facts.type == "deck":
            running.due_ms = body["dealt_ms"] + limits.DECK_MS
            state.tables[running.table].last_opener = body["opener"]
        else:
            self._terminal(running, facts, where)

    def _open(self, facts: EntryFacts, where: str) -> None:
        body, state = facts.body, self.state
        table = state.tables.get(body["table"])
        if round_id(bytes.fromhex(body["table"]), body["index"]).hex() != body["round"]:
            self._fail("log_sequence", where, "the round id is not the one of its table and index")
            return
        expected = 0 if table is None else table.index + 1
        if body["index"] != expected or (table is not None and not table.terminal):
            text = f"index {body['index']} is opened; the table's next index is {expected}"
            if table is not None and not table.terminal:
                text = f"index {body['index']} is opened while index {table.index} runs"
            self._fail("log_index", where, text)
        if body["index"] == expected:
            last_opener = table.last_opener if table is not None else None
            prev = table.terminal if table is not None else ""
            if body["prev"] != prev and (table is None or table.terminal):
                self._fail("log_prev", where, "prev is not the hash of the terminal record before")
            elif body["last_opener"] != last_opener:
                self._fail("log_prev", where, f"the table's latest dealt round was opened by {last_opener}")
        # What comes after a wrong index is judged by what it says itself.
        state.tables[body["table"]] = TableState(
            body["index"], "", table.last_opener if table is not None else body["last_opener"]
        )
        state.running[body["round"]] = Running(
            table=body["table"],
            index=body["index"],
            seed_commit=body["seed_commit"],
            closes=body["entropy"] == "sealed" or body["beacon"] is not None,
            beacon=body["beacon"],
            open_hash=facts.hash,
            last_type="open",
            last_hash=facts.hash,
            close_hash="",
            due_ms=body["opened_ms"] + limits.OPEN_MS,
        )
        self.changed_tables.add(body["table"])

    def _terminal(self, running: Running, facts: EntryFacts, where: str) -> None:
        state, round_, seed = self.state, facts.body["round"], facts.body["seed"]
        commitment = seed_commitment(bytes.fromhex(running.table), running.index, bytes.fromhex(seed))
        if commitment.hex() != running.seed_commit:
            self._fail("log_seed", where, "the seed does not give the commitment of its open record")
        elif seed in state.seeds:
            self._fail("log_seed", where, "the seed was used before")
        state.seeds.add(seed)
        self.new_seeds.append(seed)
        del state.running[round_]
        table = state.tables[running.table]
        if table.index == running.index:
            table.terminal = facts.hash

    def checkpoint(self, note: str, consistency: Sequence[bytes] | None = None) -> Checkpoint | None:
        """Take the next checkpoint; the entries below its size were taken before.

        Args:
            consistency: proof that it extends the one before; None where the entries themselves show it.

        Returns:
            The checkpoint; None where it is malformed or not the log's.
        """
        try:
            checkpoint = checkpoint_read(note)
            if checkpoint.origin != self.origin:
                raise NoteError(f"the checkpoint is of the log {checkpoint.origin!r}")
            self._log_signed(checkpoint)
        except NoteError as problem:
            self._fail("log_checkpoint", f"checkpoint after entry {self.size}", problem.detail)
            return None
        where = f"checkpoint of size {checkpoint.size}"
        if checkpoint.size > self.size:
            text = f"the log has {self.size} entries here"
            self._fail("log_root", where, text)
        elif checkpoint.size == self.size and checkpoint.root != self.state.frontier.root():
            self._fail("log_root", where, f"the root of the entries is {self.state.frontier.root().hex()}")
        before = self._newest
        if before is not None and not _extends(before, checkpoint, consistency):
            self._fail("log_consistency", where, f"it does not extend the checkpoint of size {before.size}")
        self._newest = checkpoint
        self.state.checkpoint = note
        return checkpoint

    def _log_signed(self, checkpoint: Checkpoint) -> None:
        if self.trust is not None:
            checkpoint_verify(checkpoint, self.trust.log)
            return
        keys = [VerifierKey(self.origin, TYPE_ED25519, key) for key in self.ring.log_keys()]
        checkpoint_verify_any(checkpoint, keys)

    def last(self, note: str | None = None) -> None:
        """Check the quorum on the newest checkpoint.

        Args:
            note: the newest checkpoint where it did not pass; None takes the newest one that did.
        """
        trust = self.trust
        if trust is None or not trust.quorum:
            return
        text = note if note is not None else self.state.checkpoint
        try:
            have = len(cosignatures(checkpoint_read(text), trust.witnesses)) if text else 0
        except NoteError:
            have = 0
        if have < trust.quorum:
            self._fail("log_witness", "last checkpoint", f"{have} of {trust.quorum} trusted witnesses cosigned it")

    def overdue(self, now_ms: int) -> None:
        """Check that no round waits for its next record past the deadline.

        Args:
            now_ms: Unix time, milliseconds.
        """
        late = [
            (running.due_ms, round_, running)
            for round_, running in self.state.running.items()
            if now_ms > running.due_ms + limits.MERGE_MS
        ]
        if late:
            due_ms, round_, running = min(late, key=lambda row: (row[0], row[1]))
            text = f"after its {running.last_type} record nothing came for {now_ms - due_ms} ms past the deadline"
            more = f"; {len(late) - 1} more rounds are overdue" if len(late) > 1 else ""
            self._fail("log_overdue", f"round {round_}", text + more)

    def verdict(self) -> Verdict:
        """Return the verdict on what was seen."""
        if self.trust is None:
            self.findings.note("no trust file: this shows only that the log agrees with itself")
        return self.findings.verdict(None)


def _sequence_problem(running: Running, facts: EntryFacts) -> str | None:
    body, type_, last = facts.body, facts.type, running.last_type
    allowed = {
        "open": ("close", "void") if running.closes else ("deck", "void"),
        "close": ("deck", "void"),
        "deck": ("reveal", "void"),
    }[last]
    if type_ not in allowed:
        return f"a {type_} record after the {last} record of its round"
    links = {
        "close": {"open": running.open_hash},
        "deck": {"open": running.open_hash, "close": running.close_hash},
        "reveal": {"deck": running.last_hash},
        "void": {"last": running.last_hash, "stage": last},
    }[type_]
    for name, value in links.items():
        if body[name] != value:
            return f"{name} of the {type_} record is not {value or 'empty'}"
    return None


def _extends(before: Checkpoint, after: Checkpoint, consistency: Sequence[bytes] | None) -> bool:
    if after.size < before.size:
        return False
    if consistency is None:
        return after.size > before.size or after.root == before.root
    return consistency_verify(before.size, after.size, before.root, after.root, consistency)


def verify_log(
    *,
    origin: str,
    entries: Iterable[bytes],
    checkpoints: Iterable[tuple[str, Sequence[bytes]]],
    trust: Trust | None = None,
    now_ms: int | None = None,
) -> Verdict:
    """Check a whole log.

    Args:
        entries: exact bytes of all entries in order.
        checkpoints: every checkpoint in order, with the proof that it extends the one before.
        now_ms: Unix time, milliseconds; None leaves deadlines unchecked.

    Source: docs/fairness/protocol.md, section 13, the whole log.
    """
    monitor = LogMonitor(origin=origin, trust=trust)
    waiting = iter(entries)
    newest = ""
    for note, consistency in checkpoints:
        newest = note
        try:
            size = checkpoint_read(note).size
        except NoteError:
            size = 0
        while monitor.size < size:
            data = next(waiting, None)
            if data is None:
                break
            monitor.entry(data)
        monitor.checkpoint(note, consistency)
    monitor.last(newest)
    if next(waiting, None) is not None:
        monitor.findings.note("entries after the last checkpoint were not looked at")
    if now_ms is not None:
        monitor.overdue(now_ms)
    return monitor.verdict()
