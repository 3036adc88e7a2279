"""Monkey Butt: how the computer player chooses.

A simple sensible strategy from the seat's own view and its listed actions: lay out strong cards and pick a weak one for
the next seat, play the lowest numbers and as many as possible, burn when it can, keep special cards for when nothing
else goes, and give the pile to whoever is nearest to going out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from apps.games.contract import Action, Seat, View
from apps.games.kit.cards import face
from apps.games.monkey_butt.cards import RANKS, STRENGTH, colour, kind
from apps.games.monkey_butt.playable import FITS

RESERVE = STRENGTH.index("1")
"""From this strength on a card is kept for when nothing weaker goes."""


def strength(code: str) -> int:
    """Return how strong a card is, by kind alone."""
    return STRENGTH.index(kind(face(code)))


def choose(view: View, legal: Sequence[Action], rng_int: Callable[[int], int]) -> Action | None:
    """Return one of the listed actions, or None to wait when the seat has nothing to choose."""
    if not legal:
        return None
    verb = legal[0]["type"]
    if verb == "lay":
        return max(legal, key=lambda action: (strength(action["a"]), strength(action["b"])))
    if verb == "pick":
        return min(legal, key=lambda action: strength(action["card"]))
    if verb == "choose":
        return _theft(view, legal)
    plays = [action for action in legal if action["type"] == "play"]
    if plays:
        best = max(plays, key=lambda action: _worth(view, action))
        if strength(best["cards"][0]) < RESERVE or rng_int(2):
            return best
    supers = [action for action in legal if action["type"] in ("thief", "butt", "cheeky", "devil")]
    if supers:
        best = max(supers, key=lambda action: _use(view, action))
        if _use(view, best) > 0 or not plays:
            return best
    if plays:
        return max(plays, key=lambda action: _worth(view, action))
    return legal[0]


def _worth(view: View, action: Action) -> tuple[bool, int, int]:
    """Return how good it is to lay these cards: a number that burns first, then low ones and many of them."""
    cards = action["cards"]
    power = strength(cards[0])
    pile = [kind(face(card["card"])) for card in view["board"]["pile"]]
    run = 0
    for its in reversed(pile):
        if its != kind(face(cards[0])):
            break
        run += 1
    many = len(cards) if power < RESERVE else -len(cards)
    return power < RESERVE and run + len(cards) > 2, -power, many


def _cards(row: dict[str, Any]) -> int:
    return len(row["hand"]) + sum(row[place] is not None for place in ("a", "b", "c", "down"))


def _use(view: View, action: Action) -> int:
    """Return how good it is to use a super special like this; below 1 if it rather helps somebody else."""
    me: Seat = view["viewer"]
    counts = {row["seat"]: _cards(row) for row in view["seats"]}
    pile = len(view["board"]["pile"])
    if action["type"] == "butt":
        return 0 if action["seat"] == me else 100 + pile - counts[action["seat"]] if pile else -1
    if action["type"] == "thief":
        return 50 - counts[action["seat"]] if action["seat"] is not None else 0
    if action["type"] == "devil":
        return len(view["board"]["burn"])
    if action["first"] is None:
        return 0
    rows = {row["seat"]: row for row in view["seats"]}
    first, second = action["first"], action["second"]
    mine, theirs = (first, second) if first["seat"] == me else (second, first)
    if mine["seat"] != me:
        return -1
    return strength(_open(rows, theirs)) - strength(_open(rows, mine))


def _open(rows: dict[Seat, dict[str, Any]], at: dict[str, Any]) -> str:
    code: str = rows[at["seat"]][at["place"].lower()]["card"]
    return code


def _theft(view: View, legal: Sequence[Action]) -> Action:
    """Return the theft of a super special or the strongest card that can be laid at once; else of the weakest card."""
    pile = [card["card"] for card in view["board"]["pile"]]
    top = RANKS.index(kind(face(pile[-1]))) if pile else 0
    blocked = {colour(face(code)) for code in pile if kind(face(code)) == "1"}

    def lays(action: Action) -> bool:
        its = face(action["card"])
        return its[0] == "X" or (colour(its) not in blocked and RANKS.index(kind(its)) in FITS[top])

    good = [action for action in legal if lays(action)]
    if good:
        return max(good, key=lambda action: strength(action["card"]))
    return min(legal, key=lambda action: strength(action["card"]))
