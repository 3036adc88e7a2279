"""What the verifier says: the closed list of codes in their order, and the verdict on one bundle.

Protocol: docs/fairness/protocol.md, section 13.  Never says more than the checks found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

FAILURES: Final = (
    "bundle_form",
    "record_form",
    "record_set",
    "key_record",
    "key_unknown",
    "key_revoked",
    "record_signature",
    "checkpoint",
    "witness_quorum",
    "inclusion",
    "log_order",
    "round_id",
    "prev",
    "link",
    "times",
    "deadline",
    "roster",
    "entropy_mode",
    "entropy_repeated",
    "entropy_opening",
    "seat_signature",
    "view_early",
    "view_split",
    "beacon_round",
    "close_late",
    "beacon_signature",
    "seed",
    "void_stage",
    "void_fault",
    "order",
    "opener",
    "root",
    "transcript_form",
    "transcript_head",
    "start_event",
    "generation",
    "card_place",
    "card_face",
    "deal_order",
    "end_event",
    "opening",
    "money",
    "payout",
    "rules",
    "chain",
    "fork",
)
"""Codes of a failed check, in the order in which they decide."""

LOG_FAILURES: Final = (
    "log_checkpoint",
    "log_witness",
    "log_root",
    "log_consistency",
    "log_entry",
    "log_sequence",
    "log_index",
    "log_prev",
    "log_seed",
    "log_overdue",
)
"""Codes of a failed check of the whole log, in the order in which they decide."""

CANNOT: Final = ("unreadable", "version", "unfinished", "beacon_unchecked", "gap")
"""Codes of what could not be checked, in the order in which they are named."""

PASS: Final = "pass"  # noqa: S105
STATUS_PASS: Final = 0
STATUS_FAILURE: Final = 1
STATUS_CANNOT: Final = 2

_RANK = {code: rank for rank, code in enumerate(FAILURES + LOG_FAILURES + CANNOT)}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or that could not be checked."""

    code: str
    where: str
    """Which part of the bundle: a path such as ``records[1].sig``; empty for the whole."""
    text: str
    """What was found there."""

    def __str__(self) -> str:
        return f"{self.where}: {self.text}" if self.where else self.text


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result for one bundle."""

    round: str | None
    """Hex id of the round, as far as it could be read."""
    verdict: str
    """``pass``, the first code that failed, or what could not be checked."""
    findings: tuple[Finding, ...] = ()
    """What failed and what could not be checked, in the order of the codes; the first one of each code."""
    notes: tuple[str, ...] = ()
    """What was not checked, or holds only on a condition."""

    @property
    def status(self) -> int:
        """0 passed, 1 failed, 2 could not be checked."""
        if self.verdict == PASS:
            return STATUS_PASS
        return STATUS_CANNOT if self.verdict in CANNOT else STATUS_FAILURE

    @property
    def codes(self) -> tuple[str, ...]:
        """All codes that failed, in their order."""
        return tuple(finding.code for finding in self.findings if finding.code not in CANNOT)


@dataclass(slots=True)
class Findings:
    """The findings on one bundle while they are collected."""

    found: dict[str, Finding] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def fail(self, code: str, where: str, text: str) -> None:
        """Keep the first finding of a code."""
        if code not in self.found:
            self.found[code] = Finding(code, where, text)

    def cannot(self, code: str, text: str, where: str = "") -> None:
        """Keep what could not be checked."""
        self.fail(code, where, text)

    def failed(self, *codes: str) -> bool:
        """Tell whether one of the codes was found."""
        return any(code in self.found for code in codes)

    def note(self, text: str) -> None:
        """Keep a remark."""
        self.notes.append(text)

    def verdict(self, round_: str | None) -> Verdict:
        """Return the verdict on what was found."""
        ordered = tuple(sorted(self.found.values(), key=lambda finding: _RANK[finding.code]))
        return Verdict(round_, ordered[0].code if ordered else PASS, ordered, tuple(self.notes))
