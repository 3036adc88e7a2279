"""Monkey Butt: which actions there are, when each is refused, and what a seat may do.

Rules: docs/games/monkey_butt.md, section Actions: the guards stand in the order of its table, after the common ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from apps.games.contract import Action, RuleError, Seat
from apps.games.kit import grammar
from apps.games.kit.cards import Cards
from apps.games.kit.grammar import Verb
from apps.games.kit.round import Call, Deal
from apps.games.monkey_butt import rules
from apps.games.monkey_butt.cards import SUPER
from apps.games.monkey_butt.playable import blocked_colours, fitting
from apps.games.monkey_butt.state import AB, PICK_C, PLACES, PLAY, STEAL, USE, State

_PLACE: Final = grammar.one_of(*PLACES)
_OPEN_CARD: Final = grammar.null_or(grammar.record(seat=grammar.seat, place=_PLACE))

VERBS: Final = {
    "lay": Verb(a=grammar.card, b=grammar.card),
    "pick": Verb(card=grammar.card),
    "play": Verb(cards=grammar.rising_cards),
    "thief": Verb(card=grammar.card, seat=grammar.null_or(grammar.seat)),
    "butt": Verb(card=grammar.card, seat=grammar.seat),
    "cheeky": Verb(card=grammar.card, first=_OPEN_CARD, second=_OPEN_CARD),
    "devil": Verb(card=grammar.card),
    "choose": Verb(card=grammar.card),
    "pick_up": Verb(add=grammar.null_or(_PLACE)),
    "flip": Verb(),
}


def check(action: Any, deal: Deal) -> str:
    """Return the verb of a well-formed action.

    Raises:
        RuleError: bad_action.
    """
    verb = grammar.check(VERBS, action, deal)
    if verb == "cheeky" and (action["first"] is None) != (action["second"] is None):
        raise RuleError("bad_action", key="second")
    return verb


def lay(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Choose A and B from the own hand (B-3)."""
    if s.phase != AB:
        raise RuleError("wrong_phase")
    if seat in s.locks:
        raise RuleError("already_locked")
    a, b = s.pack.numbers((action["a"], action["b"]))
    if a not in s.hands[seat] or b not in s.hands[seat]:
        raise RuleError("card_not_held")
    if a == b:
        raise RuleError("same_card")
    rules.lock(s, seat, (a, b), call)
    rules.show_if_locked(s, call)


def pick(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Choose C for the next seat, from that seat's hand (B-4)."""
    if s.phase != PICK_C:
        raise RuleError("wrong_phase")
    if seat in s.locks or seat not in s.targets:
        raise RuleError("already_locked")
    card = s.pack.index[action["card"]]
    if card not in s.hands[s.targets[seat]]:
        raise RuleError("card_not_shown")
    rules.lock(s, seat, (card,), call)
    rules.show_if_locked(s, call)


def _turn_in(s: State, seat: Seat, *phases: str) -> None:
    """Raise wrong_phase or not_your_turn."""
    if s.phase not in phases:
        raise RuleError("wrong_phase")
    if seat != s.seat:
        raise RuleError("not_your_turn")


def play(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Lay cards of one rank on the pile (B-7 to B-10)."""
    _turn_in(s, seat, PLAY)
    zone, held = s.zone(seat)
    if zone == "down":
        raise RuleError("must_flip")
    pack = s.pack
    cards = pack.numbers(action["cards"])
    for card in cards:
        if card not in held:
            raise RuleError("card_not_available")
    ranks = {pack.rank[card] for card in cards}
    if SUPER in ranks:
        raise RuleError("super_special")
    if len(ranks) > 1:
        raise RuleError("mixed_ranks")
    (rank,) = ranks
    if s.lowest and rank != s.lowest:
        raise RuleError("must_open_low")  # B-6
    blocked = blocked_colours(pack, s.pile)
    if blocked and any(pack.colour[card] in blocked for card in cards):
        raise RuleError("colour_blocked")
    if rank not in fitting(pack, s.pile):
        raise RuleError("not_playable")
    rules.play(s, seat, zone, cards, call)


def _use(s: State, seat: Seat, action: Action) -> tuple[str, int]:
    """Check the SUPER guards, take the card out of its zone, and return the zone and the card."""
    _turn_in(s, seat, PLAY, USE)
    card = s.pack.index[action["card"]]
    if s.phase == USE:
        if card != s.in_play:
            raise RuleError("card_not_available")
    else:
        zone, held = s.zone(seat)
        if zone == "down":
            raise RuleError("must_flip")
        if card not in held:
            raise RuleError("card_not_available")
    if s.pack.verb[card] != action["type"]:
        raise RuleError("wrong_card")
    if s.lowest:
        raise RuleError("must_open_low")  # B-6
    if s.phase == USE:
        return rules.take_in_play(s)
    rules.discard_from(s, seat, zone, (card,))
    return zone, card


def _robbable(s: State, seat: Seat) -> tuple[Seat, ...]:
    """Return the seats whose hand a thief of this seat may open, ascending."""
    return tuple([other for other in s.active if other != seat and s.hands[other]])


def thief(s: State, seat: Seat, action: Action, call: Call) -> None:
    """See an opponent's hand to take one card of it; without such an opponent, nothing (B-21)."""
    zone, card = _use(s, seat, action)
    victim = action["seat"]
    if victim not in (_robbable(s, seat) or (None,)):
        raise RuleError("bad_target")
    rules.remove(s, seat, zone, card, victim, victim is not None, call)
    if victim is None:
        rules.done(s, seat, rules.next_seat(s, seat), call)
    else:
        rules.open_theft(s, victim, call)


def butt(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Give the pile and the next turn to any active seat (B-23)."""
    zone, card = _use(s, seat, action)
    target = action["seat"]
    if target not in s.active:
        raise RuleError("bad_target")
    rules.remove(s, seat, zone, card, target, True, call)
    rules.pile_to(s, target, call)
    rules.done(s, seat, target, call)


def _swappable(s: State) -> list[tuple[Seat, int]]:
    """Return all open cards of active seats by seat and place, ascending."""
    return [(seat, place) for seat in s.active for place in range(len(PLACES)) if s.open[seat][place] is not None]


def _named(at: Mapping[str, Any]) -> tuple[Seat, int]:
    return at["seat"], PLACES.index(at["place"])


def cheeky(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Let open cards of two seats change places; with fewer than two such seats, nothing (B-24)."""
    zone, card = _use(s, seat, action)
    places = _swappable(s)
    if action["first"] is None:
        if len({owner for owner, _ in places}) > 1:
            raise RuleError("bad_target")
        rules.remove(s, seat, zone, card, None, False, call)
    else:
        first, second = _named(action["first"]), _named(action["second"])
        if first[0] >= second[0] or first not in places or second not in places:
            raise RuleError("bad_target")
        rules.remove(s, seat, zone, card, None, True, call)
        rules.swap(s, first, second, call)
    rules.done(s, seat, rules.next_seat(s, seat), call)


def devil(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Deal the burn pile to the others (B-25)."""
    zone, card = _use(s, seat, action)
    rules.remove(s, seat, zone, card, None, bool(s.burn), call)
    rules.return_burnt(s, seat, call)
    rules.done(s, seat, rules.next_seat(s, seat), call)


def choose(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Take a card out of the victim's hand (B-21)."""
    _turn_in(s, seat, STEAL)
    card = s.pack.index[action["card"]]
    assert s.victim is not None, "phase steal has a victim"
    if card not in s.hands[s.victim]:
        raise RuleError("card_not_shown")
    rules.steal(s, card, call)


def pick_up(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Take the pile (B-15, B-17, B-18)."""
    _turn_in(s, seat, PLAY)
    zone, _ = s.zone(seat)
    if zone == "down":
        raise RuleError("must_flip")
    if not s.pile:
        raise RuleError("pile_empty")
    if action["add"] not in _addable(s, seat, zone):
        raise RuleError("bad_add")
    rules.pick_up(s, action["add"], call)


def _addable(s: State, seat: Seat, zone: str) -> tuple[str | None, ...]:
    """Return what may be taken along with the pile, in the order of ``legal``."""
    if zone == "hand":
        return (None,)
    if zone == "a":
        return ("A",)
    _, b, c = s.open[seat]
    return (None, *(place for place, card in (("B", b), ("C", c)) if card is not None))


def flip(s: State, seat: Seat, action: Action, call: Call) -> None:
    """Turn the face-down card up (B-19)."""
    _turn_in(s, seat, PLAY)
    if s.zone(seat)[0] != "down":
        raise RuleError("cannot_flip")
    rules.flip(s, call)


ACTIONS: Final[Mapping[str, Callable[[State, Seat, Action, Call], None]]] = {
    "lay": lay,
    "pick": pick,
    "play": play,
    "thief": thief,
    "butt": butt,
    "cheeky": cheeky,
    "devil": devil,
    "choose": choose,
    "pick_up": pick_up,
    "flip": flip,
}


def legal(s: State, seat: Seat) -> tuple[Action, ...]:
    """Return the actions of an active, connected seat that no guard refuses, in the order of the page."""
    if s.phase == PLAY:
        return _turn(s, seat) if seat == s.seat else ()
    codes = s.pack.codes
    if s.phase == AB:
        held = [codes[card] for card in sorted(s.hands[seat])] if seat not in s.locks else []
        return tuple([{"type": "lay", "a": a, "b": b} for a in held for b in held if a != b])
    if s.phase == PICK_C:
        shown = s.hands[s.targets[seat]] if seat in s.targets and seat not in s.locks else ()
        return tuple([{"type": "pick", "card": codes[card]} for card in sorted(shown)])
    if seat != s.seat:
        return ()
    if s.phase == STEAL:
        assert s.victim is not None, "phase steal has a victim"
        return tuple([{"type": "choose", "card": codes[card]} for card in sorted(s.hands[s.victim])])
    assert s.in_play is not None, "phase use has a card in play"
    return tuple(_uses(s, seat, s.in_play))


def _turn(s: State, seat: Seat) -> tuple[Action, ...]:
    """Return what the turn's seat may do in phase play."""
    zone, cards = s.zone(seat)
    if zone == "down":
        return ({"type": "flip"},)
    actions = _plays(s, cards)
    if not s.lowest and not s.pack.supers.isdisjoint(cards):
        for card in sorted(s.pack.supers.intersection(cards)):
            actions += _uses(s, seat, card)
    if s.pile:
        actions += [{"type": "pick_up", "add": place} for place in _addable(s, seat, zone)]
    return tuple(actions)


def _plays(s: State, cards: Cards) -> list[Action]:
    """Return the sets of the zone's cards that may be laid, by rank, smaller ones first."""
    pack = s.pack
    rank, bit = pack.rank, pack.bit
    if not pack.ones.isdisjoint(s.pile):
        blocked = blocked_colours(pack, s.pile)
        cards = tuple([card for card in cards if pack.colour[card] not in blocked])
    held = [0] * len(pack.plays)
    for card in cards:
        held[rank[card]] |= bit[card]
    actions: list[Action] = []
    for number in (s.lowest,) if s.lowest else fitting(pack, s.pile):
        if held[number]:
            actions += pack.plays[number][held[number]]
    return actions


def _uses(s: State, seat: Seat, card: int) -> list[Action]:
    """Return what may be done with a super special, with each of its targets."""
    verb, code = s.pack.verb[card], s.pack.codes[card]
    if verb == "thief":
        victims = _robbable(s, seat)
        return [{"type": verb, "card": code, "seat": victim} for victim in victims or (None,)]
    if verb == "butt":
        return [{"type": verb, "card": code, "seat": target} for target in s.active]
    if verb == "devil":
        return [{"type": verb, "card": code}]
    places = [at for at in _swappable(s) if s.open[at[0]][at[1]] != card]
    pairs: list[Action] = [
        {
            "type": verb,
            "card": code,
            "first": {"seat": first[0], "place": PLACES[first[1]]},
            "second": {"seat": second[0], "place": PLACES[second[1]]},
        }
        for first in places
        for second in places
        if first[0] < second[0]
    ]
    return pairs or [{"type": verb, "card": code, "first": None, "second": None}]
