"""What ``sealdeck-verify`` says: a line of JSON for each bundle, or words for people.

Never decides anything: it only tells what the verdicts are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, TextIO

from apps.fairness.protocol.verdict import PASS, STATUS_CANNOT, STATUS_FAILURE, STATUS_PASS, Finding, Verdict
from apps.fairness.verify.meanings import NO_TRUST, meaning
from apps.fairness.verify.sources import Line

PASSED_LISTED_MAX: Final = 20
"""With more bundles than this, those that passed are only counted."""
LABELS: Final = {STATUS_PASS: "passed", STATUS_FAILURE: "FAILED", STATUS_CANNOT: "not fully checked"}


def status(verdicts: Sequence[Verdict]) -> int:
    """Return the exit status: 0 all passed, 1 any failed, 2 otherwise."""
    found = {verdict.status for verdict in verdicts}
    if STATUS_FAILURE in found:
        return STATUS_FAILURE
    return STATUS_PASS if found == {STATUS_PASS} else STATUS_CANNOT


def as_object(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as ``--json`` shows it."""
    return {
        "round": verdict.round,
        "status": verdict.status,
        "verdict": verdict.verdict,
        "codes": list(verdict.codes),
        "notes": [f"{finding.code}: {finding}" for finding in verdict.findings] + list(verdict.notes),
    }


def write_json(out: TextIO, verdicts: Sequence[Verdict]) -> None:
    """Write one object a line for each bundle."""
    for verdict in verdicts:
        out.write(json.dumps(as_object(verdict), ensure_ascii=True) + "\n")


def write_text(out: TextIO, lines: Sequence[Line], verdicts: Sequence[Verdict], *, trusted: bool) -> None:
    """Write what a person needs to know, worst first in each bundle, and a summary."""
    for line, verdict in zip(lines, verdicts, strict=True):
        if verdict.status != STATUS_PASS or len(verdicts) <= PASSED_LISTED_MAX:
            _bundle(out, line, verdict)
    counts = Counter(verdict.status for verdict in verdicts)
    said = ", ".join(f"{counts[key]} {label}" for key, label in LABELS.items() if counts[key])
    out.write(f"{len(verdicts)} {'round' if len(verdicts) == 1 else 'rounds'}: {said or 'nothing to check'}\n")
    replayless = Counter(note for verdict in verdicts for note in verdict.notes if note.startswith("rules not"))
    for note, count in replayless.items():
        out.write(f"Note: {note} ({count} {'round' if count == 1 else 'rounds'}).\n")
    if not trusted and verdicts:
        out.write(f"Note: {NO_TRUST}\n")


def write_findings(out: TextIO, findings: Sequence[Finding]) -> None:
    """Write what each finding means and where it is."""
    for finding in findings:
        out.write(f"  {finding.code}: {meaning(finding.code)}\n")
        place = finding.where or "the whole document"
        out.write(f"      at {place}: {finding.text}\n")


def _bundle(out: TextIO, line: Line, verdict: Verdict) -> None:
    name = f"round {verdict.round}" if verdict.round else "unknown round"
    out.write(f"{LABELS[verdict.status]}: {name} ({line.source}, line {line.number})\n")
    if verdict.verdict != PASS:
        write_findings(out, verdict.findings)
