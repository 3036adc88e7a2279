"""Chance from a seed, for simulations, tests and play in the terminal.

Built like the streams of docs/fairness/protocol.md, section 5 (named streams of 16-bit words from HMAC-SHA-256,
rejection sampling, Fisher-Yates), but from a plain number instead of a committed seed and contributions.  A round that
is played for anything uses ``apps.fairness.protocol`` instead.  Pure: the same seed gives the same chance everywhere.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain, count
from struct import Struct

from apps.games.contract import Card

_MASK = (1 << 64) - 1

WORDS = 65_536
"""Number of values of one word."""
_BLOCK = Struct(">16H")
"""The words of one block of a stream."""


_INNER_PAD = bytes([0x36]) * 32
_OUTER_PAD = bytes([0x5C]) * 32
_INNER = bytes(byte ^ 0x36 for byte in range(256))
_OUTER = bytes(byte ^ 0x5C for byte in range(256))


def mac(key: bytes, message: bytes) -> bytes:
    """Return HMAC-SHA-256 of a message under a key of 32 bytes.

    Written out from RFC 2104: for short messages it takes half the time of ``hmac.digest``, and simulations spend a
    good part of theirs here.
    """
    inner = sha256(key.translate(_INNER) + _INNER_PAD + message).digest()
    return sha256(key.translate(_OUTER) + _OUTER_PAD + inner).digest()


class SeededChance:
    """All streams of one simulated round; ``label`` tells rounds of one seed apart."""

    def __init__(self, seed: int, label: str = "") -> None:
        self._key = hmac.digest(str(seed).encode(), f"sealdeck/simulation/{label}".encode(), "sha256")

    def _blocks(self, stream: str) -> Iterator[tuple[int, ...]]:
        key = mac(self._key, stream.encode())
        for block in count():
            yield _BLOCK.unpack(mac(key, block.to_bytes(8, "big")))

    def uniform(self, stream: str, m: int) -> int:
        """Return an integer in [0, m), 1 <= m <= 65536: the first draw of the stream."""
        assert 1 <= m <= WORDS
        if m == 1:
            return 0
        limit = WORDS - WORDS % m
        for words in self._blocks(stream):
            for word in words:
                if word < limit:
                    return word % m
        raise AssertionError("a stream has no end")

    def shuffle(self, stream: str, items: Sequence[Card]) -> tuple[Card, ...]:
        """Return the items in the order the stream gives."""
        words = chain.from_iterable(self._blocks(stream))
        order = list(items)
        for left in range(len(order), 1, -1):
            # The next word below the largest multiple of what is left; a loop of its own, since simulations live here.
            limit = WORDS - WORDS % left
            word = next(words)
            while word >= limit:
                word = next(words)
            other = word % left
            order[left - 1], order[other] = order[other], order[left - 1]
        return tuple(order)


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
