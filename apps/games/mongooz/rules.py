"""Mongooz: the procedures of a round, from the deal to the end.

Rules: docs/games/mongooz.md, sections Procedures and Clock.  Each procedure changes the copy of the state that its call
made.  Whether an action is allowed is asked in ``actions``, not here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from apps.games.contract import Chance, Outcome, Seat, Setup, Spec, Step
from apps.games.kit import ending, opening, turns
from apps.games.kit.round import Call
from apps.games.mongooz.cards import RANK, SUIT, SUITS, TABLE
from apps.games.mongooz.state import Offence, Record, State

TURN_MS: Final = 8_000
PILOT_MS: Final = 3_000
TURN_CAP: Final = 600
DEALT: Final = 51
"""Cards dealt round; the last one opens the middle (Z-1)."""
PENALTY: Final = 2

SPEC: Final = Spec(
    slug="mongooz",
    title="Mongooz",
    rules="mongooz/1",
    seats_min=2,
    seats_max=4,
    clocks={"turn_ms": TURN_MS, "pilot_ms": PILOT_MS, "turn_cap": TURN_CAP},
    unsequenced=frozenset({"call"}),
    refusals=frozenset({"does_not_fit"}),
)


def start(setup: Setup, chance: Chance) -> Step[State]:
    """Deal the piles, open the middle, begin turn 1 (Z-1 to Z-3)."""
    deal, deck = opening.opened(SPEC, setup, lambda options, seats: TABLE)
    card = deck[DEALT]
    s = State(
        **opening.dealt_round(deal, deck),
        piles={},
        discards=dict.fromkeys(deal.seats, ()),
        middle=tuple([(card,) if suit == SUIT[card] else () for suit in range(len(SUITS))]),
        start_rank=RANK[card],
        flipped=None,
        current=Record(0, deal.opener, (), ()),
        previous=None,
        blocked=frozenset(),
    )
    call = Call(setup.now, chance)
    opening.announce(SPEC, s, call)
    ring = turns.ring_from(deal.seats, deal.opener)
    dealt = {seat: deck[place : DEALT : len(ring)] for place, seat in enumerate(ring)}
    for seat in ring:
        call.emit({"type": "dealt", "seat": seat, "zone": "pile", "cards": [s.hidden(its) for its in dealt[seat]]})
    s.piles = {seat: dealt[seat][::-1] for seat in deal.seats}
    s.deck = ()
    call.emit({"type": "middle_opened", "card": s.shown(card)})
    begin(s, ring[(DEALT + 1) % len(ring)], call)
    return call.step(s)


def next_place(s: State, seat: Seat) -> Seat:
    """Return the next place of the ring, clockwise, whether its seat is active or an autopilot."""
    return turns.after(s.deal.seats, seat)


def begin(s: State, seat: Seat, call: Call) -> None:
    """BEGIN: the next turn, passing over autopilots without cards, or the end at the cap."""
    while seat not in s.active and not s.has_cards(seat):
        seat = next_place(s, seat)
    if s.turn >= TURN_CAP:
        end(s, "cap", _fewest(s), call)
        return
    s.previous = s.current if s.turn else None
    s.blocked = frozenset()
    turns.start_turn(s, seat, TURN_MS if seat in s.active else PILOT_MS, call)
    s.current = Record(s.turn, seat, (), ())


def place(s: State, onto: Seat | None, call: Call) -> None:
    """Lay the card to play on the middle or a seat's discard, where it fits, and let PLACED happen."""
    seat = s.seat
    card = s.to_play()
    assert card is not None, "a placement has a card"
    if s.flipped is not None:
        source = "flipped"
        s.flipped = None
    else:
        source = "discard"
        s.put_discard(seat, s.discards[seat][:-1])
    if onto is None:
        _to_middle(s, card)
    else:
        s.put_discard(onto, (*s.discards[onto], card))
    call.emit({"type": "placed", "seat": seat, "card": s.shown(card), "from": source, "onto": onto})
    if seat not in s.active:
        return
    if s.has_cards(seat):
        turns.fresh_clock(s, TURN_MS, call)
    else:
        end(s, "out", (seat,), call)  # Z-21


def _to_middle(s: State, card: int) -> None:
    suit = SUIT[card]
    s.middle = (*s.middle[:suit], (*s.middle[suit], card), *s.middle[suit + 1 :])


def _note_if_overlooked(s: State, card: int) -> None:
    """Record an offence if the card could be placed (Z-10)."""
    if s.fits(card):
        offence = Offence(card, s.fits_middle(card))
        s.current = s.current._replace(offences=(*s.current.offences, offence))


def flip(s: State, call: Call) -> None:
    """FLIP: turn up the next card of the turn's seat; the turn before cannot be called any more (Z-11, Z-20)."""
    seat = s.seat
    discard = s.discards[seat]
    if discard:
        _note_if_overlooked(s, discard[-1])
    s.previous = None
    if not s.piles[seat]:
        _turn_over(s, seat, call)
    pile = s.piles[seat]
    s.flipped = pile[0]
    s.put_pile(seat, pile[1:])
    call.emit({"type": "flipped", "seat": seat, "card": s.shown(s.flipped)})


def _turn_over(s: State, seat: Seat, call: Call) -> None:
    """Put a seat's discard, its oldest card uppermost, under its pile."""
    discard = s.discards[seat]
    s.put_pile(seat, s.piles[seat] + discard)
    s.put_discard(seat, ())
    call.emit({"type": "turned_over", "seat": seat, "count": len(discard)})


def drop(s: State, call: Call) -> None:
    """DROP: the flipped card becomes the top of the own discard, which ends the turn."""
    assert s.flipped is not None, "a discard needs a flipped card"
    _note_if_overlooked(s, s.flipped)
    _discard(s, call, forced=False)


def _discard(s: State, call: Call, *, forced: bool) -> None:
    seat, card = s.seat, s.flipped
    assert card is not None, "a discard needs a flipped card"
    s.flipped = None
    s.put_discard(seat, (*s.discards[seat], card))
    call.emit({"type": "discarded", "seat": seat, "card": s.shown(card), "forced": forced})


def end_turn(s: State, call: Call) -> None:
    """Discard the flipped card and begin the next turn."""
    drop(s, call)
    begin(s, next_place(s, s.seat), call)


def call_turn(s: State, seat: Seat, record: Record, call: Call) -> None:
    """CALL: a seat says that this turn overlooked a play (Z-10 to Z-18, Z-27)."""
    offences = [s.shown(offence.card) for offence in record.offences]
    call.emit({"type": "called", "seat": seat, "turn": record.turn, "valid": bool(offences), "offences": offences})
    if not offences:
        s.blocked |= {seat}
        return
    first = not record.callers
    running = record.turn == s.turn
    upheld = record._replace(callers=(*record.callers, seat))
    if running:
        s.current = upheld
    else:
        s.previous = upheld
    if first and running and s.flipped is not None:
        _discard(s, call, forced=True)
    _pay(s, seat, record.offender, call)
    if not s.has_cards(seat):
        end(s, "gave_out", (seat,), call)  # Z-16
        return
    if first:
        _fix(s, record, call)
        if running:
            begin(s, next_place(s, record.offender), call)


def _pay(s: State, seat: Seat, offender: Seat, call: Call) -> None:
    """Give the caller's top two cards to the bottom of the offender's pile, as far as they exist (Z-15)."""
    if len(s.piles[seat]) < PENALTY and s.discards[seat]:
        _turn_over(s, seat, call)
    cards = s.piles[seat][:PENALTY]
    s.put_pile(seat, s.piles[seat][PENALTY:])
    s.put_pile(offender, s.piles[offender] + cards)
    call.emit({"type": "paid", "seat": seat, "to": offender, "cards": [s.hidden(card) for card in cards]})


def _fix(s: State, record: Record, call: Call) -> None:
    """Put overlooked cards that fitted the middle there, if the offender still has them (Z-17)."""
    seat = record.offender
    for card, could_middle in record.offences:
        if not could_middle:
            continue
        if card in s.piles[seat]:
            s.put_pile(seat, tuple([other for other in s.piles[seat] if other != card]))
        elif card in s.discards[seat]:
            s.put_discard(seat, tuple([other for other in s.discards[seat] if other != card]))
        else:
            continue
        _to_middle(s, card)
        call.emit({"type": "fixed", "seat": seat, "card": s.shown(card)})


def leave(s: State, seat: Seat, reason: str, call: Call) -> None:
    """LEAVE: the seat becomes an autopilot, at once if it is its turn (Z-19, Z-29)."""
    ending.depart(s, seat, reason, call)
    if len(s.active) == 1:
        end(s, "last_seat", s.active, call)
    elif seat == s.seat:
        s.deadline = call.now + PILOT_MS
        call.emit({"type": "clock_changed", "seat": seat, "deadline": s.deadline})


def happen(s: State, call: Call) -> None:
    """Let the turn's clock run out (Z-22) or the autopilot play (Z-19)."""
    if s.seat in s.active:
        turns.time_out(s, call)
        if s.flipped is None:
            flip(s, call)
        end_turn(s, call)
    else:
        _pilot(s, call)


def _pilot(s: State, call: Call) -> None:
    """PILOT: place every card that fits, flip, and end the turn with the first that does not."""
    while True:
        card = s.to_play()
        if card is not None and s.fits(card):
            place(s, _pilot_target(s, card), call)
        elif s.flipped is not None:
            end_turn(s, call)
            return
        elif s.has_cards(s.seat):
            flip(s, call)
        else:
            begin(s, next_place(s, s.seat), call)
            return


def _pilot_target(s: State, card: int) -> Seat | None:
    """Return where the autopilot places a card that fits: the middle, else the first seat clockwise."""
    if s.fits_middle(card):
        return None
    ring = turns.ring_from(s.deal.seats, s.seat)
    return next(seat for seat in ring[1:] if s.fits_seat(card, seat))


def _fewest(s: State) -> tuple[Seat, ...]:
    """Return the active seats with the fewest cards (Z-23)."""
    least = min([s.count(seat) for seat in s.active])
    return tuple([seat for seat in s.active if s.count(seat) == least])


def end(s: State, reason: str, winners: Iterable[Seat], call: Call) -> None:
    """END: show the piles; the winners share, the others rank by cards (Z-23, Z-25, Z-30)."""
    s.previous = None
    s.blocked = frozenset()
    ending.reveal(s, (("pile", s.piles),), call)
    scores = {seat: s.count(seat) for seat in s.active}
    shares = dict.fromkeys(winners, 1)
    ranking = ending.ranked(shares, scores)
    ending.finish(s, Outcome(final=True, shares=shares, ranking=ranking, scores=scores, reason=reason), call)
