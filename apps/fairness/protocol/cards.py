"""Card commitments: canonical order, salts, leaves, the tree of a generation, and openings of single cards.

Protocol: docs/fairness/protocol.md, section 6.  Never decides who may see an opening.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from apps.fairness.protocol.errors import CardError
from apps.fairness.protocol.frames import frame, u16, u32
from apps.fairness.protocol.hexes import is_hex
from apps.fairness.protocol.log import inclusion_path_length, root_from_path
from apps.fairness.protocol.shapes import CARDS_MAX
from apps.fairness.protocol.streams import mac_pads

GENERATION_MAX: Final = 65535
"""Greatest number of a generation."""
PATH_MAX: Final = 16
"""Longest path of an opening."""

_CODE = r"[!\"$-~]{1,12}#[1-9][0-9]*"
_code = re.compile(_CODE, re.ASCII).fullmatch
_codes = re.compile(rf"(?:{_CODE}\n)*", re.ASCII).fullmatch
_OPENING_MEMBERS = frozenset(("gen", "pos", "card", "salt", "path"))


def is_card_code(value: Any) -> bool:
    """Tell whether a value is a card code ``FACE#COPY``.

    Source: docs/fairness/protocol.md, section 1.
    """
    return type(value) is str and _code(value) is not None


def are_card_codes(values: list[Any]) -> bool:
    """Tell whether each value is a card code."""
    try:
        joined = "\n".join([*values, ""])
        return joined.count("\n") == len(values) and _codes(joined) is not None
    except TypeError:
        return False


def order_hash(codes: Sequence[str]) -> bytes:
    """Return the hash of a canonical order of cards.

    Raises:
        ProtocolError: a code is not ASCII.
    """
    return _order_hash(tuple(codes))


@lru_cache(maxsize=64)
def _order_hash(codes: tuple[str, ...]) -> bytes:
    return sha256(frame("sealdeck/1/order", *codes)).digest()


@lru_cache(maxsize=4096)
def _code_field(card: str) -> bytes:
    """Return a card's part of its leaf between position and salt."""
    return u32(len(card)) + card.encode("ascii") + u32(32)


@lru_cache(maxsize=16)
def _positions(n: int) -> tuple[bytes, ...]:
    return tuple([pos.to_bytes(2, "big") for pos in range(n)])


def card_salt(salt_key: bytes, gen: int, pos: int) -> bytes:
    """Return the salt of one place.

    Args:
        salt_key: key of the stream ``card-salt``.
    """
    inner, outer = mac_pads(salt_key)
    return sha256(outer + sha256(inner + u16(gen) + u16(pos)).digest()).digest()


def card_leaf(round_: bytes, gen: int, pos: int, card: str, salt: bytes) -> bytes:
    """Return the leaf hash of one card at its place.

    Raises:
        ProtocolError: the code is not ASCII.
    """
    return sha256(b"\x00" + frame("sealdeck/1/card", round_, u16(gen), u16(pos), card, salt)).digest()


class CardTree:
    """The commitment to the cards of one generation: salts, leaves and the tree over them.

    Holds what the round must keep secret while it runs.
    """

    __slots__ = ("_levels", "cards", "gen", "salts")

    def __init__(self, *, round_: bytes, gen: int, cards: Sequence[str], salt_key: bytes) -> None:
        """Build the tree of one generation.

        Args:
            cards: the draw deck, top first, 1 to 65536 codes.
            salt_key: key of the stream ``card-salt``.

        Raises:
            CardError: no cards, too many, or a generation number out of range.
        """
        if not 1 <= len(cards) <= CARDS_MAX or not 0 <= gen <= GENERATION_MAX:
            raise CardError("a generation has 1 to 65536 cards and a number up to 65535")
        self.gen = gen
        self.cards = tuple(cards)
        inner, outer = mac_pads(salt_key)
        places = _positions(len(cards))
        hash_ = sha256
        inside, outside = hash_(inner + u16(gen)), hash_(outer)
        salts = []
        for place in places:
            mac = inside.copy()
            mac.update(place)
            salt = outside.copy()
            salt.update(mac.digest())
            salts.append(salt.digest())
        head = b"\x00" + frame("sealdeck/1/card", round_, u16(gen)) + u32(2)
        try:
            codes = [_code_field(card) for card in cards]
        except UnicodeEncodeError as problem:
            raise CardError("a card code is not as section 1 says") from problem
        level = [
            hash_(head + place + code + salt).digest() for place, code, salt in zip(places, codes, salts, strict=True)
        ]
        levels = [level]
        while len(level) > 1:
            pairs = len(level) // 2
            above = [
                hash_(b"\x01" + left + right).digest()
                for left, right in zip(level[: 2 * pairs : 2], level[1::2], strict=True)
            ]
            if len(level) % 2:
                above.append(level[-1])
            level = above
            levels.append(level)
        self.salts = salts
        self._levels = levels

    @property
    def root(self) -> bytes:
        """The root that goes into the deck record or the event, 32 bytes."""
        return self._levels[-1][0]

    @property
    def leaves(self) -> list[bytes]:
        """The leaf hashes, top first."""
        return self._levels[0]

    def path(self, pos: int) -> list[bytes]:
        """Return the inclusion path of one position.

        Raises:
            CardError: there is no such position.
        """
        if not 0 <= pos < len(self.cards):
            raise CardError("there is no card at this position")
        result = []
        for level in self._levels[:-1]:
            sibling = pos ^ 1
            if sibling < len(level):
                result.append(level[sibling])
            pos //= 2
        return result

    def opening(self, pos: int) -> dict[str, Any]:
        """Return the opening of one position, as it is sent to whoever is shown the card.

        Raises:
            CardError: there is no such position.
        """
        path = [node.hex() for node in self.path(pos)]
        return {"gen": self.gen, "pos": pos, "card": self.cards[pos], "salt": self.salts[pos].hex(), "path": path}


def is_opening(value: Any) -> bool:
    """Tell whether a value has the form of an opening."""
    if type(value) is not dict or value.keys() != _OPENING_MEMBERS:
        return False
    gen, pos, path = value["gen"], value["pos"], value["path"]
    return (
        type(gen) is int
        and 0 <= gen <= GENERATION_MAX
        and type(pos) is int
        and 0 <= pos < CARDS_MAX
        and is_card_code(value["card"])
        and is_hex(value["salt"], 32)
        and type(path) is list
        and len(path) <= PATH_MAX
        and all(is_hex(node, 32) for node in path)
    )


def check_opening(opening: Any, *, round_: bytes, root: bytes, n: int) -> bool:
    """Tell whether an opening proves that its card lies at its place.

    Args:
        root: the root of the opening's generation, from the deck record or the event that made it.
        n: the number of cards of that generation.

    Source: docs/fairness/protocol.md, section 6.
    """
    if not is_opening(opening):
        return False
    pos, path = opening["pos"], opening["path"]
    if pos >= n or len(path) != inclusion_path_length(pos, n):
        return False
    leaf = card_leaf(round_, opening["gen"], pos, opening["card"], bytes.fromhex(opening["salt"]))
    return root_from_path(leaf, pos, n, [bytes.fromhex(node) for node in path]) == root
