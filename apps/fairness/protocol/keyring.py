"""Which keys may sign records, at which index of the log: the key records followed one by one.

Protocol: docs/fairness/protocol.md, section 2.  Never believes a first root key by itself unless none is pinned.
"""

from __future__ import annotations

from dataclasses import dataclass

from apps.fairness.protocol.records import Signed, key_id, record_verify


@dataclass(slots=True)
class _Key:
    public_key: bytes
    added: int
    revoked: int | None = None


class KeyRing:
    """The keys of a log as its key records made them."""

    __slots__ = ("_by_use", "_records", "_roots", "_started", "pinned_root")

    def __init__(self, pinned_root: bytes | None = None) -> None:
        """Begin before the first key record.

        Args:
            pinned_root: the root key that the first key record must add; None takes whichever it adds.
        """
        self.pinned_root = pinned_root
        self._started = False
        self._by_use: dict[tuple[str, bytes], _Key] = {}
        self._roots: dict[str, _Key] = {}
        self._records: dict[str, _Key] = {}

    def apply(self, record: Signed, index: int) -> str | None:
        """Follow the next key record.

        Its effect is kept even where something is wrong with it, so that what comes after is judged by what it says.

        Args:
            index: its index in the log.

        Returns:
            What is wrong with it; None where it is a legal next key record.
        """
        body = record.body
        public_key = bytes.fromhex(body["pk"])
        problem = self._signer_problem(record, public_key)
        self._started = True
        use, op = body["use"], body["op"]
        known = self._by_use.get((use, public_key))
        if op == "add":
            if known is not None:
                return problem or f"the {use} key was added before"
            key = self._by_use[use, public_key] = _Key(public_key, index)
            if use == "root":
                self._roots[key_id(public_key)] = key
            elif use == "records":
                self._records[key_id(public_key)] = key
            return problem
        if known is None or known.revoked is not None:
            return problem or f"a {use} key is revoked that is not live"
        known.revoked = index
        return problem

    def _signer_problem(self, record: Signed, public_key: bytes) -> str | None:
        if not self._started:
            if record.body["op"] != "add" or record.body["use"] != "root":
                return "the first key record does not add a root key"
            if self.pinned_root is not None and public_key != self.pinned_root:
                return "the first key record does not add the trusted root key"
            if not record_verify(public_key, record):
                return "the first key record is not signed by the key it adds"
            return None
        signer = self._roots.get(record.kid)
        if signer is None or signer.revoked is not None:
            return "a key record is not signed by a live root key"
        if not record_verify(signer.public_key, record):
            return "the signature of a key record does not verify"
        return None

    def records_key(self, kid: str, index: int) -> tuple[bytes | None, str | None]:
        """Return the key that signs a record at this index, and what is wrong with using it there.

        Args:
            kid: key id that the record names.

        Returns:
            The key, None where it is unknown; and ``key_unknown``, ``key_revoked`` or None.
        """
        key = self._records.get(kid)
        if key is None or key.added >= index:
            return None, "key_unknown"
        if key.revoked is not None and key.revoked < index:
            return key.public_key, "key_revoked"
        return key.public_key, None

    def log_keys(self) -> tuple[bytes, ...]:
        """Return the keys added for signing checkpoints, those that were revoked since too."""
        return tuple(key.public_key for (use, _), key in self._by_use.items() if use == "log")
