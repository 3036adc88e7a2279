"""The key ceremony: the log's birth, and adding, rotating and revoking its keys.

Implements docs/fairness/protocol.md, section 2 for ``key`` records; docs/fairness/operations.md describes who does
what.  Runs with the owner's login of the database: the application's cannot add keys.  A root key is handed in for one
call and never stored in the database.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from apps.fairness import anchor, locks, sealing
from apps.fairness.models import LOG_ROW_ID, KeyUse, Log, SigningKey
from apps.fairness.protocol import signatures
from apps.fairness.protocol.notes import is_origin
from apps.fairness.protocol.records import VERSION, key_id, record_sign
from apps.fairness.signing import record_store

KEY_BYTES = 32


class CeremonyError(Exception):
    """The ceremony cannot go on; the text says why, and nothing was changed."""


@dataclass(frozen=True, slots=True)
class Ceremony:
    """One run of the ceremony: with whose key, in which database, when."""

    root_secret: bytes
    now_ms: int
    using: str = "owner"

    def begin(self, *, origin: str) -> None:
        """Start the log: its name, its root key, its first log and records keys.

        Raises:
            CeremonyError: there is a log already, or the name cannot be one.
        """
        if not is_origin(origin):
            raise CeremonyError("The log's name has 1 to 128 printable ASCII characters without space and '+'.")
        with transaction.atomic(using=self.using, durable=True):
            locks.keys_own(self.using)
            if Log.objects.using(self.using).exists():
                raise CeremonyError("This database has a log already; a log is started once.")
            if anchor.read() is not None:
                raise CeremonyError(
                    "SEALDECK_LOG_ANCHOR_FILE remembers a log that this database does not have.  A log is never started"
                    " twice under one name: restore its database, or remove the file and choose another name."
                )
            Log.objects.using(self.using).create(id=LOG_ROW_ID, origin=origin)
            self._add(KeyUse.ROOT, signatures.public_key(self.root_secret), None, "first_key")
            for use in (KeyUse.LOG, KeyUse.RECORDS):
                self._new(use, "first_key")

    def rotate(self, use: KeyUse, *, reason: str, new_root: bytes | None = None) -> str:
        """Add a new key of a use and return its id.

        A new records key revokes the ones before it in the same step.  A new log or root key stands beside the old
        one until that is revoked by itself, since trust files name both.

        Args:
            reason: a code, such as ``scheduled`` or ``compromised``.
            new_root: the new key's secret, for use root.

        Raises:
            CeremonyError: there is no log, or the root key given is not a live one.
        """
        with transaction.atomic(using=self.using, durable=True):
            self._root_check()
            before = list(self._live(use))
            if use == KeyUse.ROOT:
                if new_root is None:
                    raise CeremonyError("A new root key is made on a machine of its own and given as a file.")
                return self._add(use, signatures.public_key(new_root), None, reason)
            kid = self._new(use, reason)
            if use == KeyUse.RECORDS:
                for key in before:
                    self._revoke(key, reason)
            return kid

    def revoke(self, kid: str, *, reason: str) -> None:
        """Revoke a key; what it signed at earlier places of the log stays valid.

        Raises:
            CeremonyError: there is no such live key, or it is the last one of its use.
        """
        with transaction.atomic(using=self.using, durable=True):
            self._root_check()
            key = SigningKey.objects.using(self.using).filter(kid=kid, revoked__isnull=True).first()
            if key is None:
                raise CeremonyError(f"There is no live key {kid}.")
            if self._live(KeyUse(key.use)).count() == 1:
                raise CeremonyError(f"{kid} is the last live {key.use} key: rotate it instead.")
            self._revoke(key, reason)

    def _live(self, use: KeyUse) -> Any:
        return SigningKey.objects.using(self.using).filter(use=use, revoked__isnull=True).order_by("added")

    def _root_check(self) -> None:
        locks.keys_own(self.using)
        kid = key_id(signatures.public_key(self.root_secret))
        if not self._live(KeyUse.ROOT).filter(kid=kid).exists():
            raise CeremonyError("The root key given is not a live root key of this log.")

    def _new(self, use: KeyUse, reason: str) -> str:
        secret = os.urandom(KEY_BYTES)
        public = signatures.public_key(secret)
        return self._add(use, public, sealing.signing_key_seal(secret, use=use, pk=public), reason)

    def _add(self, use: KeyUse, public: bytes, sealed: bytes | None, reason: str) -> str:
        record = self._record("add", use, public, reason)
        kid = key_id(public)
        SigningKey.objects.using(self.using).create(
            kid=kid, use=use, public_key=public, secret_sealed=sealed, added_id=record
        )
        return kid

    def _revoke(self, key: SigningKey, reason: str) -> None:
        record = self._record("revoke", KeyUse(key.use), bytes(key.public_key), reason)
        SigningKey.objects.using(self.using).filter(pk=key.pk).update(revoked_id=record)

    def _record(self, op: str, use: KeyUse, public: bytes, reason: str) -> int:
        body = {
            "v": VERSION,
            "op": op,
            "use": str(use),
            "pk": public.hex(),
            "reason": reason,
            "at_ms": self.now_ms,
        }
        signed = record_sign(self.root_secret, "key", body)
        return record_store(signed, round_id=None, place=0, now_ms=self.now_ms, using=self.using)


def root_key_create(path: Path) -> bytes:
    """Make a root key, write it to a new file only its owner can read, and return its public half.

    Raises:
        CeremonyError: the file exists.
    """
    secret = os.urandom(KEY_BYTES)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as problem:
        raise CeremonyError(f"{path} exists: a root key is never overwritten.") from problem
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secret.hex() + "\n")
        file.flush()
        os.fsync(file.fileno())
    return signatures.public_key(secret)


def root_key_read(path: Path) -> bytes:
    """Return the root key in a file.

    Raises:
        CeremonyError: there is no such file, or it does not hold a key.
    """
    try:
        secret = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except OSError as problem:
        raise CeremonyError(f"The root key file cannot be read: {problem.strerror}.") from problem
    except ValueError as problem:
        raise CeremonyError(f"{path} does not hold a root key.") from problem
    if len(secret) != KEY_BYTES:
        raise CeremonyError(f"{path} does not hold a root key.")
    return secret
