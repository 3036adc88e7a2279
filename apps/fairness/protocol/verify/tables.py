"""The bundles of a file against each other: one chain for each table, no forks, no gaps.

Protocol: docs/fairness/protocol.md, section 13, codes opener, chain, fork and gap.  Never looks into a bundle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from apps.fairness.protocol.settlement import split
from apps.fairness.protocol.verify.play import same
from apps.fairness.protocol.verify.rounds import Checked, MatchRound, Place

_TERMINAL = frozenset(("reveal", "void"))


def tables_check(checked: Sequence[Checked], *, complete: bool, rules: bool = True) -> None:
    """Add what the bundles of a file say about each other to the findings on each.

    Args:
        complete: whether a missing index between others is to be named.
        rules: whether what one round of a match hands on to the next is compared.
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
                if place.match is not None:
                    _match(result, place, place.match, rounds, rules=rules)
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


def _earlier(index: int, rounds: dict[int, list[Checked]]) -> Place | None:
    """Return the one round of the table at an index, where the file has it and it is proven."""
    found = [place for _, place in _placed(rounds.get(index, [])) if place.proven]
    return found[0] if found and len({place.terminal for place in found}) == 1 else None


def _match(result: Checked, place: Place, match: MatchRound, rounds: dict[int, list[Checked]], *, rules: bool) -> None:
    """Compare a round of a match with the ones before it, as far as the file has them."""
    before = _earlier(place.index - 1, rounds)
    earlier = before.match if before is not None else None
    if rules and (place.index == 0 or (earlier is not None and earlier.game == match.game)):
        handed_on = None if earlier is None or earlier.final else earlier.carry_out
        if not same(match.carry_in, handed_on):
            text = "the round does not take over what the round before handed on"
            result.findings.fail("rules", "transcript[0].events[0].carry", text)
    if not match.final:
        return
    first: Place | None = place
    while first is not None and first.match is not None and first.match.carry_in is not None:
        first = _earlier(first.index - 1, rounds)
    if first is None or first.match is None or first.opener is None:
        return
    parts = split(match.net, match.shares, first.opener)
    if match.payouts != {seat: parts.get(seat, 0) for seat in match.payouts}:
        text = f"units left over go clockwise from seat {first.opener}, who opened the match"
        result.findings.fail("payout", "records", text)
