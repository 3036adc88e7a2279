"""What the checks of one round work on: the bundle, what was worked out from it, and what was found.

Protocol: docs/fairness/protocol.md, section 13.  Never checks anything itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.fairness.protocol.bundle import Bundle
from apps.fairness.protocol.cards import CardTree
from apps.fairness.protocol.keyring import KeyRing
from apps.fairness.protocol.notes import Checkpoint
from apps.fairness.protocol.records import Signed, round_id
from apps.fairness.protocol.streams import KeySchedule
from apps.fairness.protocol.trust import Trust
from apps.fairness.protocol.verdict import Findings
from apps.games.contract import Game


@dataclass(frozen=True, slots=True)
class Settings:
    """How to verify."""

    trust: Trust | None = None
    rules: bool = True
    """Whether to replay the rules of games that are known here."""
    games: Mapping[str, Game[Any]] = field(default_factory=dict)
    """Games that are known besides those of the registry, by slug."""
    bls: bool = True
    """Whether to check beacon signatures where a BLS implementation is at hand."""


@dataclass(slots=True)
class Round:
    """One round while it is checked."""

    bundle: Bundle
    settings: Settings
    findings: Findings = field(default_factory=Findings)
    keys: tuple[Signed, ...] = ()
    records: tuple[Signed, ...] = ()
    ring: KeyRing = field(default_factory=KeyRing)
    checkpoint: Checkpoint | None = None
    schedule: KeySchedule | None = None
    """None where the seed is not known, or does not give its commitment."""
    trees: dict[int, CardTree] = field(default_factory=dict)
    """Generation to its cards and salts, as far as the seed gives them."""
    transcript_sound: bool = False
    """Whether the transcript has the form that the checks of play need."""
    match_game: bool = False
    """Whether the round is of a game whose pot spans several rounds."""
    _by_type: dict[str, Signed] = field(default_factory=dict)

    def take_records(self, records: tuple[Signed, ...]) -> None:
        """Set the round's records, which have the right types in the right order."""
        self.records = records
        self._by_type = {record.type: record for record in records}

    def fail(self, code: str, where: str, text: str) -> None:
        """Keep a finding."""
        self.findings.fail(code, where, text)

    def record(self, type_: str) -> Signed | None:
        """Return the record of a type, if the round has one."""
        return self._by_type.get(type_)

    def where(self, type_: str, path: str = "") -> str:
        """Return the place of a record in the bundle."""
        number = next((n for n, record in enumerate(self.records) if record.type == type_), -1)
        return f"records[{number}].body.{path}" if path else f"records[{number}]"

    def index(self, type_: str) -> int:
        """Return the log index of a record that the round has."""
        number = next(n for n, record in enumerate(self.records) if record.type == type_)
        index: int = self.bundle.value["log"]["indexes"][len(self.keys) + number]
        return index

    @property
    def open(self) -> dict[str, Any]:
        """The body of the open record."""
        return self.records[0].body

    @property
    def open_hash(self) -> bytes:
        """The hash of the open record."""
        return self.records[0].hash

    @property
    def round_id(self) -> str:
        """The round's id as its open record names it, hex."""
        named: str = self.records[0].body["round"]
        return named

    @property
    def round_bytes(self) -> bytes:
        """The round's id as table and index give it."""
        opened = self.records[0].body
        return round_id(bytes.fromhex(opened["table"]), opened["index"])

    @property
    def mode(self) -> str:
        """Entropy mode: none, open or sealed."""
        mode: str = self.records[0].body["entropy"]
        return mode

    @property
    def beacon(self) -> dict[str, Any] | None:
        """The beacon that the open record binds."""
        beacon: dict[str, Any] | None = self.records[0].body["beacon"]
        return beacon

    @property
    def terminal(self) -> Signed | None:
        """The reveal or void record; None while the round runs."""
        last = self.records[-1]
        return last if last.type in ("reveal", "void") else None

    @property
    def roster(self) -> list[dict[str, Any]]:
        """Rows of the deck record; empty where there is none."""
        deck = self._by_type.get("deck")
        return deck.body["roster"] if deck is not None else []

    @property
    def seats(self) -> list[int]:
        """Seats of the deck record, in its order."""
        return [row["seat"] for row in self.roster]
