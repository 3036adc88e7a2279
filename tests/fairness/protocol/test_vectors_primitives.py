"""The primitives give the bytes of the test vectors.

Source: docs/fairness/protocol.md; tests/vectors/vectors.json.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Any

import pytest

from apps.fairness.protocol import (
    beacon,
    canonical,
    cards,
    contributions,
    frames,
    log,
    records,
    sealed,
    settlement,
    signatures,
    streams,
    tiles,
    transcript,
)
from apps.fairness.protocol.errors import BeaconError, CanonicalError, SealedError
from tests.fairness.protocol.vectors import PRIMITIVES as P

unhex = bytes.fromhex


@pytest.mark.parametrize("row", P["frame"])
def test_frame(row: dict[str, Any]) -> None:
    assert frames.frame(row["label"], *map(unhex, row["fields"])).hex() == row["hex"]


@pytest.mark.parametrize("row", P["jcs"])
def test_canonical_json(row: dict[str, Any]) -> None:
    assert canonical.encode(row["value"]).hex() == row["hex"]
    assert canonical.decode_canonical(unhex(row["hex"])) == row["value"]


@pytest.mark.parametrize("text", P["jcs_refused"])
def test_what_strict_json_refuses(text: str) -> None:
    for read in (canonical.decode, canonical.decode_canonical):
        with pytest.raises(CanonicalError):
            read(text)


@pytest.mark.parametrize("text", P["jcs_not_canonical"])
def test_json_that_is_not_canonical(text: str) -> None:
    canonical.decode(text)
    with pytest.raises(CanonicalError):
        canonical.decode_canonical(text)


def test_record() -> None:
    row = P["record"]
    entry = records.entry_read(row["entry"].encode())
    assert records.record_message(row["type"], row["body"]).hex() == row["message"]
    assert records.record_hash(row["type"], row["body"]).hex() == row["hash"]
    assert entry.kid == records.key_id(unhex(row["signer_pk"])) == row["kid"]
    assert records.record_verify(unhex(row["signer_pk"]), entry)
    assert log.leaf_hash(entry.entry).hex() == row["log_leaf"]
    assert records.entry_bytes(row["type"], row["body"], row["kid"], row["sig"]).decode() == row["entry"]


@pytest.mark.parametrize("row", P["ed25519"])
def test_ed25519(row: dict[str, str]) -> None:
    key, message = unhex(row["sk"]), unhex(row["msg"])
    assert signatures.public_key(key).hex() == row["pk"]
    assert signatures.sign(key, message).hex() == row["sig"]
    assert signatures.verify(unhex(row["pk"]), message, unhex(row["sig"]))
    assert not signatures.verify(unhex(row["pk"]), message + b"x", unhex(row["sig"]))


@pytest.mark.parametrize("row", P["hkdf"])
def test_hkdf_is_what_the_key_schedule_spells_out(row: dict[str, str]) -> None:
    prk = hmac.digest(unhex(row["salt"]), unhex(row["ikm"]), "sha256")
    blocks, block = b"", b""
    for number in range(1, 3):
        block = hmac.digest(prk, block + unhex(row["info"]) + bytes((number,)), "sha256")
        blocks += block
    assert prk.hex() == row["prk"]
    assert blocks.hex().startswith(row["okm"])


def test_identity() -> None:
    row = P["identity"]
    table = unhex(row["table"])
    assert records.round_id(table, row["index"]).hex() == row["round"]
    assert records.seed_commitment(table, row["index"], unhex(row["seed"])).hex() == row["seed_commit"]
    for index, round_ in row["round_at_index"].items():
        assert records.round_id(table, int(index)).hex() == round_


@pytest.mark.parametrize("name", ["commit", "commit_without_key"])
def test_commitment(name: str) -> None:
    row = P["entropy"][name]
    made = contributions.commitment(
        round_=unhex(P["identity"]["round"]),
        open_hash=unhex(P["entropy"]["open_hash"]),
        seat=row["seat"],
        public_key=unhex(row["pk"]),
        entropy=unhex(row["entropy"]),
    )
    assert made.hex() == row["commit"]


@pytest.mark.parametrize("row", P["entropy"]["digest"])
def test_entropy_digest(row: dict[str, Any]) -> None:
    rows = [(seat, unhex(pk), unhex(entropy)) for seat, pk, entropy in row["rows"]]
    assert streams.entropy_digest(rows).hex() == row["E"]


@pytest.mark.parametrize("row", P["key_schedule"])
def test_key_schedule(row: dict[str, str]) -> None:
    rows = next(
        [(seat, unhex(pk), unhex(entropy)) for seat, pk, entropy in digest["rows"]]
        for digest in P["entropy"]["digest"]
        if digest["E"] == row["E"]
    )
    facts = [unhex(row[name]) for name in ("round", "open_hash", "close_hash", "beacon")]
    schedule = streams.KeySchedule.derive(
        seed=unhex(row["seed"]),
        rows=rows,
        round_=facts[0],
        open_hash=facts[1],
        close_hash=facts[2],
        beacon=facts[3],
    )
    assert streams.KeySchedule.salt(*facts).hex() == row["salt"]
    assert schedule.prk.hex() == row["prk"]


@pytest.mark.parametrize("row", P["streams"]["streams"], ids=lambda row: row["name"])
def test_streams(row: dict[str, Any]) -> None:
    key = streams.KeySchedule(unhex(P["streams"]["prk"]), unhex(P["streams"]["round"])).key(row["name"])
    stream = streams.Stream(key)
    assert key.hex() == row["key"]
    assert [stream.word() for _ in row["words"]] == row["words"]


def test_streams_do_not_move_each_other() -> None:
    row = P["interleaved"]
    chance = streams.KeySchedule(unhex(row["prk"]), unhex(row["round"])).chance()
    assert [chance.uniform(call["stream"], call["m"]) for call in row["calls"]] == [c["value"] for c in row["calls"]]


class Words(streams.Stream):
    """A stream of given words."""

    def __init__(self, words: list[int]) -> None:
        super().__init__(bytes(32))
        self._words = words[::-1]


@pytest.mark.parametrize("row", P["uniform"], ids=lambda row: row["about"])
def test_uniform(row: dict[str, Any]) -> None:
    stream = Words(row["words"])
    assert [stream.uniform(m) for m in row["m"]] == row["value"]
    assert stream.used == row["used"]


@pytest.mark.parametrize("row", P["shuffle"]["rows"], ids=lambda row: row["n"])
def test_shuffle(row: dict[str, Any]) -> None:
    stream = streams.Stream(hmac.digest(unhex(P["shuffle"]["base"]), frames.u32(row["n"]), "sha256"))
    permutation = stream.shuffle(range(row["n"]))
    assert sha256(b"".join(map(frames.u16, permutation))).hexdigest() == row["sha256"]
    assert list(permutation) == row.get("permutation", list(permutation))
    assert stream.used == row["words"]


def test_shuffle_that_refuses_words() -> None:
    row = P["shuffle_rejecting"]
    stream = streams.Stream(unhex(row["key"]))
    assert list(stream.shuffle(range(row["n"]))) == row["permutation"]
    assert (stream.used, stream.used - (row["n"] - 1)) == (row["words"], row["rejected"])


@pytest.mark.parametrize("row", P["insert_back"], ids=lambda row: len(row["from"]))
def test_insert_back(row: dict[str, Any]) -> None:
    index = streams.Stream(unhex(row["key"])).uniform(len(row["from"]))
    assert list(streams.insert_back(row["from"], index)) == row["result"]


@pytest.mark.parametrize("name", sorted(P["order"]))
def test_order_hash(name: str) -> None:
    assert cards.order_hash(P["order"][name]["codes"]).hex() == P["order"][name]["order_hash"]


def test_card_tree() -> None:
    row = P["cards"]
    round_, salt_key = unhex(row["round"]), unhex(row["salt_key"])
    codes = [opening["card"] for opening in row["openings"]]
    tree = cards.CardTree(round_=round_, gen=row["gen"], cards=codes, salt_key=salt_key)
    assert tree.root.hex() == row["root"]
    for given in row["openings"]:
        opening = {name: value for name, value in given.items() if name != "leaf"}
        pos, salt = opening["pos"], unhex(opening["salt"])
        assert tree.opening(pos) == opening
        assert cards.card_salt(salt_key, row["gen"], pos) == salt
        assert cards.card_leaf(round_, row["gen"], pos, opening["card"], salt).hex() == given["leaf"]
        assert cards.check_opening(opening, round_=round_, root=tree.root, n=row["n"])


@pytest.mark.parametrize("case", P["cards"]["refused"], ids=lambda case: case["about"])
def test_openings_that_prove_nothing(case: dict[str, Any]) -> None:
    row = P["cards"]
    known = {"round_": unhex(row["round"]), "root": unhex(row["root"]), "n": row["n"]}
    assert not cards.check_opening(case["opening"], **known)


@pytest.mark.parametrize("row", P["opener"])
def test_opener(row: dict[str, Any]) -> None:
    chance = streams.KeySchedule(bytes(32), bytes(16)).chance()
    assert streams.opener(row["seats"], row["last_opener"], chance) == row["opener"]


@pytest.mark.parametrize("row", P["payout"])
def test_payout(row: dict[str, Any]) -> None:
    shares = {int(seat): weight for seat, weight in row["shares"].items()}
    fee = settlement.fee(row["pot"], row["fee_bp"])
    parts = settlement.split(row["pot"] - fee, shares, row["opener"])
    assert fee == row["fee"]
    assert {str(seat): parts.get(seat, 0) for seat in row["seats"]} == row["payouts"]


def test_transcript() -> None:
    row = P["transcript"]
    data = [transcript.entry_bytes(entry) for entry in row["entries"]]
    assert [head.hex() for head in transcript.heads(unhex(row["deck_hash"]), data)] == row["heads"]


@pytest.mark.parametrize("row", P["seat_messages"], ids=lambda row: row["kind"])
def test_seat_messages(row: dict[str, Any]) -> None:
    assert contributions.seat_message(row["kind"], row["body"]).hex() == row["message"]
    assert contributions.seat_verify(unhex(row["pk"]), row["kind"], row["body"], unhex(row["sig"]))


@pytest.mark.parametrize("row", P["beacon"]["round_for"])
def test_beacon_round(row: dict[str, int]) -> None:
    assert beacon.round_for(row["closed_ms"], row["margin"]) == row["round"]


@pytest.mark.parametrize("row", P["beacon"]["signatures"], ids=lambda row: row["round"])
def test_beacon_signatures(row: dict[str, Any]) -> None:
    chain, signature = unhex(P["beacon"]["chain"]), unhex(row["signature"])
    assert beacon.PUBLIC_KEY.hex() == P["beacon"]["pk"]
    beacon.verify(chain, row["round"], signature)
    assert beacon.beacon_bytes(chain, row["round"], signature).hex() == row["beacon"]
    assert beacon.round_time_s(row["round"]) * 1000 == row["time_ms"]


@pytest.mark.parametrize("row", P["beacon"]["refused"])
def test_beacon_signatures_of_another_round(row: dict[str, Any]) -> None:
    with pytest.raises(BeaconError):
        beacon.verify(beacon.QUICKNET, row["round"], unhex(row["signature"]))


LEAVES = [log.leaf_hash(bytes((number,))) for number in range(21)]


def test_log_roots() -> None:
    assert [log.tree_root(LEAVES[:size]).hex() for size in range(21)] == P["merkle"]["roots"][:21]


@pytest.mark.parametrize("row", P["merkle"]["inclusion"])
def test_log_inclusion(row: dict[str, Any]) -> None:
    path = log.inclusion_path(log.MemoryTree(LEAVES), row["index"], row["size"])
    root = unhex(P["merkle"]["roots"][row["size"]])
    assert [node.hex() for node in path] == row["path"]
    assert log.inclusion_verify(root, row["size"], row["index"], LEAVES[row["index"]], path)
    assert log.inclusion_path_length(row["index"], row["size"]) == len(path)


@pytest.mark.parametrize("row", P["merkle"]["consistency"])
def test_log_consistency(row: dict[str, Any]) -> None:
    path = log.consistency_path(log.MemoryTree(LEAVES), row["from"], row["to"])
    old, new = (unhex(P["merkle"]["roots"][row[name]]) for name in ("from", "to"))
    assert [node.hex() for node in path] == row["path"]
    assert log.consistency_verify(row["from"], row["to"], old, new, path)


@pytest.mark.parametrize("row", P["tiles"], ids=lambda row: row["path"])
def test_tile_paths(row: dict[str, Any]) -> None:
    assert tiles.tile_path(row["level"], row["n"], row["width"]) == row["path"]
    assert tiles.tile_path_read(row["path"]) == (row["level"], row["n"], row["width"])


def test_entry_bundle() -> None:
    entries = [text.encode() for text in P["entry_bundle"]["entries"]]
    assert tiles.bundle_encode(entries).hex() == P["entry_bundle"]["hex"]
    assert tiles.bundle_decode(unhex(P["entry_bundle"]["hex"])) == entries


def test_seeds_at_rest() -> None:
    row = P["at_rest"]
    table, commit, kek, blob = (unhex(row[name]) for name in ("table", "seed_commit", "kek", "blob"))
    index, kek_id = row["index"], row["kek_id"]
    data = sealed.bound_data(table=table, index=index, seed_commit=commit, kek_id=kek_id)
    made = sealed.seed_seal(
        kek=kek,
        kek_id=kek_id,
        nonce=unhex(row["nonce"]),
        table=table,
        index=index,
        seed_commit=commit,
        seed=unhex(row["seed"]),
    )
    assert data.hex() == row["aad"]
    assert made.hex() == row["blob"]
    assert sealed.sealed_kek_id(blob) == kek_id
    assert sealed.seed_open(kek=kek, sealed=blob, table=table, index=index, seed_commit=commit).hex() == row["seed"]
    for changed in (blob[:-1] + b"\0", b"\2" + blob[1:], blob[:-1], b"", blob[:2] + b"x" + blob[3:]):
        with pytest.raises(SealedError):
            sealed.seed_open(kek=kek, sealed=changed, table=table, index=index, seed_commit=commit)
    with pytest.raises(SealedError):
        sealed.seed_open(kek=kek, sealed=blob, table=table, index=index + 1, seed_commit=commit)
