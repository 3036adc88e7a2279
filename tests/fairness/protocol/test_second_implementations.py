"""Other people's implementations of canonical JSON and of the log's tree agree with ours.

Source: docs/fairness/protocol.md, sections 1 and 11; RFC 8785, RFC 9162.
"""

from __future__ import annotations

from typing import Any

import pymerkle
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from pymerkle.proof import MerkleProof

from apps.fairness.protocol import canonical, log
from apps.fairness.protocol.canonical import INTEGER_MAX

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
keys = st.text(st.characters(max_codepoint=127), max_size=10)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-INTEGER_MAX, INTEGER_MAX) | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=25,
)


@given(values)
@settings(max_examples=300, deadline=None)
def test_rfc8785_writes_the_same_bytes(value: Any) -> None:
    ours = canonical.encode(value)
    assert ours == rfc8785.dumps(value)
    assert canonical.decode_canonical(ours) == value
    assert canonical.decode(ours) == value


def test_pymerkle_builds_the_same_trees() -> None:
    entries = [f"entry {number}".encode() for number in range(70)]
    theirs = pymerkle.InmemoryTree(algorithm="sha256")
    ours = log.MemoryTree()
    frontier = log.Frontier()
    for entry in entries:
        theirs.append_entry(entry)
        ours.append(log.leaf_hash(entry))
        frontier.append(log.leaf_hash(entry))
        size = frontier.size
        assert theirs.get_root(size) == frontier.root() == log.stored_root(ours, size)
        assert log.Frontier.read(ours, size).root() == frontier.root()


def test_pymerkle_proves_the_same_entries_with_the_same_hashes() -> None:
    entries = [f"entry {number}".encode() for number in range(40)]
    theirs = pymerkle.InmemoryTree(algorithm="sha256")
    ours = log.MemoryTree()
    for entry in entries:
        theirs.append_entry(entry)
        ours.append(log.leaf_hash(entry))
    for size in range(1, 41):
        root = log.stored_root(ours, size)
        for index in range(size):
            proof: MerkleProof = theirs.prove_inclusion(index + 1, size)
            leaf = ours(0, index)
            pymerkle.verify_inclusion(leaf, root, proof)
            path = log.inclusion_path(ours, index, size)
            assert log.inclusion_verify(root, size, index, leaf, path)
            assert set(path) <= set(proof.path)
            assert len(path) == log.inclusion_path_length(index, size)


def test_pymerkle_finds_the_same_extensions() -> None:
    theirs = pymerkle.InmemoryTree(algorithm="sha256")
    ours = log.MemoryTree()
    for number in range(24):
        theirs.append_entry(bytes((number,)))
        ours.append(log.leaf_hash(bytes((number,))))
    for new in range(2, 25):
        for old in range(1, new):
            old_root, new_root = log.stored_root(ours, old), log.stored_root(ours, new)
            proof = theirs.prove_consistency(old, new)
            pymerkle.verify_consistency(old_root, new_root, proof)
            path = log.consistency_path(ours, old, new)
            assert log.consistency_verify(old, new, old_root, new_root, path)


@given(st.integers(0, 130), st.integers(0, 130), st.integers(0, 400))
@settings(max_examples=300, deadline=None)
def test_proofs_hold_for_what_they_were_made_for_and_for_nothing_else(old: int, more: int, pick: int) -> None:
    leaves = [log.leaf_hash(number.to_bytes(2, "big")) for number in range(old + more)]
    tree, new = log.MemoryTree(leaves), old + more
    old_root, new_root = log.stored_root(tree, old), log.stored_root(tree, new)
    path = log.consistency_path(tree, old, new)
    assert log.consistency_verify(old, new, old_root, new_root, path)
    if 0 < old < new:
        broken = [*path]
        broken[pick % len(path)] = bytes(32)
        assert not log.consistency_verify(old, new, old_root, new_root, broken)
        assert not log.consistency_verify(old, new, old_root, new_root, path[:-1])
        assert not log.consistency_verify(old, new, old_root, new_root, [*path, bytes(32)])
        assert not log.consistency_verify(old, new, bytes(32), new_root, path)
        assert not log.consistency_verify(old, new, old_root, bytes(32), path)
    if new:
        index = pick % new
        inclusion = log.inclusion_path(tree, index, new)
        assert log.inclusion_verify(new_root, new, index, leaves[index], inclusion)
        assert not log.inclusion_verify(new_root, new, index, leaves[index], [*inclusion, bytes(32)])
        for other in {index - 1, index + 1, new} - {index}:
            assert not log.inclusion_verify(new_root, new, other, leaves[index], inclusion)
