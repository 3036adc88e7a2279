"""C2SP signed notes: checkpoints of the log, keys that verify them, and the cosignatures of witnesses.

Protocol: docs/fairness/protocol.md, section 11 (C2SP signed-note, tlog-checkpoint and tlog-cosignature v1).  Never
trusts a key by itself: the caller says which keys count.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from apps.fairness.protocol import signatures
from apps.fairness.protocol.canonical import INTEGER_MAX
from apps.fairness.protocol.errors import NoteError
from apps.fairness.protocol.frames import u64

NOTE_CHARACTERS_MAX: Final = 8192
"""Longest checkpoint, in characters."""
ORIGIN_CHARACTERS_MAX: Final = 128
"""Longest name of a log."""
TYPE_ED25519: Final = 0x01
"""Key of a log."""
TYPE_COSIGNATURE: Final = 0x04
"""Key of a witness."""

_LINE_START = "\u2014 "
_size = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII).fullmatch
_origin = re.compile(r"[!-*,-~]{1,128}", re.ASCII).fullmatch
_control = re.compile(r"[\x00-\x09\x0b-\x1f]").search
_space = re.compile(r"\s|\+").search


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key with the name under which it signs notes."""

    name: str
    type: int
    public_key: bytes

    @property
    def id(self) -> bytes:
        """The four bytes that signature lines carry."""
        return key_id(self.name, self.type, self.public_key)

    def __str__(self) -> str:
        data = b64encode(bytes((self.type,)) + self.public_key).decode()
        return f"{self.name}+{self.id.hex()}+{data}"


@dataclass(frozen=True, slots=True)
class SignatureLine:
    """One signature line of a note."""

    name: str
    key_id: bytes
    signature: bytes
    """What follows the key id: for a witness the time and then the signature."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A note that says which tree a log has; not yet believed."""

    origin: str
    size: int
    root: bytes
    body: bytes
    """What the log signs and witnesses cosign."""
    lines: tuple[SignatureLine, ...]


@dataclass(frozen=True, slots=True)
class Cosignature:
    """A cosignature that verifies."""

    witness: VerifierKey
    time_s: int
    """Unix time, seconds, at which the witness saw the checkpoint."""


def is_origin(value: Any) -> bool:
    """Tell whether a value may name a log: 1 to 128 printable ASCII characters without space and ``+``."""
    return type(value) is str and _origin(value) is not None


def key_id(name: str, type_: int, public_key: bytes) -> bytes:
    """Return the four bytes that name a key in signature lines.

    Source: C2SP signed-note.
    """
    return sha256(name.encode() + b"\n" + bytes((type_,)) + public_key).digest()[:4]


def vkey_read(text: Any, type_: int) -> VerifierKey:
    """Read ``name+hex(key id)+base64(type || pk)``.

    Args:
        type_: the type the key must have.

    Raises:
        NoteError: malformed, of another type, or the key id is not that of the key.
    """
    if type(text) is not str or len(text) > 4 * ORIGIN_CHARACTERS_MAX:
        raise NoteError("a verifier key is a text")
    name, _, rest = text.partition("+")
    ident, _, data = rest.partition("+")
    raw = base64_read(data)
    if not name or _space(name) or len(raw) != 1 + signatures.KEY_BYTES or raw[0] != type_:
        raise NoteError("a verifier key is name+hex+base64 of its type and 32 bytes")
    key = VerifierKey(name, type_, raw[1:])
    try:
        if key.id.hex() != ident:
            raise NoteError("the id of a verifier key is not that of its key")
    except UnicodeEncodeError as problem:
        raise NoteError("the name of a verifier key is not UTF-8") from problem
    return key


def checkpoint_body(origin: str, size: int, root: bytes) -> bytes:
    """Return what a log signs.

    Raises:
        NoteError: the origin, the size or the root cannot stand in a checkpoint.
    """
    if not is_origin(origin) or not 0 <= size <= INTEGER_MAX or len(root) != 32:
        raise NoteError("a checkpoint has an origin, a size and a root of 32 bytes")
    return f"{origin}\n{size}\n{b64encode(root).decode()}\n".encode()


def checkpoint_sign(secret_key: bytes, origin: str, size: int, root: bytes) -> str:
    """Return a signed checkpoint.

    Args:
        secret_key: 32 bytes of the log's Ed25519 key.

    Raises:
        NoteError: the origin, the size or the root cannot stand in a checkpoint.
    """
    body = checkpoint_body(origin, size, root)
    ident = key_id(origin, TYPE_ED25519, signatures.public_key(secret_key))
    return body.decode() + "\n" + _line(origin, ident + signatures.sign(secret_key, body))


def checkpoint_read(note: Any) -> Checkpoint:
    """Read a checkpoint without believing it.

    Raises:
        NoteError: not a note, or its text is not origin, size and root.
    """
    if type(note) is not str or len(note) > NOTE_CHARACTERS_MAX or _control(note):
        raise NoteError("a checkpoint is a text of at most 8192 characters without control characters")
    text, blank, tail = note.rpartition("\n\n")
    if not blank or not tail.endswith("\n"):
        raise NoteError("a note is a text, an empty line and signature lines")
    fields = text.split("\n")
    if len(fields) != 3:
        raise NoteError("the text of a checkpoint has three lines")
    origin, size, root = fields
    if not is_origin(origin) or not _size(size) or int(size) > INTEGER_MAX:
        raise NoteError("a checkpoint begins with its origin and its size")
    raw = base64_read(root)
    if len(raw) != 32:
        raise NoteError("the root of a checkpoint has 32 bytes")
    lines = tuple(_line_read(line) for line in tail[:-1].split("\n"))
    return Checkpoint(origin, int(size), raw, f"{text}\n".encode(), lines)


def checkpoint_verify(checkpoint: Checkpoint, key: VerifierKey) -> None:
    """Check that the log with this key signed a checkpoint.

    Raises:
        NoteError: it is another log's, or a line of the key does not verify, or there is none.
    """
    if checkpoint.origin != key.name:
        raise NoteError(f"the checkpoint is of the log {checkpoint.origin!r}")
    ident, signed = key.id, False
    for line in checkpoint.lines:
        if line.name == key.name and line.key_id == ident:
            if not signatures.verify(key.public_key, checkpoint.body, line.signature):
                raise NoteError("a signature of the log does not verify")
            signed = True
    if not signed:
        raise NoteError("the checkpoint is not signed with the log's key")


def checkpoint_verify_any(checkpoint: Checkpoint, keys: Iterable[VerifierKey]) -> None:
    """Check that a log with several keys, as during a hand-over, signed a checkpoint with at least one of them.

    Raises:
        NoteError: none of the keys signed it, or a line of one does not verify.
    """
    named = {(line.name, line.key_id) for line in checkpoint.lines}
    signers = [key for key in keys if (key.name, key.id) in named]
    if not signers:
        raise NoteError("the checkpoint is not signed with a key of the log")
    for key in signers:
        checkpoint_verify(checkpoint, key)


def cosignature_message(body: bytes, time_s: int) -> bytes:
    """Return what a witness signs.

    Args:
        body: the checkpoint's text.
        time_s: Unix time, seconds.

    Source: C2SP tlog-cosignature, cosignature/v1.
    """
    return f"cosignature/v1\ntime {time_s}\n".encode() + body


def cosign(secret_key: bytes, name: str, body: bytes, time_s: int) -> str:
    """Return the line with which a witness cosigns a checkpoint; it goes at the end of the note.

    Raises:
        NoteError: the name cannot stand in a note.
    """
    if not name or _space(name) or _control(name):
        raise NoteError("the name of a witness has no spaces and no +")
    ident = key_id(name, TYPE_COSIGNATURE, signatures.public_key(secret_key))
    signature = signatures.sign(secret_key, cosignature_message(body, time_s))
    return _line(name, ident + u64(time_s) + signature)


def cosignatures(checkpoint: Checkpoint, witnesses: Iterable[VerifierKey]) -> tuple[Cosignature, ...]:
    """Return the valid cosignatures of the given witnesses, at most one for each key: its earliest."""
    found: dict[bytes, Cosignature] = {}
    for witness in witnesses:
        ident = witness.id
        for line in checkpoint.lines:
            if line.name != witness.name or line.key_id != ident or len(line.signature) != 72:
                continue
            time_s = int.from_bytes(line.signature[:8], "big")
            known = found.get(witness.public_key)
            if known is not None and known.time_s <= time_s:
                continue
            message = cosignature_message(checkpoint.body, time_s)
            if signatures.verify(witness.public_key, message, line.signature[8:]):
                found[witness.public_key] = Cosignature(witness, time_s)
    return tuple(found.values())


def _line(name: str, data: bytes) -> str:
    return f"{_LINE_START}{name} {b64encode(data).decode()}\n"


def _line_read(line: str) -> SignatureLine:
    name, space, data = line.removeprefix(_LINE_START).partition(" ")
    if not line.startswith(_LINE_START) or not name or not space or _space(name):
        raise NoteError("a signature line is a dash, a name and base64")
    raw = base64_read(data)
    if len(raw) < 5:
        raise NoteError("a signature line holds a key id and a signature")
    return SignatureLine(name, raw[:4], raw[4:])


def base64_read(text: str) -> bytes:
    """Read base64 that is written in the one canonical way.

    Raises:
        NoteError: it is not.
    """
    try:
        raw = b64decode(text, validate=True)
    except (Base64Error, ValueError) as problem:
        raise NoteError("not base64") from problem
    if b64encode(raw).decode() != text:
        raise NoteError("not canonical base64")
    return raw
