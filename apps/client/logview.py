"""A client's own view of the public log: which keys sign, which checkpoint it has seen, what is in it.

Protocol: docs/fairness/protocol.md, sections 2, 11 and 14.  Believes nothing but its trust file, remembers what it was
shown, and never fetches anything: whoever does hands the answers of the public API in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apps.client.errors import ClientError
from apps.fairness.protocol import log, notes, records
from apps.fairness.protocol.errors import ProtocolError
from apps.fairness.protocol.keyring import KeyRing
from apps.fairness.protocol.records import Signed
from apps.fairness.protocol.trust import Trust

MERGE_MS = 1_000
"""A signed record that the log does not have after this long is evidence against the operator."""
AGE_MAX_S = 60
"""A checkpoint that witnesses saw longer ago is no reason to sit down."""


class ProofFailed(ClientError):
    """The server showed something that does not hold.  ``code`` names the check as the verifier's codes do."""

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        super().__init__(f"{code}: {text}")


class LogView:
    """What one client knows of the log."""

    def __init__(self, trust: Trust) -> None:
        self.trust = trust
        self.checkpoint: notes.Checkpoint | None = None
        """The newest that was believed."""
        self._ring = KeyRing(trust.root)

    @property
    def size(self) -> int:
        """Return the size of the log as far as it is known; 0 before a checkpoint was seen."""
        return self.checkpoint.size if self.checkpoint else 0

    @property
    def quoted(self) -> dict[str, Any] | None:
        """Return the checkpoint as a contribution quotes it."""
        if self.checkpoint is None:
            return None
        return {"size": self.checkpoint.size, "root": self.checkpoint.root.hex()}

    def keys_take(self, document: Mapping[str, Any]) -> None:
        """Follow the key records of the log, from the answer of GET /v1/fairness/keys.

        Raises:
            ProofFailed: one is malformed, out of order, or not signed by a live root key.
        """
        ring, last = KeyRing(self.trust.root), -1
        for row in document["keys"]:
            index = row["index"]
            if type(index) is not int or index <= last:
                raise ProofFailed("log_order", "the key records are out of order")
            last = index
            problem = ring.apply(_read(row["record"], "key"), index)
            if problem is not None:
                raise ProofFailed("key_record", problem)
        self._ring = ring

    def checkpoint_take(self, note: str, path: Sequence[str] = (), *, now_s: int) -> notes.Checkpoint:
        """Believe a checkpoint that extends the last one.

        Args:
            path: the consistency proof from the last one, hex; not needed for the first, or for the same size.
            now_s: Unix seconds.

        Raises:
            ProofFailed: it is not signed, not cosigned by enough witnesses lately, smaller, or inconsistent.
        """
        try:
            seen = notes.checkpoint_read(note)
            notes.checkpoint_verify(seen, self.trust.log)
        except ProtocolError as problem:
            raise ProofFailed("checkpoint", problem.detail) from problem
        fresh = [one for one in notes.cosignatures(seen, self.trust.witnesses) if now_s - one.time_s <= AGE_MAX_S]
        if len(fresh) < self.trust.quorum:
            raise ProofFailed(
                "witness_quorum", f"{len(fresh)} of {self.trust.quorum} witnesses saw it in the last minute"
            )
        before = self.checkpoint
        if before is not None:
            proof = [bytes.fromhex(node) for node in path]
            if not log.consistency_verify(before.size, seen.size, before.root, seen.root, proof):
                raise ProofFailed("view_split", "the checkpoint does not extend the one seen before")
        self.checkpoint = seen
        return seen

    def record_check(self, record: Mapping[str, Any], type_: str) -> Signed:
        """Return a signed record whose key may sign now.

        Raises:
            ProofFailed: it has another type or form, or its key or signature is no good.
        """
        signed = _read(record, type_)
        key, problem = self._ring.records_key(signed.kid, self.size)
        if key is None or problem is not None:
            raise ProofFailed(problem or "key_unknown", f"the {type_} record is signed by a key that may not")
        if not records.record_verify(key, signed):
            raise ProofFailed("record_signature", f"the signature of the {type_} record does not verify")
        return signed

    def inclusion_check(self, signed: Signed, index: int, path: Sequence[str]) -> None:
        """Return if a record is in the log of the newest checkpoint.

        Args:
            index: its place in the log.
            path: the inclusion proof for the checkpoint's size, hex.

        Raises:
            ProofFailed: it is not.
        """
        if self.checkpoint is None:
            raise ProofFailed("checkpoint", "no checkpoint was seen")
        proof = [bytes.fromhex(node) for node in path]
        leaf = log.leaf_hash(signed.entry)
        if not log.inclusion_verify(self.checkpoint.root, self.checkpoint.size, index, leaf, proof):
            raise ProofFailed("inclusion", f"the {signed.type} record is not in the log")

    def merged_check(
        self, signed: Signed, index: int | None, path: Sequence[str] = (), *, seen_ms: int, now_ms: int
    ) -> bool:
        """Tell whether the log has a record that was shown; ask again with a newer checkpoint while it has not.

        Args:
            index: its place as the server says; None while it names none.
            path: the inclusion proof for the newest checkpoint's size, hex.
            seen_ms: Unix time, milliseconds, at which the record was shown.
            now_ms: Unix time, milliseconds, of the newest checkpoint.

        Raises:
            ProofFailed: the proof is false, or the record is kept out of the log for longer than it may be.
        """
        if index is not None and index < self.size:
            self.inclusion_check(signed, index, path)
            return True
        if now_ms - seen_ms > MERGE_MS:
            raise ProofFailed("inclusion", f"the {signed.type} record is kept out of the log: keep it, it is evidence")
        return False


def _read(record: Mapping[str, Any], type_: str) -> Signed:
    try:
        signed = records.signed_from_object(dict(record))
    except ProtocolError as problem:
        raise ProofFailed("record_form", problem.detail) from problem
    if signed.type != type_:
        raise ProofFailed("record_set", f"a {signed.type} record where a {type_} record belongs")
    return signed
