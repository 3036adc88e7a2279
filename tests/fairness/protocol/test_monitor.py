"""The monitor's checks of a whole log, clause by clause, and that no bytes make it raise.

Source: docs/fairness/protocol.md, section 13, the whole log.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.fairness.protocol import canonical, notes, records, signatures
from apps.fairness.protocol.log import MemoryTree, consistency_path, leaf_hash
from apps.fairness.protocol.monitor import LogMonitor, verify_log
from apps.fairness.protocol.verdict import LOG_FAILURES, Verdict
from tests.fairness.protocol.cases import put
from tests.fairness.protocol.house import START_MS, Body, House, Played, secret

VOID: Body = {"reason": "not_started", "fault": "none"}
FAULT: Body = {"reason": "operator_fault", "fault": "operator"}
HASH = "11" * 32


def checked(house: House, *, sizes: list[int] | None = None, now_ms: int | None = None, **changed: Any) -> Verdict:
    """Check the log of a house with checkpoints of some sizes, by default the whole."""
    sizes = [house.size] if sizes is None else sizes
    checkpoints, before = [], 0
    for size in sizes:
        path = consistency_path(house.tree, before, size) if 0 < before <= size else []
        checkpoints.append((house.checkpoint(size), path))
        before = size
    given: Body = {"entries": house.entries, "checkpoints": checkpoints, "trust": house.trust, "now_ms": now_ms}
    return verify_log(origin=house.origin, **{**given, **changed})


def table(house: House, *voids: Body | None, **members: Any) -> Played:
    """Play rounds at a table, those with a void end before the deal; return the last."""
    prev, last_opener = "", None
    played: Played | None = None
    for index, void in enumerate(voids):
        how: Body = {} if void is None else {"stop": "open", "void": void}
        played = house.play(index=index, prev=prev, last_opener=last_opener, **how, **members)
        prev = played.terminal
        last_opener = played.opener if played.opener is not None else last_opener
    assert played is not None
    return played


def merged(house: House, type_: str, body: Body) -> None:
    """Log a record that no round asked for."""
    house.merge(records.record_sign(house.signer, type_, body))


@pytest.mark.parametrize("mode", ["none", "open", "sealed"])
@pytest.mark.parametrize("beacon", [False, True])
def test_honest_logs_pass(mode: str, beacon: bool) -> None:
    house = House()
    table(house, None, VOID, None, VOID, VOID, None, mode=mode, beacon=beacon)
    house.play(stop="deck", table=secret("other")[:16].hex(), mode=mode)
    sizes = list(range(3, house.size + 1))
    assert checked(house, sizes=sizes).verdict == "pass"
    assert checked(house, sizes=sizes, trust=None).verdict == "pass"


def second_deck(house: House) -> None:
    played = table(house, None)
    merged(house, "deck", played.records[1].body)


def second_end(house: House) -> None:
    played = table(house, None)
    merged(house, "reveal", {**played.records[2].body, "ended_ms": START_MS + 99999})


def void_after_the_end(house: House) -> None:
    played = table(house, None)
    body = {name: played.records[2].body[name] for name in ("v", "round", "entries", "head", "seed")}
    void = {"stage": "deck", "entropies": [], "voided_ms": START_MS + 99999, **FAULT}
    merged(house, "void", {**body, **void, "last": played.records[1].hash_hex})


def unknown_round(house: House) -> None:
    other = House("elsewhere")
    merged(house, "deck", table(other, None).records[1].body)


def deck_without_close(house: House) -> None:
    played = House("elsewhere").play()
    house.play(stop="open", mode="sealed")
    body = {**played.records[1].body, "open": records.entry_read(house.entries[-1]).hash_hex}
    merged(house, "deck", body)


def close_without_need(house: House) -> None:
    played = House("elsewhere").play(mode="sealed")
    house.play(stop="open")
    merged(house, "close", {**played.records[1].body, "open": records.entry_read(house.entries[-1]).hash_hex})


def reveal_without_deck(house: House) -> None:
    played = House("elsewhere").play()
    house.play(stop="open")
    merged(house, "reveal", played.records[2].body)


def edited(type_: str, *path: Any, value: Any, **members: Any) -> Callable[[House], object]:
    return lambda house: house.play(edits={type_: put(*path, value=value)}, **members)


def gap(house: House) -> None:
    last = table(house, VOID)
    house.play(index=2, prev=last.terminal, stop="open", void=VOID)


def index_twice(house: House) -> None:
    table(house, None)
    house.play(edits={"play": lambda play: setattr(play, "seed", secret("other seed"))})


def opened_too_early(house: House) -> None:
    house.play(stop="open")
    house.play(index=1, prev=HASH, stop="open", void=VOID)


def other_predecessor(house: House) -> None:
    table(house, VOID)
    house.play(index=1, prev=HASH, stop="open", void=VOID)


def other_last_opener(house: House) -> None:
    last = table(house, None, VOID)
    house.play(index=2, prev=last.terminal, last_opener=9, stop="open", void=VOID)


def last_opener_of_nobody(house: House) -> None:
    house.play(last_opener=0, stop="open", void=VOID)


def other_seed(house: House) -> None:
    house.play(stop="open", void={**VOID, "seed": HASH})


def seed_twice(house: House) -> None:
    last = table(house, VOID)
    seed = secret(f"seed {secret('table')[:16].hex()} 0")
    edits = {"play": lambda play: setattr(play, "seed", seed)}
    house.play(index=1, prev=last.terminal, stop="open", void=VOID, edits=edits)


def unsigned(house: House) -> None:
    table(house, VOID)
    house.entries[3] = house.entries[3].replace(b'"EUR"', b'"USD"')
    rebuild(house)


def not_canonical(house: House) -> None:
    table(house, VOID)
    house.entries[3] = house.entries[3].replace(b",", b", ", 1)
    rebuild(house)


def not_json(house: House) -> None:
    house.entries.append(b"x")
    rebuild(house)


def unknown_key(house: House) -> None:
    house.signer = secret("nobody")
    table(house, VOID)


def revoked_key(house: House) -> None:
    house.key_add("records", signatures.public_key(house.signer), op="revoke")
    table(house, VOID)


def key_by_nobody(house: House) -> None:
    house.key_add("records", signatures.public_key(secret("x")), by=secret("nobody"))


def other_version(house: House) -> None:
    house.entries.append(house.entries[0].replace(b"sealdeck/1", b"sealdeck/2"))
    rebuild(house)


def rebuild(house: House) -> None:
    house.tree = MemoryTree(map(leaf_hash, house.entries))


CASES: list[tuple[str, Callable[[House], object]]] = [
    ("log_entry", unsigned),
    ("log_entry", not_canonical),
    ("log_entry", not_json),
    ("log_entry", unknown_key),
    ("log_entry", revoked_key),
    ("log_entry", key_by_nobody),
    ("log_entry", other_version),
    ("log_sequence", second_deck),
    ("log_sequence", second_end),
    ("log_sequence", void_after_the_end),
    ("log_sequence", unknown_round),
    ("log_sequence", deck_without_close),
    ("log_sequence", close_without_need),
    ("log_sequence", reveal_without_deck),
    ("log_sequence", edited("deck", "open", value=HASH)),
    ("log_sequence", edited("deck", "close", value=HASH)),
    ("log_sequence", edited("close", "open", value=HASH, mode="sealed")),
    ("log_sequence", edited("reveal", "deck", value=HASH)),
    ("log_sequence", edited("open", "round", value="11" * 16)),
    ("log_sequence", lambda house: house.play(stop="open", void={**VOID, "last": HASH})),
    ("log_sequence", lambda house: house.play(stop="open", void={**VOID, "stage": "deck"})),
    ("log_index", gap),
    ("log_index", index_twice),
    ("log_index", opened_too_early),
    ("log_index", lambda house: house.play(index=1, prev=HASH)),
    ("log_prev", other_predecessor),
    ("log_prev", other_last_opener),
    ("log_prev", last_opener_of_nobody),
    ("log_prev", edited("open", "prev", value=HASH, stop="open")),
    ("log_seed", other_seed),
    ("log_seed", seed_twice),
]


@pytest.mark.parametrize(("code", "cheat"), CASES, ids=[f"{code} {cheat.__name__}" for code, cheat in CASES])
def test_a_cheating_log(code: str, cheat: Callable[[House], object]) -> None:
    house = House()
    cheat(house)
    assert checked(house).verdict == code


def test_checkpoints_of_another_log_or_key() -> None:
    house, other = House(), House("other")
    assert checked(house, checkpoints=[(other.checkpoint(), [])]).verdict == "log_checkpoint"
    assert checked(house, checkpoints=[("no note", [])]).verdict == "log_checkpoint"
    house.log = secret("x")
    assert checked(house, trust=House().trust).verdict == "log_checkpoint"
    assert checked(house, trust=None).verdict == "log_checkpoint"


def test_a_checkpoint_without_quorum_only_matters_when_it_is_the_last() -> None:
    house = House()
    table(house, VOID)
    first, last = house.checkpoint(3, cosign=False), house.checkpoint()
    path = consistency_path(house.tree, 3, house.size)
    assert checked(house, checkpoints=[(first, []), (last, path)]).verdict == "pass"
    bare = house.checkpoint(cosign=False)
    assert checked(house, checkpoints=[(house.checkpoint(3), []), (bare, path)]).verdict == "log_witness"


def test_a_root_of_other_entries_and_of_more_than_there_are() -> None:
    house = House()
    table(house, VOID)
    note = notes.checkpoint_sign(house.log, house.origin, 4, bytes(32))
    assert checked(house, checkpoints=[(note, []), (house.checkpoint(), [])]).verdict == "log_root"
    note = notes.checkpoint_sign(house.log, house.origin, 99, bytes(32))
    assert checked(house, checkpoints=[(note, [])]).verdict == "log_witness"
    assert "log_root" in checked(house, checkpoints=[(note, [])]).codes


def test_a_smaller_tree_and_a_false_proof() -> None:
    house = House()
    table(house, VOID)
    large, small = house.checkpoint(), house.checkpoint(3)
    assert checked(house, checkpoints=[(large, []), (small, [])]).codes == ("log_consistency",)
    assert checked(house, checkpoints=[(small, []), (large, [])]).verdict == "log_consistency"
    path = consistency_path(house.tree, 3, house.size)
    assert checked(house, checkpoints=[(small, []), (large, path[::-1])]).verdict == "log_consistency"
    assert checked(house, checkpoints=[(large, []), (large, [])]).verdict == "pass"


@pytest.mark.parametrize(
    ("stop", "mode", "beacon", "due_ms"),
    [
        ("open", "open", False, START_MS + 24 * 3600 * 1000),
        ("close", "sealed", False, START_MS + 4000 + 60_000),
        ("close", "open", True, 1776197898000 + 60_000),
        ("deck", "open", False, START_MS + 4000 + 6 * 3600 * 1000),
    ],
)
def test_a_round_is_overdue_a_second_after_its_deadline(stop: str, mode: str, beacon: bool, due_ms: int) -> None:
    house = House()
    house.play(stop=stop, mode=mode, beacon=beacon)
    assert checked(house, now_ms=due_ms + 1000).verdict == "pass"
    assert checked(house, now_ms=due_ms + 1001).verdict == "log_overdue"


def test_entries_after_the_last_checkpoint_are_left_alone_and_it_is_said() -> None:
    house = House()
    table(house, VOID)
    verdict = checked(house, sizes=[3])
    assert verdict.verdict == "pass"
    assert any("after the last checkpoint" in note for note in verdict.notes)


def test_another_root_key_than_the_trusted_one() -> None:
    house, other = House(), House("other")
    other.origin, other.log, other.witness = house.origin, house.log, house.witness
    assert checked(other, trust=house.trust).verdict == "log_entry"


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 2000), st.binary(max_size=6)), max_size=6))
@settings(max_examples=60, deadline=None)
def test_no_bytes_make_the_monitor_raise(splices: list[tuple[int, int, bytes]]) -> None:
    house = House()
    table(house, VOID, None)
    for number, at, data in splices:
        entry = house.entries[number % house.size]
        house.entries[number % house.size] = entry[: at % len(entry)] + data + entry[at % len(entry) + 3 :]
    rebuild(house)
    assert set(checked(house).codes) <= set(LOG_FAILURES)


@given(st.dictionaries(st.sampled_from(["body", "kid", "sig", "type", "x"]), st.none() | st.text(max_size=8)))
@settings(max_examples=50, deadline=None)
def test_no_json_makes_the_monitor_raise(value: dict[str, Any]) -> None:
    monitor = LogMonitor(origin="log.example")
    monitor.entry(canonical.encode(value))
    monitor.checkpoint("x")
    assert set(monitor.verdict().codes) == {"log_checkpoint", "log_entry"}
