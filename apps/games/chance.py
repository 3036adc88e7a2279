"""Chance from a seed, for simulations, tests and play in the terminal.

Built like the streams of docs/fairness/protocol.md, section 5 (named streams of 16-bit words from HMAC-SHA-256,
rejection sampling, Fisher-Yates), but from a plain number instead of a committed seed and contributions.  A round that
is played for anything uses ``apps.fairness.protocol`` instead.  Pure: the same seed gives the same chance everywhere.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Sequence

from apps.games.contract import Card

_MASK = (1 << 64) - 1

WORDS = 65_536
"""Number of values of one word."""


class SeededChance:
    """All streams of one simulated round; ``label`` tells rounds of one seed apart."""

    def __init__(self, seed: int, label: str = "") -> None:
        self._key = hmac.digest(str(seed).encode(), f"sealdeck/simulation/{label}".encode(), "sha256")

    def _words(self, stream: str) -> Iterator[int]:
        key = hmac.digest(self._key, stream.encode(), "sha256")
        block = 0
        while True:
            data = hmac.digest(key, block.to_bytes(8, "big"), "sha256")
            for at in range(0, len(data), 2):
                yield data[at] << 8 | data[at + 1]
            block += 1

    def uniform(self, stream: str, m: int) -> int:
        """Return an integer in [0, m), 1 <= m <= 65536: the first draw of the stream."""
        return _below(self._words(stream), m)

    def shuffle(self, stream: str, items: Sequence[Card]) -> tuple[Card, ...]:
        """Return the items in the order the stream gives."""
        words = self._words(stream)
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = _below(words, last + 1)
            order[last], order[other] = order[other], order[last]
        return tuple(order)


def _below(words: Iterator[int], m: int) -> int:
    """Return the next word below the largest multiple of m, modulo m; no word is used when m is 1."""
    assert 1 <= m <= WORDS
    if m == 1:
        return 0
    limit = WORDS - WORDS % m
    for word in words:
        if word < limit:
            return word % m
    raise AssertionError("a stream has no end")


class Dice:
    """A quick stream of numbers for policies and bots: who does what in a simulation, never what a deck looks like.

    A 64-bit linear congruential generator (Knuth's MMIX constants) of which the upper half is used.
    """

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = (seed * 2 + 1) & _MASK
        for _ in range(4):
            self.below(2)

    def below(self, m: int) -> int:
        """Return an integer in [0, m), m at least 1."""
        self._state = state = (self._state * 6364136223846793005 + 1442695040888963407) & _MASK
        return ((state >> 32) * m) >> 32
