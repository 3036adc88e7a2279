"""What happens at the table of a test house: real games by their rules, and a sample with everything in it.

The house (house.py) deals and signs; a script here fills the transcript, the generations and the openings.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from typing import Any

from apps.games.contract import Action, Game, Seat, Setup, Step

Body = dict[str, Any]


def game_script(play: Any, game: Game[Any]) -> None:
    """Play a game by its rules, with choices drawn from the plan's label, and add what the table service adds."""
    seats = tuple(Seat(row["seat"]) for row in play.deck_record.body["roster"])
    opener_ = Seat(play.deck_record.body["opener"])
    setup = Setup(seats, tuple(play.cards), play.plan.options, play.now, opener_, play.plan.carry)
    chance, rng = play.schedule.chance(), random.Random(f"{play.plan.label} {play.plan.index}")
    trees = {0: play.first}

    def take(kind: str, seat: Seat | None, input_: Body, step: Step[Any]) -> Any:
        events = [dict(event) for event in step.events]
        for generation in step.generations:
            trees[generation.gen] = tree = play.tree(generation.gen, generation.order)
            made = next(e for e in events if e.get("gen") == generation.gen and "pos" not in e)
            made |= {"n": len(generation.order), "root": tree.root.hex()}
            source = list(generation.source)
            play.generations.append({"gen": generation.gen, "stream": generation.stream, "from": source})
        play.entry(kind, None if seat is None else int(seat), input_, *events)
        return step.state

    state = take("start", None, {}, game.start(setup, chance))
    while game.outcome(state) is None:
        wake_at = game.wake_at(state)
        chosen = None if wake_at is not None and play.now >= wake_at else _choice(play, game, state, rng.randrange)
        if chosen is None:
            assert wake_at is not None, "a running round has a clock"
            play.now = max(play.now, wake_at)
            state = take("wake", None, {}, game.wake(state, play.now, chance))
        else:
            seat, action = chosen
            state = take("act", seat, action, game.act(state, seat, action, play.now, chance))
    play.openings = [play.first.opening(pos) for pos in range(play.plan.opened)]


def _choice(play: Any, game: Game[Any], state: Any, rng_int: Callable[[int], int]) -> tuple[Seat, Action] | None:
    """Return what the first seat that has something to do does, as its computer player would."""
    for row in play.deck_record.body["roster"]:
        seat = Seat(row["seat"])
        legal = game.legal(state, seat, play.now)
        if legal and play.plan.game == "toy":
            return seat, legal[0]
        if legal:
            action = import_module(f"apps.games.{play.plan.game}.bot").choose(game.view(state, seat), legal, rng_int)
            if action is not None:
                return seat, action
    return None


def sample_script(play: Any) -> None:
    """Make a transcript of the right form: 12 cards, a start card that goes back, and a reshuffle."""
    seats = [row["seat"] for row in play.deck_record.body["roster"]]
    hands, deck = 2 * len(seats), play.cards
    dealt: list[Body] = [
        {"type": "dealt", "seat": seat, "zone": "hand", "cards": [hidden(0, n), hidden(0, n + len(seats))]}
        for n, seat in enumerate(seats)
    ]
    back = [*deck[hands + 1 :], deck[hands]]
    first = play.schedule.chance().insert_back("start-return/0", back)
    tree_1 = play.tree(1, first)
    play.generations.append({"gen": 1, "stream": "start-return/0", "from": back})
    returned = {
        "type": "start_returned",
        "card": shown(0, hands, deck[hands]),
        "gen": 1,
        "n": len(first),
        "root": tree_1.root.hex(),
    }
    flipped = {"type": "start_flipped", "card": shown(1, 0, first[0])}
    play.entry("start", None, {}, play.started(), *dealt, returned, flipped)
    seat = seats[0]
    for n, pos in enumerate((0, 1)):
        played = {"type": "played", "seat": seats[n], "card": shown(0, pos, deck[pos])}
        play.entry("act", seats[n], {"type": "play", "card": deck[pos]}, played)
    play.entry("connection", seats[1], {"connected": False}, {"type": "connection_changed", "seat": seats[1]})
    rest = [hidden(1, pos) for pos in range(1, len(first))]
    play.entry("wake", None, {}, {"type": "drew", "seat": seat, "cards": rest, "cause": "clock"})
    source = [first[0], deck[0]]
    second = play.schedule.chance().shuffle("reshuffle/0", source)
    tree_2 = play.tree(2, second)
    play.generations.append({"gen": 2, "stream": "reshuffle/0", "from": source})
    made = {"type": "reshuffled", "gen": 2, "count": 2, "n": 2, "root": tree_2.root.hex()}
    drew = {"type": "drew", "seat": seat, "cards": [hidden(2, 0)], "cause": "turn"}
    play.entry("act", seat, {"type": "draw"}, made, drew)
    over = {
        "type": "round_over",
        "reason": "sample_end",
        "final": True,
        "shares": play.plan.shares,
        "ranking": play.plan.ranking or [[seats[0]], [seats[-1]]],
        "scores": {},
        "carry": None,
    }
    play.entry("leave", seats[1], {"reason": "left"}, {"type": "left", "seat": seats[1], "reason": "left"}, over)
    play.openings = [play.first.opening(0), tree_1.opening(0), tree_2.opening(0)]


def hidden(gen: int, pos: int) -> Body:
    """Return a hidden card of an event."""
    return {"gen": gen, "pos": pos}


def shown(gen: int, pos: int, card: str) -> Body:
    """Return a shown card of an event."""
    return {"gen": gen, "pos": pos, "card": card}
