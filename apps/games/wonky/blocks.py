"""Wonky: the blocks, and whether a tower of them stands.

Rules: docs/games/wonky.md, sections Blocks and Stability, W-10, W-16 and W-23.  Integers only: every division rounds
down.  Never draws a tremor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Down = Literal["flat", "curved"]

BLOCKS: Final = ("SP", "SG", "SB", "MP", "MG", "MB", "LP", "LG", "LB")
"""Codes in the order of the rule page: size, then colour.  Elsewhere a block is its index here."""
BLOCK_INDEX: Final = {code: block for block, code in enumerate(BLOCKS)}
ALL_BLOCKS: Final = (1 << len(BLOCKS)) - 1
"""The set of all blocks.  A set of blocks is an integer whose bit ``1 << block`` tells whether the block is in it."""
COLOURS: Final = 3
"""Blocks of one size stand side by side, so block // COLOURS is the size: 0 small, 1 medium, 2 large."""
DOWNS: Final[tuple[Down, ...]] = ("flat", "curved")
OFFSET_MAX: Final = 8
"""Farthest that a block may be put from the middle of the one below it, either way, in millimetres."""

TREMORS: Final = 10_000
"""A tremor is an integer from 0 to this, exclusive; a risk of this much is a certain fall."""
RISK_MAX: Final = 9_500
"""The highest risk of a tower whose weight is still over its faces."""
LEAN_MAX: Final = 1_000
"""From here on the weight is no longer over the face below."""
SIZE_STEP: Final = 80
"""Risk for each size that the new block is larger than the one below."""

BASE: Final[Mapping[object, tuple[int, ...]]] = {
    "shaky": (0, 240, 660, 1300, 1940, 2580, 3120, 4060, 5500),
    "steady": (0, 240, 480, 800, 1180, 1560, 1950, 2350, 2760),
}
"""By value of the option ``tower``: risk by number of blocks, from 1."""
EDGE: Final = (24, 32, 40)
"""By size: 0 small, 1 medium, 2 large; millimetres."""
MASS: Final = (27, 64, 125)
"""By size."""
FLAT_FACTOR: Final = (1, 2, 4)
"""By flat faces that meet at an interface: how much of the half edge carries, in quarters."""
NEW: Final = (120, 60, 0)
"""By flat faces that meet under the new block: its part of the risk."""
OLD: Final = (300, 60, 0)
"""By flat faces that meet at a lower interface: its part of the risk."""

Placed = tuple[int, Down, int]
"""One block of the tower: the block, the side that is down, and its position x in millimetres, 0 for the first."""

Tower = tuple[Placed, ...]
"""Bottom to top."""


def blocks_in(blocks: int) -> tuple[int, ...]:
    """Return the blocks of a set, in block order."""
    return tuple([block for block in range(len(BLOCKS)) if blocks >> block & 1])


def risk(tower: Tower, base: tuple[int, ...]) -> int:
    """Return the risk, 0 to 10 000, that the tower's topmost block brings it down.

    Args:
        tower: with the new block on top.
        base: the row of BASE that the round is played with.

    Source: docs/games/wonky.md, section Stability.
    """
    top = len(tower) - 1
    total = base[top]
    mass = moment = worst_lean = 0
    for upper in range(top, 0, -1):
        block, down, x = tower[upper]
        under, under_down, under_x = tower[upper - 1]
        size, under_size = block // COLOURS, under // COLOURS
        mass += MASS[size]
        moment += MASS[size] * x
        flat_faces = (under_down == "curved") + (down == "flat")
        half_edge = min(EDGE[size], EDGE[under_size]) // 2
        lean = 4_000 * abs(moment - mass * under_x) // (mass * half_edge * FLAT_FACTOR[flat_faces])
        if lean >= LEAN_MAX:
            return TREMORS
        if upper == top:
            total += NEW[flat_faces] + lean**2 // 250 + SIZE_STEP * max(0, size - under_size)
        else:
            total += OLD[flat_faces]
            worst_lean = max(worst_lean, lean)
    return min(RISK_MAX, total + worst_lean**2 // 100)
