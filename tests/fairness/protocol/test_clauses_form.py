"""Bundles, records and sequences that have not their form fail with the codes for it.

Source: docs/fairness/protocol.md, sections 2, 3, 12 and 13.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.fairness.protocol.errors import RecordError
from apps.fairness.protocol.verify import verify_bundles
from tests.fairness.protocol.cases import Build, Case, body, bundle, change, drop, ids, put
from tests.fairness.protocol.house import Body, House

EVENT = {"type": "noted"}
ROW = {"gen": 1, "stream": "reshuffle/0", "from": ["R0#1"]}


def rows(*numbers: int, **members: Any) -> Build:
    """Return how to keep only some records of a bundle, in this order."""

    def edit(value: Body) -> None:
        log, keys = value["log"], len(value["keys"])
        value["records"] = [value["records"][number] for number in numbers]
        for name in ("indexes", "proofs"):
            log[name] = log[name][:keys] + [log[name][keys + number] for number in numbers]
        if not any(record["type"] == "deck" for record in value["records"]):
            value.update(order=[], transcript=[], generations=[], openings=[])

    return bundle(edit, **members)


def keys_for_records(value: Body) -> None:
    value["keys"][0] = value["records"][0]


def records_for_keys(value: Body) -> None:
    value["records"][0] = value["keys"][0]


def close_of_another(value: Body) -> None:
    value["log"]["close"] = {"checkpoint": value["log"]["checkpoint"], "proof": [], "consistency": []}


BUNDLE_FORM: list[Case] = [
    ("bundle_form", "a witnessed close record where nothing was closed", bundle(close_of_another)),
    ("bundle_form", "a witnessed close record of a round without beacon", bundle(close_of_another, mode="sealed")),
    ("bundle_form", "a member is missing", bundle(drop("order"))),
    ("bundle_form", "a member too many", bundle(put("extra", value=1))),
    ("bundle_form", "format is a number", bundle(put("format", value=1))),
    ("bundle_form", "format is missing", bundle(drop("format"))),
    ("bundle_form", "records are an object", bundle(put("records", value={}))),
    ("bundle_form", "an entry of the transcript is a number", bundle(put("transcript", 0, value=1))),
    ("bundle_form", "a card code without number", bundle(put("order", 0, value="R0"))),
    ("bundle_form", "a card code with number 0", bundle(put("order", 0, value="R0#0"))),
    ("bundle_form", "a card code of 13 characters", bundle(put("order", 0, value="ABCDEFGHIJKLM#1"))),
    ("bundle_form", "a generation with a member too many", bundle(put("generations", 0, "n", value=1))),
    ("bundle_form", "a generation number that is a text", bundle(put("generations", 0, "gen", value="1"))),
    ("bundle_form", "a stream that is a number", bundle(put("generations", 0, "stream", value=1))),
    ("bundle_form", "an opening without salt", bundle(drop("openings", 0, "salt"))),
    ("bundle_form", "an opening with 17 hashes", bundle(put("openings", 0, "path", value=["00" * 32] * 17))),
    ("bundle_form", "openings that are null", bundle(put("openings", value=None))),
    ("bundle_form", "4097 events", bundle(put("transcript", 0, "events", value=[EVENT] * 4097))),
    ("bundle_form", "log misses a member", bundle(drop("log", "close"))),
    ("bundle_form", "an origin with a space", bundle(put("log", "origin", value="a b"))),
    ("bundle_form", "an origin with a plus", bundle(put("log", "origin", value="a+b"))),
    ("bundle_form", "an origin of 129 characters", bundle(put("log", "origin", value="a" * 129))),
    ("bundle_form", "a checkpoint of 8193 characters", bundle(put("log", "checkpoint", value="a" * 8193))),
    ("bundle_form", "an index too few", bundle(drop("log", "indexes", 0))),
    ("bundle_form", "a negative index", bundle(put("log", "indexes", 0, value=-1))),
    ("bundle_form", "a truth value as index", bundle(put("log", "indexes", 0, value=True))),
    ("bundle_form", "a proof too many", bundle(change("log", "proofs", by=lambda proofs: [*proofs, []]))),
    ("bundle_form", "a proof of 65 hashes", bundle(put("log", "proofs", 0, value=["00" * 32] * 65))),
    ("bundle_form", "a hash in capitals", bundle(put("log", "proofs", 0, 0, value="AB" * 32))),
    ("bundle_form", "views out of order", bundle(change("log", "views", by=lambda v: v[::-1]), mode="sealed")),
    ("bundle_form", "a view twice", bundle(change("log", "views", by=lambda views: [views[0], views[0]]))),
    ("bundle_form", "a view without proof", bundle(drop("log", "views", 0, "proof"))),
    ("bundle_form", "close without its proof", bundle(drop("log", "close", "proof"), beacon=True)),
    ("bundle_form", "4002 keys", bundle(change("keys", by=lambda keys: keys * 1334))),
    ("bundle_form", "an order without a deck record", bundle(put("order", value=["R0#1"]), stop="open")),
    ("bundle_form", "a transcript without a deck record", bundle(put("transcript", value=[{}]), stop="open")),
    ("bundle_form", "a generation without a deck record", bundle(put("generations", value=[ROW]), stop="open")),
]

RECORD_FORM: list[Case] = [
    ("record_form", "a record without signature", bundle(drop("records", 0, "sig"))),
    ("record_form", "a record with a member too many", bundle(put("records", 0, "n", value=1))),
    ("record_form", "a record that is a list", bundle(put("records", 0, value=[]))),
    ("record_form", "a signature in capitals", bundle(change("records", 0, "sig", by=str.upper))),
    ("record_form", "a short kid", bundle(put("records", 0, "kid", value="ab"))),
    ("record_form", "an unknown type", bundle(put("records", 0, "type", value="other"))),
    ("record_form", "a type that is a number", bundle(put("records", 0, "type", value=1))),
    ("record_form", "a body that is a list", bundle(put("records", 0, "body", value=[]))),
    ("record_form", "v is missing", bundle(drop("records", 0, "body", "v"))),
    ("record_form", "v is a number", bundle(put("records", 0, "body", "v", value=1))),
    ("record_form", "a body with a member too many", bundle(put("records", 0, "body", "x", value=1))),
    ("record_form", "a key among the records", bundle(records_for_keys)),
    ("record_form", "a record among the keys", bundle(keys_for_records)),
    ("record_form", "an entry too long", bundle(put("records", 0, "body", "options", value={"a": "x" * 65000}))),
    ("record_form", "rules of another game", bundle(put("records", 0, "body", "rules", value="other/1"))),
    ("record_form", "rules without version", bundle(put("records", 0, "body", "rules", value="sample/"))),
    ("record_form", "a game in capitals", bundle(put("records", 0, "body", "game", value="Sample"))),
    ("record_form", "options that are a list", bundle(put("records", 0, "body", "options", value=[]))),
    ("record_form", "an index of 2^32", bundle(put("records", 0, "body", "index", value=2**32))),
    ("record_form", "a truth value as index", bundle(put("records", 0, "body", "index", value=True))),
    ("record_form", "a negative time", bundle(put("records", 0, "body", "opened_ms", value=-1))),
    ("record_form", "a fourth mode", bundle(put("records", 0, "body", "entropy", value="half"))),
    ("record_form", "a table in capitals", bundle(put("records", 0, "body", "table", value="AB" * 16))),
    ("record_form", "a currency in small letters", bundle(put("records", 0, "body", "stake", "currency", value="eur"))),
    ("record_form", "a fee above the whole", bundle(put("records", 0, "body", "stake", "fee_bp", value=10001))),
    ("record_form", "a negative buy-in", bundle(put("records", 0, "body", "stake", "buy_in", value=-1))),
    ("record_form", "a margin of 0", bundle(put("records", 0, "body", "beacon", "margin", value=0), beacon=True)),
    ("record_form", "a margin of 1001", bundle(put("records", 0, "body", "beacon", "margin", value=1001), beacon=True)),
    ("record_form", "a beacon without chain", bundle(drop("records", 0, "body", "beacon", "chain"), beacon=True)),
    ("record_form", "decks overlap", bundle(change("records", 0, "body", "decks", by=lambda decks: decks * 2))),
    ("record_form", "decks are empty", bundle(put("records", 0, "body", "decks", value=[]))),
    ("record_form", "decks upside down", bundle(put("records", 0, "body", "decks", 0, "seats_max", value=1))),
    ("record_form", "seventeen decks", bundle(change("records", 0, "body", "decks", by=lambda decks: decks * 17))),
    ("record_form", "a last opener of 255", bundle(put("records", 0, "body", "last_opener", value=255))),
    ("record_form", "a seat of 255", bundle(put("records", 1, "body", "opener", value=255))),
    ("record_form", "an empty roster", bundle(put("records", 1, "body", "roster", value=[]))),
    ("record_form", "256 roster rows", bundle(change("records", 1, "body", "roster", by=lambda r: r[:1] * 256))),
    ("record_form", "a roster row too wide", bundle(put("records", 1, "body", "roster", 0, "x", value=0))),
    ("record_form", "a view without root", bundle(drop("records", 1, "body", "roster", 0, "cp", "root"))),
    ("record_form", "no cards", bundle(put("records", 1, "body", "n", value=0))),
    ("record_form", "65537 cards", bundle(put("records", 1, "body", "n", value=65537))),
    ("record_form", "a short beacon", bundle(put("records", 1, "body", "beacon", value="ab"))),
    ("record_form", "a beacon round of 0", bundle(put("records", 1, "body", "beacon_round", value=0), beacon=True)),
    ("record_form", "a share of 0", bundle(put("records", 2, "body", "outcome", "shares", "0", value=0))),
    ("record_form", "a share of 65537", bundle(put("records", 2, "body", "outcome", "shares", "0", value=65537))),
    ("record_form", "a seat written 00", bundle(put("records", 2, "body", "outcome", "shares", "00", value=1))),
    ("record_form", "a ranking of seats", bundle(put("records", 2, "body", "outcome", "ranking", value=[0]))),
    ("record_form", "a reason that is no code", bundle(put("records", 2, "body", "outcome", "reason", value="It"))),
    ("record_form", "an outcome too wide", bundle(put("records", 2, "body", "outcome", "x", value=1))),
    ("record_form", "an empty head", bundle(put("records", 2, "body", "head", value=""))),
    ("record_form", "a negative payout", bundle(put("records", 2, "body", "payouts", 0, "payout", value=-1))),
]

RECORD_SET: list[Case] = [
    ("record_set", "no records", rows()),
    ("record_set", "the open record is missing", rows(1, 2)),
    ("record_set", "the deck record is missing", rows(0, 2)),
    ("record_set", "an open record twice", rows(0, 0, 1, 2)),
    ("record_set", "a deck record twice", rows(0, 1, 1, 2)),
    ("record_set", "two terminal records", rows(0, 1, 2, 2)),
    ("record_set", "no close record though a beacon is bound", rows(0, 2, 3, beacon=True)),
    ("record_set", "no close record in a sealed round that was voided", rows(0, 2, mode="sealed", stop="deck")),
    ("record_set", "the records in another order", rows(0, 2, 1)),
    ("record_set", "a void record alone", rows(1, stop="open", void={"reason": "not_started", "fault": "none"})),
]


def first_code(build: Build) -> str:
    house = House()
    (verdict,) = verify_bundles([build(house)], house.trust)
    return verdict.verdict


@pytest.mark.parametrize(("code", "about", "build"), BUNDLE_FORM, ids=ids(BUNDLE_FORM))
def test_a_document_that_is_no_bundle(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


@pytest.mark.parametrize(("code", "about", "build"), RECORD_FORM, ids=ids(RECORD_FORM))
def test_a_record_that_has_not_its_form(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


@pytest.mark.parametrize(
    ("member", "value"),
    [("fault", "seat:255"), ("fault", "seat:01"), ("fault", "me"), ("stage", "key"), ("reason", "")],
)
def test_a_void_record_that_has_not_its_form(member: str, value: str) -> None:
    build = bundle(
        put("records", 1, "body", member, value=value), stop="open", void={"reason": "not_started", "fault": "none"}
    )
    assert first_code(build) == "record_form"


def test_a_close_record_where_nothing_is_closed() -> None:
    house = House()
    value = house.play(mode="sealed", edits={"open": put("entropy", value="open")}).bundle
    assert verify_bundles([value], house.trust)[0].verdict == "record_set"


@pytest.mark.parametrize(("code", "about", "build"), RECORD_SET, ids=ids(RECORD_SET))
def test_records_that_are_no_round(code: str, about: str, build: Build) -> None:
    assert first_code(build) == code


@pytest.mark.parametrize(
    "edit",
    [
        put("format", value="sealdeck-round/2"),
        put("records", 0, "body", "v", value="sealdeck/2"),
        put("keys", 0, "body", "v", value="sealdeck/2"),
    ],
)
def test_another_version_cannot_be_checked(edit: Any) -> None:
    house = House()
    (verdict,) = verify_bundles([bundle(edit)(house)], house.trust)
    assert (verdict.verdict, verdict.status, verdict.codes) == ("version", 2, ())


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"not json",
        b"\xff",
        b"\xef\xbb\xbf{}",
        b'{"format":1.5}',
        b'{"format":1e3}',
        b'{"format":-0}',
        b'{"format":9007199254740992}',
        b'{"format":NaN}',
        b'{"format":"a","format":"a"}',
        b'{"format":"\\ud800"}',
        b'{"\xc3\xa9":1}',
        b'{"a":' + b"[" * 32 + b"]" * 32 + b"}",
        b"[" * 100000,
        b'{"a":' * 100000,
        b"{} {}",
        b"9" * 5000,
    ],
)
def test_what_is_not_strict_json_is_unreadable(line: bytes) -> None:
    (verdict,) = verify_bundles([line])
    assert (verdict.verdict, verdict.status) == ("unreadable", 2)


@pytest.mark.parametrize("line", [b"{}", b"[]", b"null", b"5", b'"sealdeck-round/1"', b'{"format":"sealdeck-round/1"}'])
def test_what_is_json_but_no_bundle_has_not_its_form(line: bytes) -> None:
    assert verify_bundles([line])[0].verdict == "bundle_form"


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize(
    "path",
    [
        ("log", "indexes", 0),
        ("records", 0, "body", "index"),
        ("transcript", 1, "input", "card"),
        ("transcript", 1, "events", 0, "colour"),
    ],
)
@pytest.mark.parametrize("value", [2**53, -(2**53), 10**40])
def test_a_number_too_great_is_unreadable_wherever_it_stands(
    path: tuple[Any, ...], value: int, canonical: bool
) -> None:
    house = House()
    made = bundle(put(*path, value=value))(house)
    text = json.dumps(made, sort_keys=True, separators=(",", ":")) if canonical else json.dumps(made)
    assert verify_bundles([text], house.trust)[0].verdict == "unreadable"


@pytest.mark.parametrize("canonical", [True, False])
def test_nesting_too_deep_is_unreadable_wherever_it_stands(canonical: bool) -> None:
    deep: Any = 0
    for _ in range(28):
        deep = [deep]
    house = House()
    made = bundle(put("transcript", 1, "events", 0, "x", value=deep))(house)
    text = json.dumps(made, sort_keys=True, separators=(",", ":")) if canonical else json.dumps(made)
    assert verify_bundles([text], house.trust)[0].verdict == "unreadable"


def test_a_repeated_member_is_found_in_canonical_and_in_other_bytes() -> None:
    house = House()
    made = house.play().bundle
    for separators in ((",", ":"), (", ", ": ")):
        text = json.dumps(made, sort_keys=True, separators=separators)
        assert verify_bundles([text], house.trust)[0].verdict == "pass"
        doubled = text.replace('"kind"', '"kind"' + separators[1] + '"act"' + separators[0] + '"kind"', 1)
        assert verify_bundles([doubled], house.trust)[0].verdict == "unreadable"


def test_a_record_with_a_signed_body_of_another_form_is_refused_by_the_signer_too() -> None:
    with pytest.raises(RecordError, match="decks"):
        body("open", put("decks", 0, "seats_max", value=0))(House())
