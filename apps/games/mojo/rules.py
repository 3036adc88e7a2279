"""Mojo: the procedures of a round, from the first turn to the score.

Rules: docs/games/mojo.md, sections Start and carry, Actions and Clock.  Each procedure changes the copy of the state
that its call made.  Whether an action is allowed is asked in ``actions``, not here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from apps.games.contract import JSON, Chance, Option, Outcome, RuleError, Seat, Setup, Spec, Step
from apps.games.kit import drawing, ending, opening, turns
from apps.games.kit.cards import Cards
from apps.games.kit.round import Call, seat_map
from apps.games.mojo.cards import TABLE, VALUE, raw_points
from apps.games.mojo.state import State

TURN_MS: Final = 15_000
TURN_CAP: Final = 500
ROUND_CAP: Final = 30
TARGET: Final = 50
"""Total that ends the match."""
HAND_SIZE: Final = 8
MISSED_BET: Final = 10
"""What the Mojo card costs its taker if somebody has less; also its face afterwards."""

SPEC: Final = Spec(
    slug="mojo",
    title="Mojo",
    rules="mojo/1",
    seats_min=2,
    seats_max=8,
    options=(Option("piles", 1, (1, 2), "number of discard piles"),),
    clocks={"turn_ms": TURN_MS, "turn_cap": TURN_CAP, "round_cap": ROUND_CAP, "target": TARGET},
    streams=("reshuffle/n",),
    match_game=True,
)

Result = Literal["lower", "equal", "higher"]
Source = Literal["deck", "other"]


def start(setup: Setup, chance: Chance) -> Step[State]:
    """Deal, open the piles, begin turn 1 of a round; what ``carry`` says goes on in it (J-25, J-6, J-7)."""
    deal, deck = opening.opened(SPEC, setup, lambda options, seats: TABLE)
    number, face, totals = 1, 0, dict.fromkeys(deal.seats, 0)
    if deal.carry is not None:
        totals = _carried_totals(deal.carry, deal.seats)
        number, face = deal.carry["round"], deal.carry["face"]
        deal = replace(deal, opener=_carried_opener(deal.carry, deal.seats))
    s = State(
        **opening.dealt_round(deal, deck),
        number=number,
        totals=totals,
        face=face,
        piles=((),) * int(deal.options["piles"]),
        laid={},
        locked=None,
    )
    call = Call(setup.now, chance)
    opening.announce(SPEC, s, call)
    s.hands = opening.deal_out(s, HAND_SIZE, "hand", call)
    for pile in range(1, len(s.piles) + 1):
        _open_pile(s, pile, call)
    begin(s, deal.opener, call)
    return call.step(s)


def _carried_totals(carry: JSON, seats: tuple[Seat, ...]) -> dict[Seat, int]:
    """Return the totals that these seats bring from earlier rounds.

    Raises:
        RuleError: bad_carry, if a seat has none, or if this is no carry at all.
    """
    if not isinstance(carry, dict) or not {"round", "totals", "face", "lead"} <= carry.keys():
        raise RuleError("bad_carry")
    totals = carry["totals"]
    if not isinstance(totals, dict) or any(str(seat) not in totals for seat in seats):
        raise RuleError("bad_carry")
    return {seat: totals[str(seat)] for seat in seats}


def _carried_opener(carry: JSON, seats: tuple[Seat, ...]) -> Seat:
    """Return who opens after an earlier round: its lead, or the nearest seat from there in the new direction (J-6)."""
    lead = Seat(carry["lead"])
    return lead if lead in seats else turns.after(seats, lead, 1 if carry["face"] == 0 else -1)


def _open_pile(s: State, pile: int, call: Call) -> None:
    """Put the top card of the deck on an empty pile."""
    top, s.deck = s.deck[0], s.deck[1:]
    _put_on(s, pile, top)
    call.emit({"type": "pile_opened", "pile": pile, "card": s.shown(top)})


def begin(s: State, seat: Seat, call: Call) -> None:
    """BEGIN: start the seat's turn, or score the round at the turn cap (J-24)."""
    if s.turn == TURN_CAP:
        score(s, None, call)
        return
    s.locked = None
    turns.start_turn(s, seat, TURN_MS, call)


def discard(s: State, seat: Seat, card: int, pile: int, source: Source, call: Call) -> None:
    """DISCARD by a player; ``source`` is where a higher card is paid from."""
    result = _land(s, seat, card, pile, call)
    if result == "equal" and s.hands[seat]:
        turns.fresh_clock(s, TURN_MS, call)
        return
    if result == "higher":
        _pay(s, seat, pile, source, call)
    _finish(s, seat, call)


def turn_up(s: State, seat: Seat, card: int, call: Call) -> None:
    """REVEAL: turn one laid card up; who hides nothing any more takes the Mojo card."""
    s.laid = {**s.laid, seat: tuple([(other, up or other == card) for other, up in s.laid[seat]])}
    hidden = len(s.face_down(seat))
    call.emit({"type": "turned_up", "seat": seat, "card": s.shown(card), "hidden": hidden})
    if hidden:
        begin(s, turns.after(s.active, seat, s.direction), call)
    else:
        score(s, seat, call)


def clock_ran_out(s: State, call: Call) -> None:
    """Play for the turn's seat: its lowest card, again while equal (J-20); or its first hidden card (J-9)."""
    turns.time_out(s, call)
    seat = s.seat
    if seat in s.laid:
        turn_up(s, seat, s.face_down(seat)[0], call)
        return
    while True:
        pile = s.locked or 1
        result = _land(s, seat, min(s.hands[seat]), pile, call)
        if result != "equal" or not s.hands[seat]:
            break
    if result == "higher":
        _pay(s, seat, pile, "deck", call)
    _finish(s, seat, call)


def leave(s: State, seat: Seat, reason: str, call: Call) -> None:
    """LEAVE: the seat's cards go aside; the last seat wins the match (J-21, J-30)."""
    ending.depart(s, seat, reason, call)
    ending.hand_aside(s, seat)
    if seat in s.laid:
        ending.set_aside(s, seat, tuple([card for card, _ in s.laid[seat]]))
        s.laid = {other: laid for other, laid in s.laid.items() if other != seat}
    if len(s.active) == 1:
        (winner,) = s.active
        _reveal_hidden(s, call)
        scores = {winner: s.totals[winner]}
        ending.finish(s, Outcome(True, {winner: 1}, ((winner,),), scores, "last_seat"), call)
    elif seat == s.seat:
        begin(s, turns.after(s.active, seat, s.direction), call)


def score(s: State, taker: Seat | None, call: Call) -> None:
    """SCORE: the round ends, and with it perhaps the match; without taker at the turn cap."""
    _reveal_hidden(s, call)
    raw = {seat: raw_points((*s.hands[seat], *_laid_cards(s, seat))) for seat in s.active}
    points = dict(raw)
    face = s.face
    if taker is not None:
        face = 0 if raw[taker] == min(raw.values()) else MISSED_BET
        points[taker] = 0 if face == 0 else raw[taker] + MISSED_BET
    totals = {seat: s.totals[seat] + points[seat] for seat in s.active}
    s.totals = {**s.totals, **totals}
    call.emit(
        {
            "type": "scored",
            "raw": seat_map(raw),
            "points": seat_map(points),
            "totals": seat_map(totals),
            "mojo": taker,
            "face": face,
        }
    )
    lead = turns.after(s.active, s.deal.opener, s.direction) if taker is None else taker
    ending.finish(s, _scored_outcome(s, totals, face, lead), call)


def _scored_outcome(s: State, totals: dict[Seat, int], face: int, lead: Seat) -> Outcome:
    """Return how a scored round ends: the match goes on, or the lowest total wins (J-16, J-24, J-29)."""
    ranking = ending.groups(totals)
    reached = max(totals.values()) >= TARGET
    if reached or s.number == ROUND_CAP:
        shares = dict.fromkeys(ranking[0], 1)
        return Outcome(True, shares, ranking, totals, "target" if reached else "cap")
    carry = {"round": s.number + 1, "totals": seat_map(totals), "face": face, "lead": lead}
    return Outcome(False, {}, ranking, totals, "round", carry)


def _land(s: State, seat: Seat, card: int, pile: int, call: Call) -> Result:
    """Put a card of the hand on a pile and tell how it compares; an equal one locks the pile (J-19)."""
    top = s.piles[pile - 1][-1]
    difference = VALUE[card] - VALUE[top]
    result: Result = "lower" if difference < 0 else "higher" if difference > 0 else "equal"
    hand = s.hands[seat]
    at = hand.index(card)
    s.put(seat, hand[:at] + hand[at + 1 :])
    _put_on(s, pile, card)
    s.locked = pile if result == "equal" else None
    call.emit({"type": "discarded", "seat": seat, "card": s.shown(card), "pile": pile, "result": result})
    return result


def _pay(s: State, seat: Seat, pile: int, source: Source, call: Call) -> None:
    """Take a card for a higher discard on ``pile``: from the deck, or the top of the other pile (J-18)."""
    if source == "deck":
        drawing.draw(s, seat, 1, "higher", call, _renew)
        return
    other = 3 - pile
    took = s.piles[other - 1][-1]
    rest = s.piles[other - 1][:-1]
    _set_pile(s, other, rest)
    s.put(seat, (*s.hands[seat], took))
    call.emit({"type": "took", "seat": seat, "card": s.shown(took), "pile": other})
    if not rest:
        if not s.deck:
            drawing.reshuffle(s, _renew(s), call)
        _open_pile(s, other, call)


def _finish(s: State, seat: Seat, call: Call) -> None:
    """FINISH: an emptied hand ends the round (J-3), a small one is laid down (J-2, J-10)."""
    hand = s.hands[seat]
    if not hand:
        score(s, seat, call)
        return
    if len(hand) <= s.threshold:
        s.put(seat, ())
        s.laid = {**s.laid, seat: tuple([(card, False) for card in hand])}
        call.emit({"type": "laid", "seat": seat, "cards": [s.hidden(card) for card in hand]})
    begin(s, turns.after(s.active, seat, s.direction), call)


def _renew(s: State) -> Cards:
    """Take everything but the tops out of the piles: pile 1 bottom to top, then pile 2 (J-1)."""
    cards: Cards = sum([pile[:-1] for pile in s.piles], ())
    s.piles = tuple([pile[-1:] for pile in s.piles])
    return cards


def _put_on(s: State, pile: int, card: int) -> None:
    """Put a card on top of a pile."""
    _set_pile(s, pile, (*s.piles[pile - 1], card))


def _set_pile(s: State, pile: int, cards: Cards) -> None:
    piles = list(s.piles)
    piles[pile - 1] = cards
    s.piles = tuple(piles)


def _laid_cards(s: State, seat: Seat) -> Cards:
    return tuple([card for card, _ in s.laid.get(seat, ())])


def _reveal_hidden(s: State, call: Call) -> None:
    """Emit the ``revealed`` events of END."""
    down = {seat: s.face_down(seat) for seat in s.laid}
    ending.reveal(s, (("hand", s.hands), ("laid", down), ("aside", s.aside)), call)
