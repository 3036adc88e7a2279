"""The deck of a round, as its bundle and its seed give it: what the statistics are made of.

A void publishes its seed too, so the deck that it stopped is known, or can be worked out where all contributions and
the beacon, if one was bound, are in the bundle.  Protocol: docs/fairness/protocol.md, sections 5 and 9.  Never counts.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from apps.fairness.protocol.cards import order_hash
from apps.fairness.protocol.streams import DECK, KeySchedule, opener
from apps.fairness.protocol.verify.context import Round
from apps.fairness.protocol.verify.replay import game_known
from apps.fairness.protocol.verify.seats import seats_covered
from apps.games.contract import Seat


@dataclass(frozen=True, slots=True)
class Dealt:
    """A shuffled deck and who would have played with it."""

    order: tuple[str, ...]
    """Canonical order."""
    cards: bytes
    """Canonical number of the card at each place, top first, as machine words of 16 bits."""
    seats: tuple[Seat, ...]
    opener: Seat | None
    """None where the rules of a match name it, and it was not dealt."""
    options: Mapping[str, Any]
    schedule: KeySchedule

    def codes(self) -> tuple[str, ...]:
        """Return the cards, top first."""
        return tuple(self.order[number] for number in array("H", self.cards))


@dataclass(frozen=True, slots=True)
class Deck:
    """One ended round."""

    round: str
    table: str
    index: int
    rules: str
    void: str | None
    """Reason of a void; None for a finished round."""
    seed: str
    entropies: tuple[str, ...]
    """What the seats contributed."""
    dealt: Dealt | None
    """None where the deck of a void cannot be known."""

    @property
    def group(self) -> str:
        """The group of decks that are counted together: rules and number of cards."""
        assert self.dealt is not None, "only known decks are in a group"
        return f"{self.rules}, {len(self.dealt.order)} cards"


def deck_of(round_: Round) -> Deck | None:
    """Return what a checked round adds to the statistics; None while it runs."""
    opened, terminal = round_.open, round_.terminal
    if terminal is None:
        return None
    void = round_.record("void")
    rows = round_.roster or (void.body["entropies"] if void is not None else [])
    return Deck(
        round=opened["round"],
        table=opened["table"],
        index=opened["index"],
        rules=opened["rules"],
        void=void.body["reason"] if void is not None else None,
        seed=terminal.body["seed"],
        entropies=tuple(row["entropy"] for row in rows if row["entropy"]),
        dealt=_as_dealt(round_) or _would_be(round_, rows),
    )


def _as_dealt(round_: Round) -> Dealt | None:
    """Return the deck that the deck record fixed."""
    deck, first, schedule = round_.record("deck"), round_.trees.get(0), round_.schedule
    if deck is None or first is None or schedule is None:
        return None
    order = _interned(tuple(round_.bundle.value["order"]))
    return dealt_of(order, first.cards, round_.seats, deck.body["opener"], round_.open["options"], schedule)


def _would_be(round_: Round, rows: Sequence[Mapping[str, Any]]) -> Dealt | None:
    """Return the deck of a void without deck record, where its contributions are known and no beacon was bound."""
    opened, close, terminal = round_.open, round_.record("close"), round_.terminal
    game = game_known(round_.settings, opened["rules"])
    seats = [row["seat"] for row in rows]
    row = seats_covered(round_, len(seats))
    if terminal is None or round_.record("deck") is not None or round_.beacon is not None or game is None:
        return None
    if row is None or (close is not None and seats != [each["seat"] for each in close.body["roster"]]):
        return None
    order = _interned(game.deck(opened["options"], len(seats)))
    if order_hash(order).hex() != row["order_hash"]:
        return None
    schedule = KeySchedule.derive(
        seed=bytes.fromhex(terminal.body["seed"]),
        rows=[(each["seat"], bytes.fromhex(each["pk"]), bytes.fromhex(each["entropy"])) for each in rows],
        round_=round_.round_bytes,
        open_hash=round_.open_hash,
        close_hash=close.hash if close is not None else b"",
    )
    chance = schedule.chance()
    first = None if game.spec.match_game else opener(seats, opened["last_opener"], chance)
    return dealt_of(order, chance.shuffle(DECK, order), seats, first, opened["options"], schedule)


def dealt_of(
    order: tuple[str, ...],
    cards: Sequence[str],
    seats: Sequence[int],
    opener_: int | None,
    options: Mapping[str, Any],
    schedule: KeySchedule,
) -> Dealt:
    """Return a deck with its cards as canonical numbers."""
    numbers = _numbers(order)
    packed = array("H", [numbers[card] for card in cards]).tobytes()
    opener_seat = None if opener_ is None else Seat(opener_)
    return Dealt(order, packed, tuple(map(Seat, seats)), opener_seat, options, schedule)


@lru_cache(maxsize=64)
def _interned(order: tuple[str, ...]) -> tuple[str, ...]:
    """Return the one copy of an order that is kept."""
    return order


@lru_cache(maxsize=64)
def _numbers(order: tuple[str, ...]) -> dict[str, int]:
    return {card: number for number, card in enumerate(order)}
