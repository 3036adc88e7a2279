"""The tree of the public log and of card commitments: RFC 6962 hashing, RFC 9162 proofs, incremental roots.

Protocol: docs/fairness/protocol.md, sections 6 and 11.  Never stores anything: whoever keeps node hashes (a table of
tiles, a list in memory) hands in a ``NodeSource``, and every proof reads O(log n) of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, Protocol

from apps.fairness.protocol.errors import ProofError

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = sha256(b"").digest()
"""Root of a tree without leaves."""


class NodeSource(Protocol):
    """Where the hashes of complete subtrees come from."""

    def __call__(self, level: int, index: int, /) -> bytes:
        """Return the root of leaves ``index * 2**level`` to ``(index + 1) * 2**level - 1``."""
        ...


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of one log entry.

    Source: RFC 6962, section 2.1.
    """
    return sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node."""
    return sha256(b"\x01" + left + right).digest()


def tree_root(leaves: Iterable[bytes]) -> bytes:
    """Return the root over leaf hashes."""
    return Frontier.of(leaves).root()


class Frontier:
    """The right edge of a tree: enough to add leaves and to know the root, in O(log n) memory."""

    __slots__ = ("peaks", "size")

    def __init__(self, size: int = 0, peaks: Sequence[bytes] = ()) -> None:
        """Take up a tree where it was left.

        Args:
            size: number of leaves.
            peaks: roots of the complete subtrees that make up the tree, largest first.

        Raises:
            ProofError: the peaks are not as many as the size has.
        """
        if size < 0 or len(peaks) != size.bit_count():
            raise ProofError("a frontier has one peak for each bit of its size")
        self.size = size
        self.peaks = list(peaks)

    @classmethod
    def of(cls, leaves: Iterable[bytes]) -> Frontier:
        """Return the frontier over leaf hashes."""
        frontier = cls()
        for leaf in leaves:
            frontier.append(leaf)
        return frontier

    @classmethod
    def read(cls, source: NodeSource, size: int) -> Frontier:
        """Return the frontier of a stored tree of ``size`` leaves."""
        return cls(size, [source(level, index) for level, index in _complete(0, size)])

    def append(self, leaf: bytes) -> None:
        """Add one leaf hash."""
        size, peaks, node = self.size, self.peaks, leaf
        self.size += 1
        while size & 1:
            node = sha256(b"\x01" + peaks.pop() + node).digest()
            size >>= 1
        peaks.append(node)

    def root(self) -> bytes:
        """Return the root of the tree so far."""
        if not self.peaks:
            return EMPTY_ROOT
        node = self.peaks[-1]
        for peak in self.peaks[-2::-1]:
            node = node_hash(peak, node)
        return node


class MemoryTree:
    """A whole tree in memory, level by level; a ``NodeSource`` for small logs and for tests of larger ones."""

    __slots__ = ("levels",)

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        self.levels: list[list[bytes]] = [[]]
        for leaf in leaves:
            self.append(leaf)

    def append(self, leaf: bytes) -> None:
        """Add one leaf hash."""
        node, level = leaf, 0
        while True:
            if level == len(self.levels):
                self.levels.append([])
            nodes = self.levels[level]
            nodes.append(node)
            if len(nodes) % 2:
                return
            node, level = node_hash(nodes[-2], nodes[-1]), level + 1

    def __len__(self) -> int:
        return len(self.levels[0])

    def __call__(self, level: int, index: int, /) -> bytes:
        """Return the root of a complete subtree."""
        return self.levels[level][index]


def _complete(start: int, end: int) -> list[tuple[int, int]]:
    """Return the complete subtrees, as (level, index), that cover leaves start..end; start is aligned to them."""
    result = []
    while start < end:
        level = (end - start).bit_length() - 1
        result.append((level, start >> level))
        start += 1 << level
    return result


def _subtree(source: NodeSource, start: int, end: int) -> bytes:
    nodes = [source(level, index) for level, index in _complete(start, end)]
    node = nodes[-1]
    for left in nodes[-2::-1]:
        node = node_hash(left, node)
    return node


def _split(size: int) -> int:
    """Return the greatest power of two below size."""
    return 1 << ((size - 1).bit_length() - 1)


def stored_root(source: NodeSource, size: int) -> bytes:
    """Return the root of the first ``size`` leaves of a stored tree."""
    return _subtree(source, 0, size) if size else EMPTY_ROOT


def inclusion_path(source: NodeSource, index: int, size: int) -> list[bytes]:
    """Return the proof that the leaf at ``index`` is in the tree of ``size`` leaves.

    Raises:
        ProofError: the index is not below the size.

    Source: RFC 9162, section 2.1.3.
    """
    if not 0 <= index < size:
        raise ProofError("there is no such leaf in a tree of this size")
    path = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            path.append(_subtree(source, middle, end))
            end = middle
        else:
            path.append(_subtree(source, start, middle))
            start = middle
    return path[::-1]


def consistency_path(source: NodeSource, old: int, new: int) -> list[bytes]:
    """Return the proof that the tree of ``new`` leaves extends that of ``old`` leaves.

    Raises:
        ProofError: ``old`` is greater than ``new``.

    Source: RFC 9162, section 2.1.4.
    """
    if not 0 <= old <= new:
        raise ProofError("a tree extends only smaller ones")
    if old in (0, new):
        return []
    path = []
    start, end = 0, new
    whole = True
    """Whether the old tree's part of start..end is all that the verifier knows it by."""
    while old != end:
        middle = start + _split(end - start)
        if old <= middle:
            path.append(_subtree(source, middle, end))
            end = middle
        else:
            path.append(_subtree(source, start, middle))
            start = middle
            whole = False
    if not whole:
        path.append(_subtree(source, start, end))
    return path[::-1]


def inclusion_path_length(index: int, size: int) -> int:
    """Return how many hashes the inclusion path of a leaf has."""
    inner = (index ^ (size - 1)).bit_length()
    return inner + (index >> inner).bit_count()


def root_from_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root to which an inclusion path leads; None where the path cannot be one of this leaf.

    Source: RFC 9162, section 2.1.3.2.
    """
    if not 0 <= index < size:
        return None
    position, last, node = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if position & 1 or position == last:
            node = sha256(b"\x01" + sibling + node).digest()
            while position and not position & 1:
                position >>= 1
                last >>= 1
        else:
            node = sha256(b"\x01" + node + sibling).digest()
        position >>= 1
        last >>= 1
    return node if last == 0 else None


def inclusion_verify(root: bytes, size: int, index: int, leaf: bytes, path: Sequence[bytes]) -> bool:
    """Tell whether a path proves that the leaf hash is at ``index`` in the tree with this root and size."""
    return root_from_path(leaf, index, size, path) == root


def consistency_verify(old: int, new: int, old_root: bytes, new_root: bytes, path: Sequence[bytes]) -> bool:
    """Tell whether a path proves that the tree of ``new`` leaves extends that of ``old`` leaves.

    A tree without leaves is extended by every tree.

    Source: RFC 9162, section 2.1.4.2.
    """
    if not 0 <= old <= new:
        return False
    if old == 0:
        return not path and old_root == EMPTY_ROOT and (new > 0 or new_root == EMPTY_ROOT)
    if old == new:
        return not path and old_root == new_root
    nodes = list(path)
    if old & (old - 1) == 0:
        nodes.insert(0, old_root)
    if not nodes:
        return False
    position, last = old - 1, new - 1
    while position & 1:
        position >>= 1
        last >>= 1
    first = second = nodes[0]
    for sibling in nodes[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            first = node_hash(sibling, first)
            second = node_hash(sibling, second)
            while position and not position & 1:
                position >>= 1
                last >>= 1
        else:
            second = node_hash(second, sibling)
        position >>= 1
        last >>= 1
    return last == 0 and first == old_root and second == new_root
