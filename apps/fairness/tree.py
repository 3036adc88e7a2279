"""The log's tree as it is stored: full tiles as rows, partial ones from the leaves and tile roots at the right edge.

Implements docs/fairness/protocol.md, section 11 (C2SP tlog-tiles).  Every read is of O(log n) tiles of 256 hashes, each
found by an index.  Never hashes an entry and never changes a row: the sequencer does.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from apps.fairness.models import Record, Tile
from apps.fairness.protocol.log import HASH_BYTES
from apps.fairness.protocol.tiles import TILE_WIDTH, TileSource, bundle_encode

TILES_MAX = 256
"""Full tiles one process keeps, 8 KiB each; they never change."""


class _Tiles:
    """A bounded cache of full tiles, least recently used out first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._tiles: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, level: int, index: int) -> bytes | None:
        """Return a tile's hashes, from memory or from its row; None where it is not full yet."""
        with self._lock:
            known = self._tiles.get((level, index))
            if known is not None:
                self._tiles.move_to_end((level, index))
                return known
        stored = Tile.objects.values_list("hashes", flat=True).filter(level=level, index=index).first()
        if stored is None:
            return None
        hashes = bytes(stored)
        with self._lock:
            self._tiles[level, index] = hashes
            while len(self._tiles) > self._size:
                self._tiles.popitem(last=False)
        return hashes

    def clear(self) -> None:
        """Forget all tiles."""
        with self._lock:
            self._tiles.clear()


_tiles = _Tiles(TILES_MAX)


def forget_all() -> None:
    """Drop the tiles in memory: for tests, which start logs anew."""
    _tiles.clear()


def edge(level: int, index: int, width: int) -> list[bytes]:
    """Return the first hashes of a tile that is not full: leaves at level 0, tile roots above.

    Args:
        width: how many; fewer are returned where fewer are stored.
    """
    first = index * TILE_WIDTH
    if level == 0:
        rows = Record.objects.filter(log_index__gte=first, log_index__lt=first + width)
        return [bytes(leaf) for leaf in rows.order_by("log_index").values_list("leaf_hash", flat=True)]
    below = Tile.objects.filter(level=level - 1, index__gte=first, index__lt=first + width)
    return [bytes(root) for root in below.order_by("index").values_list("root", flat=True)]


def tile_bytes(level: int, index: int, width: int) -> bytes:
    """Return the first ``width`` hashes of a tile, fewer where fewer are stored."""
    full = _tiles.get(level, index)
    if full is not None:
        return full[: width * HASH_BYTES]
    return b"".join(edge(level, index, width))


def entries_bytes(index: int, width: int) -> bytes:
    """Return an entry bundle: the exact bytes of ``width`` entries, each with its length before it."""
    first = index * TILE_WIDTH
    rows = Record.objects.filter(log_index__gte=first, log_index__lt=first + width).order_by("log_index")
    return bundle_encode(bytes(entry) for entry in rows.values_list("entry", flat=True))


def source(size: int) -> TileSource:
    """Return the node hashes of the published tree of ``size`` leaves."""
    return TileSource(tile_bytes, size)


def source_stored(size: int) -> TileSource:
    """Return the node hashes of the tree of ``size`` leaves as this transaction finds them stored.

    Neither reads nor fills the memory of tiles: what is not committed yet may still be undone.
    """
    return TileSource(_tile_stored, size)


def _tile_stored(level: int, index: int, width: int) -> bytes:
    if width == TILE_WIDTH:
        return bytes(Tile.objects.values_list("hashes", flat=True).filter(level=level, index=index).first() or b"")
    return b"".join(edge(level, index, width))
