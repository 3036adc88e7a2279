"""How fast the rules are: ``python -m tools.bench_games``, steps per second of random play on one core, four seats.

A step is ``legal`` and ``act`` with all events, guards and hidden information.  Where RLCard is installed (the extra
``bench``) every game is set beside its UNO in the same run: its environment, which builds an observation per step, and
its bare game loop, which keeps no events and hides nothing.  Processor time is measured and all take turns, so other
work on the machine weighs little, and on all alike.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from apps.games import registry, simulate
from apps.games.chance import Dice

RUNS = 12
GAMES = 10
UNO_GAMES = 25
SEATS = 4
ENVIRONMENT = "RLCard UNO environment"
BARE_LOOP = "RLCard UNO bare loop"


def steps_per_second(slug: str) -> float:
    """Return steps per second of one of our games under random play."""
    steps, seconds = simulate.bench(slug, GAMES, SEATS)
    return steps / seconds


def uno_environment(rlcard: Any) -> float:
    """Return steps per second of RLCard's UNO environment under random play."""
    environment, dice = rlcard.make("uno", config={"seed": 1}), Dice(1)
    steps, began = 0, time.process_time()
    for _ in range(UNO_GAMES):
        state, _player = environment.reset()
        while not environment.is_over():
            listed = list(state["legal_actions"])
            state, _player = environment.step(listed[dice.below(len(listed))])
            steps += 1
    return steps / (time.process_time() - began)


def uno_loop(rlcard: Any) -> float:
    """Return steps per second of RLCard's bare UNO game loop under random play."""
    game, dice = importlib.import_module(f"{rlcard.__name__}.games.uno.game").UnoGame(num_players=SEATS), Dice(1)
    steps, began = 0, time.process_time()
    for _ in range(UNO_GAMES):
        game.init_game()
        while not game.is_over():
            listed = game.get_legal_actions()
            game.step(listed[dice.below(len(listed))])
            steps += 1
    return steps / (time.process_time() - began)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench_games", description="How fast the rules are.")
    parser.add_argument("games", nargs="*", default=list(registry.slugs()), help="slugs (default: all)")
    asked = parser.parse_args()
    loops: dict[str, Callable[[], float]] = {slug: partial(steps_per_second, slug) for slug in asked.games}
    try:
        rlcard = importlib.import_module("rlcard")
    except ImportError:
        print("RLCard is not installed (extra: bench), so there is nothing to compare with.")
    else:
        loops |= {ENVIRONMENT: partial(uno_environment, rlcard), BARE_LOOP: partial(uno_loop, rlcard)}
    best = dict.fromkeys(loops, 0.0)
    for _ in range(RUNS):
        for name, loop in loops.items():
            best[name] = max(best[name], loop())
    for name, figure in best.items():
        times = [f"{figure / best[other]:5.2f} of {other}" for other in (ENVIRONMENT, BARE_LOOP) if other in best]
        print(f"{name:<24} {figure:>9,.0f} steps/s", *times)


if __name__ == "__main__":
    main()
