"""``start``: its guards in order, the values a round opens with, and the deal.

Common rules: section 3 (``start``), section 5 (round_started, dealt), X-2, X-3.  It takes the deck as it comes and
never shuffles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from apps.games.contract import RuleError, Seat, Setup, Spec
from apps.games.kit.cards import Cards, CardTable
from apps.games.kit.round import Call, Deal, Round
from apps.games.kit.turns import ring_from

SEAT_MAX = 254
"""Highest seat number of a table."""

Options = dict[str, bool | int | str]


def options_filled(spec: Spec, given: Any) -> Options:
    """Return all options of the game with defaults filled in.

    Raises:
        RuleError: bad_option, for an unknown name or a value that is not allowed; ``true`` is not 1.
    """
    if not isinstance(given, Mapping):
        raise RuleError("bad_option")
    known = {option.name: option for option in spec.options}
    for name, value in given.items():
        option = known.get(name) if isinstance(name, str) else None
        if option is None:
            raise RuleError("bad_option", option=str(name))
        if not any(type(value) is type(allowed) and value == allowed for allowed in option.allowed):
            raise RuleError("bad_option", option=name)
    return {option.name: given.get(option.name, option.default) for option in spec.options}


def _check_seats(spec: Spec, seats: Any) -> None:
    if not isinstance(seats, (tuple, list)) or not spec.seats_min <= len(seats) <= spec.seats_max:
        raise RuleError("bad_seats")
    if any(type(seat) is not int or not 0 <= seat <= SEAT_MAX for seat in seats):
        raise RuleError("bad_seats")
    if any(seat >= after for seat, after in pairwise(seats)):
        raise RuleError("bad_seats")


def _numbers(cards: CardTable, deck: Any) -> Cards:
    """Return the deck as canonical indexes, or raise bad_deck if it is not a permutation of the table."""
    if not isinstance(deck, (tuple, list)) or len(deck) != len(cards.codes):
        raise RuleError("bad_deck")
    try:
        numbers = cards.numbers(deck)
    except (KeyError, TypeError):
        raise RuleError("bad_deck") from None
    if len(set(numbers)) != len(numbers):
        raise RuleError("bad_deck")
    return numbers


def opened(spec: Spec, setup: Setup, table: Callable[[Options, int], CardTable]) -> tuple[Deal, Cards]:
    """Check a setup and return what stays the same for the round, and the deck as canonical indexes.

    Args:
        table: gives the card table for filled options and a number of seats.

    Raises:
        RuleError: bad_option, bad_seats, bad_opener, bad_deck, in this order; then bad_carry, unless the game hands
            something on between rounds (``spec.match_game``), which then checks it itself.
    """
    options = options_filled(spec, setup.options)
    _check_seats(spec, setup.seats)
    if type(setup.opener) is not int or setup.opener not in setup.seats:
        raise RuleError("bad_opener")
    cards = table(options, len(setup.seats))
    deck = _numbers(cards, setup.deck)
    if setup.carry is not None and not spec.match_game:
        raise RuleError("bad_carry")
    return Deal(cards, tuple(setup.seats), options, setup.opener, setup.carry), deck


def dealt_round(deal: Deal, deck: Cards) -> dict[str, Any]:
    """Return the fields of ``Round`` before the first card is dealt, for the constructor of a game's state.

    All seats count as connected, and all cards lie in the draw deck.
    """
    places: list[tuple[int, int]] = [(0, 0)] * len(deck)
    for pos, card in enumerate(deck):
        places[card] = (0, pos)
    return {
        "deal": deal,
        "places": tuple(places),
        "deck": deck,
        "hands": dict.fromkeys(deal.seats, ()),
        "aside": dict.fromkeys(deal.seats, ()),
        "active": deal.seats,
        "offline": frozenset(),
        "turn": 0,
        "seat": deal.opener,
        "deadline": 0,
        "acted": False,
        "gen": 0,
        "reshuffles": 0,
        "outcome": None,
    }


def announce(spec: Spec, s: Round, call: Call) -> None:
    """Emit ``round_started``, the first event of every round."""
    deal = s.deal
    call.emit(
        {
            "type": "round_started",
            "game": spec.slug,
            "rules": spec.rules,
            "seats": list(deal.seats),
            "opener": deal.opener,
            "options": dict(deal.options),
            "carry": deal.carry,
        }
    )


def deal_out(s: Round, each: int, zone: str, call: Call) -> dict[Seat, Cards]:
    """Take ``each`` cards per seat off the deck, emit ``dealt``, and return them by seat in the order dealt (X-3).

    The caller puts them where they belong; the deck of the state is already shorter.
    """
    ring = ring_from(s.deal.seats, s.deal.opener)
    total = each * len(ring)
    cards = {seat: s.deck[place : total : len(ring)] for place, seat in enumerate(ring)}
    s.deck = s.deck[total:]
    for seat in ring:
        call.emit({"type": "dealt", "seat": seat, "zone": zone, "cards": [s.hidden(card) for card in cards[seat]]})
    return {seat: cards[seat] for seat in s.deal.seats}
