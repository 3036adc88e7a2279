"""What the primitives refuse, and what holds for all their inputs.

Source: docs/fairness/protocol.md, sections 1, 5, 6, 8 and 11.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.fairness.protocol import canonical, cards, frames, hexes, log, notes, settlement, signatures, streams, tiles
from apps.fairness.protocol.errors import (
    CanonicalError,
    CardError,
    NoteError,
    ProofError,
    ProtocolError,
    SettlementError,
    StreamError,
    TileError,
)
from apps.games.contract import Chance
from tests.fairness.protocol.house import secret

NAMES = ["deck", "first-seat", "reshuffle/0", "reshuffle/10", "tremor/999999", "a"]
NO_NAMES = [
    "",
    "Deck",
    "deck/",
    "deck/00",
    "deck/01",
    "deck/1000000",
    "-a",
    "1a",
    "deck/1/2",
    "a" * 33,
    "d\u00e9ck",
    "deck\n",
]


@given(st.lists(st.binary(max_size=5), max_size=4), st.lists(st.binary(max_size=5), max_size=4))
def test_different_fields_give_different_frames(one: list[bytes], other: list[bytes]) -> None:
    assert (frames.frame("sealdeck/1/x", *one) == frames.frame("sealdeck/1/x", *other)) == (one == other)


@pytest.mark.parametrize("label", ["", "x" * 256, "\u00e9"])
def test_labels_have_1_to_255_ascii_bytes(label: str) -> None:
    with pytest.raises(ProtocolError):
        frames.frame(label)
    assert frames.frame("x" * 255)[0] == 255


@pytest.mark.parametrize(
    "value",
    [1.0, float("nan"), 2**53, -(2**53), {"\u00e9": 1}, {1: 1}, "\ud800", ["\udfff"], b"x", {1}, object(), [[1.5]]],
)
def test_values_without_a_canonical_form(value: Any) -> None:
    with pytest.raises(CanonicalError):
        canonical.encode(value)


def test_nesting_ends_at_32() -> None:
    value: Any = 0
    for _ in range(32):
        value = [value]
    assert canonical.decode_canonical(canonical.encode(value)) == value
    assert canonical.decode(canonical.encode(value)) == value
    for read in (canonical.decode, canonical.decode_canonical):
        with pytest.raises(CanonicalError):
            read(b"[" + canonical.encode(value) + b"]")
    with pytest.raises(CanonicalError):
        canonical.encode([value])


@pytest.mark.parametrize("text", ["", "A0", "abc", "zz", " ab", "ab\n"])
def test_hex_is_lowercase_and_even(text: str) -> None:
    assert not hexes.is_hex(text, 1)
    if text:
        with pytest.raises(ProtocolError):
            hexes.unhex(text, 1)
    assert not hexes.are_hashes(["00" * 32, text])


def test_chance_is_the_games_chance() -> None:
    schedule = streams.KeySchedule(secret("prk"), secret("round")[:16])
    chance: Chance = schedule.chance()
    items = tuple(f"R{n}#1" for n in range(30))
    assert sorted(chance.shuffle("deck", items)) == sorted(items)
    assert chance.shuffle("deck", items) != schedule.chance().shuffle("deck", items)
    assert schedule.chance().uniform("tremor/0", 6) == schedule.chance().uniform("tremor/0", 6)


@pytest.mark.parametrize("name", NAMES)
def test_stream_names(name: str) -> None:
    assert streams.is_stream_name(name)


@pytest.mark.parametrize("name", NO_NAMES)
def test_what_is_no_stream_name(name: str) -> None:
    chance = streams.KeySchedule(bytes(32), bytes(16)).chance()
    assert not streams.is_stream_name(name)
    with pytest.raises(StreamError):
        chance.uniform(name, 2)


def test_card_salt_is_never_read_as_a_stream() -> None:
    schedule = streams.KeySchedule(bytes(32), bytes(16))
    assert len(schedule.key("card-salt")) == 32
    with pytest.raises(StreamError):
        schedule.chance().uniform("card-salt", 2)


@pytest.mark.parametrize("m", [0, -1, 65537])
def test_draws_are_from_1_to_65536(m: int) -> None:
    with pytest.raises(StreamError):
        streams.Stream(bytes(32)).uniform(m)


def test_a_shuffle_draws_as_uniform_does() -> None:
    fast, slow = streams.Stream(secret("s")), streams.Stream(secret("s"))
    items = list(range(300))
    shuffled = fast.shuffle(items)
    for last in range(299, 0, -1):
        at = slow.uniform(last + 1)
        items[last], items[at] = items[at], items[last]
    assert list(shuffled) == items
    assert (fast.used, fast.word()) == (slow.used, slow.word())


def test_shuffles_reach_every_order_about_as_often() -> None:
    counts = Counter(streams.Stream(secret(f"fair {n}")).shuffle("abc") for n in range(3000))
    assert len(counts) == 6
    assert sum((count - 500) ** 2 / 500 for count in counts.values()) < 20.5, "beyond 1 in 1000"


@given(st.integers(1, 40), st.integers(0, 65535), st.integers(0, 39))
@settings(max_examples=60, deadline=None)
def test_openings_prove_their_card_and_no_other(n: int, gen: int, pick: int) -> None:
    codes = [f"C{number}#1" for number in range(n)]
    round_ = secret("round")[:16]
    tree = cards.CardTree(round_=round_, gen=gen, cards=codes, salt_key=secret("salt"))
    assert tree.root == log.tree_root(tree.leaves)
    pos = pick % n
    opening = tree.opening(pos)
    known: Any = {"round_": round_, "root": tree.root, "n": n}
    assert cards.check_opening(opening, **known)
    for name, value in (("card", "X#1"), ("salt", "00" * 32), ("gen", (gen + 1) % 65536), ("pos", pos + 1)):
        assert not cards.check_opening({**opening, name: value}, **known)
    assert not cards.check_opening({**opening, "path": [*opening["path"], "00" * 32]}, **known)
    assert not cards.check_opening({**opening, "x": 1}, **known)
    assert not cards.check_opening(opening, round_=bytes(16), root=tree.root, n=n)
    with pytest.raises(CardError):
        tree.path(n)


@pytest.mark.parametrize(
    "code", ["", "R7", "R7#", "R7#0", "R7#01", "#1", "R 7#1", "R#7#1", "\u00e97#1", "R7#1\n", "A" * 13 + "#1", 7]
)
def test_what_is_no_card_code(code: Any) -> None:
    assert not cards.is_card_code(code)
    assert not cards.are_card_codes(["R7#1", code])
    assert cards.is_card_code("A" * 12 + "#10")


def test_two_codes_in_one_text_are_no_card_code() -> None:
    assert not cards.are_card_codes(["R7#1\nR8#1"])


def test_trees_have_1_to_65536_cards() -> None:
    for codes in ([], ["R0#1"] * 65537):
        with pytest.raises(CardError):
            cards.CardTree(round_=bytes(16), gen=0, cards=codes, salt_key=bytes(32))
    with pytest.raises(CardError):
        cards.CardTree(round_=bytes(16), gen=65536, cards=["R0#1"], salt_key=bytes(32))
    with pytest.raises(CardError):
        cards.CardTree(round_=bytes(16), gen=0, cards=["\u00e90#1"], salt_key=bytes(32))


@given(
    st.integers(0, 10**12),
    st.integers(0, 10000),
    st.dictionaries(st.integers(0, 254), st.integers(1, 65536), min_size=1, max_size=9),
    st.integers(0, 254),
)
def test_a_split_gives_all_of_the_pot(pot: int, fee_bp: int, shares: dict[int, int], opener: int) -> None:
    fee = settlement.fee(pot, fee_bp)
    parts = settlement.split(pot - fee, shares, opener)
    assert sum(parts.values()) + fee == pot
    whole = sum(shares.values())
    for seat, weight in shares.items():
        assert 0 <= parts[seat] - (pot - fee) * weight // whole <= 1


def test_what_cannot_be_settled() -> None:
    for shares in ({}, {0: 0}, {0: -1}):
        with pytest.raises(SettlementError):
            settlement.split(100, shares, 0)
    with pytest.raises(SettlementError):
        settlement.settle(seats=[0, 1], buy_in_minor=10, fee_bp=0, shares={2: 1}, opener=0)
    settled = settlement.settle(seats=[3, 0, 1], buy_in_minor=10, fee_bp=500, shares={0: 1, 3: 1}, opener=1)
    assert (settled.fee_minor, settled.payouts_minor) == (1, {0: 14, 1: 0, 3: 15})


KEY, NAME = secret("note key"), "log.example/x"
VKEY = notes.VerifierKey(NAME, notes.TYPE_ED25519, signatures.public_key(KEY))
NOTE = notes.checkpoint_sign(KEY, NAME, 7, bytes(32))


def test_a_checkpoint_is_read_and_believed() -> None:
    checkpoint = notes.checkpoint_read(NOTE)
    notes.checkpoint_verify(checkpoint, VKEY)
    assert (checkpoint.origin, checkpoint.size, checkpoint.root) == (NAME, 7, bytes(32))
    assert notes.vkey_read(str(VKEY), notes.TYPE_ED25519) == VKEY


def test_signatures_of_others_do_not_matter() -> None:
    stranger = notes.cosign(secret("w"), "other.example", notes.checkpoint_read(NOTE).body, 5)
    notes.checkpoint_verify(notes.checkpoint_read(NOTE + stranger), VKEY)


@pytest.mark.parametrize(
    "note",
    [
        "",
        NOTE[:-1],
        NOTE + "\n",
        NOTE.replace("\n\n", "\n"),
        NOTE.replace("\n7\n", "\n07\n"),
        NOTE.replace("\n7\n", "\n+7\n"),
        NOTE.replace("\n7\n", "\n9007199254740992\n"),
        NOTE.replace("\n7\n", "\n\u0667\n"),
        NOTE.replace("AAA=", "AAB="),
        NOTE.replace("AAA=", "AAA"),
        NOTE.replace("AAA=\n", "AAA=\nextension\n"),
        NOTE.replace("\u2014 ", "\u2014"),
        NOTE.replace(NAME, "log example"),
        NOTE.replace(NAME, "log+example"),
        NOTE.replace(NAME, ""),
        NOTE.replace("\n", "\r\n"),
        NOTE + "\u2014 x AAAA\n",
        NOTE + "\u2014 x y AAAAAAAAAAAA\n",
        NOTE + "\t",
        "a" * 8193,
        None,
        7,
    ],
)
def test_what_is_no_checkpoint(note: Any) -> None:
    with pytest.raises(NoteError):
        notes.checkpoint_read(note)


def test_a_checkpoint_that_is_not_the_logs() -> None:
    other = notes.VerifierKey(NAME, notes.TYPE_ED25519, signatures.public_key(secret("other")))
    for key in (other, notes.VerifierKey("log.example/y", notes.TYPE_ED25519, VKEY.public_key)):
        with pytest.raises(NoteError):
            notes.checkpoint_verify(notes.checkpoint_read(NOTE), key)
    false = NOTE + "\u2014 " + NOTE.splitlines()[-1][2:].replace(NOTE[-6], "B" if NOTE[-6] != "B" else "C") + "\n"
    with pytest.raises(NoteError):
        notes.checkpoint_verify(notes.checkpoint_read(false), VKEY)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        NAME,
        str(VKEY).replace("+", " "),
        str(VKEY)[:-4],
        str(VKEY) + "x",
        str(VKEY).replace(NAME, "other"),
        str(VKEY).replace(VKEY.id.hex(), "00000000"),
        str(notes.VerifierKey(NAME, notes.TYPE_COSIGNATURE, VKEY.public_key)),
    ],
)
def test_what_is_no_verifier_key(text: Any) -> None:
    with pytest.raises(NoteError):
        notes.vkey_read(text, notes.TYPE_ED25519)


def test_of_several_cosignatures_of_a_witness_the_earliest_counts() -> None:
    witness = notes.VerifierKey("w.example", notes.TYPE_COSIGNATURE, signatures.public_key(secret("w")))
    body = notes.checkpoint_read(NOTE).body
    lines = [notes.cosign(secret("w"), "w.example", body, time_s) for time_s in (9, 5, 7)]
    found = notes.cosignatures(notes.checkpoint_read(NOTE + "".join(lines)), [witness, witness])
    assert [(row.witness, row.time_s) for row in found] == [(witness, 5)]
    with pytest.raises(NoteError):
        notes.cosign(secret("w"), "w example", body, 1)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "tile/0/0",
        "tile/00/000",
        "tile/64/000",
        "tile/0/000.p/0",
        "tile/0/000.p/256",
        "tile/0/000.p/01",
        "tile/0/x000/000",
        "tile/0/1000",
        "tile/x/000",
        "tile/0/000/",
        "../tile/0/000",
        "tile/0/x001/x001/x001/x001/x001/x001/x001/000",
    ],
)
def test_what_is_no_tile_path(path: str) -> None:
    with pytest.raises(TileError):
        tiles.tile_path_read(path)


@given(st.sampled_from([0, 1, 7, "entries"]), st.integers(0, 10**12), st.integers(1, 256))
def test_tile_paths_come_back(level: int | str, n: int, width: int) -> None:
    assert tiles.tile_path_read(tiles.tile_path(level, n, width)) == (level, n, width)


def test_proofs_from_tiles_are_those_of_the_whole_tree() -> None:
    tree = log.MemoryTree(log.leaf_hash(number.to_bytes(4, "big")) for number in range(700))
    fetched: list[tuple[int, int]] = []

    def fetch(level: int, n: int, width: int) -> bytes:
        fetched.append((level, n))
        nodes = tree.levels[8 * level][n * tiles.TILE_WIDTH :][:width]
        return tiles.tile_encode(nodes)

    for size in (1, 255, 256, 257, 512, 699, 700):
        source = tiles.TileSource(fetch, size)
        assert log.stored_root(source, size) == log.stored_root(tree, size)
        for index in {0, size // 2, size - 1}:
            assert log.inclusion_path(source, index, size) == log.inclusion_path(tree, index, size)
        for old in {1, size // 3 + 1, size}:
            assert log.consistency_path(source, old, size) == log.consistency_path(tree, old, size)
    fetched.clear()
    source = tiles.TileSource(fetch, 700)
    log.inclusion_path(source, 300, 700)
    assert len(fetched) <= 4
    with pytest.raises(TileError):
        source(0, 700)


@pytest.mark.parametrize("data", [b"\0", b"\0\2a", b"\0\1a\0"])
def test_entry_bundles_that_end_too_early(data: bytes) -> None:
    with pytest.raises(TileError):
        tiles.bundle_decode(data)


def test_bounds_of_entry_bundles() -> None:
    assert len(tiles.bundle_decode(b"\0\0" * 256)) == 256
    with pytest.raises(TileError):
        tiles.bundle_decode(b"\0\0" * 257)
    with pytest.raises(TileError):
        tiles.bundle_encode([b"x" * 65536])


def test_proofs_that_cannot_be_made() -> None:
    tree = log.MemoryTree([bytes(32)] * 3)
    for index in (-1, 3):
        with pytest.raises(ProofError):
            log.inclusion_path(tree, index, 3)
    with pytest.raises(ProofError):
        log.consistency_path(tree, 4, 3)
    with pytest.raises(ProofError):
        log.Frontier(3, [bytes(32)])
