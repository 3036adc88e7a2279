"""Keys, signatures, checkpoints, proofs, identities, links and times that are wrong fail with their codes.

Source: docs/fairness/protocol.md, sections 2, 3, 9, 11 and 13.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from apps.fairness.protocol import notes, records, signatures
from apps.fairness.protocol.verify import verify_bundles
from tests.fairness.protocol.cases import Build, Case, Edit, body, bundle, change, ids, other_hex, plan, put, void
from tests.fairness.protocol.house import START_MS, Body, House, secret

DAY_MS = 24 * 60 * 60 * 1000
OTHER = signatures.public_key(secret("another key"))


def keys(*numbers: int) -> Build:
    """Return how to keep only some keys of a bundle, in this order."""

    def edit(value: Body) -> None:
        log, known = value["log"], len(value["keys"])
        value["keys"] = [value["keys"][number] for number in numbers]
        for name in ("indexes", "proofs"):
            log[name] = [log[name][number] for number in numbers] + log[name][known:]

    return bundle(edit)


def twice(house: House) -> Body:
    house.key_add("records", signatures.public_key(house.signer))
    return house.play().bundle


def revoked_unknown(house: House) -> Body:
    house.key_add("records", OTHER, op="revoke")
    return house.play().bundle


def revoked_twice(house: House) -> Body:
    for op in ("add", "revoke", "revoke"):
        house.key_add("log", OTHER, op=op)
    return house.play().bundle


def revoked_and_added_again(house: House) -> Body:
    for op in ("add", "revoke", "add"):
        house.key_add("log", OTHER, op=op)
    return house.play().bundle


def revoked_root(house: House) -> Body:
    other = secret("another key")
    house.key_add("root", OTHER)
    house.key_add("root", OTHER, op="revoke")
    house.key_add("log", secret("some key"), by=other)
    return house.play().bundle


def signed_by_records_key(house: House) -> Body:
    house.key_add("log", OTHER, by=house.signer)
    return house.play().bundle


def signed_with_log_key(house: House) -> Body:
    house.signer = house.log
    return house.play().bundle


def revoked_before(house: House) -> Body:
    house.key_add("records", signatures.public_key(house.signer), op="revoke")
    return house.play().bundle


def second_line(note: str) -> str:
    """Return a note with a false line under the log's name and key id."""
    lines = note.splitlines(keepends=True)
    line = lines[4]
    start, data = line[:-6], line[-6:]
    return note + start + ("A" if data[0] != "A" else "B") + data[1:]


def without_witness(note: str) -> str:
    return "".join(note.splitlines(keepends=True)[:-1])


def altered_witness(note: str) -> str:
    start, last = note[:-8], note[-8:]
    return start + ("A" if last[0] != "A" else "B") + last[1:]


def swapped_keys(value: Body) -> None:
    log = value["log"]
    for target in (value["keys"], log["indexes"], log["proofs"]):
        target[1], target[2] = target[2], target[1]


def swapped_records(value: Body) -> None:
    log, keys_ = value["log"], len(value["keys"])
    for target in (log["indexes"], log["proofs"]):
        target[keys_ + 1], target[keys_ + 2] = target[keys_ + 2], target[keys_ + 1]


def later(milliseconds: int) -> Edit:
    """Return an edit that lets time pass while a round is played."""

    def edit(play: Any) -> None:
        play.now += milliseconds

    return edit


KEYS: list[Case] = [
    ("key_record", "no key at all", keys()),
    ("key_record", "the first key is not a root key", keys(1, 2)),
    ("key_record", "a key added twice", twice),
    ("key_record", "a key revoked that was never added", revoked_unknown),
    ("key_record", "a key revoked twice", revoked_twice),
    ("key_record", "a key added again after it was revoked", revoked_and_added_again),
    ("key_record", "a key added by a revoked root key", revoked_root),
    ("key_record", "a key added by a records key", signed_by_records_key),
    ("key_record", "a key record with an altered signature", bundle(change("keys", 1, "sig", by=other_hex))),
    ("key_record", "a first key record with an altered signature", bundle(change("keys", 0, "sig", by=other_hex))),
    ("key_unknown", "the records key is not in the bundle", keys(0, 1)),
    ("key_unknown", "records signed with the log's key", signed_with_log_key),
    ("key_revoked", "a key revoked before", revoked_before),
    ("record_signature", "an altered body", bundle(put("records", 0, "body", "opened_ms", value=START_MS + 1))),
    ("record_signature", "an altered signature", bundle(change("records", 2, "sig", by=other_hex))),
]

LOG: list[Case] = [
    ("checkpoint", "not a note", bundle(put("log", "checkpoint", value="none\n"))),
    ("checkpoint", "an empty text", bundle(put("log", "checkpoint", value=""))),
    ("checkpoint", "an origin that is not the bundle's", bundle(put("log", "origin", value="log.other"))),
    (
        "checkpoint",
        "an extension line",
        bundle(change("log", "checkpoint", by=lambda note: note.replace("=\n\n", "=\nx\n\n"))),
    ),
    (
        "checkpoint",
        "a size with a leading zero",
        bundle(change("log", "checkpoint", by=lambda note: note.replace("\n", "\n0", 1))),
    ),
    (
        "checkpoint",
        "lines that end as on another system",
        bundle(change("log", "checkpoint", by=lambda note: note.replace("\n", "\r\n"))),
    ),
    ("checkpoint", "no newline at the end", bundle(change("log", "checkpoint", by=lambda note: note[:-1]))),
    ("checkpoint", "a false second line of the log's key", bundle(change("log", "checkpoint", by=second_line))),
    (
        "checkpoint",
        "a dash that is none",
        bundle(change("log", "checkpoint", by=lambda note: note.replace("\u2014", "-", 1))),
    ),
    ("witness_quorum", "no cosignature", bundle(change("log", "checkpoint", by=without_witness))),
    ("witness_quorum", "an altered cosignature", bundle(change("log", "checkpoint", by=altered_witness))),
    ("inclusion", "another index", bundle(put("log", "indexes", 5, value=6))),
    ("inclusion", "an index beyond the tree", bundle(put("log", "indexes", 5, value=99))),
    ("inclusion", "a hash too many", bundle(change("log", "proofs", 3, by=lambda path: [*path, path[0]]))),
    ("inclusion", "a hash too few", bundle(change("log", "proofs", 3, by=lambda path: path[1:]))),
    ("inclusion", "an altered hash of a key's proof", bundle(change("log", "proofs", 0, 0, by=other_hex))),
    ("inclusion", "the places of two records swapped", bundle(swapped_records)),
]

STORY: list[Case] = [
    ("round_id", "the id of another table", body("open", put("round", value=records.round_id(bytes(16), 0).hex()))),
    ("round_id", "the deck record names another round", body("deck", put("round", value="00" * 16))),
    ("round_id", "the void record names another round", void("not_started", "none", round="00" * 16)),
    ("prev", "index 0 with a predecessor", body("open", put("prev", value="00" * 32))),
    ("prev", "index 1 without a predecessor", plan(index=1, last_opener=0)),
    ("link", "the close record names another open record", body("close", put("open", value="00" * 32), mode="sealed")),
    ("link", "the deck record names another open record", body("deck", put("open", value="00" * 32))),
    ("link", "the deck record names another close record", body("deck", put("close", value="00" * 32), mode="sealed")),
    ("link", "the deck record names a close record that is none", body("deck", put("close", value="00" * 32))),
    ("link", "the deck record leaves the close record out", body("deck", put("close", value=""), mode="sealed")),
    ("link", "the reveal record names another deck record", body("reveal", put("deck", value="00" * 32))),
    ("link", "the void record names another record", void("not_started", "none", last="00" * 32)),
    ("times", "closed before it was opened", body("close", put("closed_ms", value=START_MS - 1), mode="sealed")),
    ("times", "dealt before it was closed", body("deck", put("dealt_ms", value=START_MS + 1), mode="sealed")),
    ("times", "voided before it was opened", void("not_started", "none", voided_ms=START_MS - 1)),
    ("times", "ended before it was dealt", body("reveal", put("ended_ms", value=START_MS))),
    ("times", "dealt a moment before the beacon", body("deck", put("dealt_ms", value=1776197897999), beacon=True)),
    (
        "deadline",
        "closed a day and a moment late",
        plan(("opened", later(DAY_MS - 4000 + 1)), mode="sealed"),
    ),
    ("deadline", "dealt a day and a moment late", plan(("opened", later(DAY_MS - 4000 + 1)))),
    (
        "deadline",
        "dealt 60001 ms after the close record",
        plan(("closed", later(60001 - 5000)), mode="sealed"),
    ),
    (
        "deadline",
        "ended six hours and a moment after the deal",
        body("reveal", put("ended_ms", value=START_MS + 4000 + 6 * 3600 * 1000 + 1)),
    ),
    (
        "deadline",
        "a beacon is said to be missing too late",
        void("beacon_missing", "none", "close", beacon=True, voided_ms=1776197898000 + 60001),
    ),
    (
        "deadline",
        "a seat is said to be silent too late",
        void("entropy_missing", "seat:3", "close", mode="sealed", voided_ms=START_MS + 4000 + 60001),
    ),
]

IN_TIME: list[Case] = [
    ("pass", "closed after exactly a day", plan(("opened", later(DAY_MS - 4000)), mode="sealed")),
    ("pass", "dealt after exactly a day", plan(("opened", later(DAY_MS - 4000)))),
    ("pass", "dealt exactly 60 seconds after the close record", plan(("closed", later(55000)), mode="sealed")),
    ("pass", "ended after exactly six hours", body("reveal", put("ended_ms", value=START_MS + 4000 + 6 * 3600 * 1000))),
    (
        "pass",
        "nobody started for two days",
        void("not_started", "none", voided_ms=START_MS + 2 * DAY_MS),
    ),
    (
        "pass",
        "the operator gives up late",
        void("operator_fault", "operator", "close", mode="sealed", voided_ms=START_MS + 2 * DAY_MS),
    ),
    (
        "pass",
        "the operator gives up a dealt round late",
        void("operator_fault", "operator", "deck", voided_ms=START_MS + 2 * DAY_MS),
    ),
    (
        "pass",
        "a beacon is missing, just in time",
        void("beacon_missing", "none", "close", beacon=True, voided_ms=1776197898000 + 60000),
    ),
]


@pytest.mark.parametrize(("code", "about", "build"), KEYS, ids=ids(KEYS))
def test_keys_and_signatures(code: str, about: str, build: Build) -> None:
    house = House()
    (verdict,) = verify_bundles([build(house)], house.trust)
    assert verdict.verdict == code


@pytest.mark.parametrize(("code", "about", "build"), LOG, ids=ids(LOG))
def test_the_log(code: str, about: str, build: Build) -> None:
    house = House()
    (verdict,) = verify_bundles([build(house)], house.trust)
    assert verdict.verdict == code


@pytest.mark.parametrize(("code", "about", "build"), STORY, ids=ids(STORY))
def test_identity_links_and_times(code: str, about: str, build: Build) -> None:
    house = House()
    (verdict,) = verify_bundles([build(house)], house.trust)
    assert verdict.verdict == code


@pytest.mark.parametrize(("code", "about", "build"), IN_TIME, ids=ids(IN_TIME))
def test_deadlines_that_are_kept_or_do_not_bind(code: str, about: str, build: Build) -> None:
    house = House()
    (verdict,) = verify_bundles([build(house)], house.trust)
    assert verdict.verdict == code


def test_a_key_counts_only_for_records_after_it() -> None:
    house = House()
    house.signer = secret("late key")
    added = {"before_bundle": lambda late: late.key_add("records", signatures.public_key(late.signer)) and None}
    value = house.play(edits=added).bundle
    assert verify_bundles([value], house.trust)[0].verdict == "key_unknown"


def test_a_key_revoked_later_leaves_earlier_records_valid() -> None:
    house = House()
    revoked = {
        "before_bundle": lambda late: late.key_add("records", signatures.public_key(late.signer), op="revoke") and None
    }
    value = house.play(edits=revoked).bundle
    assert verify_bundles([value], house.trust)[0].verdict == "pass"


def test_keys_out_of_order_fail_log_order_too() -> None:
    house = House()
    (verdict,) = verify_bundles([bundle(swapped_keys)(house)], house.trust)
    assert verdict.verdict == "log_order"


def test_a_second_root_key_may_add_keys() -> None:
    house = House()
    house.key_add("root", OTHER)
    house.signer = secret("new signer")
    house.key_add("records", signatures.public_key(house.signer), by=secret("another key"))
    assert verify_bundles([house.play().bundle], house.trust)[0].verdict == "pass"


def test_another_root_key_than_the_trusted_one() -> None:
    house = House()
    trust = replace(house.trust, root=OTHER)
    assert verify_bundles([house.play().bundle], trust)[0].verdict == "key_record"


def test_another_log_key_than_the_trusted_one() -> None:
    house = House()
    trust = replace(house.trust, log=replace(house.trust.log, public_key=OTHER))
    assert verify_bundles([house.play().bundle], trust)[0].verdict == "checkpoint"


def test_one_witness_of_two_asked_for() -> None:
    house = House()
    other = notes.VerifierKey("witness.sealdeck.example/u", notes.TYPE_COSIGNATURE, OTHER)
    trust = replace(house.trust, witnesses=(*house.trust.witnesses, other), quorum=2)
    value = house.play().bundle
    assert verify_bundles([value], trust)[0].verdict == "witness_quorum"
    assert verify_bundles([value], replace(trust, quorum=1))[0].verdict == "pass"


def test_a_witness_that_cosigns_twice_counts_once() -> None:
    house = House()
    other = notes.VerifierKey("witness.sealdeck.example/u", notes.TYPE_COSIGNATURE, OTHER)
    trust = replace(house.trust, witnesses=(*house.trust.witnesses, other), quorum=2)

    def again(note: str) -> str:
        return note + notes.cosign(house.witness, house.witness_name, notes.checkpoint_read(note).body, 1)

    value = bundle(change("log", "checkpoint", by=again))(house)
    assert verify_bundles([value], trust)[0].verdict == "witness_quorum"


def test_without_trust_the_keys_come_from_the_bundle_and_it_is_said() -> None:
    (verdict,) = verify_bundles([House().play().bundle])
    assert verdict.verdict == "pass"
    assert any("agrees with itself" in note for note in verdict.notes)


def test_without_trust_a_checkpoint_still_needs_a_key_of_the_bundle() -> None:
    assert verify_bundles([keys(0, 2)(House())])[0].verdict == "checkpoint"
