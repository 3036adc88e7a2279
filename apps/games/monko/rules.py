"""Monko: the procedures of a round, from the start to the end.

Rules: docs/games/monko.md, sections Actions (the procedures) and Timers.  Each procedure changes the copy of the state
that its call made.  Whether a play is allowed is asked in ``actions``, not here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from apps.games.contract import Chance, Outcome, Seat, Setup, Spec, Step
from apps.games.kit import drawing, ending, opening, turns
from apps.games.kit.cards import Cards
from apps.games.kit.round import Call
from apps.games.monko.cards import ADDS, COLOUR, COLOURS, PLUS4, REVERSE, SKIP, SYMBOL, TABLE, points
from apps.games.monko.state import State, Window

TURN_MS: Final = 10_000
FIRST_TURN_MS: Final = 14_000
CALL_MS: Final = 3_000
EXPOSED_MS: Final = 3_000
TURN_CAP: Final = 1_000
START_RETURNS_MAX: Final = 10
HAND_SIZE: Final = 7
PENALTY: Final = 2

SPEC: Final = Spec(
    slug="monko",
    title="Monko",
    rules="monko/1",
    seats_min=2,
    seats_max=4,
    clocks={
        "turn_ms": TURN_MS,
        "first_turn_ms": FIRST_TURN_MS,
        "call_ms": CALL_MS,
        "exposed_ms": EXPOSED_MS,
        "turn_cap": TURN_CAP,
        "start_returns_max": START_RETURNS_MAX,
    },
    streams=("start-return/n", "start-colour", "reshuffle/n"),
    unsequenced=frozenset({"call", "catch"}),
)


def start(setup: Setup, chance: Chance) -> Step[State]:
    """Deal, flip the start card, let it take effect, begin turn 1 (M-1)."""
    deal, deck = opening.opened(SPEC, setup, lambda options, seats: TABLE)
    s = State(
        **opening.dealt_round(deal, deck),
        pile=(),
        colour=COLOURS[0],
        direction=1,
        stack=0,
        plus4=False,
        pending=(),
        drawn=None,
        windows=(),
        windows_opened=0,
        dry=0,
    )
    call = Call(setup.now, chance)
    opening.announce(SPEC, s, call)
    s.hands = opening.deal_out(s, HAND_SIZE, "hand", call)
    skips = _flip(s, call)
    if skips:
        call.emit({"type": "skipped", "seat": deal.opener})
        begin(s, turns.after(s.active, deal.opener), call)
    else:
        begin(s, deal.opener, call)
    return call.step(s)


def _flip(s: State, call: Call) -> bool:
    """Turn up the start card with its effect (M-2 to M-8); return whether it passes the opener over."""
    returns = 0
    while PLUS4[s.deck[0]] and returns < START_RETURNS_MAX:
        _return(s, returns, call)
        returns += 1
    card, s.deck = s.deck[0], s.deck[1:]
    s.pile = (card,)
    s.colour = COLOUR[card] or COLOURS[call.chance.uniform("start-colour", len(COLOURS))]
    s.stack, s.plus4 = ADDS[card], PLUS4[card]
    skips = SYMBOL[card] == SKIP
    if SYMBOL[card] == REVERSE:
        if len(s.active) == 2:
            skips = True  # M-7
        else:
            s.direction = -1  # M-6
    call.emit(
        {
            "type": "start_flipped",
            "card": s.shown(card),
            "colour": s.colour,
            "direction": s.direction,
            "stack": s.stack,
        }
    )
    return skips


def _return(s: State, number: int, call: Call) -> None:
    """Put a W4 that was flipped as start card back into the deck at a drawn place (M-2, M-51)."""
    card, rest = s.deck[0], s.deck[1:]
    shown = s.shown(card)
    stream = f"start-return/{number}"
    index = call.chance.uniform(stream, len(rest) + 1)
    source = TABLE.texts((*rest, card))
    order = TABLE.texts((*rest[:index], card, *rest[index:]))
    drawing.reorder(s, stream, source, order, call)
    call.emit({"type": "start_returned", "card": shown, "gen": s.gen})


def play(s: State, seat: Seat, card: int, colour: str, call: Call) -> None:
    """PLAY: lay a card, which the guards have let through, with the colour that holds from now on."""
    hand = s.hands[seat]
    at = hand.index(card)
    hand = hand[:at] + hand[at + 1 :]
    s.put(seat, hand)
    s.pile += (card,)
    s.colour = colour
    adds = ADDS[card]
    if adds:
        s.stack += adds
        s.plus4 = s.plus4 or PLUS4[card]
    symbol = SYMBOL[card]
    skips = symbol == SKIP
    if symbol == REVERSE:
        if len(s.active) == 2:
            skips = True  # M-17
        else:
            s.direction = -s.direction
    s.dry = 0
    call.emit(
        {
            "type": "played",
            "seat": seat,
            "card": s.shown(card),
            "colour": colour,
            "direction": s.direction,
            "stack": s.stack,
        }
    )
    if len(hand) < 2:
        if hand:
            _open_window(s, seat, call)
        else:
            close_window(s, seat, "played", None, call)  # M-36
            if not adds:
                end(s, "out", (seat,), call)  # M-49
                return
            s.pending += (seat,)  # M-23
            call.emit({"type": "claimed", "seat": seat})
    follower = turns.after(s.active, seat, s.direction)
    if skips:
        call.emit({"type": "skipped", "seat": follower})
        follower = turns.after(s.active, follower, s.direction)
    begin(s, follower, call)


def _open_window(s: State, seat: Seat, call: Call) -> None:
    """Open a call window for a seat that is down to one card (M-30)."""
    s.windows_opened = number = s.windows_opened + 1
    exposed_at = call.now + CALL_MS
    closes_at = exposed_at + EXPOSED_MS
    s.windows += (Window(number, seat, exposed_at, closes_at, False),)
    call.emit(
        {"type": "window_opened", "seat": seat, "window": number, "exposed_at": exposed_at, "closes_at": closes_at}
    )


def close_window(s: State, seat: Seat, cause: str, by: Seat | None, call: Call) -> None:
    """Close the seat's open window, if it has one."""
    for window in s.windows:
        if window.seat == seat:
            s.windows = tuple([other for other in s.windows if other is not window])
            call.emit({"type": "window_closed", "seat": seat, "window": window.number, "cause": cause, "by": by})
            return


def _renew(s: State) -> Cards:
    """Take the pile without its top card for a reshuffle (M-42)."""
    cards, s.pile = s.pile[:-1], s.pile[-1:]
    return cards


def draw(s: State, seat: Seat, owed: int, cause: str, call: Call) -> Cards:
    """DRAW for a seat; a hand that grew needs no call any more (M-37)."""
    cards = drawing.draw(s, seat, owed, cause, call, _renew)
    if cards and s.windows:
        close_window(s, seat, "grew", None, call)
    return cards


def pass_turn(s: State, cause: str, drew: bool, call: Call) -> None:
    """PASS: end the turn of the turn's seat without a play.

    Args:
        drew: whether a card was drawn in this turn, by the seat or by its clock.
    """
    call.emit({"type": "passed", "seat": s.seat, "cause": cause})
    s.dry = s.dry + 1 if not drew and s.nothing_left() else 0  # M-40
    begin(s, turns.after(s.active, s.seat, s.direction), call)


def take_stack(s: State, seat: Seat, call: Call) -> None:
    """TAKE: the seat takes the whole stack and its turn, if it had one, is over (M-20, M-25)."""
    call.emit({"type": "stack_taken", "seat": seat, "size": s.stack})
    draw(s, seat, s.stack, "stack", call)
    _settle(s, seat, call)
    s.dry = 0
    if s.outcome is None:
        begin(s, turns.after(s.active, seat, s.direction), call)


def _settle(s: State, seat: Seat, call: Call) -> None:
    """SETTLE: the stack is gone; the first seat that still waits with an empty hand wins (M-24, M-26)."""
    s.stack, s.plus4 = 0, False
    if s.hands[seat]:
        s.pending = tuple([other for other in s.pending if other != seat])
    if s.pending:
        end(s, "stack", s.pending[:1], call)


def begin(s: State, seat: Seat, call: Call) -> None:
    """BEGIN: the turn comes to a seat, unless the stack passes it on or the round ends here."""
    if s.stack and not s.hands[seat]:
        take_stack(s, seat, call)  # M-25
    elif not s.deck and not s.stack and s.nothing_left() and _blocked(s):
        end(s, "blocked", _fewest(s), call)
    elif s.turn >= TURN_CAP:
        end(s, "cap", _fewest(s), call)
    else:
        s.drawn = None
        turns.start_turn(s, seat, TURN_MS if s.turn else FIRST_TURN_MS, call)  # M-9


def _blocked(s: State) -> bool:
    """Return whether nobody can play, or all have passed without a card in a row (M-40)."""
    if s.dry >= len(s.active):
        return True
    playable = s.playable()
    return all(playable.isdisjoint(s.hands[seat]) for seat in s.active)


def _fewest(s: State) -> tuple[Seat, ...]:
    """Return the active seats with the fewest points in hand (M-41)."""
    scores = {seat: points(s.hands[seat]) for seat in s.active}
    least = min(scores.values())
    return tuple([seat for seat in s.active if scores[seat] == least])


def leave(s: State, seat: Seat, reason: str, call: Call) -> None:
    """LEAVE: the seat is out of the round; a stack that waits for it goes to its set-aside cards (M-27, M-28, M-52)."""
    ending.depart(s, seat, reason, call)
    ending.hand_aside(s, seat)
    s.pending = tuple([other for other in s.pending if other != seat])
    if len(s.active) == 1:
        end(s, "last_seat", s.active, call)
        return
    close_window(s, seat, "left", None, call)
    s.dry = 0
    if seat != s.seat:
        return
    if s.stack:
        call.emit({"type": "stack_taken", "seat": seat, "size": s.stack})
        ending.set_aside(s, seat, drawing.take(s, seat, s.stack, "stack", call, _renew))
        _settle(s, seat, call)
    if s.outcome is None:
        begin(s, turns.after(s.active, seat, s.direction), call)


def happen(s: State, call: Call) -> None:
    """Let the one thing happen that is due first; at equal times windows by number, then the turn."""
    due = s.due()
    for window in s.windows:
        if window.due() == due:
            _window_due(s, window, call)
            return
    _turn_due(s, call)


def _window_due(s: State, window: Window, call: Call) -> None:
    """Let a window reach its next stage: exposed, then closed for good (M-30)."""
    if window.exposed:
        close_window(s, window.seat, "survived", None, call)
        return
    s.windows = tuple([replace(other, exposed=True) if other is window else other for other in s.windows])
    call.emit({"type": "exposed", "seat": window.seat, "window": window.number})


def _turn_due(s: State, call: Call) -> None:
    """Let the turn's clock run out (M-14, M-15)."""
    turns.time_out(s, call)
    seat = s.seat
    if s.stack:
        take_stack(s, seat, call)
    elif s.drawn is not None:
        pass_turn(s, "clock", True, call)
    else:
        cards = draw(s, seat, 1, "clock", call)
        pass_turn(s, "clock", bool(cards), call)


def end(s: State, reason: str, winners: Iterable[Seat], call: Call) -> None:
    """END: show what was hidden; the winners share, the others rank by points in hand (M-44, M-50)."""
    ending.reveal(s, (("hand", s.hands), ("aside", s.aside)), call)
    s.windows, s.drawn = (), None
    scores = {seat: points(s.hands[seat]) for seat in s.active}
    shares = dict.fromkeys(winners, 1)
    ranking = ending.ranked(shares, scores)
    ending.finish(s, Outcome(final=True, shares=shares, ranking=ranking, scores=scores, reason=reason), call)
