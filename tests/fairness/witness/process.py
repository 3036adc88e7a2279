"""A real ``sealdeck-witness`` process on the loopback, and a log whose operator can tell different stories."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import httpx

from apps.fairness.protocol import log, notes, signatures
from apps.fairness.protocol.notes import VerifierKey
from apps.fairness.witness.memory import Memory

ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-m", "apps.fairness.witness"]
WAIT_S = 30


def run(*arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=check, timeout=WAIT_S)


class WitnessProcess:
    """A witness's file, and the process that serves it."""

    def __init__(self, folder: Path, trust: Sequence[Path], *, name: str = "witness.example/w1") -> None:
        self.file = folder / f"{name.replace('/', '-')}.witness"
        self.memory = Memory.new(self.file, name=name, secret_key=secrets.token_bytes(signatures.KEY_BYTES))
        self.key = self.memory.identity.vkey
        self.trust = list(trust)
        self.url = ""
        self._process: subprocess.Popen[str] | None = None

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve until the block ends; give the address."""
        self.start()
        try:
            yield self.url
        finally:
            self.kill()

    def start(self) -> None:
        """Start the process and wait until it listens."""
        chosen = [part for path in self.trust for part in ("--trust", str(path))]
        command = [*COMMAND, "serve", str(self.file), "--port", "0", *chosen]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().split()[-1]

    def kill(self) -> None:
        """End the process as a power cut would."""
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait(WAIT_S)
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None


class Story:
    """A log as its operator tells it; two stories of one origin are a split view."""

    def __init__(self, origin: str = "log.example/one", leaves: Iterable[bytes] = (), *, secret: bytes = b"") -> None:
        self.origin = origin
        self.secret = secret or sha256(origin.encode()).digest()
        self.tree = log.MemoryTree(map(log.leaf_hash, leaves))

    @property
    def key(self) -> VerifierKey:
        """The log's key."""
        return VerifierKey(self.origin, notes.TYPE_ED25519, signatures.public_key(self.secret))

    def trust_file(self, folder: Path) -> Path:
        """Write the log's trust file."""
        path = folder / f"{sha256(str(self.key).encode()).hexdigest()[:8]}.json"
        path.write_text(json.dumps({"log": str(self.key), "root": "ab" * 32, "witnesses": [], "quorum": 0}))
        return path

    def grow(self, count: int, word: str = "honest") -> Story:
        """Add entries."""
        for _ in range(count):
            self.tree.append(log.leaf_hash(f"{word} {len(self.tree)}".encode()))
        return self

    def note(self, size: int) -> str:
        """Return the signed checkpoint of a size."""
        return notes.checkpoint_sign(self.secret, self.origin, size, log.stored_root(self.tree, size))

    def request(self, old: int, size: int) -> bytes:
        """Return the body with which the log asks for a cosignature."""
        proof = log.consistency_path(self.tree, old, size) if old <= size else []
        return body(f"old {old}", [b64encode(node).decode() for node in proof], self.note(size))


def body(first: str, proof: Sequence[str], note: str) -> bytes:
    """Return the body of a request from its parts."""
    return "\n".join([first, *proof, "", note]).encode()


def ask(url: str, data: bytes) -> httpx.Response:
    """Ask a witness."""
    return httpx.post(f"{url}/add-checkpoint", content=data, timeout=WAIT_S, trust_env=False)
