"""What the log's writer admits: canonical, well formed, signed with a live key, and the next record of its round.

Implements docs/fairness/protocol.md, section 2, and of section 13 the monitor's ``log_entry``, ``log_sequence`` and
``log_prev`` for one batch.  An entry that is merged stays for ever, so everything is checked before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from apps.fairness.models import KeyUse, Record, RecordType
from apps.fairness.protocol.errors import ProtocolError
from apps.fairness.protocol.log import leaf_hash
from apps.fairness.protocol.records import Signed, entry_read, key_id, record_verify

_NEXT = {
    "": ("open",),
    "open": ("close", "deck", "void"),
    "close": ("deck", "void"),
    "deck": ("reveal", "void"),
    "reveal": (),
    "void": (),
}
"""Type of a round's last record to those that may follow."""


class Unfit(Exception):
    """A stored record must not be merged; the text says why."""


@dataclass(frozen=True, slots=True)
class Ending:
    """A terminal record of the batch, with what statistics need of its round."""

    record_id: int
    type: str
    body: dict[str, Any]
    game: str
    entropy: str


@dataclass(slots=True)
class Rules:
    """The state a record is judged against: live keys, and the last record of each round that matters here."""

    roots: dict[str, bytes] = field(default_factory=dict)
    signers: dict[str, bytes] = field(default_factory=dict)
    added: set[tuple[str, str]] = field(default_factory=set)
    live: set[tuple[str, str]] = field(default_factory=set)
    last: dict[UUID, tuple[str, str, int]] = field(default_factory=dict)
    """Round to type, hash and place of its last record that has its place in the log."""
    before: dict[UUID, tuple[UUID, str]] = field(default_factory=dict)
    """Round to the round before it at its table, and the hash of that one's newest record."""
    endings: list[Ending] = field(default_factory=list)

    @classmethod
    def read(cls, *, before: int) -> Rules:
        """Return the state after the first ``before`` entries of the log."""
        rules = cls()
        merged = Record.objects.filter(type=RecordType.KEY, log_index__lt=before).order_by("log_index")
        for entry in merged.values_list("entry", flat=True):
            rules._key_apply(entry_read(bytes(entry)).body)
        return rules

    def prepare(self, records: Sequence[Record], *, before: int) -> None:
        """Read what the records of a batch are judged against, in two statements.

        Args:
            before: the index that the first of them gets.
        """
        rounds = [record.round_id for record in records if record.round_id is not None]
        opens = [record.round_id for record in records if record.type == RecordType.OPEN]
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT o.id, p.id, p.last_hash FROM fairness_round o"
                " JOIN fairness_round p ON p.table_id = o.table_id AND p.index = o.index - 1 WHERE o.id = ANY(%s)",
                [opens],
            )
            self.before.update({row[0]: (row[1], bytes(row[2]).hex()) for row in cursor.fetchall()})
        known = [*rounds, *(pair[0] for pair in self.before.values())]
        rows = Record.objects.filter(round_id__in=known, log_index__lt=before).order_by("round_id", "-place")
        for round_id, type_, hash_, place in rows.distinct("round_id").values_list(
            "round_id", "type", "record_hash", "place"
        ):
            assert round_id is not None
            self.last.setdefault(round_id, (type_, bytes(hash_).hex(), place))

    def admit(self, record: Record) -> None:
        """Judge one stored record and take it into the state; ``prepare`` came before.

        Raises:
            Unfit: it must not be merged.
        """
        entry = bytes(record.entry)
        try:
            signed = entry_read(entry)
        except ProtocolError as problem:
            raise Unfit(problem.detail) from problem
        if leaf_hash(entry) != bytes(record.leaf_hash) or signed.hash != bytes(record.record_hash):
            raise Unfit("its bytes are not those that were signed and stored")
        if signed.type != record.type or signed.kid != record.kid:
            raise Unfit("its row says another type or key")
        if signed.type == RecordType.KEY:
            self._key_admit(signed)
        else:
            self._round_admit(signed, record)

    def forget(self) -> None:
        """Keep only the keys; the next batch is prepared anew."""
        self.last.clear()
        self.before.clear()
        self.endings.clear()

    def _key_admit(self, signed: Signed) -> None:
        body = signed.body
        public = bytes.fromhex(body["pk"])
        if not self.added:
            if body["op"] != "add" or body["use"] != KeyUse.ROOT:
                raise Unfit("a log begins with its root key")
            signer: bytes | None = public
        else:
            signer = self.roots.get(signed.kid)
        if signer is None or not record_verify(signer, signed):
            raise Unfit("the key record is not signed by a live root key")
        pair = (body["use"], body["pk"])
        if body["op"] == "add" and pair in self.added:
            raise Unfit("the key was added before")
        if body["op"] == "revoke" and pair not in self.live:
            raise Unfit("the key to revoke is not live")
        self._key_apply(body)

    def _key_apply(self, body: dict[str, Any]) -> None:
        public = bytes.fromhex(body["pk"])
        kid, pair = key_id(public), (body["use"], body["pk"])
        keys = {KeyUse.ROOT: self.roots, KeyUse.RECORDS: self.signers}.get(KeyUse(body["use"]))
        if body["op"] == "add":
            self.added.add(pair)
            self.live.add(pair)
            if keys is not None:
                keys[kid] = public
        else:
            self.live.discard(pair)
            if keys is not None:
                keys.pop(kid, None)

    def _round_admit(self, signed: Signed, record: Record) -> None:
        signer = self.signers.get(signed.kid)
        if signer is None or not record_verify(signer, signed):
            raise Unfit("the record is not signed by a live records key")
        body = signed.body
        round_id = record.round_id
        if round_id is None or body["round"] != round_id.hex:
            raise Unfit("its row names another round")
        type_, hash_, place = self.last.get(round_id, ("", "", -1))
        if signed.type not in _NEXT[type_] or record.place != place + 1:
            raise Unfit(f"a {signed.type} record does not follow {type_ or 'nothing'}")
        if signed.type == "open":
            self._open_admit(round_id, body)
        else:
            link = {"close": "open", "deck": "close" if type_ == "close" else "open", "reveal": "deck"}
            if body[link.get(signed.type, "last")] != hash_:
                raise Unfit("it does not name the record before it")
        self.last[round_id] = (signed.type, signed.hash_hex, record.place)
        if signed.type in ("reveal", "void"):
            assert record.round is not None
            self.endings.append(Ending(record.pk, signed.type, body, record.round.game, record.round.entropy))

    def _open_admit(self, round_id: UUID, body: dict[str, Any]) -> None:
        """Check that the round before has its terminal record in the log, or earlier in this batch."""
        if body["index"] == 0:
            if body["prev"] != "":
                raise Unfit("a first round has nothing before it")
            return
        known = self.before.pop(round_id, None)
        if known is None or known[1] != body["prev"]:
            raise Unfit("prev is not the terminal record of the round before")
        type_, hash_, _ = self.last.get(known[0], ("", "", -1))
        if type_ not in ("reveal", "void") or hash_ != body["prev"]:
            raise Unfit("the terminal record of the round before is not in the log")
