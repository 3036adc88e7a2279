"""The body of an ``add-checkpoint`` request, read strictly.

Protocol: C2SP tlog-witness, add-checkpoint.  Believes nothing of what it reads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from apps.fairness.protocol import notes
from apps.fairness.protocol.errors import NoteError
from apps.fairness.protocol.log import HASH_BYTES

BODY_BYTES_MAX: Final = 32_768
"""Longest body: a note of 8192 characters, of up to three bytes each, and the longest proof."""
PROOF_MAX: Final = 63
"""Most hashes of a consistency proof."""

_old_line = re.compile(r"old (0|[1-9][0-9]{0,15})", re.ASCII).fullmatch


@dataclass(frozen=True, slots=True)
class AddCheckpoint:
    """A wish that a checkpoint be cosigned."""

    old: int
    """The size from which the proof leads to the checkpoint."""
    proof: tuple[bytes, ...]
    note: str
    checkpoint: notes.Checkpoint


def add_checkpoint_read(body: bytes) -> AddCheckpoint:
    """Read a request.

    Raises:
        NoteError: it is not lines of old size and proof, an empty line, and a checkpoint.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as problem:
        raise NoteError("a request is UTF-8") from problem
    head, _, note = text.partition("\n\n")
    first, *lines = head.split("\n")
    old = _old_line(first)
    if old is None or len(lines) > PROOF_MAX:
        raise NoteError("a request begins with the old size and at most 63 lines of a proof")
    proof = tuple(notes.base64_read(line) for line in lines)
    if any(len(node) != HASH_BYTES for node in proof):
        raise NoteError("a line of the proof is a hash of 32 bytes")
    return AddCheckpoint(int(old[1]), proof, note, notes.checkpoint_read(note))
