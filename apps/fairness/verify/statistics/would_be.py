"""What a deck would have brought each seat: the round played by the games' own computer players.

A voided round has no result, so finished rounds get the same treatment before the two are compared: same rules, same
players, and the chance of the round's own seed.  Never looks at what was really played.
"""

from __future__ import annotations

from apps.fairness.verify.statistics.decks import Deck
from apps.games import registry
from apps.games.bots import BotPlay
from apps.games.contract import Setup
from apps.games.inputs import START_MS, apply

INPUTS_MAX = 20_000
"""Inputs after which a round is given up; its seats then share alike."""


def is_playable(deck: Deck) -> bool:
    """Tell whether the deck is known, who opens, and by which rules."""
    if deck.dealt is None or deck.dealt.opener is None:
        return False
    try:
        registry.by_rules(deck.rules)
    except KeyError:
        return False
    return True


def shares_of(deck: Deck) -> dict[int, float]:
    """Return the part of the pot that each seat would get; they add up to 1.

    Where a match goes on the seats that are ahead share it.
    """
    dealt = deck.dealt
    assert dealt is not None, "only known decks are played"
    assert dealt.opener is not None, "only decks that somebody opens are played"
    game = registry.by_rules(deck.rules)
    chance = dealt.schedule.chance()
    setup = Setup(dealt.seats, dealt.codes(), dealt.options, START_MS, dealt.opener)
    state, players = game.start(setup, chance).state, BotPlay(game, int(deck.round, 16))
    for _ in range(INPUTS_MAX):
        outcome = game.outcome(state)
        if outcome is not None:
            weights = outcome.shares or dict.fromkeys(outcome.ranking[0], 1)
            total = sum(weights.values())
            return {int(seat): weights.get(seat, 0) / total for seat in dealt.seats}
        state = apply(game, state, players.next(state), chance).state
    return {int(seat): 1 / len(dealt.seats) for seat in dealt.seats}
