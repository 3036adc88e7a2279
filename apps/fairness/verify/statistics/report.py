"""What the battery says: words for people, or one JSON object.  Never decides anything."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TextIO

from apps.fairness.verify.statistics.meanings import TESTS
from apps.fairness.verify.statistics.results import PASSED, SUSPICIOUS, TOO_LITTLE, Result, worst

LABELS = {PASSED: "pass", SUSPICIOUS: "SUSPICIOUS", TOO_LITTLE: "too little data"}


@dataclass(frozen=True, slots=True)
class Summary:
    """What was looked at, and what came out."""

    source: str
    """``bundles`` or ``simulated``."""
    bundles_status: int
    """What the checks of the bundles ended with: 0 all passed, 1 any failed, 2 otherwise."""
    left_out: int
    """Bundles that failed, could not be checked or have not ended; their decks do not count."""
    rounds: int
    voids: Mapping[str, int]
    """Reason of a void to how often it was given."""
    unknown: int
    """Voids whose deck cannot be known."""
    groups: Mapping[str, int]
    """Group to its number of decks."""
    alpha: float
    results: Sequence[Result]

    @property
    def status(self) -> int:
        """The exit status."""
        return worst([self.bundles_status, *(result.status for result in self.results)])

    @property
    def title(self) -> str:
        """One line that names it."""
        tested = sum(result.p is not None for result in self.results)
        kind = "simulated rounds" if self.source == "simulated" else "rounds"
        return f"{self.rounds} {kind}, {sum(self.voids.values())} void: {tested} tests, alpha {self.alpha:g}"


def write_json(out: TextIO, summary: Summary) -> None:
    """Write one object."""
    value = asdict(summary) | {
        "status": summary.status,
        "results": [{**asdict(result), "meaning": TESTS[result.test]} for result in summary.results],
    }
    out.write(json.dumps(value, ensure_ascii=True) + "\n")


def write_text(out: TextIO, summary: Summary) -> None:
    """Write a line for each test, by group, what the suspicious ones mean, and a summary."""
    out.write(f"{summary.title}\n")
    group = ""
    for result in summary.results:
        if result.group != group:
            group = result.group
            decks = summary.groups.get(group)
            out.write(f"\n{group}{'' if decks is None else f': {decks} decks'}\n")
        p = "" if result.p is None else f"p {result.p:<8.2g} "
        out.write(f"  {LABELS[result.verdict]:<15} {result.test:<17} {p}{result.text}\n")
        if result.verdict == SUSPICIOUS:
            out.write(f"      {TESTS[result.test]}\n")
    counts = {label: sum(result.verdict == key for result in summary.results) for key, label in LABELS.items()}
    said = ", ".join(f"{count} {label}" for label, count in counts.items() if count)
    out.write(f"\n{len(summary.results)} tests: {said}\n")
    if summary.unknown:
        out.write(f"Note: the decks of {summary.unknown} voids cannot be known; their rate and seeds were looked at.\n")
    if not summary.voids:
        out.write("Note: no round was void, so there was nothing to compare with finished ones.\n")
