"""Monkey Butt: the packs, and what each card is.

Rules: docs/games/monkey_butt.md, section Deck, B-1 and B-5.  Elsewhere in this package a card is its canonical index in
the pack of the round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Final

from apps.games.contract import Action, Card
from apps.games.kit.cards import CardTable, face, table
from apps.games.kit.opening import Options

RANKS: Final = ("X", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "Z", "F", "G")
"""Ranks as text, by their number: 0 stands for the super specials, which have no rank."""
SUPER: Final = 0
ONE: Final = 1
EIGHT: Final = 8
NUMBER_MAX: Final = 12
ZEN: Final = 13
PYRO: Final = 14
KONG: Final = 15

SUPERS: Final = (("XT", 2), ("XB", 2), ("XC", 3))
DEVIL: Final = ("XD", 1)
VERBS: Final = {"T": "thief", "B": "butt", "C": "cheeky", "D": "devil"}
"""The verb that uses a super special, by the letter after its X."""

_NUMBERS: Final = tuple(str(number) for number in (2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 1, 8))
STRENGTH: Final = (*_NUMBERS, "Z", "G", "XD", "XC", "XB", "XT", "F")
"""Kinds of cards, weakest first (B-5)."""


def kind(its_face: str) -> str:
    """Return what kind of card a face is: its rank as text, or the face itself for a super special."""
    return its_face if its_face[0] == "X" else its_face[1:]


def colour(its_face: str) -> str:
    """Return the colour letter of a face; empty for multi-colour Pyros and super specials."""
    return "" if its_face[0] in "MX" else its_face[0]


@dataclass(frozen=True, slots=True)
class Pack(CardTable):
    """One pack of cards and what its cards are, each by canonical index."""

    run: int
    """So many cards of one rank in a row burn the pile (B-11)."""
    rank: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """Number of the rank; 0 for a super special."""
    colour: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Colour letter; empty for multi-colour Pyros and super specials."""
    verb: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Verb that uses a super special; empty for all other cards."""
    strength: tuple[tuple[int, int], ...] = field(init=False, repr=False, compare=False)
    """What the set-up clock sorts by, weakest first; no two cards are equal."""
    ones: frozenset[int] = field(init=False, repr=False, compare=False)
    """The cards of rank 1, which block their colour."""
    supers: frozenset[int] = field(init=False, repr=False, compare=False)
    bit: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """A bit for each card, of its own among the cards of its rank."""
    plays: tuple[tuple[tuple[Action, ...], ...], ...] = field(init=False, repr=False, compare=False)
    """By rank and the bits of the cards at hand: the plays of all sets of them, in the order of ``legal``; no supers.
    Shared by all rounds."""

    def __post_init__(self) -> None:
        # The zero-argument super() does not reach through the class that slots=True makes anew.
        CardTable.__post_init__(self)
        faces = [face(code) for code in self.codes]
        kinds = [kind(its) for its in faces]
        rank = tuple(SUPER if its[0] == "X" else RANKS.index(its) for its in kinds)
        by_rank = [[card for card, its in enumerate(rank) if its == number] for number in range(len(RANKS))]
        bit = tuple(1 << by_rank[number].index(card) for card, number in enumerate(rank))
        facts: dict[str, object] = {
            "rank": rank,
            "colour": tuple(colour(its) for its in faces),
            "verb": tuple(VERBS[its[1]] if its[0] == "X" else "" for its in faces),
            "strength": tuple((STRENGTH.index(its), card) for card, its in enumerate(kinds)),
            "ones": frozenset(by_rank[ONE]),
            "supers": frozenset(by_rank[SUPER]),
            "bit": bit,
            "plays": ((), *(self._plays(cards) for cards in by_rank[ONE:])),
        }
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    def _plays(self, cards: list[int]) -> tuple[tuple[Action, ...], ...]:
        """Return for each selection of these cards the plays of all its sets, smaller ones first."""
        play = {codes: {"type": "play", "cards": list(codes)} for codes in _sets(self.texts(cards))}
        selections = []
        for bits in range(1 << len(cards)):
            held = [self.codes[card] for place, card in enumerate(cards) if bits >> place & 1]
            selections.append(tuple(play[codes] for codes in _sets(held)))
        return tuple(selections)


def _sets(cards: Sequence[Card]) -> list[tuple[Card, ...]]:
    """Return all sets of these cards but the empty one, smaller ones first."""
    return [codes for size in range(1, len(cards) + 1) for codes in combinations(cards, size)]


@cache
def _pack(colours: str, devil: bool) -> Pack:
    faces = [(colour + rank, 1) for colour in colours for rank in RANKS[1:]]
    faces += [("MF", 3), *SUPERS]
    if devil:
        faces.append(DEVIL)
    return Pack(table(faces).codes, run=3 if len(colours) == 3 else 4)


def pack(options: Options, seats: int) -> Pack:
    """Return the pack for these options, all filled in, and this number of seats."""
    if seats == 2 and options["quick"]:
        colours = "PYB"
    elif seats <= 5:
        colours = "PYBK"
    else:
        colours = "PYBKO"
    return _pack(colours, options["devil"] is True)
