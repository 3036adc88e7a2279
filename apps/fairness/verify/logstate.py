"""The state file of the log monitor: what earlier runs saw, kept in SQLite.

Whoever keeps this file can prove that a log was rewritten.  Never changes what it kept, except to add to it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Final

from apps.fairness.protocol.log import HASH_BYTES, Frontier
from apps.fairness.protocol.monitor import LogMonitor, MonitorState, Running, TableState

FORMAT: Final = "sealdeck-log-state/1"

_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS key_entries (entry_index INTEGER PRIMARY KEY, entry BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tables (
    id TEXT PRIMARY KEY, round_index INTEGER NOT NULL, terminal TEXT NOT NULL, last_opener INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS running (round TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS seeds (seed TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS checkpoints (seen_ms INTEGER NOT NULL, verdict TEXT NOT NULL, note TEXT NOT NULL);
"""


class StateError(Exception):
    """The state file is none, or of another log."""


class LogState:
    """A state file."""

    def __init__(self, path: str) -> None:
        """Open or make the file.

        Raises:
            StateError: the file is not a state file of this format.
        """
        try:
            self._file = sqlite3.connect(path, isolation_level=None)
            with self._whole():
                for statement in _TABLES.split(";"):
                    self._file.execute(statement)
                facts = self.facts()
                if facts.get("format", FORMAT) != FORMAT:
                    raise StateError(f"{path}: a state file of another format")
                self._put("format", FORMAT)
        except sqlite3.Error as problem:
            raise StateError(f"{path}: {problem}") from problem

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Write all of it or nothing."""
        self._file.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._file.execute("ROLLBACK")
            raise
        self._file.execute("COMMIT")

    def facts(self) -> dict[str, str]:
        """Return the single facts of the file."""
        return dict(self._file.execute("SELECT name, value FROM facts"))

    def _put(self, name: str, value: str) -> None:
        self._file.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def load(self) -> MonitorState:
        """Return what earlier runs saw.

        Raises:
            StateError: the file is damaged.
        """
        facts, run = self.facts(), self._file.execute
        try:
            size = int(facts.get("size", "0"))
            peaks = bytes.fromhex(facts.get("peaks", ""))
            nodes = [peaks[at : at + HASH_BYTES] for at in range(0, len(peaks), HASH_BYTES)]
            return MonitorState(
                frontier=Frontier(size, nodes),
                key_entries=list(run("SELECT entry_index, entry FROM key_entries ORDER BY entry_index")),
                tables={
                    id_: TableState(index, terminal, last_opener)
                    for id_, index, terminal, last_opener in run(
                        "SELECT id, round_index, terminal, last_opener FROM tables"
                    )
                },
                running={
                    round_: Running(**json.loads(state)) for round_, state in run("SELECT round, state FROM running")
                },
                seeds={seed for (seed,) in run("SELECT seed FROM seeds")},
                checkpoint=facts.get("checkpoint", ""),
            )
        except (ValueError, TypeError, sqlite3.Error) as problem:
            raise StateError(f"the state file is damaged: {problem}") from problem

    def keep(self, monitor: LogMonitor, *, seen_ms: int) -> None:
        """Keep what a run that passed has seen.

        Args:
            seen_ms: Unix time of the run, milliseconds.
        """
        state, run = monitor.state, self._file.executemany
        with self._whole():
            self._put("origin", monitor.origin)
            self._put("size", str(state.frontier.size))
            self._put("peaks", b"".join(state.frontier.peaks).hex())
            self._put("checkpoint", state.checkpoint)
            run("INSERT OR IGNORE INTO key_entries VALUES (?, ?)", state.key_entries)
            rows = [(id_, state.tables[id_]) for id_ in monitor.changed_tables]
            run(
                "INSERT OR REPLACE INTO tables VALUES (?, ?, ?, ?)",
                [(id_, row.index, row.terminal, row.last_opener) for id_, row in rows],
            )
            self._file.execute("DELETE FROM running")
            run(
                "INSERT INTO running VALUES (?, ?)",
                [(round_, json.dumps(asdict(row))) for round_, row in state.running.items()],
            )
            run("INSERT OR IGNORE INTO seeds VALUES (?)", [(seed,) for seed in monitor.new_seeds])
            self._checkpoint(state.checkpoint, "pass", seen_ms)

    def keep_evidence(self, note: str, verdict: str, *, seen_ms: int) -> None:
        """Keep the checkpoint of a run that failed, and nothing else of it."""
        with self._whole():
            self._checkpoint(note, verdict, seen_ms)

    def _checkpoint(self, note: str, verdict: str, seen_ms: int) -> None:
        self._file.execute("INSERT INTO checkpoints VALUES (?, ?, ?)", (seen_ms, verdict, note))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
