"""Monko: the deck, and what goes on what.

Rules: docs/games/monko.md, section Deck, M-10, M-19.  Everything here is a table by canonical index, made once.
"""

from __future__ import annotations

from typing import Final

from apps.games.kit.cards import CardTable, face, table

COLOURS: Final = ("R", "Y", "G", "B")
WILD: Final = "W"
WILD_DRAW_FOUR: Final = "W4"
SKIP: Final = "S"
REVERSE: Final = "R"
DRAW_TWO: Final = "D"

_SYMBOLS = tuple((str(digit), 1 if digit == 0 else 2) for digit in range(10)) + tuple(
    (symbol, 2) for symbol in (SKIP, REVERSE, DRAW_TWO)
)
_FACES = tuple((colour + symbol, copies) for colour in COLOURS for symbol, copies in _SYMBOLS)

TABLE: Final[CardTable] = table((*_FACES, (WILD, 4), (WILD_DRAW_FOUR, 4)))
INDEX: Final = TABLE.index
CODES: Final = TABLE.codes

_ALL = range(len(CODES))
_faces = tuple(face(code) for code in CODES)

COLOUR: Final = tuple(name[0] if name[0] in COLOURS else "" for name in _faces)
"""Colour by card; wild cards have none."""

SYMBOL: Final = tuple(name[1:] if name[0] in COLOURS else "" for name in _faces)
"""Symbol by card; wild cards have none."""

ADDS: Final = tuple(4 if name == WILD_DRAW_FOUR else 2 if name[1:] == DRAW_TWO else 0 for name in _faces)
"""What each card adds to the stack; a draw card is one that adds."""

PLUS4: Final = tuple(name == WILD_DRAW_FOUR for name in _faces)

POINTS: Final = tuple(
    50 if not colour else int(symbol) if symbol.isdigit() else 20 for colour, symbol in zip(COLOUR, SYMBOL, strict=True)
)

MATCHES: Final = {
    (colour, symbol): frozenset(
        card for card in _ALL if not COLOUR[card] or COLOUR[card] == colour or (symbol and SYMBOL[card] == symbol)
    )
    for colour in COLOURS
    for symbol in ("", *(symbol for symbol, _ in _SYMBOLS))
}
"""Cards playable without a stack (M-10), by active colour and symbol of the top card ("" under a wild card)."""

RAISES: Final = {
    False: frozenset(card for card in _ALL if ADDS[card]),
    True: frozenset(card for card in _ALL if PLUS4[card]),
}
"""Cards playable on a stack (M-19), by whether a W4 is in it."""


def points(cards: tuple[int, ...]) -> int:
    """Return the points of a hand."""
    return sum([POINTS[card] for card in cards])
