"""The browser verifier gives the bytes and the verdicts of the test vectors.

Source: docs/fairness/protocol.md; tests/vectors/vectors.json.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.fairness.protocol.bundle import bundle_encode
from apps.fairness.protocol.trust import Trust
from tests.browser.chromium import Tab
from tests.browser.conftest import browser_verdicts
from tests.fairness.protocol.vectors import NEGATIVE_TRUST, PRIMITIVES, ROUNDS, TRUST, VECTORS

BEACON_ROUNDS = {"toy", "beacon"}
"""Rounds that a browser cannot check in full: it has no BLS signatures."""
ONLY_ELSEWHERE = {
    ("beacon_signature", "the signature of another beacon round"): ("beacon_unchecked", []),
    ("beacon_round", "the close record binds the next beacon round"): ("beacon_round", ["beacon_round"]),
    ("rules", "the wrong seat wins"): ("pass", []),
}
"""Cases that need BLS or the rules of a game: what a verifier without them says."""
PRIMITIVES_JS = r"""
async (p, log) => {
  const { bytes, cards, dealing, json, merkle, money, notes, round, seats, shapes, streams, transcript } = sealdeck;
  const { hex, unhex, utf8 } = bytes;
  const wrong = [];
  let seen = 0;
  const is = (what, got, expected) => {
    seen += 1;
    const [a, b] = [got, expected].map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
    if (a !== b) wrong.push(`${what}: ${a} is not ${b}`);
  };
  const refused = (read) => {
    try {
      read();
      return false;
    } catch (problem) {
      return problem instanceof json.NotStrict;
    }
  };
  for (const row of p.frame) is("frame", hex(bytes.frame(row.label, ...row.fields.map(unhex))), row.hex);
  for (const row of p.jcs) {
    const text = new TextDecoder().decode(unhex(row.hex));
    is("jcs", hex(utf8(json.jsonText(row.value))), row.hex);
    is("jcs read", json.same(json.jsonReadCanonical(text), json.jsonRead(JSON.stringify(row.value))), true);
  }
  for (const text of p.jcs_refused) {
    is("refused", [refused(() => json.jsonRead(text)), refused(() => json.jsonReadCanonical(text))], [true, true]);
  }
  for (const text of p.jcs_not_canonical) {
    is("not canonical", [refused(() => json.jsonRead(text)), refused(() => json.jsonReadCanonical(text))],
      [false, true]);
  }
  const record = await shapes.recordRead(json.jsonReadCanonical(p.record.entry));
  const signer = unhex(p.record.signer_pk);
  is("record", [hex(record.message), record.hash, record.kid, new TextDecoder().decode(record.entry)],
    [p.record.message, p.record.hash, await shapes.keyId(signer), p.record.entry]);
  is("record signature", await bytes.ed25519(signer, record.message, record.sig), true);
  is("log leaf", hex(await merkle.leafHash(record.entry)), p.record.log_leaf);
  for (const row of p.ed25519) {
    const [pk, message, sig] = [row.pk, row.msg, row.sig].map(unhex);
    is("ed25519", [await bytes.ed25519(pk, message, sig),
      await bytes.ed25519(pk, bytes.join(message, bytes.u8(1)), sig)], [true, false]);
  }
  for (const row of p.hkdf) {
    const prk = await bytes.mac(unhex(row.salt), unhex(row.ikm));
    const first = await bytes.mac(prk, bytes.join(unhex(row.info), bytes.u8(1)));
    const second = await bytes.mac(prk, bytes.join(first, unhex(row.info), bytes.u8(2)));
    is("hkdf", [hex(prk), (hex(first) + hex(second)).startsWith(row.okm)], [row.prk, true]);
  }
  const { identity } = p;
  const table = unhex(identity.table);
  is("round", hex(await shapes.roundId(table, identity.index)), identity.round);
  is("seed", await shapes.seedCommit(table, identity.index, unhex(identity.seed)), identity.seed_commit);
  for (const [index, id] of Object.entries(identity.round_at_index)) {
    is("round", hex(await shapes.roundId(table, Number(index))), id);
  }
  for (const row of [p.entropy.commit, p.entropy.commit_without_key]) {
    const made = await seats.commitment(unhex(identity.round), unhex(p.entropy.open_hash), row.seat, unhex(row.pk),
      unhex(row.entropy));
    is("commitment", made, row.commit);
  }
  const rowsOf = (rows) => rows.map(([seat, pk, entropy]) => [seat, unhex(pk), unhex(entropy)]);
  for (const row of p.entropy.digest) is("E", hex(await streams.entropyDigest(rowsOf(row.rows))), row.E);
  for (const row of p.key_schedule) {
    const facts = ["round", "open_hash", "close_hash", "beacon"].map((name) => unhex(row[name]));
    const { rows } = p.entropy.digest.find((digest) => digest.E === row.E);
    const made = await streams.KeySchedule.derive({ seed: unhex(row.seed), rows: rowsOf(rows), round: facts[0],
      openHash: facts[1], closeHash: facts[2], beacon: facts[3] });
    is("key schedule", [hex(await streams.scheduleSalt(...facts)), hex(made.prk)], [row.salt, row.prk]);
  }
  const schedule = (row) => new streams.KeySchedule(unhex(row.prk), unhex(row.round));
  for (const row of p.streams.streams) {
    const stream = await schedule(p.streams).stream(row.name);
    const words = [];
    while (words.length < row.words.length) words.push(await stream.word());
    is(row.name, [hex(stream.key), words], [row.key, row.words]);
  }
  const open = {};
  for (const { stream, m, value } of p.interleaved.calls) {
    open[stream] ??= await schedule(p.interleaved).stream(stream);
    is("interleaved", await open[stream].uniform(m), value);
  }
  for (const row of p.uniform) {
    const stream = new streams.Stream(new Uint8Array(32), [...row.words]);
    const values = [];
    for (const m of row.m) values.push(await stream.uniform(m));
    is(row.about, [values, stream.used], [row.value, row.used]);
  }
  const numbers = (n) => Array.from({ length: n }, (_, at) => at);
  for (const row of p.shuffle.rows) {
    const stream = new streams.Stream(await bytes.mac(unhex(p.shuffle.base), bytes.u32(row.n)));
    const made = await stream.shuffle(numbers(row.n));
    const digest = hex(await bytes.sha256(bytes.join(...made.map(bytes.u16))));
    is("shuffle", [digest, stream.used, made], [row.sha256, row.words, row.permutation ?? made]);
  }
  const rejecting = p.shuffle_rejecting;
  const stream = new streams.Stream(unhex(rejecting.key));
  is("shuffle", [await stream.shuffle(numbers(rejecting.n)), stream.used], [rejecting.permutation, rejecting.words]);
  for (const row of p.insert_back) {
    is("insert_back", await new streams.Stream(unhex(row.key)).insertBack(row.from), row.result);
  }
  for (const row of Object.values(p.order)) is("order", await cards.orderHash(row.codes), row.order_hash);
  const { round: id, root, n, gen } = p.cards;
  const codes = p.cards.openings.map((opening) => opening.card);
  const tree = await cards.CardTree.build(unhex(id), gen, codes, unhex(p.cards.salt_key));
  is("root", tree.root, root);
  for (const { leaf, ...opening } of p.cards.openings) {
    is("opening", json.same(tree.opening(opening.pos), opening), true);
    is("leaf", hex(await cards.cardLeaf(unhex(id), gen, opening.pos, opening.card, unhex(opening.salt))), leaf);
    is("opening holds", await cards.openingHolds(opening, unhex(id), root, n), true);
  }
  for (const { about, opening } of p.cards.refused) {
    is(about, await cards.openingHolds(opening, unhex(id), root, n), false);
  }
  const none = new streams.KeySchedule(new Uint8Array(32), new Uint8Array(16));
  for (const row of p.opener) is("opener", await streams.openerOf(row.seats, row.last_opener, none), row.opener);
  for (const row of p.payout) {
    const fee = money.feeOn(BigInt(row.pot), row.fee_bp);
    const parts = money.split(BigInt(row.pot) - fee, money.sharesOf(row), row.opener);
    const payouts = Object.fromEntries(row.seats.map((seat) => [seat, Number(parts.get(seat) ?? 0n)]));
    is("payout", [Number(fee), payouts], [row.fee, row.payouts]);
  }
  is("heads", await transcript.heads(p.transcript.deck_hash, p.transcript.entries), p.transcript.heads);
  for (const row of p.seat_messages) {
    const message = seats.seatMessage(row.kind, row.body);
    is(row.kind, [hex(message), await bytes.ed25519(unhex(row.pk), message, unhex(row.sig))], [row.message, true]);
  }
  for (const row of p.beacon.round_for) {
    is("beacon round", Number(round.beaconRoundFor(row.closed_ms, row.margin)), row.round);
  }
  for (const row of p.beacon.signatures) {
    const made = await dealing.beaconBytes(unhex(p.beacon.chain), row.round, unhex(row.signature));
    is("beacon", [hex(made), Number(round.beaconTimeMs(row.round))], [row.beacon, row.time_ms]);
  }
  const leaves = await Promise.all(numbers(21).map((at) => merkle.leafHash(bytes.u8(at))));
  for (const size of numbers(21)) is("log root", await merkle.treeRoot(leaves.slice(0, size)), p.merkle.roots[size]);
  for (const row of p.merkle.inclusion) {
    const path = row.path.map(unhex);
    is("inclusion", await merkle.rootFromPath(leaves[row.index], row.index, row.size, path), p.merkle.roots[row.size]);
    is("path length", merkle.pathLength(row.index, row.size), path.length);
  }
  for (const { from, to, path } of p.merkle.consistency) {
    const [a, b] = [p.merkle.roots[from], p.merkle.roots[to]];
    is("consistency", await merkle.isConsistent(from, to, a, b, path.map(unhex)), true);
    is("consistency of another", await merkle.isConsistent(from, to, b, a, path.map(unhex)), from === to);
  }
  const last = notes.checkpointRead(log.checkpoints.at(-1).note);
  for (const [index, path] of log.inclusion_in_last.entries()) {
    const leaf = await merkle.leafHash(utf8(log.entries[index]));
    is("leaf", hex(leaf), log.leaf_hashes[index]);
    is("inclusion", await merkle.rootFromPath(leaf, index, last.size, path.map(unhex)), last.root);
  }
  for (const [number, { note, consistency }] of log.checkpoints.entries()) {
    if (!number) continue;
    const [older, newer] = [notes.checkpointRead(log.checkpoints[number - 1].note), notes.checkpointRead(note)];
    const path = consistency.map(unhex);
    is("log", await merkle.isConsistent(older.size, newer.size, older.root, newer.root, path), true);
  }
  const { time_s: timeS, message, vkey } = log.cosignature;
  is("cosignature", new TextDecoder().decode(notes.cosignatureMessage(last.text, timeS)), message);
  const trust = { log: log.vkey, root, witnesses: [vkey], quorum: 1 };
  const { witnesses } = await notes.trustRead(JSON.stringify(trust));
  is("cosigned", (await notes.cosignatures(last, witnesses)).map(Number), [timeS]);
  return { seen, wrong };
}
"""
NOT_HERE = {"tiles", "entry_bundle", "at_rest"}
"""Primitives that the page has no use for: tiles are read by monitors, sealed seeds by the house."""


def as_lines(bundles: list[dict[str, Any]]) -> list[list[bytes]]:
    """Return the same bundles as canonical bytes and as other bytes."""
    return [[bundle_encode(value) for value in bundles], [json.dumps(value, indent=1).encode() for value in bundles]]


def test_the_primitives(verifier: Tab) -> None:
    log = {**VECTORS["log"], "vkey": VECTORS["trust"]["log"]}
    primitives = {name: value for name, value in PRIMITIVES.items() if name not in NOT_HERE}
    found = verifier.give(PRIMITIVES_JS, primitives, log)
    assert found["wrong"] == []
    assert found["seen"] > 300


@pytest.mark.parametrize("trust", [TRUST, None])
def test_the_rounds_are_one_file_that_passes(verifier: Tab, trust: Trust | None) -> None:
    expected = ["beacon_unchecked" if name in BEACON_ROUNDS else "pass" for name in ROUNDS]
    for lines in as_lines([row["bundle"] for row in ROUNDS.values()]):
        verdicts = browser_verdicts(verifier, lines, trust, complete=True)
        assert [verdict["verdict"] for verdict in verdicts] == expected
        assert {len(verdict["codes"]) for verdict in verdicts} == {0}


@pytest.mark.parametrize("case", VECTORS["negative"], ids=lambda case: f"{case['code']}: {case['about']}")
def test_negative_bundles(verifier: Tab, case: dict[str, Any]) -> None:
    verdict, codes = ONLY_ELSEWHERE.get((case["code"], case["about"]), (case["code"], case["all"]))
    for lines in as_lines(case["bundles"]):
        verdicts = browser_verdicts(verifier, lines, NEGATIVE_TRUST)
        assert (verdicts[case["at"]]["verdict"], verdicts[case["at"]]["codes"]) == (verdict, codes)
        assert {found["status"] for at, found in enumerate(verdicts) if at != case["at"]} <= {0}


def test_what_only_other_verifiers_find_is_in_the_vectors() -> None:
    assert set(ONLY_ELSEWHERE) <= {(case["code"], case["about"]) for case in VECTORS["negative"]}


@pytest.mark.parametrize(
    "case", [case for case in VECTORS["cannot"] if "bundles" in case], ids=lambda case: case["code"]
)
def test_bundles_that_cannot_be_checked(verifier: Tab, case: dict[str, Any]) -> None:
    for lines in as_lines(case["bundles"]):
        verdicts = browser_verdicts(verifier, lines, TRUST, complete=case["complete"])
        assert {verdict["verdict"] for verdict in verdicts} - {"pass"} == {case["code"]}
        assert max(verdict["status"] for verdict in verdicts) == 2


@pytest.mark.parametrize("line", next(case["lines"] for case in VECTORS["cannot"] if "lines" in case))
def test_lines_that_are_unreadable(verifier: Tab, line: str) -> None:
    assert browser_verdicts(verifier, [line.encode()], TRUST)[0]["verdict"] == "unreadable"
