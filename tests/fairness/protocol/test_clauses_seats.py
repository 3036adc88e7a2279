"""Rosters, contributions, views and beacons that are wrong fail with their codes.

Source: docs/fairness/protocol.md, sections 3, 4 and 13.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from apps.fairness.protocol.verify import verify_bundles
from tests.fairness.protocol.cases import Build, Case, body, bundle, change, ids, opened_by, plan, put, void
from tests.fairness.protocol.house import BEACON_ROUND, House, secret
from tests.fairness.protocol.test_clauses_evidence import without_witness

CP = {"size": 9, "root": "00" * 32}
KEY, SIG, HASH = "11" * 32, "11" * 64, "11" * 32

ROSTER: list[Case] = [
    (
        "roster",
        "closed seats out of order",
        body("close", change("roster", by=lambda r: r[::-1]), mode="sealed"),
    ),
    ("roster", "a seat twice", body("deck", change("roster", by=lambda r: [r[0], *r]))),
    ("roster", "three seats, decks for four", body("open", put("decks", 0, "seats_min", value=4))),
    ("roster", "five seats, decks for four", plan(seats=(0, 1, 2, 3, 4))),
    ("roster", "another key than closed", body("deck", put("roster", 0, "pk", value=KEY), mode="sealed")),
    (
        "roster",
        "a seat more than closed",
        body("close", change("roster", by=lambda r: r[:2]), mode="sealed"),
    ),
    (
        "roster",
        "a voided entropy of a seat that is not in the close record",
        void("operator_fault", "operator", "close", mode="sealed", entropies=opened_by(2, seat=9)),
    ),
    (
        "roster",
        "a voided entropy with another key",
        void("operator_fault", "operator", "close", mode="sealed", entropies=opened_by(0, pk=KEY)),
    ),
    (
        "roster",
        "voided entropies out of order",
        void("operator_fault", "operator", "close", mode="sealed", entropies=opened_by(3, 0)),
    ),
]

MODE: list[Case] = [
    ("entropy_mode", "a key in mode none", body("deck", put("roster", 0, "pk", value=KEY), mode="none")),
    ("entropy_mode", "an entropy in mode none", body("deck", put("roster", 0, "entropy", value=KEY), mode="none")),
    ("entropy_mode", "a signature in mode none", body("deck", put("roster", 0, "sig", value=SIG), mode="none")),
    ("entropy_mode", "a view in mode none", body("deck", put("roster", 0, "cp", value=CP), mode="none")),
    ("entropy_mode", "no entropy in mode open", body("deck", put("roster", 1, "entropy", value=""))),
    ("entropy_mode", "no entropy in mode sealed", body("deck", put("roster", 1, "entropy", value=""), mode="sealed")),
    ("entropy_mode", "no signature of a seat with a key", body("deck", put("roster", 0, "sig", value=""))),
    ("entropy_mode", "a signature of a seat without a key", body("deck", put("roster", 1, "sig", value=SIG))),
    ("entropy_mode", "a view of a seat without a key", body("deck", put("roster", 1, "cp", value=CP))),
    ("entropy_mode", "no commitment", body("close", put("roster", 1, "commit", value=""), mode="sealed")),
    ("entropy_mode", "no signature of a commitment", body("close", put("roster", 0, "sig", value=""), mode="sealed")),
    (
        "entropy_mode",
        "a signature on a commitment of a seat without a key",
        body("close", put("roster", 1, "sig", value=SIG), mode="sealed"),
    ),
    (
        "entropy_mode",
        "a commitment in mode none",
        body("close", put("roster", 0, "commit", value=HASH), mode="none", beacon=True),
    ),
    (
        "entropy_mode",
        "a signature on a commitment that the server worked out",
        body("close", put("roster", 0, "sig", value=SIG), beacon=True),
    ),
    (
        "entropy_mode",
        "a view on a commitment that the server worked out",
        body("close", put("roster", 0, "cp", value=CP), beacon=True),
    ),
    (
        "entropy_mode",
        "no commitment of an entropy that the server holds",
        body("close", put("roster", 0, "commit", value=""), beacon=True),
    ),
    (
        "entropy_mode",
        "a voided row without entropy",
        void("operator_fault", "operator", "close", mode="sealed", entropies=opened_by(2, entropy="")),
    ),
    (
        "entropy_repeated",
        "two seats with one key",
        plan(("play", lambda play: play.seat_keys.update({3: play.seat_keys[0]}))),
    ),
    (
        "entropy_repeated",
        "two seats with one entropy",
        plan(("play", lambda play: play.entropy.update({3: play.entropy[0]}))),
    ),
    (
        "entropy_repeated",
        "two seats with one commitment",
        body("close", lambda c: put("roster", 1, "commit", value=c["roster"][0]["commit"])(c), mode="sealed"),
    ),
    (
        "entropy_opening",
        "another entropy than committed",
        plan(("closed", lambda play: play.entropy.update({2: secret("other")})), mode="sealed"),
    ),
    (
        "entropy_opening",
        "another entropy than the server committed to",
        plan(("closed", lambda play: play.entropy.update({2: secret("other")})), beacon=True),
    ),
    (
        "entropy_opening",
        "a voided entropy that was not committed",
        void("operator_fault", "operator", "close", mode="sealed", entropies=opened_by(2, entropy=KEY)),
    ),
]

SIGNED: list[Case] = [
    (
        "seat_signature",
        "a commitment of nobody",
        body("close", put("roster", 0, "sig", value=SIG), mode="sealed"),
    ),
    ("seat_signature", "an opening signed by nobody", body("deck", put("roster", 0, "sig", value=SIG), mode="sealed")),
    ("seat_signature", "an entropy signed by nobody", body("deck", put("roster", 0, "sig", value=SIG))),
    ("seat_signature", "another view than signed", body("deck", put("roster", 0, "cp", value=None))),
    ("seat_signature", "another entropy than signed", body("deck", put("roster", 0, "entropy", value=KEY))),
    (
        "seat_signature",
        "a voided entropy signed by nobody",
        void("operator_fault", "operator", "close", mode="sealed", entropies=opened_by(0, sig=SIG)),
    ),
    ("view_early", "a view without the open record", plan(("view", lambda cp: {**cp, "size": 3}))),
    ("view_early", "an empty view", plan(("view", lambda cp: {**cp, "size": 0}))),
    ("view_split", "a root of another tree", plan(("view", lambda cp: {**cp, "root": HASH}))),
    ("view_split", "a view of a larger tree", plan(("view", lambda cp: {**cp, "size": 99}))),
    ("view_split", "no consistency proof", bundle(put("log", "views", value=[]))),
    ("view_split", "a proof too short", bundle(change("log", "views", 0, "proof", by=lambda path: path[1:]))),
    ("view_split", "a proof too long", bundle(change("log", "views", 0, "proof", by=lambda path: [*path, HASH]))),
]

BEACONS: list[Case] = [
    ("beacon_round", "no round though a beacon is bound", body("close", put("beacon_round", value=None), beacon=True)),
    ("beacon_round", "a round without beacon", body("close", put("beacon_round", value=1), mode="sealed")),
    (
        "beacon_round",
        "the round before",
        body("close", put("beacon_round", value=BEACON_ROUND - 1), beacon=True),
    ),
    ("close_late", "no checkpoint with the close record", bundle(put("log", "close", value=None), beacon=True)),
    ("close_late", "cosigned at the beacon's time", plan(("close_time_s", lambda time: 1776197898), beacon=True)),
    ("close_late", "cosigned after the beacon's time", plan(("close_time_s", lambda time: time + 60), beacon=True)),
    ("close_late", "no cosignature", bundle(change("log", "close", "checkpoint", by=without_witness), beacon=True)),
    ("close_late", "a checkpoint that is no note", bundle(put("log", "close", "checkpoint", value="x"), beacon=True)),
    ("close_late", "no inclusion", bundle(put("log", "close", "proof", value=[]), beacon=True)),
    ("close_late", "no consistency", bundle(put("log", "close", "consistency", value=[]), beacon=True)),
    ("beacon_signature", "a beacon that is not bound", body("deck", put("beacon", value="11" * 48))),
    ("beacon_signature", "not a point of the curve", body("deck", put("beacon", value="11" * 48), beacon=True)),
    ("beacon_signature", "all bits set", body("deck", put("beacon", value="ff" * 48), beacon=True)),
    ("beacon_signature", "the neutral point", body("deck", put("beacon", value="c0" + "00" * 47), beacon=True)),
    ("beacon_signature", "no signature", body("deck", put("beacon", value=""), beacon=True)),
]


def first_code(build: Build) -> str:
    house = House()
    (verdict,) = verify_bundles([build(house)], house.trust)
    return verdict.verdict


@pytest.mark.parametrize(("code", "about", "build"), ROSTER, ids=ids(ROSTER))
def test_rosters(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


@pytest.mark.parametrize(("code", "about", "build"), MODE, ids=ids(MODE))
def test_contributions(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


@pytest.mark.parametrize(("code", "about", "build"), SIGNED, ids=ids(SIGNED))
def test_what_seats_sign(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


@pytest.mark.parametrize(("code", "about", "build"), BEACONS, ids=ids(BEACONS))
def test_beacons(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


@pytest.mark.parametrize("mode", ["none", "open", "sealed"])
@pytest.mark.parametrize("beacon", [False, True])
@pytest.mark.parametrize("quote", [False, True])
def test_honest_rounds_of_every_mode_pass(mode: str, beacon: bool, quote: bool) -> None:
    assert first_code(plan(mode=mode, beacon=beacon, quote=quote)) == "pass"


def test_an_unknown_chain_cannot_be_checked() -> None:
    chain = put("beacon", "chain", value="00" * 32)
    house = House()
    (verdict,) = verify_bundles([house.play(beacon=True, edits={"open": chain}).bundle], house.trust)
    assert (verdict.verdict, verdict.status) == ("beacon_unchecked", 2)


def test_without_bls_the_beacon_is_unchecked_and_the_rest_is_not() -> None:
    house = House()
    value = house.play(beacon=True).bundle
    (verdict,) = verify_bundles([value], house.trust, bls=False)
    assert (verdict.verdict, verdict.status) == ("beacon_unchecked", 2)
    broken = bundle(change("openings", 0, "pos", by=lambda pos: pos + 1), beacon=True)(House())
    assert verify_bundles([broken], House().trust, bls=False)[0].verdict == "opening"


def test_without_a_quorum_nobody_need_have_seen_the_close_record_in_time() -> None:
    house = House()
    value = bundle(put("log", "close", value=None), beacon=True)(house)
    trust = replace(house.trust, quorum=0, witnesses=())
    assert verify_bundles([value], trust)[0].verdict == "pass"
    assert verify_bundles([value])[0].verdict == "pass"
