"""No change of a bundle goes unseen, and no bytes make the verifier do anything but give a verdict.

Source: docs/fairness/protocol.md, section 13.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.fairness.protocol.bundle import bundle_encode
from apps.fairness.protocol.verdict import CANNOT, FAILURES, Verdict
from apps.fairness.protocol.verify import verify_bundles
from tests.fairness.protocol.toy import Toy
from tests.fairness.protocol.vectors import ROUNDS, TRUST

GAMES = {"toy": Toy()}
BUNDLES = {name: bundle_encode(row["bundle"]) for name, row in ROUNDS.items()}
FLIPS = 300
"""Bytes flipped in each bundle, spread over its whole length."""


def verdict_on(data: Any) -> Verdict:
    (verdict,) = verify_bundles([data], TRUST, games=GAMES)
    assert verdict.verdict in {"pass", *FAILURES, *CANNOT}
    assert verdict.status in (0, 1, 2)
    return verdict


@pytest.mark.parametrize("name", list(BUNDLES))
def test_a_flipped_byte_is_caught(name: str) -> None:
    data = BUNDLES[name]
    rng = random.Random(f"flip {name}")
    step = max(1, len(data) // FLIPS)
    for start in range(0, len(data), step):
        at = start + rng.randrange(min(step, len(data) - start))
        flipped = data[:at] + bytes((data[at] ^ rng.choice((1, 2, 4, 8, 16, 32)),)) + data[at + 1 :]
        assert verdict_on(flipped).status != 0, (name, at, data[max(0, at - 30) : at + 10], flipped[at : at + 1])


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from leaves(item, (*path, number))
    yield path, value


def altered(value: Any, rng: random.Random) -> Any:
    """Return a value of the same kind that differs."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1, 1000))
    if isinstance(value, str):
        if not value:
            return "0"
        at = rng.randrange(len(value))
        return value[:at] + ("0" if value[at] != "0" else "1") + value[at + 1 :]
    if isinstance(value, list):
        return value[1:] if value else [0]
    if isinstance(value, dict):
        return {"x": 0} if not value else dict(list(value.items())[1:])
    return 0


@pytest.mark.parametrize("name", list(BUNDLES))
def test_every_kind_of_field_is_bound(name: str) -> None:
    """Alter one field of each name and depth, and then a sample of all."""
    rng = random.Random(f"alter {name}")
    whole = json.loads(BUNDLES[name])
    found = [(path, value) for path, value in leaves(whole) if path and path != ("openings",)]
    kinds: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for path, _ in found:
        kinds.setdefault(tuple("n" if isinstance(step, int) else step for step in path), []).append(path)
    chosen = [rng.choice(paths) for paths in kinds.values()] + [path for path, _ in rng.sample(found, 60)]
    for path in chosen:
        if path[0] == "openings" and len(path) == 2:
            continue
        changed = deepcopy(whole)
        holder = changed
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = altered(holder[path[-1]], rng)
        assert verdict_on(changed).status != 0, path


FORM = {"bundle_form", "unreadable"}
RECORDS = {"record_form", "record_set", "key_record", "key_unknown", "record_signature", "version"}
EXPECTED: dict[str, set[str]] = {
    "format": {"version", "bundle_form"},
    "records": RECORDS | {"inclusion"},
    "keys": RECORDS | {"checkpoint"},
    "order": {"order"},
    "generations": {"generation"},
    "transcript": {"transcript_form", "transcript_head"},
    "openings": {"opening"},
    "log.origin": {"checkpoint"},
    "log.checkpoint": {"checkpoint", "witness_quorum"},
    "log.indexes": {"inclusion", "key_unknown", "log_order"},
    "log.proofs": {"inclusion"},
    "log.views": {"view_split"},
    "log.close": {"close_late"},
}
"""Part of a bundle to the codes that an altered value there may have first, besides those of its form."""


@pytest.mark.parametrize("name", list(BUNDLES))
def test_an_altered_value_fails_with_a_code_of_its_part(name: str) -> None:
    rng = random.Random(f"codes {name}")
    whole = json.loads(BUNDLES[name])
    plain = [path for path, value in leaves(whole) if path and not isinstance(value, dict | list)]
    for path in rng.sample(plain, 120):
        changed = deepcopy(whole)
        holder = changed
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = altered(holder[path[-1]], rng)
        assert verdict_on(changed).verdict in EXPECTED[part(path)] | FORM, path


def part(path: tuple[Any, ...]) -> str:
    """Return the part of a bundle that a path leads into."""
    return f"log.{path[1]}" if path[0] == "log" and len(path) > 1 else str(path[0])


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """Return what stands at a path."""
    for step in path:
        value = value[step]
    return value


def flips(text: str, places_max: int | None) -> Iterator[str]:
    """Give the text with the lowest bit of one character flipped, for each of its characters in turn."""
    step = 1 if places_max is None else -(-len(text) // places_max)
    for place in range(0, len(text), step):
        yield text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :]


def flipped_fields(
    whole: dict[str, Any], rng: random.Random, places_max: int | None = None
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Give the bundle with each byte of one field of every kind flipped: texts by character, numbers by digit.

    Args:
        places_max: flip no more than so many, spread over each field; None flips all.
    """
    kinds: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for path, value in leaves(whole):
        if path and value != "" and type(value) in (str, int):
            kinds.setdefault(tuple("n" if isinstance(step, int) else step for step in path), []).append(path)
    for paths in kinds.values():
        path = rng.choice(paths)
        value = at(whole, path)
        for text in flips(str(value), places_max):
            if isinstance(value, int) and not (text.isdigit() and str(int(text)) == text):
                continue
            changed = deepcopy(whole)
            at(changed, path[:-1])[path[-1]] = int(text) if isinstance(value, int) else text
            yield path, changed


@pytest.mark.parametrize(("name", "places_max"), [("sealed", 24), ("void", None), ("beacon", 24)])
def test_each_byte_of_each_kind_of_field_flipped_in_turn_is_caught_with_a_code_of_its_part(
    name: str, places_max: int | None
) -> None:
    count = 0
    for path, changed in flipped_fields(json.loads(BUNDLES[name]), random.Random(f"each {name}"), places_max):
        assert verdict_on(changed).verdict in EXPECTED[part(path)] | FORM, (path, at(changed, path))
        count += 1
    assert count > 800


def test_each_byte_of_a_whole_bundle_flipped_in_turn_is_caught() -> None:
    data = BUNDLES["not_started"]
    for place, byte in enumerate(data):
        flipped = data[:place] + bytes((byte ^ 1,)) + data[place + 1 :]
        assert verdict_on(flipped).status != 0, (place, data[max(0, place - 30) : place + 10])


@pytest.mark.parametrize("name", list(BUNDLES))
def test_every_row_that_is_left_out_doubled_or_moved_is_missed(name: str) -> None:
    rng = random.Random(f"rows {name}")
    whole = json.loads(BUNDLES[name])
    lists = [path for path, value in leaves(whole) if isinstance(value, list) and path[0] != "openings"]
    for path in rng.sample(lists, min(60, len(lists))):
        for change in ("leave out", "double", "swap"):
            changed = deepcopy(whole)
            holder = changed
            for step in path:
                holder = holder[step]
            if not holder or (change == "swap" and (len(holder) < 2 or holder[0] == holder[-1])):
                continue
            if change == "leave out":
                holder.pop(rng.randrange(len(holder)))
            elif change == "double":
                holder.append(holder[-1])
            else:
                holder[0], holder[-1] = holder[-1], holder[0]
            assert verdict_on(changed).status != 0, (change, path)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats()
    | st.text(max_size=10)
    | st.sampled_from(["", "0" * 64, "0" * 32, "0" * 128, "open", "deck", "sealdeck/1", "R0#1"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=10,
)


@given(st.sampled_from(sorted(BUNDLES)), st.integers(0, 10**6), json_values)
@settings(max_examples=120, deadline=None)
def test_any_json_anywhere_gives_a_verdict(name: str, pick: int, value: Any) -> None:
    changed = json.loads(BUNDLES[name])
    paths = [path for path, _ in leaves(changed) if path]
    path = paths[pick % len(paths)]
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    verdict_on(changed)
    verdict_on(json.dumps(changed, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(errors="replace"))


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_bytes_give_a_verdict(data: bytes) -> None:
    assert verdict_on(data).status != 0


@given(st.sampled_from(sorted(BUNDLES)), st.integers(0, 20000), st.integers(0, 60), st.binary(max_size=20))
@settings(max_examples=120, deadline=None)
def test_any_splice_gives_a_verdict_and_never_a_pass(name: str, at: int, cut: int, data: bytes) -> None:
    whole = BUNDLES[name]
    at %= len(whole)
    spliced = whole[:at] + data + whole[at + cut :]
    verdict = verdict_on(spliced)
    assert verdict.status != 0 or json.loads(spliced) == json.loads(whole)
