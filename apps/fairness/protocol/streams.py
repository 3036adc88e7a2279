"""The key schedule of a round and its streams: every random choice of a round, derived and repeatable.

Protocol: docs/fairness/protocol.md, section 5.  Never makes randomness: the seed and the seats' entropies come in as
arguments.  Implements ``apps.games.contract.Chance``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from hmac import digest as hmac_digest
from struct import Struct
from typing import Final, TypeVar

from apps.fairness.protocol.errors import StreamError
from apps.fairness.protocol.frames import frame, u8

WORDS: Final = 65536
"""Number of values of one 16-bit word: the greatest m of ``uniform`` and the most items of ``shuffle``."""
DECK: Final = "deck"
FIRST_SEAT: Final = "first-seat"
CARD_SALT: Final = "card-salt"

_name = re.compile(r"[a-z][a-z0-9-]{0,31}(/(0|[1-9][0-9]{0,5}))?", re.ASCII).fullmatch
_block = Struct(">16H").unpack
_INNER: Final = bytes(value ^ 0x36 for value in range(256))
_OUTER: Final = bytes(value ^ 0x5C for value in range(256))
_HASH_BLOCK: Final = 64

T = TypeVar("T")


def is_stream_name(name: str) -> bool:
    """Tell whether a text may name a stream."""
    return _name(name) is not None


def mac_pads(key: bytes) -> tuple[bytes, bytes]:
    """Return the inner and outer HMAC-SHA-256 pads of a 32-byte key.

    ``H(outer || H(inner || message))`` is the MAC of a message: for many short messages under one key that is
    faster than setting up the HMAC each time.
    """
    padded = key.ljust(_HASH_BLOCK, b"\0")
    return padded.translate(_INNER), padded.translate(_OUTER)


def entropy_digest(rows: Sequence[tuple[int, bytes, bytes]]) -> bytes:
    """Return ``E``, the digest of what the seats contributed.

    Args:
        rows: seat, key and entropy of each row of the deck roster, in its order; key and entropy may be empty.

    Source: docs/fairness/protocol.md, section 5.
    """
    fields = [u8(len(rows))]
    for seat, public_key, entropy in rows:
        fields += (u8(seat), public_key, entropy)
    return sha256(frame("sealdeck/1/entropy", *fields)).digest()


class KeySchedule:
    """The pseudorandom key of one round, and the stream keys derived from it.

    Whoever holds one knows every card of the round: it stays in the process that deals.
    """

    __slots__ = ("_keys", "prk", "round")

    def __init__(self, prk: bytes, round_: bytes) -> None:
        self.prk = prk
        self.round = round_
        self._keys: dict[str, bytes] = {}

    @classmethod
    def derive(
        cls,
        *,
        seed: bytes,
        rows: Sequence[tuple[int, bytes, bytes]],
        round_: bytes,
        open_hash: bytes,
        close_hash: bytes = b"",
        beacon: bytes = b"",
    ) -> KeySchedule:
        """Derive the schedule of a round.

        Args:
            seed: the committed 32 bytes.
            rows: seat, key and entropy of each row of the deck roster, in its order.
            close_hash: hash of the close record, empty where there is none.
            beacon: the bytes ``B`` of section 4, empty without beacon.

        Source: docs/fairness/protocol.md, section 5.
        """
        salt = cls.salt(round_, open_hash, close_hash, beacon)
        return cls(hmac_digest(salt, seed + entropy_digest(rows), "sha256"), round_)

    @staticmethod
    def salt(round_: bytes, open_hash: bytes, close_hash: bytes, beacon: bytes) -> bytes:
        """Return the salt that ties the schedule to the round's public records."""
        return sha256(frame("sealdeck/1/salt", round_, open_hash, close_hash, beacon)).digest()

    def key(self, stream: str) -> bytes:
        """Return the key of a stream, 32 bytes.

        Raises:
            StreamError: not a stream name.
        """
        known = self._keys.get(stream)
        if known is None:
            if not is_stream_name(stream):
                raise StreamError(f"{stream[:60]!r} is not the name of a stream")
            info = frame("sealdeck/1/stream", stream, self.round)
            # HKDF-Expand to 32 bytes is its first block alone.
            known = self._keys[stream] = hmac_digest(self.prk, info + b"\x01", "sha256")
        return known

    def chance(self) -> StreamChance:
        """Return fresh streams, each at its beginning."""
        return StreamChance(self)


class Stream:
    """One stream of 16-bit words with its position."""

    __slots__ = ("_blocks", "_inner", "_outer", "_words", "used")

    def __init__(self, key: bytes) -> None:
        self._inner, self._outer = mac_pads(key)
        self._blocks = 0
        self._words: list[int] = []
        self.used = 0
        """Words taken so far, refused ones included."""

    def word(self) -> int:
        """Take the next word."""
        if not self._words:
            counter = self._blocks.to_bytes(8, "big")
            self._blocks += 1
            mac = sha256(self._outer + sha256(self._inner + counter).digest()).digest()
            self._words = list(_block(mac)[::-1])
        self.used += 1
        return self._words.pop()

    def uniform(self, m: int) -> int:
        """Draw an integer in [0, m), each as likely as the other.

        Raises:
            StreamError: m is not in 1..65536.
        """
        if not 1 <= m <= WORDS:
            raise StreamError("a draw is from 1 to 65536 values")
        if m == 1:
            return 0
        limit = WORDS - WORDS % m
        word = self.word()
        while word >= limit:
            word = self.word()
        return word % m

    def shuffle(self, items: Sequence[T]) -> tuple[T, ...]:
        """Return the items in shuffled order.

        Raises:
            StreamError: more than 65536 items.
        """
        result = list(items)
        if len(result) > WORDS:
            raise StreamError("a shuffle is of at most 65536 items")
        words, word_of, used = self._words, self.word, 0
        for last in range(len(result) - 1, 0, -1):
            m = last + 1
            limit = WORDS - WORDS % m
            while True:
                if words:
                    word = words.pop()
                    used += 1
                else:
                    word = word_of()
                    words = self._words
                if word < limit:
                    break
            chosen = word % m
            result[last], result[chosen] = result[chosen], result[last]
        self.used += used
        return tuple(result)


def insert_back(items: Sequence[T], index: int) -> tuple[T, ...]:
    """Put the last item back among the others so that it stands at ``index`` of the result; 0 is the top.

    Source: docs/fairness/protocol.md, section 5.
    """
    *rest, last = items
    return (*rest[:index], last, *rest[index:])


class StreamChance:
    """The chance of one round: named streams, each with its own position.

    Implements ``apps.games.contract.Chance``.
    """

    __slots__ = ("_schedule", "_streams")

    def __init__(self, schedule: KeySchedule) -> None:
        self._schedule = schedule
        self._streams: dict[str, Stream] = {}

    def stream(self, name: str) -> Stream:
        """Return a stream at its current position.

        Raises:
            StreamError: not a stream name, or one that is never read.
        """
        known = self._streams.get(name)
        if known is None:
            if name == CARD_SALT:
                raise StreamError("card-salt is a MAC key and never read as a stream")
            known = self._streams[name] = Stream(self._schedule.key(name))
        return known

    def uniform(self, stream: str, m: int) -> int:
        """Return an integer in [0, m), 1 <= m <= 65536.

        Raises:
            StreamError: not a stream name, or m out of range.
        """
        return self.stream(stream).uniform(m)

    def shuffle(self, stream: str, items: Sequence[T]) -> tuple[T, ...]:
        """Return the items in the order the stream gives; index 0 is the top.

        Raises:
            StreamError: not a stream name, or too many items.
        """
        return self.stream(stream).shuffle(items)

    def insert_back(self, stream: str, items: Sequence[T]) -> tuple[T, ...]:
        """Return the items with the last one put back at a drawn place.

        Raises:
            StreamError: not a stream name, no items or too many.
        """
        return insert_back(items, self.stream(stream).uniform(len(items)))


def opener(seats: Sequence[int], last_opener: int | None, chance: StreamChance) -> int:
    """Return the seat that opens a round.

    Args:
        seats: seats of the deck roster, ascending.
        last_opener: opener of the table's latest dealt round; None draws from stream ``first-seat``.

    Source: docs/fairness/protocol.md, section 5, Opener.
    """
    if last_opener is None:
        return seats[chance.uniform(FIRST_SEAT, len(seats))]
    return next_clockwise(seats, last_opener + 1)


def next_clockwise(seats: Iterable[int], start: int) -> int:
    """Return the first of the seats met clockwise from ``start``, itself included."""
    ordered = sorted(seats)
    return next((seat for seat in ordered if seat >= start), ordered[0])
