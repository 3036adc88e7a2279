"""The rounds and logs of the test vectors get the verdicts they are listed with, and no other.

Source: docs/fairness/protocol.md, section 13; tests/vectors/vectors.json.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from apps.fairness.protocol import notes, tiles
from apps.fairness.protocol.bundle import bundle_encode
from apps.fairness.protocol.log import MemoryTree, inclusion_path, leaf_hash
from apps.fairness.protocol.monitor import verify_log
from apps.fairness.protocol.records import entry_read
from apps.fairness.protocol.transcript import entry_bytes, heads
from apps.fairness.protocol.trust import Trust, trust_read
from apps.fairness.protocol.verdict import CANNOT, FAILURES, Verdict
from apps.fairness.protocol.verify import verify_bundles
from tests.fairness.protocol.toy import Toy
from tests.fairness.protocol.vectors import NEGATIVE_TRUST, ROUNDS, TRUST, VECTORS

GAMES = {"toy": Toy()}


def named(case: dict[str, Any]) -> str:
    return f"{case['code']}: {case['about']}"


def as_lines(bundles: list[dict[str, Any]]) -> list[list[Any]]:
    """Return the same bundles as objects, as canonical bytes and as other bytes."""
    return [bundles, [bundle_encode(value) for value in bundles], [json.dumps(value, indent=1) for value in bundles]]


def test_the_rounds_are_one_file_that_passes() -> None:
    for lines in as_lines([row["bundle"] for row in ROUNDS.values()]):
        verdicts = verify_bundles(lines, TRUST, complete=True, games=GAMES)
        assert {verdict.verdict for verdict in verdicts} == {"pass"}


@pytest.mark.parametrize("name", list(ROUNDS))
def test_the_intermediate_values_of_a_round(name: str) -> None:
    row = ROUNDS[name]
    known, value = row["intermediate"], row["bundle"]
    for record in value["records"]:
        signed = entry_read(json.dumps(record, sort_keys=True, separators=(",", ":")).encode())
        assert known.get(f"{signed.type}_hash", signed.hash_hex) == signed.hash_hex
    if "heads" in known:
        data = [entry_bytes(entry) for entry in value["transcript"]]
        chain = [head.hex() for head in heads(bytes.fromhex(known["deck_hash"]), data)]
        assert (chain[0], chain[1:]) == (known["head_start"], known["heads"])


@pytest.mark.parametrize("case", VECTORS["negative"], ids=named)
def test_negative_bundles(case: dict[str, Any]) -> None:
    for lines in as_lines(case["bundles"]):
        verdicts = verify_bundles(lines, NEGATIVE_TRUST, games=GAMES)
        assert verdicts[case["at"]].verdict == case["code"]
        assert list(verdicts[case["at"]].codes) == case["all"]
        assert verdicts[case["at"]].status == 1
        assert {verdict.status for at, verdict in enumerate(verdicts) if at != case["at"]} <= {0}


@pytest.mark.parametrize("case", [case for case in VECTORS["cannot"] if "bundles" in case], ids=named)
def test_bundles_that_cannot_be_checked(case: dict[str, Any]) -> None:
    bls = "bls" not in case.get("without", ())
    for lines in as_lines(case["bundles"]):
        verdicts = verify_bundles(lines, TRUST, complete=case["complete"], bls=bls, games=GAMES)
        assert {verdict.verdict for verdict in verdicts} - {"pass"} == {case["code"]}
        assert max(verdict.status for verdict in verdicts) == 2
        assert {verdict.codes for verdict in verdicts} == {()}


@pytest.mark.parametrize("line", next(case["lines"] for case in VECTORS["cannot"] if "lines" in case))
def test_lines_that_are_unreadable(line: str) -> None:
    assert verify_bundles([line], TRUST)[0].verdict == "unreadable"


def test_every_code_of_the_vectors_is_known() -> None:
    assert {case["code"] for case in VECTORS["negative"]} <= set(FAILURES)
    assert {case["code"] for case in VECTORS["cannot"]} <= set(CANNOT)


def check_log(log: dict[str, Any], trust: Trust | None, now_ms: int | None = None) -> Verdict:
    return verify_log(
        origin=log["origin"],
        entries=[text.encode() for text in log["entries"]],
        checkpoints=[(row["note"], [bytes.fromhex(node) for node in row["consistency"]]) for row in log["checkpoints"]],
        trust=trust,
        now_ms=now_ms,
    )


@pytest.mark.parametrize("trust", [TRUST, None])
def test_the_log_passes(trust: Trust | None) -> None:
    assert check_log(VECTORS["log"], trust).verdict == "pass"


@pytest.mark.parametrize("case", VECTORS["log_negative"], ids=named)
def test_negative_logs(case: dict[str, Any]) -> None:
    verdict = check_log(case["log"], trust_read(case["trust"]), case.get("now_ms"))
    assert (verdict.verdict, verdict.codes, verdict.status) == (case["code"], (case["code"],), 1)


def test_overdue_begins_a_moment_after_the_deadline() -> None:
    case = next(case for case in VECTORS["log_negative"] if case["code"] == "log_overdue")
    assert check_log(case["log"], trust_read(case["trust"]), case["now_ms"] - 1).verdict == "pass"


def test_leaves_proofs_tiles_and_cosignature_of_the_log() -> None:
    log = VECTORS["log"]
    entries = [text.encode() for text in log["entries"]]
    tree = MemoryTree(map(leaf_hash, entries))
    assert [leaf.hex() for leaf in tree.levels[0]] == log["leaf_hashes"]
    paths = [[node.hex() for node in inclusion_path(tree, index, len(tree))] for index in range(len(tree))]
    assert paths == log["inclusion_in_last"]
    made = {
        tiles.tile_path(0, 0, len(tree)): tiles.tile_encode(tree.levels[0]),
        tiles.tile_path(tiles.ENTRIES, 0, len(tree)): tiles.bundle_encode(entries),
    }
    assert {path: sha256(data).hexdigest() for path, data in made.items()} == log["tiles"]
    row = log["cosignature"]
    checkpoint = notes.checkpoint_read(log["checkpoints"][-1]["note"])
    witness = notes.vkey_read(row["vkey"], notes.TYPE_COSIGNATURE)
    assert notes.cosignature_message(checkpoint.body, row["time_s"]).decode() == row["message"]
    assert log["checkpoints"][-1]["note"].endswith(row["line"])
    assert [cosigned.time_s for cosigned in notes.cosignatures(checkpoint, [witness])] == [row["time_s"]]
