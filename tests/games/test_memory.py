"""Nothing of a game that was played stays in memory: a million games take no more than a few."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from apps.games import registry, simulate

GAMES = 4
LEFT_MAX = 1_024
"""Bytes that may be left of a game on average: less than its smallest state."""


def play(slug: str) -> int:
    """Play some games and return the bytes in use afterwards."""
    plan = simulate.Plan(slug, 0, GAMES, None, None, "calm", laws=False, bots=False)
    assert isinstance(simulate.play_batch(plan), simulate.Tally)
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.parametrize("slug", registry.slugs())
def test_memory_stays_flat_over_many_games(slug: str) -> None:
    tracemalloc.start()
    try:
        before = play(slug)  # What all rounds share, such as Wonky's placements, is there from now on.
        after = play(slug)
    finally:
        tracemalloc.stop()
    assert after - before < GAMES * LEFT_MAX
