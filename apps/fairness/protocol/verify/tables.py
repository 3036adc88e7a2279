"""The bundles of a file against each other: one chain for each table, no forks, no gaps.

Protocol: docs/fairness/protocol.md, section 13, codes opener, chain, fork and gap.  Never looks into a bundle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from apps.fairness.protocol.verify.rounds import Checked, Place

_TERMINAL = frozenset(("reveal", "void"))


def tables_check(checked: Sequence[Checked], *, complete: bool) -> None:
    """Add what the bundles of a file say about each other to the findings on each.

    Args:
        complete: whether a missing index between others is to be named.
    """
    tables: dict[str, dict[int, list[Checked]]] = defaultdict(lambda: defaultdict(list))
    for result in checked:
        if result.place is not None:
            tables[result.place.table][result.place.index].append(result)
    _forks(checked)
    for rounds in tables.values():
        indexes = sorted(rounds)
        for number, index in enumerate(indexes):
            for result, place in _placed(rounds[index]):
                _chain(result, place, rounds)
                _last_opener(result, place, rounds)
                if complete and number and indexes[number - 1] != index - 1:
                    missing = index - indexes[number - 1] - 1
                    text = f"{missing} rounds before index {index} are missing from the file"
                    result.findings.cannot("gap", text)


def _placed(results: Sequence[Checked]) -> Iterator[tuple[Checked, Place]]:
    for result in results:
        if result.place is not None:
            yield result, result.place


def _forks(checked: Sequence[Checked]) -> None:
    seen: dict[tuple[str, str], str] = {}
    for result, place in _placed(checked):
        if not place.proven:
            continue
        for number, (type_, hash_) in enumerate(place.hashes):
            kind = "terminal" if type_ in _TERMINAL else type_
            known = seen.setdefault((place.round, kind), hash_)
            if known != hash_:
                text = f"the file has another {kind} record of this round, {known}"
                result.findings.fail("fork", f"records[{number}]", text)


def _chain(result: Checked, place: Place, rounds: dict[int, list[Checked]]) -> None:
    before = {
        earlier.terminal
        for _, earlier in _placed(rounds.get(place.index - 1, []))
        if earlier.terminal is not None and earlier.proven
    }
    if before and place.prev not in before:
        text = f"the terminal record of index {place.index - 1} has the hash {min(before)}"
        result.findings.fail("chain", "records[0].body.prev", text)


def _last_opener(result: Checked, place: Place, rounds: dict[int, list[Checked]]) -> None:
    index = place.index - 1
    while index >= 0:
        earlier = [known for _, known in _placed(rounds.get(index, [])) if known.proven]
        if not earlier or any(known.terminal is None for known in earlier):
            return
        openers = [known.opener for known in earlier if known.opener is not None]
        if openers:
            if place.last_opener not in openers:
                _opener_fail(result, f"the latest dealt round, index {index}, was opened by seat {openers[0]}")
            return
        index -= 1
    if place.last_opener is not None:
        _opener_fail(result, "no earlier round of the table was dealt")


def _opener_fail(result: Checked, text: str) -> None:
    result.findings.fail("opener", "records[0].body.last_opener", text)
