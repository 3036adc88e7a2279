"""What a load run reads about the machine: processor time and memory by process, size of the database, percentiles."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += parents.get(one, [])
    return found


@dataclass(frozen=True, slots=True)
class Usage:
    """Processor seconds so far, and bytes of memory, of a group of processes."""

    cpu_s: float
    memory: int


def usage(pids: Iterable[int]) -> Usage:
    """Return what processes used, their ended children included; those that are gone count as nothing."""
    cpu = memory = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            memory += 1024 * _proportional_kib(pid)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        cpu += sum(int(field) for field in fields[11:15])
    return Usage(cpu / TICKS, memory)


def _proportional_kib(pid: int) -> int:
    """Return the resident memory of a process; what it shares with others is divided among them."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


class Machine:
    """Groups of processes by name, and what each has used since the last look."""

    def __init__(self, roots: Mapping[str, int]) -> None:
        self._roots = dict(roots)
        self._before = self._now()

    def _now(self) -> dict[str, Usage]:
        return {name: usage([pid] if name == "generator" else tree(pid)) for name, pid in self._roots.items()}

    def restart(self) -> None:
        """Forget what was used until now."""
        self._before = self._now()

    def since(self) -> dict[str, tuple[float, int, int]]:
        """Return by group: processor seconds, bytes of memory before and now."""
        now = self._now()
        return {
            name: (now[name].cpu_s - self._before[name].cpu_s, self._before[name].memory, now[name].memory)
            for name in now
        }


def percentiles(values: Sequence[float]) -> str:
    """Return p50, p95, p99 and the greatest."""
    if not values:
        return "none"
    ordered = sorted(values)
    cells = [f"p{share} {ordered[min(len(ordered) - 1, len(ordered) * share // 100)]:.1f}" for share in (50, 95, 99)]
    return ", ".join([*cells, f"max {ordered[-1]:.1f}"])
