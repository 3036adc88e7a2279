"""Monkey Butt: the procedures of the rules, from the set-up to the end.

Rules: docs/games/monkey_butt.md, sections Procedures and Numbered rules.  Each procedure changes the copy of the state
that its call made.  Whether an action is allowed is asked in ``actions``, what a clock chooses in ``clocks``.
"""

from __future__ import annotations

from typing import Final

from apps.games.contract import Chance, Option, Outcome, Seat, Setup, Spec, Step
from apps.games.kit import drawing, ending, opening, turns
from apps.games.kit.cards import Cards
from apps.games.kit.round import Call
from apps.games.monkey_butt.cards import NUMBER_MAX, PYRO, SUPER, pack
from apps.games.monkey_butt.playable import goes
from apps.games.monkey_butt.state import AB, OVER, PICK_C, PLACES, PLAY, STEAL, USE, State

HAND_SIZE: Final = 6
"""Cards dealt to each hand, of which three are laid out."""
REFILL: Final = 3
"""A hand is filled up to so many cards while the deck lasts."""
SETUP_MS: Final = 30_000
TURN_MS: Final = 20_000
TURN_CAP: Final = 600

SPEC: Final = Spec(
    slug="monkey_butt",
    title="Monkey Butt",
    rules="monkey_butt/1",
    seats_min=2,
    seats_max=8,
    options=(
        Option("quick", True, (True, False), "With two seats: three colours; without it, four."),
        Option("devil", False, (False, True), "The Monkey Devil is in the pack."),
    ),
    clocks={"setup_ms": SETUP_MS, "turn_ms": TURN_MS, "turn_cap": TURN_CAP},
)


def start(setup: Setup, chance: Chance) -> Step[State]:
    """Deal hands and face-down cards, and let everybody choose A and B (B-33, B-3)."""
    deal, deck = opening.opened(SPEC, setup, pack)
    s = State(
        **opening.dealt_round(deal, deck),
        pack=pack(deal.options, len(deal.seats)),
        phase=AB,
        pile=(),
        burn=(),
        removed=(),
        open=dict.fromkeys(deal.seats, (None, None, None)),
        down={},
        locks={},
        targets={},
        lowest=0,
        victim=None,
        in_play=None,
        in_play_zone="",
        out=(),
    )
    call = Call(setup.now, chance)
    opening.announce(SPEC, s, call)
    s.hands = opening.deal_out(s, HAND_SIZE, "hand", call)
    s.down = opening.deal_out(s, 1, "down", call)
    start_setup(s, AB, call)
    return call.step(s)


def next_seat(s: State, seat: Seat) -> Seat:
    """Return the first active seat after this one, clockwise."""
    return turns.after(s.active, seat)


def start_setup(s: State, phase: str, call: Call) -> None:
    """Open a set-up phase with one deadline for all."""
    s.phase = phase
    s.locks = {}
    s.deadline = call.now + SETUP_MS
    call.emit({"type": "phase_started", "phase": phase, "deadline": s.deadline})


def choosers(s: State) -> tuple[Seat, ...]:
    """Return the seats that still have to lock a choice in a set-up phase, ascending."""
    if s.phase == AB:
        return tuple([seat for seat in s.active if seat not in s.locks])
    return tuple([seat for seat in s.active if seat in s.targets and seat not in s.locks])


def lock(s: State, seat: Seat, cards: Cards, call: Call) -> None:
    """Lock the choice of a seat, unseen by the others."""
    s.locks = {**s.locks, seat: cards}
    call.emit({"type": "locked", "seat": seat})


def show_if_locked(s: State, call: Call) -> None:
    """Show the choices of the set-up phase once nobody has to choose any more."""
    if not choosers(s):
        if s.phase == AB:
            _show_ab(s, call)
        else:
            _show_c(s, call)


def _show_ab(s: State, call: Call) -> None:
    for seat in turns.ring_from(s.active, s.deal.opener):
        a, b = s.locks[seat]
        s.put(seat, tuple([card for card in s.hands[seat] if card not in (a, b)]))
        s.open = {**s.open, seat: (a, b, None)}
        call.emit({"type": "laid", "seat": seat, "a": s.shown(a), "b": s.shown(b)})
    s.targets = {seat: next_seat(s, seat) for seat in s.active}
    start_setup(s, PICK_C, call)


def _show_c(s: State, call: Call) -> None:
    picks = {target: (by, s.locks[by][0]) for by, target in s.targets.items()}
    for seat in turns.ring_from(s.active, s.deal.opener):
        by, card = picks[seat]
        s.put(seat, _without(s.hands[seat], card))
        s.set_open(seat, PLACES.index("C"), card)
        call.emit({"type": "picked", "seat": seat, "by": by, "c": s.shown(card)})
    s.locks = {}
    s.targets = {}
    begin(s, _opening_seat(s), call)


def _opening_seat(s: State) -> Seat:
    """Set the rank that the opening play must have, and return who opens (B-6)."""
    ring = turns.ring_from(s.active, s.deal.opener)
    rank = s.pack.rank
    numbers = {rank[card] for seat in ring for card in s.hands[seat] if SUPER < rank[card] <= NUMBER_MAX}
    if not numbers:
        return ring[0]
    s.lowest = lowest = min(numbers)
    return next(seat for seat in ring if any(rank[card] == lowest for card in s.hands[seat]))


def begin(s: State, seat: Seat, call: Call) -> None:
    """BEGIN: the next turn, or the end at the cap.

    A seat without any card does not get a turn: it goes out (decision 1).
    """
    s.victim = None
    if s.turn >= TURN_CAP:
        end(s, "cap", call)
        return
    if not s.hands[seat] and not s.count(seat):
        _go_out(s, seat, call)
        if len(s.active) == 1:
            end(s, "butt", call)
        else:
            begin(s, next_seat(s, seat), call)
        return
    s.phase = PLAY
    turns.start_turn(s, seat, TURN_MS, call)
    if s.deck and not s.hands[seat]:
        drawing.draw(s, seat, REFILL, "refill", call, drawing.no_renewal)


def play(s: State, seat: Seat, zone: str, cards: Cards, call: Call) -> None:
    """PLAY: cards of one rank go from their zone to the pile, with all that follows."""
    discard_from(s, seat, zone, cards)
    s.lowest = 0
    to_pile(s, seat, zone, cards, call)


def discard_from(s: State, seat: Seat, zone: str, cards: Cards) -> None:
    """Take cards out of the zone they are played from: hand, bc, a or down."""
    if zone == "hand":
        s.put(seat, tuple([card for card in s.hands[seat] if card not in cards]))
    elif zone == "down":
        s.down = {**s.down, seat: ()}
    else:
        for card in cards:
            s.set_open(seat, s.open[seat].index(card), None)


def to_pile(s: State, seat: Seat, zone: str, cards: Cards, call: Call) -> None:
    """Lay cards on the pile and let AFTER_PLAY happen."""
    s.pile += cards
    call.emit({"type": "played", "seat": seat, "zone": zone, "cards": [s.shown(card) for card in cards]})
    burned = _burns(s, cards)
    if burned:
        s.burn += s.pile
        call.emit({"type": "burned", "seat": seat, "count": len(s.pile)})
        s.pile = ()
    done(s, seat, seat if burned else next_seat(s, seat), call)


def _burns(s: State, played: Cards) -> bool:
    """Return whether the pile burns: a Pyro was played, or it ends with a run of one rank (B-11, B-34)."""
    rank = s.pack.rank
    if rank[played[0]] == PYRO:
        return True
    run = s.pile[-s.pack.run :]
    return len(run) == s.pack.run and len({rank[card] for card in run}) == 1


def done(s: State, seat: Seat, then: Seat, call: Call) -> None:
    """DONE: refill the acting seat, let seats go out, and begin the next turn or end the round."""
    lacking = REFILL - len(s.hands[seat])
    if lacking > 0 and s.deck:
        drawing.draw(s, seat, lacking, "refill", call, drawing.no_renewal)
    if () in [s.hands[other] for other in s.active]:
        _outs(s, seat, call)
    if len(s.active) == 1:
        end(s, "butt", call)
    else:
        begin(s, then if then in s.active else next_seat(s, then), call)


def _outs(s: State, seat: Seat, call: Call) -> None:
    """Let seats without any card go out, beginning with the acting one; the last active one stays (B-22, B-27)."""
    for other in turns.ring_from(s.active, seat):
        if not s.count(other) and len(s.active) > 1:
            _go_out(s, other, call)


def _go_out(s: State, seat: Seat, call: Call) -> None:
    s.active = tuple([other for other in s.active if other != seat])
    s.out += (seat,)
    call.emit({"type": "went_out", "seat": seat, "place": len(s.out)})


def remove(s: State, seat: Seat, zone: str, card: int, target: Seat | None, effect: bool, call: Call) -> None:
    """Show a super special and take it out of the game; its zone has given it up already (B-26)."""
    s.removed += (card,)
    call.emit({"type": "used", "seat": seat, "zone": zone, "card": s.shown(card), "target": target, "effect": effect})


def take_in_play(s: State) -> tuple[str, int]:
    """Take the card of phase use out of play; return its zone and the card."""
    assert s.in_play is not None, "phase use has a card in play"
    zone, card = s.in_play_zone, s.in_play
    s.in_play, s.in_play_zone = None, ""
    return zone, card


def _put_in_play(s: State, card: int, zone: str, call: Call) -> None:
    """Let the turn's seat use a stolen or flipped super special with a further action."""
    s.phase = USE
    s.victim = None
    s.in_play, s.in_play_zone = card, zone
    turns.fresh_clock(s, TURN_MS, call)


def open_theft(s: State, victim: Seat, call: Call) -> None:
    """Open the victim's hand to the turn's seat."""
    s.phase = STEAL
    s.victim = victim
    turns.fresh_clock(s, TURN_MS, call)


def steal(s: State, card: int, call: Call, *, by_clock: bool = False) -> None:
    """STEAL: the turn's seat takes this card out of the victim's hand, and it is played or kept (B-21).

    Args:
        by_clock: a super special is removed without effect at once.
    """
    seat, victim = s.seat, s.victim
    assert victim is not None, "phase steal has a victim"
    s.put(victim, _without(s.hands[victim], card))
    call.emit({"type": "stole", "seat": seat, "from": victim, "card": s.hidden(card)})
    if s.pack.rank[card] == SUPER:
        _super_turned_up(s, card, "stolen", call, by_clock)
    elif goes(s.pack, s.pile, card):
        to_pile(s, seat, "stolen", (card,), call)
    else:
        s.put(seat, (*s.hands[seat], card))
        pile_to(s, seat, call)
        done(s, seat, next_seat(s, seat), call)


def flip(s: State, call: Call, *, by_clock: bool = False) -> None:
    """FLIP: the turn's seat turns its face-down card up, and it is played or taken (B-19, B-20).

    Args:
        by_clock: a super special is removed without effect at once.
    """
    seat = s.seat
    (card,) = s.down[seat]
    special = s.pack.rank[card] == SUPER
    playable = special or goes(s.pack, s.pile, card)
    discard_from(s, seat, "down", (card,))
    call.emit({"type": "flipped", "seat": seat, "card": s.shown(card), "playable": playable})
    if special:
        _super_turned_up(s, card, "down", call, by_clock)
    elif playable:
        to_pile(s, seat, "down", (card,), call)
    else:
        s.put(seat, (card,))
        pile_to(s, seat, call)
        begin(s, next_seat(s, seat), call)


def _super_turned_up(s: State, card: int, zone: str, call: Call, by_clock: bool) -> None:
    if by_clock:
        waste(s, zone, card, call)
    else:
        _put_in_play(s, card, zone, call)


def waste(s: State, zone: str, card: int, call: Call) -> None:
    """Remove a super special without effect because the clock ran out; its zone has given it up already."""
    remove(s, s.seat, zone, card, None, False, call)
    done(s, s.seat, next_seat(s, s.seat), call)


def pile_to(s: State, seat: Seat, call: Call, added: int | None = None) -> None:
    """PILE_TO: the pile, bottom first, and then an added card go to the end of a hand."""
    if s.pile or added is not None:
        s.put(seat, s.hands[seat] + s.pile + (() if added is None else (added,)))
        call.emit(
            {
                "type": "picked_up",
                "seat": seat,
                "cards": [s.shown(card) for card in s.pile],
                "added": None if added is None else s.shown(added),
            }
        )
        s.pile = ()


def pick_up(s: State, place: str | None, call: Call) -> None:
    """PICK_UP: the turn's seat takes the pile, with one of its open cards if a place is named (B-15, B-17, B-18)."""
    seat = s.seat
    added = None
    if place is not None:
        added = s.open[seat][PLACES.index(place)]
        s.set_open(seat, PLACES.index(place), None)
    pile_to(s, seat, call, added)
    begin(s, next_seat(s, seat), call)


def swap(s: State, first: tuple[Seat, int], second: tuple[Seat, int], call: Call) -> None:
    """Let two open cards, each named by seat and place, change places (B-24)."""
    moves = []
    for (seat, place), (to_seat, to_place) in ((first, second), (second, first)):
        card = s.open[seat][place]
        assert card is not None, "a swap names filled places"
        moves.append(
            {
                "card": s.shown(card),
                "from": {"seat": seat, "place": PLACES[place]},
                "to": {"seat": to_seat, "place": PLACES[to_place]},
            }
        )
    one, other = s.open[first[0]][first[1]], s.open[second[0]][second[1]]
    s.set_open(*first, other)
    s.set_open(*second, one)
    call.emit({"type": "swapped", "moves": moves})


def return_burnt(s: State, seat: Seat, call: Call) -> None:
    """Deal the burn pile, oldest first, to the other active seats, clockwise after this one (B-25)."""
    others = [other for other in turns.ring_from(s.active, seat) if other != seat]
    for place, other in enumerate(others):
        cards = s.burn[place :: len(others)]
        if cards:
            s.put(other, s.hands[other] + cards)
            call.emit({"type": "returned", "seat": other, "cards": [s.shown(card) for card in cards]})
    s.burn = ()


def leave(s: State, seat: Seat, reason: str, call: Call) -> None:
    """Take a seat out for good: its cards are set aside, and what waited for it goes on without it (B-30)."""
    phase = s.phase
    own_turn = phase not in (AB, PICK_C) and seat == s.seat
    ending.depart(s, seat, reason, call)
    cards = s.hands[seat] + s.open_cards(seat) + s.down[seat]
    if own_turn and s.in_play is not None:
        cards += (take_in_play(s)[1],)
    ending.set_aside(s, seat, cards)
    s.put(seat, ())
    s.open = {**s.open, seat: (None, None, None)}
    s.down = {**s.down, seat: ()}
    if len(s.active) == 1:
        end(s, "butt" if s.out else "last_seat", call)
    elif phase == AB:
        show_if_locked(s, call)
    elif phase == PICK_C:
        _leave_picks(s, seat)
        show_if_locked(s, call)
    elif own_turn:
        s.lowest = 0
        begin(s, next_seat(s, seat), call)
    elif seat == s.victim:
        done(s, s.seat, next_seat(s, s.seat), call)


def _leave_picks(s: State, seat: Seat) -> None:
    """Pick in the leaver's name if it has not, and let nobody pick for the leaver any more."""
    target = s.targets.get(seat)
    if target is not None and seat not in s.locks:
        s.locks = {**s.locks, seat: (weakest(s, s.hands[target]),)}
    s.targets = {by: other for by, other in s.targets.items() if other != seat}


def weakest(s: State, cards: Cards) -> int:
    """Return the weakest of these cards (B-5)."""
    return min(cards, key=s.pack.strength.__getitem__)


def end(s: State, reason: str, call: Call) -> None:
    """END: show all hidden cards and settle who is the Monkey Butt (B-28, B-29, B-36, B-37)."""
    s.phase = OVER
    s.victim = None
    s.lowest = 0
    counts = {seat: s.count(seat) for seat in s.active}
    most = max(counts.values())
    losers = tuple([seat for seat in s.active if counts[seat] == most])  # With nobody safe they share (B-29).
    safe = tuple([seat for seat in s.out + s.active if seat not in losers])
    others = ending.groups({seat: count for seat, count in counts.items() if seat not in losers})
    outcome = Outcome(
        final=True,
        shares=dict.fromkeys(sorted(safe or losers), 1),
        ranking=(*[(seat,) for seat in s.out], *others, losers),
        scores={seat: s.count(seat) for seat in sorted(s.out + s.active)},
        reason=reason,
    )
    ending.reveal(s, (("hand", s.hands), ("down", s.down), ("aside", s.aside)), call)
    ending.finish(s, outcome, call)


def _without(cards: Cards, card: int) -> Cards:
    place = cards.index(card)
    return cards[:place] + cards[place + 1 :]
