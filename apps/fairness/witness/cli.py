"""The command line of ``sealdeck-witness``: make a witness, let it serve, show what it holds.

Source: docs/fairness/auditors.md, section Run a witness.  Listens on the loopback unless told otherwise.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from apps.fairness.protocol.errors import NoteError
from apps.fairness.protocol.notes import VerifierKey, cosign
from apps.fairness.protocol.signatures import KEY_BYTES
from apps.fairness.protocol.trust import TrustError, trust_read
from apps.fairness.witness.memory import Memory, MemoryFailed
from apps.fairness.witness.server import WitnessServer
from apps.fairness.witness.witness import Witness

PORT: Final = 8095

DESCRIPTION = """\
Cosign the checkpoints of public logs, so that nobody can be shown a log of his own.

  sealdeck-witness new my.witness --name witness.example/w1     key and memory; prints the verifier key
  sealdeck-witness serve my.witness --trust trust.json          answer logs at http://127.0.0.1:8095
  sealdeck-witness show my.witness                              what was cosigned, and what was refused
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        "sealdeck-witness", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = made.add_subparsers(dest="command", required=True)
    new = commands.add_parser("new", help="make a key and an empty memory, and print the verifier key")
    serve = commands.add_parser("serve", help="answer the logs that a trust file names")
    show = commands.add_parser("show", help="print key, newest checkpoints and refused ones as JSON")
    for command in (new, serve, show):
        command.add_argument("file", metavar="FILE", type=Path, help="key and memory of the witness")
    new.add_argument("--name", required=True, help="a name nobody else has: an address without https://, for example")
    serve.add_argument(
        "--trust", metavar="FILE", type=Path, action="append", required=True, help="a log's trust file; may be repeated"
    )
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    serve.add_argument("--port", type=int, default=PORT, help="port to listen on; 0 takes a free one (%(default)s)")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, or 2 where something could not be done."""
    given = parser().parse_args(arguments)
    try:
        if given.command == "new":
            _new(given.file, given.name)
        elif given.command == "show":
            _show(Memory(given.file))
        else:
            _serve(Memory(given.file), [_log_key(path) for path in given.trust], (given.host, given.port))
    except (MemoryFailed, TrustError, NoteError, OSError) as problem:
        sys.stderr.write(f"sealdeck-witness: {problem}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _new(path: Path, name: str) -> None:
    secret_key = secrets.token_bytes(KEY_BYTES)
    cosign(secret_key, name, b"", 0)  # Refuses a name that cannot stand in a note, before a file is made.
    print(Memory.new(path, name=name, secret_key=secret_key).identity.vkey)


def _show(memory: Memory) -> None:
    whole = {
        "vkey": str(memory.identity.vkey),
        "logs": [
            {"origin": row.origin, "size": row.size, "at_s": row.at_s, "checkpoint": row.note} for row in memory.logs()
        ],
        "refused": [
            {"origin": row.origin, "seen_s": row.seen_s, "checkpoint": row.note, "held": row.held}
            for row in memory.refused()
        ],
    }
    print(json.dumps(whole, indent=2, ensure_ascii=False))


def _log_key(path: Path) -> VerifierKey:
    try:
        return trust_read(path.read_bytes()).log
    except TrustError as problem:
        raise TrustError(f"{path}: {problem.detail}") from problem


def _serve(memory: Memory, logs: Sequence[VerifierKey], address: tuple[str, int]) -> None:
    witness = Witness(memory, logs)
    with WitnessServer(address, witness) as server:
        host, port = server.server_address[:2]
        print(f"{memory.identity.name} watches {', '.join(witness.origins)} at http://{host!s}:{port}", flush=True)
        server.serve_forever()
