"""The battery as a picture: all p-values on one scale, and for each group where its cards lay.  SVG, made by hand.

Never decides anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import log10
from typing import Final

import numpy as np

from apps.fairness.verify.statistics.figures import Ints
from apps.fairness.verify.statistics.nulls import Floats
from apps.fairness.verify.statistics.results import PASSED, SUSPICIOUS, Result

DECADES: Final = 8
"""How many powers of ten the scale of p-values shows; smaller ones stand at its end."""
BLOCKS: Final = 26
"""Into how many parts places and cards are taken together at most."""
ROW, TITLE, LEFT, SCALE, CELL = 18, 40, 480, 400, 9
WIDTH: Final = LEFT + SCALE + 220
COLOURS: Final = {PASSED: "#2a78b5", SUSPICIOUS: "#c62828"}
GREY: Final = "#888"
RED: Final = (198, 40, 40)
BLUE: Final = (42, 120, 181)
DEVIATIONS_MAX: Final = 5.0
"""Deviations at which a field has its full colour."""


def picture(title: str, results: Sequence[Result], alpha: float, places: Mapping[str, Ints]) -> str:
    """Return the picture as an SVG document.

    Args:
        places: group to how often each card lay at each place.
    """
    parts = [*_scale(results, alpha, TITLE + 2 * ROW)]
    y = TITLE + (len(results) + 4) * ROW
    for group, counts in places.items():
        parts += _heat(group, counts, y)
        y += 3 * ROW + CELL * min(BLOCKS, len(counts))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}" '
        'font-family="sans-serif" font-size="12">'
    )
    ground = f'<rect width="{WIDTH}" height="{y}" fill="#fff"/>'
    name = f"<title>{escape(title)}</title>{_text(16, 26, title, size=16)}"
    return "\n".join([head, ground, name, *parts, "</svg>"]) + "\n"


def _scale(results: Sequence[Result], alpha: float, top: int) -> Iterator[str]:
    bottom = top + len(results) * ROW
    for decade in range(DECADES + 1):
        x = _x(10.0**-decade)
        yield f'<path d="M{x:.1f} {top - 4}V{bottom}" stroke="#ddd"/>'
        yield _text(x, top - 8, "1" if decade == 0 else f"1e-{decade}", anchor="middle")
    for number, result in enumerate(results):
        y = top + number * ROW + ROW / 2
        yield _text(LEFT - 16, y + 4, f"{result.test} · {result.group}", anchor="end")
        if result.p is None or result.p_adjusted is None:
            yield _text(LEFT, y + 4, f"too little data: {result.text}", colour=GREY)
            continue
        colour = COLOURS[result.verdict]
        yield f'<path d="M{_x(1):.1f} {y:.1f}H{_x(result.p):.1f}" stroke="{colour}" stroke-opacity="0.3"/>'
        yield f'<circle cx="{_x(result.p):.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
        yield _text(LEFT + SCALE + 16, y + 4, f"{result.verdict}, adjusted {result.p_adjusted:.2g}", colour=colour)
    said = f"p-values; suspicious is an adjusted one of at most {alpha:g}"
    yield _text(LEFT, bottom + 16, said, colour=GREY)


def _heat(group: str, counts: Ints, top: int) -> Iterator[str]:
    yield _text(16, top, f"{group}: places downwards, cards to the right; red: more often than fair, blue: less")
    for down, row in enumerate(deviations(counts)):
        for right, value in enumerate(row.tolist()):
            x, y = 16 + right * CELL, top + 10 + down * CELL
            yield f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{_colour(value)}"/>'


def deviations(counts: Ints) -> Floats:
    """Return by how many standard deviations the counts differ from fair ones, taken together in blocks."""
    n, decks = len(counts), int(counts[0].sum())
    bounds = np.unique(np.linspace(0, n, min(BLOCKS, n) + 1).astype(np.int64))
    sums = np.add.reduceat(np.add.reduceat(counts, bounds[:-1], axis=0), bounds[:-1], axis=1)
    sizes = np.diff(bounds) / n
    mean = decks * n * np.outer(sizes, sizes)
    # Cards of one block at the places of another: hypergeometric in each deck.
    variance = mean * np.outer(1 - sizes, 1 - sizes) * n / (n - 1)
    return np.asarray((sums - mean) / np.sqrt(variance))


def _colour(value: float) -> str:
    depth = min(1.0, abs(value) / DEVIATIONS_MAX)
    full = RED if value > 0 else BLUE
    return "#" + "".join(f"{round(255 + (part - 255) * depth):02x}" for part in full)


def _x(p: float) -> float:
    return LEFT + SCALE * min(DECADES, -log10(max(p, 1e-300))) / DECADES


def _text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "start", colour: str = "#222") -> str:
    look = f'font-size="{size}" text-anchor="{anchor}" fill="{colour}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(words)}</text>'
