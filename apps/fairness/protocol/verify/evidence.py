"""Forms, keys, signatures and the log: whether what a bundle shows was signed and logged.

Protocol: docs/fairness/protocol.md, section 13, codes record_form to log_order.  Never looks at what a record means.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from apps.fairness.protocol import canonical, signatures
from apps.fairness.protocol.errors import CanonicalError, NoteError, RecordError, VersionError
from apps.fairness.protocol.keyring import KeyRing
from apps.fairness.protocol.log import inclusion_verify, leaf_hash
from apps.fairness.protocol.notes import (
    TYPE_ED25519,
    Checkpoint,
    Cosignature,
    VerifierKey,
    checkpoint_read,
    checkpoint_verify,
    cosignatures,
)
from apps.fairness.protocol.records import Signed, signed_from_object
from apps.fairness.protocol.verify.context import Round

_OPTIONS_NESTING = 4
"""Objects and lists of a bundle around the options of its open record."""


class FormFailed(Exception):
    """The records cannot be read; the check ends here."""


def records_read(round_: Round) -> None:
    """Read keys and records, code ``record_form``.

    Raises:
        VersionError: a record is of another version.
        FormFailed: a record is not of its form; the finding is kept.
    """
    value = round_.bundle.value
    versions = [_version(entry) for entry in (*value["records"], *value["keys"])]
    if any(versions):
        raise VersionError(next(text for text in versions if text))
    try:
        where = "keys"
        round_.keys = _keys_read(canonical.encode_checked(value["keys"]))
        where = "records"
        records = []
        for number, entry in enumerate(value["records"]):
            where = f"records[{number}]"
            record = signed_from_object(entry)
            if record.type == "key":
                raise RecordError("a key record stands among the records of the round")
            if record.type == "open":
                canonical.check(record.body["options"], _OPTIONS_NESTING)
            records.append(record)
    except (RecordError, CanonicalError) as problem:
        round_.fail("record_form", where, problem.detail)
        raise FormFailed from problem
    types = tuple(record.type for record in records)
    if types not in _SEQUENCES:
        round_.fail("record_set", "records", f"the records are {', '.join(types) or 'missing'}")
        raise FormFailed
    opened = records[0].body
    closes = opened["entropy"] == "sealed" or opened["beacon"] is not None
    if len(types) > 1 and types[1] != "void" and (types[1] == "close") != closes:
        text = "the close record is missing" if closes else "there is a close record, but nothing to close"
        round_.fail("record_set", "records[1]", text)
        raise FormFailed
    if value["log"]["close"] is not None and (opened["beacon"] is None or "close" not in types):
        round_.fail("bundle_form", "log.close", "there is no close record that binds a beacon")
        raise FormFailed
    round_.take_records(tuple(records))


_COMPLETE = (("open", "deck", "reveal"), ("open", "close", "deck", "reveal"))
_SEQUENCES = frozenset(
    begun
    for whole in _COMPLETE
    for length in range(1, len(whole) + 1)
    for begun in (whole[:length], (*whole[: min(length, len(whole) - 1)], "void"))
)
"""The types a round's records may have, in their order."""


def _version(entry: Any) -> str | None:
    """Return what is said where an entry names another version."""
    body = entry.get("body") if type(entry) is dict else None
    version = body.get("v") if type(body) is dict else None
    if type(version) is str and version != "sealdeck/1":
        return f"a record is of version {version[:40]!r}"
    return None


@lru_cache(maxsize=32)
def _keys_read(data: bytes) -> tuple[Signed, ...]:
    keys = []
    for entry in canonical.decode(data):
        record = signed_from_object(entry)
        if record.type != "key":
            raise RecordError(f"a record of type {record.type} stands among the keys")
        keys.append(record)
    return tuple(keys)


def keys_check(round_: Round) -> None:
    """Follow the key records: codes ``key_record``, ``key_unknown``, ``key_revoked`` and ``record_signature``."""
    indexes: list[int] = round_.bundle.value["log"]["indexes"]
    trust = round_.settings.trust
    known = len(round_.keys)
    ring, number, problem = _ring(round_.keys, tuple(indexes[:known]), trust.root if trust else None)
    round_.ring = ring
    if problem is not None:
        round_.fail("key_record", f"keys[{number}]", problem)
    for number, (record, index) in enumerate(zip(round_.records, indexes[known:], strict=True)):
        where = f"records[{number}]"
        key, wrong = ring.records_key(record.kid, index)
        if wrong == "key_unknown":
            round_.fail(wrong, f"{where}.kid", f"no records key {record.kid} was added before index {index}")
        elif wrong is not None:
            round_.fail(wrong, f"{where}.kid", f"the key {record.kid} was revoked before index {index}")
        if key is not None and not signatures.verify(key, record.message, bytes.fromhex(record.sig)):
            round_.fail("record_signature", f"{where}.sig", f"not the signature of key {record.kid} over this body")


@lru_cache(maxsize=32)
def _ring(keys: tuple[Signed, ...], indexes: tuple[int, ...], root: bytes | None) -> tuple[KeyRing, int, str | None]:
    ring = KeyRing(root)
    if not keys:
        return ring, 0, "there is no key record"
    for number, (record, index) in enumerate(zip(keys, indexes, strict=True)):
        problem = ring.apply(record, index)
        if problem is not None:
            for later, at in zip(keys[number + 1 :], indexes[number + 1 :], strict=True):
                ring.apply(later, at)
            return ring, number, problem
    return ring, 0, None


def log_check(round_: Round) -> None:
    """Check the checkpoint and the way of each entry to it: codes ``checkpoint`` to ``log_order``."""
    log, trust = round_.bundle.value["log"], round_.settings.trust
    try:
        round_.checkpoint = checkpoint_opened(log["checkpoint"])
        if round_.checkpoint.origin != log["origin"]:
            raise NoteError(f"the checkpoint is of the log {round_.checkpoint.origin!r}, not of {log['origin']!r}")
        checkpoint_signed(round_, log["checkpoint"])
    except NoteError as problem:
        round_.fail("checkpoint", "log.checkpoint", problem.detail)
    if trust is not None and trust.quorum:
        have = len(cosigned(log["checkpoint"], trust.witnesses)) if round_.checkpoint else 0
        if have < trust.quorum:
            round_.fail("witness_quorum", "log.checkpoint", f"{have} of {trust.quorum} trusted witnesses cosigned it")
    if round_.checkpoint is not None:
        _inclusion_check(round_, round_.checkpoint)
    known = len(round_.keys)
    for name, indexes in (("keys", log["indexes"][:known]), ("records", log["indexes"][known:])):
        if not is_ascending(indexes):
            round_.fail("log_order", "log.indexes", f"the indexes of the {name} do not ascend")


def _inclusion_check(round_: Round, checkpoint: Checkpoint) -> None:
    log = round_.bundle.value["log"]
    fromhex = bytes.fromhex
    for number, (record, index, proof) in enumerate(
        zip((*round_.keys, *round_.records), log["indexes"], log["proofs"], strict=True)
    ):
        path = [fromhex(node) for node in proof]
        if not inclusion_verify(checkpoint.root, checkpoint.size, index, leaf_hash(record.entry), path):
            text = f"the {record.type} entry is not at index {index} of the tree of size {checkpoint.size}"
            round_.fail("inclusion", f"log.proofs[{number}]", text)


def is_ascending(numbers: Sequence[int]) -> bool:
    """Tell whether each number is greater than the one before."""
    return all(a < b for a, b in pairwise(numbers))


@lru_cache(maxsize=1024)
def _opened(note: str) -> Checkpoint | str:
    try:
        return checkpoint_read(note)
    except NoteError as problem:
        return problem.detail


def checkpoint_opened(note: str) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        NoteError: it is malformed.
    """
    found = _opened(note)
    if isinstance(found, str):
        raise NoteError(found)
    return found


@lru_cache(maxsize=1024)
def _signed(note: str, keys: tuple[VerifierKey, ...]) -> str | None:
    """Return what is wrong with the log's signatures on a well-formed checkpoint; one key must have signed it."""
    checkpoint = checkpoint_opened(note)
    ids = {(key.name, key.id) for key in keys}
    signers = {(line.name, line.key_id) for line in checkpoint.lines} & ids
    try:
        for key in keys:
            if len(keys) == 1 or (key.name, key.id) in signers:
                checkpoint_verify(checkpoint, key)
    except NoteError as problem:
        return problem.detail
    return None if signers else "the checkpoint is not signed with a key of the log"


def checkpoint_signed(round_: Round, note: str) -> None:
    """Check that the log signed a well-formed checkpoint: the trusted one, or else the one the bundle's keys name.

    Raises:
        NoteError: it did not.
    """
    trust = round_.settings.trust
    if trust is not None:
        keys: tuple[VerifierKey, ...] = (trust.log,)
    else:
        origin = checkpoint_opened(note).origin
        keys = tuple(VerifierKey(origin, TYPE_ED25519, key) for key in round_.ring.log_keys())
    problem = _signed(note, keys)
    if problem is not None:
        raise NoteError(problem)


@lru_cache(maxsize=1024)
def cosigned(note: str, witnesses: tuple[VerifierKey, ...]) -> tuple[Cosignature, ...]:
    """Return the valid cosignatures of these witnesses on a well-formed checkpoint."""
    return cosignatures(checkpoint_opened(note), witnesses)
