"""DRAW and RESHUFFLE, and what makes a new generation of places.

Common rules: section 2 (places) and section 5 (DRAW, RESHUFFLE), X-2, X-5, X-6.  The only chance here is a named stream
that the caller's ``Call`` carries.
"""

from __future__ import annotations

from collections.abc import Callable

from apps.games.contract import Card, Generation, Seat
from apps.games.kit.cards import Cards
from apps.games.kit.round import Call, Round, State

Renew = Callable[[State], Cards]
"""Takes the cards that may be reshuffled out of their piles and returns them in the order the page names; else ()."""


def no_renewal(s: Round) -> Cards:
    """Reshuffle nothing: for games in which an empty draw deck stays empty."""
    return ()


def reorder(s: Round, stream: str, source: tuple[Card, ...], order: tuple[Card, ...], call: Call) -> None:
    """Make ``order`` the draw deck and the next generation; the caller emits the event that says so."""
    s.gen = gen = s.gen + 1
    s.deck = s.deal.cards.numbers(order)
    places = list(s.places)
    for pos, card in enumerate(s.deck):
        places[card] = (gen, pos)
    s.places = tuple(places)
    call.generations.append(Generation(gen, stream, source, order))


def reshuffle(s: Round, cards: Cards, call: Call) -> None:
    """Shuffle these cards into a new draw deck (RESHUFFLE).  The draw deck must be empty."""
    stream = f"reshuffle/{s.reshuffles}"
    s.reshuffles += 1
    source = s.deal.cards.texts(cards)
    reorder(s, stream, source, tuple(call.chance.shuffle(stream, source)), call)
    call.emit({"type": "reshuffled", "gen": s.gen, "count": len(cards)})


def take(s: State, seat: Seat, owed: int, cause: str, call: Call, renew: Renew[State]) -> Cards:
    """Take cards from the top of the deck for a seat, reshuffling when it runs out, and return them in order.

    This is DRAW up to where the cards go; what cannot be drawn is forgiven (X-6).  Emits ``drew`` and ``reshuffled``.
    """
    taken: Cards = ()
    while owed:
        if not s.deck:
            cards = renew(s)
            if not cards:
                break
            reshuffle(s, cards, call)
        run = s.deck[:owed]
        s.deck = s.deck[owed:]
        owed -= len(run)
        taken += run
        call.emit({"type": "drew", "seat": seat, "cards": [s.hidden(card) for card in run], "cause": cause})
    return taken


def draw(s: State, seat: Seat, owed: int, cause: str, call: Call, renew: Renew[State]) -> Cards:
    """DRAW(seat, owed, cause): the cards go to the end of the seat's hand; return those that came."""
    cards = take(s, seat, owed, cause, call, renew)
    if cards:
        s.put(seat, s.hands[seat] + cards)
    return cards
