"""What a witness must not forget, in one SQLite file: its key, the newest tree of every log, and proofs of cheating.

The key lives and dies with the memory, so that no copy of the key can cosign without knowing what it cosigned before.
Every change is on the disk before anybody learns of it, whatever kills the process; two processes on one file take
turns.  Never forgets a tree, and never goes back to a smaller one.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from apps.fairness.protocol.notes import TYPE_COSIGNATURE, VerifierKey
from apps.fairness.protocol.signatures import public_key

FORMAT: Final = "sealdeck-witness/1"
WAIT_S: Final = 5.0
"""Longest wait for the turn of another request."""
REFUSED_MAX: Final = 1000
"""Most refused checkpoints kept of one log."""

_TABLES = """
CREATE TABLE witness (format TEXT NOT NULL, name TEXT NOT NULL, secret_key BLOB NOT NULL);
CREATE TABLE cosigned (
    origin TEXT PRIMARY KEY, size INTEGER NOT NULL, root BLOB NOT NULL, note TEXT NOT NULL, at_s INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE refused (
    origin TEXT NOT NULL, note TEXT NOT NULL, held TEXT NOT NULL, seen_s INTEGER NOT NULL, PRIMARY KEY (origin, note)
) WITHOUT ROWID;
"""


class MemoryFailed(Exception):
    """The file is none of ours, exists already, or cannot be used."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who cosigns."""

    name: str
    secret_key: bytes

    @property
    def vkey(self) -> VerifierKey:
        """The key by which others know this witness."""
        return VerifierKey(self.name, TYPE_COSIGNATURE, public_key(self.secret_key))


@dataclass(frozen=True, slots=True)
class Held:
    """The newest checkpoint of a log that was cosigned."""

    origin: str
    size: int
    root: bytes
    note: str
    at_s: int
    """Unix time, seconds, at which it was cosigned last."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A checkpoint that the log signed and this witness did not, with the one it held then."""

    origin: str
    note: str
    held: str
    seen_s: int


class Turn:
    """The memory during one decision: nobody else reads or writes until it ends."""

    def __init__(self, file: sqlite3.Connection) -> None:
        self._file = file

    def held(self, origin: str) -> Held | None:
        """Return the newest checkpoint of a log that was cosigned."""
        row = self._file.execute("SELECT * FROM cosigned WHERE origin = ?", (origin,)).fetchone()
        return None if row is None else Held(*row)

    def hold(self, held: Held) -> None:
        """Put a checkpoint in the place of the one before."""
        row = (held.origin, held.size, held.root, held.note, held.at_s)
        self._file.execute("INSERT OR REPLACE INTO cosigned VALUES (?, ?, ?, ?, ?)", row)

    def refuse(self, refused: Refused) -> None:
        """Keep a proof of cheating, unless it is kept already or there are enough of them."""
        kept = "SELECT count(*) FROM refused WHERE origin = ?"
        if self._file.execute(kept, (refused.origin,)).fetchone()[0] < REFUSED_MAX:
            row = (refused.origin, refused.note, refused.held, refused.seen_s)
            self._file.execute("INSERT OR IGNORE INTO refused VALUES (?, ?, ?, ?)", row)


class Memory:
    """A witness's file."""

    def __init__(self, path: Path) -> None:
        """Take up a file.

        Raises:
            MemoryFailed: there is none, or it is not one of ours.
        """
        self._path = path
        if not path.is_file():
            raise MemoryFailed(f"{path}: there is no such file; make one with `new`")
        try:
            with self._open() as file:
                format_, name, secret_key = file.execute("SELECT format, name, secret_key FROM witness").fetchone()
        except (sqlite3.Error, TypeError) as problem:
            raise MemoryFailed(f"{path}: not the file of a witness") from problem
        if format_ != FORMAT:
            raise MemoryFailed(f"{path}: the file of another version")
        self.identity = Identity(name, secret_key)

    @classmethod
    def new(cls, path: Path, *, name: str, secret_key: bytes) -> Memory:
        """Make a file that only its owner can read.

        Raises:
            MemoryFailed: it exists already, or cannot be made.
        """
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as problem:
            raise MemoryFailed(f"{path}: {problem.strerror}") from problem
        with closing(sqlite3.connect(path)) as file, file:
            file.executescript(_TABLES)
            file.execute("INSERT INTO witness VALUES (?, ?, ?)", (FORMAT, name, secret_key))
        return cls(path)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # mode=rw: a file that went away is an error, never a fresh memory.
        uri = f"{self._path.resolve().as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, timeout=WAIT_S, isolation_level=None)) as file:
            file.execute("PRAGMA synchronous = EXTRA")
            yield file

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Decide alone; what was decided is on the disk when the block ends, or nothing of it."""
        with self._open() as file:
            file.execute("BEGIN IMMEDIATE")
            try:
                yield Turn(file)
            except BaseException:
                file.execute("ROLLBACK")
                raise
            file.execute("COMMIT")

    def logs(self) -> list[Held]:
        """Return the newest checkpoint of every log."""
        with self._open() as file:
            return [Held(*row) for row in file.execute("SELECT * FROM cosigned ORDER BY origin")]

    def refused(self) -> list[Refused]:
        """Return the proofs of cheating."""
        with self._open() as file:
            rows = file.execute("SELECT origin, note, held, seen_s FROM refused ORDER BY origin, seen_s, note")
            return [Refused(*row) for row in rows]
