"""Wonky: the procedures of a round, from the first turn to the end.

Rules: docs/games/wonky.md, sections Start, Actions and Clock.  Each procedure changes the copy of the state that its
call made.  Whether an action is allowed is asked in ``actions``, not here; the risk of a tower is in ``blocks``.
"""

from __future__ import annotations

from typing import Final

from apps.games.contract import Chance, Option, Outcome, Seat, Setup, Spec, Step
from apps.games.kit import drawing, ending, opening, turns
from apps.games.kit.cards import Cards
from apps.games.kit.round import Call
from apps.games.wonky.blocks import BASE, BLOCKS, TREMORS, Down, blocks_in, risk
from apps.games.wonky.cards import FACE, MATCHES, TABLE
from apps.games.wonky.state import State

TURN_MS: Final = 20_000
TURN_CAP: Final = 300
FALL_CARDS: Final = 3
"""Cards that a fall costs."""


SPEC: Final = Spec(
    slug="wonky",
    title="Wonky",
    rules="wonky/1",
    seats_min=2,
    seats_max=8,
    options=(Option("tower", "shaky", ("shaky", "steady"), "how much risk height brings"),),
    clocks={"turn_ms": TURN_MS, "turn_cap": TURN_CAP},
    streams=("tremor/n", "reshuffle/n"),
)


def start(setup: Setup, chance: Chance) -> Step[State]:
    """Deal and begin turn 1 (W-1, W-21)."""
    deal, deck = opening.opened(SPEC, setup, lambda options, seats: TABLE)
    s = State(
        **opening.dealt_round(deal, deck),
        discard=(),
        direction=1,
        tower=(),
        placements=0,
        rebuilding=False,
        drawn=None,
    )
    call = Call(setup.now, chance)
    opening.announce(SPEC, s, call)
    s.hands = opening.deal_out(s, 7 if len(deal.seats) <= 6 else 5, "hand", call)
    begin(s, deal.opener, call)
    return call.step(s)


def begin(s: State, seat: Seat, call: Call) -> None:
    """BEGIN: start the seat's turn, or end the round at the turn cap (W-19)."""
    s.rebuilding = False
    s.drawn = None
    if s.turn == TURN_CAP:
        _end_at_cap(s, call)
        return
    turns.start_turn(s, seat, TURN_MS, call)


def stack(s: State, seat: Seat, card: int, block: int, down: Down, offset: int, call: Call) -> None:
    """STACK: put a block on the tower; it falls exactly when its tremor is less than the risk (W-16)."""
    _discard(s, seat, card, call)
    stood = _place(s, seat, block, down, offset, call)
    if not stood:
        call.emit({"type": "fell", "seat": seat, "height": len(s.tower)})
        s.tower = ()
        drawing.draw(s, seat, FALL_CARDS, "fall", call, _renew)
        s.rebuilding = True
        s.drawn = None
        turns.fresh_clock(s, TURN_MS, call)
    elif len(s.tower) == len(BLOCKS):
        _end_won(s, seat, "ninth", call)
    elif not s.hands[seat]:
        _end_won(s, seat, "out", call)
    else:
        if FACE[card] == "ANYD":
            drawing.draw(s, _next(s, seat), 1, "combo", call, _renew)
        elif FACE[card] == "ANYR":
            _reverse(s, call)
        begin(s, _next(s, seat), call)


def play(s: State, seat: Seat, card: int, call: Call) -> None:
    """Play an action card: the turn goes on to the next seat, after ``REV`` the other way (W-6, W-7)."""
    _discard(s, seat, card, call)
    if FACE[card] == "REV":
        _reverse(s, call)
    begin(s, _next(s, seat), call)


def draw_one(s: State, seat: Seat, call: Call) -> None:
    """Draw a card and go on with the turn; with nothing left the turn ends (W-4, W-5)."""
    if s.nothing_left():
        pass_turn(s, seat, "nothing_left", call)
        return
    (card,) = drawing.draw(s, seat, 1, "turn", call, _renew)
    if not s.rebuilding:
        s.drawn = card


def pass_turn(s: State, seat: Seat, cause: str, call: Call) -> None:
    """End the turn without a card played."""
    call.emit({"type": "passed", "seat": seat, "cause": cause})
    begin(s, _next(s, seat), call)


def clock_ran_out(s: State, call: Call) -> None:
    """End the turn for a seat whose time ran out, after a fall by starting the new tower (W-18)."""
    turns.time_out(s, call)
    seat = s.seat
    if s.rebuilding:
        while not s.any_playable(s.hands[seat]) and not s.nothing_left():
            drawing.draw(s, seat, 1, "clock", call, _renew)
        playable = [card for card in s.hands[seat] if s.playable(s.hands[seat], card)]
        if playable:
            card = min(playable)
            stack(s, seat, card, blocks_in(MATCHES[card])[0], "flat", 0, call)
            return
    elif s.drawn is None or not s.playable(s.hands[seat], s.drawn):
        drawing.draw(s, seat, 1, "clock", call, _renew)
    pass_turn(s, seat, "clock", call)


def leave(s: State, seat: Seat, reason: str, call: Call) -> None:
    """LEAVE: the hand goes aside, the tower stays; the last seat wins."""
    ending.depart(s, seat, reason, call)
    ending.hand_aside(s, seat)
    if len(s.active) == 1:
        _end_won(s, s.active[0], "last_seat", call)
    elif seat == s.seat:
        begin(s, _next(s, seat), call)


def _next(s: State, seat: Seat) -> Seat:
    return turns.after(s.active, seat, s.direction)


def _discard(s: State, seat: Seat, card: int, call: Call) -> None:
    hand = s.hands[seat]
    at = hand.index(card)
    s.put(seat, hand[:at] + hand[at + 1 :])
    s.discard += (card,)
    call.emit({"type": "played", "seat": seat, "card": s.shown(card)})


def _place(s: State, seat: Seat, block: int, down: Down, offset: int, call: Call) -> bool:
    """Put the block on the tower, draw its tremor, and tell whether the tower stands."""
    x = offset + s.tower[-1][2] if s.tower else offset
    s.tower += ((block, down, x),)
    danger = risk(s.tower, BASE[s.deal.options["tower"]])
    tremor = call.chance.uniform(f"tremor/{s.placements}", TREMORS)
    stood = tremor >= danger
    call.emit(
        {
            "type": "placed",
            "seat": seat,
            "block": BLOCKS[block],
            "down": down,
            "x": x,
            "height": len(s.tower),
            "risk": danger,
            "tremor": tremor,
            "placement": s.placements,
            "stood": stood,
        }
    )
    s.placements += 1
    return stood


def _reverse(s: State, call: Call) -> None:
    s.direction = -s.direction
    call.emit({"type": "reversed", "direction": s.direction})


def _renew(s: State) -> Cards:
    """Take all but the top card out of the discard pile, bottom to top (W-5)."""
    cards = s.discard[:-1]
    s.discard = s.discard[-1:]
    return cards


def _scores(s: State) -> dict[Seat, int]:
    return {seat: len(s.hands[seat]) for seat in s.active}


def _end_won(s: State, winner: Seat, reason: str, call: Call) -> None:
    """END with one winner (W-12, W-13, W-24)."""
    scores = _scores(s)
    ending.reveal(s, (("hand", s.hands), ("aside", s.aside)), call)
    ending.finish(s, Outcome(True, {winner: 1}, ending.ranked((winner,), scores), scores, reason), call)


def _end_at_cap(s: State, call: Call) -> None:
    """END(cap): the active seats with the fewest cards share (W-19)."""
    scores = _scores(s)
    ranking = ending.groups(scores)
    ending.reveal(s, (("hand", s.hands), ("aside", s.aside)), call)
    ending.finish(s, Outcome(True, dict.fromkeys(ranking[0], 1), ranking, scores, "cap"), call)
