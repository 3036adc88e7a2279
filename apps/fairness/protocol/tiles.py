"""Tiles of the public log: paths, encoding, entry bundles, and proofs read from them.

Protocol: docs/fairness/protocol.md, section 11 (C2SP tlog-tiles).  Never fetches anything: the caller hands in a
function that gives a tile's bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from apps.fairness.protocol.errors import TileError
from apps.fairness.protocol.log import HASH_BYTES, node_hash

TILE_HEIGHT: Final = 8
"""Levels of the tree in one tile."""
TILE_WIDTH: Final = 1 << TILE_HEIGHT
"""Hashes of a full tile, and entries of a full bundle."""
LEVEL_MAX: Final = 63
ENTRIES: Final = "entries"

_path = re.compile(r"tile/(entries|0|[1-9][0-9]?)/((?:x[0-9]{3}/)*)([0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?", re.ASCII)
_GROUPS_MAX = 6

Level = int | str
"""Level of a tile; ``entries`` for the entry bundles."""


def tile_path(level: Level, n: int, width: int = TILE_WIDTH) -> str:
    """Return the path of a tile below the log's address.

    Args:
        n: number of the tile in its level, from 0.
        width: hashes or entries it has; fewer than 256 make a partial tile.

    Raises:
        TileError: there is no such tile.
    """
    if not 1 <= width <= TILE_WIDTH or n < 0 or (level != ENTRIES and not (type(level) is int and level >= 0)):
        raise TileError("there is no such tile")
    groups = [f"{n % 1000:03d}"]
    while n >= 1000:
        n //= 1000
        groups.insert(0, f"x{n % 1000:03d}")
    partial = "" if width == TILE_WIDTH else f".p/{width}"
    return f"tile/{level}/{'/'.join(groups)}{partial}"


def tile_path_read(path: str) -> tuple[Level, int, int]:
    """Return level, number and width of a tile's path.

    Raises:
        TileError: not the one path of a tile.
    """
    found = _path.fullmatch(path)
    if found is None or len(found[2]) > 5 * _GROUPS_MAX:
        raise TileError("not the path of a tile")
    level: Level = ENTRIES if found[1] == ENTRIES else int(found[1])
    number = int(found[2].replace("x", "").replace("/", "") + found[3])
    width = TILE_WIDTH if found[4] is None else int(found[4])
    if width > TILE_WIDTH or (type(level) is int and level > LEVEL_MAX) or tile_path(level, number, width) != path:
        raise TileError("not the path of a tile")
    return level, number, width


def tile_width(level: int, n: int, size: int) -> int:
    """Return how many hashes tile ``n`` of a level has in a tree of ``size`` leaves; 0 where there is none."""
    return max(0, min(TILE_WIDTH, (size >> (TILE_HEIGHT * level)) - n * TILE_WIDTH))


def tile_encode(hashes: Iterable[bytes]) -> bytes:
    """Return the bytes of a tile."""
    return b"".join(hashes)


def tile_decode(data: bytes, width: int) -> list[bytes]:
    """Return the hashes of a tile.

    Raises:
        TileError: not ``width`` hashes.
    """
    if len(data) != width * HASH_BYTES:
        raise TileError("the tile has another width")
    return [data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES)]


def bundle_encode(entries: Iterable[bytes]) -> bytes:
    """Return the bytes of an entry bundle.

    Raises:
        TileError: an entry is longer than 65535 bytes.
    """
    parts: list[bytes] = []
    for entry in entries:
        if len(entry) > 0xFFFF:
            raise TileError("an entry is longer than 65535 bytes")
        parts += (len(entry).to_bytes(2, "big"), entry)
    return b"".join(parts)


def bundle_decode(data: bytes) -> list[bytes]:
    """Return the entries of an entry bundle.

    Raises:
        TileError: the bytes end within an entry, or there are more than 256.
    """
    entries: list[bytes] = []
    at = 0
    while at < len(data):
        end = at + 2 + int.from_bytes(data[at : at + 2], "big")
        if at + 2 > len(data) or end > len(data) or len(entries) == TILE_WIDTH:
            raise TileError("the entry bundle is malformed")
        entries.append(data[at + 2 : end])
        at = end
    return entries


class TileSource:
    """A ``NodeSource`` over tiles: reads at most one tile for each node, and remembers those it read."""

    __slots__ = ("_fetch", "_known", "_size")

    def __init__(self, fetch: Callable[[int, int, int], bytes], size: int) -> None:
        """Take a function that gives a tile's bytes for level, number and width.

        Args:
            size: leaves of the tree that the tiles are of.
        """
        self._fetch = fetch
        self._size = size
        self._known: dict[tuple[int, int], list[bytes]] = {}

    def tile(self, level: int, n: int) -> list[bytes]:
        """Return the hashes of a tile.

        Raises:
            TileError: the tile is not of the width that the tree has there.
        """
        known = self._known.get((level, n))
        if known is None:
            width = tile_width(level, n, self._size)
            if not width:
                raise TileError("there is no such tile in a tree of this size")
            known = self._known[level, n] = tile_decode(self._fetch(level, n, width), width)
        return known

    def __call__(self, level: int, index: int, /) -> bytes:
        """Return the root of a complete subtree.

        Raises:
            TileError: the tile is missing or malformed.
        """
        tile_level, inner = divmod(level, TILE_HEIGHT)
        first = index << inner
        nodes = self.tile(tile_level, first // TILE_WIDTH)
        at = first % TILE_WIDTH
        nodes = nodes[at : at + (1 << inner)]
        if len(nodes) != 1 << inner:
            raise TileError("the subtree is not complete")
        while len(nodes) > 1:
            nodes = [node_hash(nodes[i], nodes[i + 1]) for i in range(0, len(nodes), 2)]
        return nodes[0]
