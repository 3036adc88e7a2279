"""How fast the rules are: ``python -m tools.bench_games``, steps per second of random play on one core, four seats.

A step is ``legal`` and ``act`` with all events, guards and hidden information.  Where RLCard is installed (the extra
``bench``) Monko is set beside its UNO in the same run: its environment, which builds an observation per step, and its
bare game loop, which keeps no events and hides nothing.  Processor time is measured, so other work on the machine does
not count.
"""

from __future__ import annotations

import argparse
import importlib
import time
from typing import Any

from apps.games import registry, simulate
from apps.games.chance import Dice

RUNS = 3
GAMES = 60
UNO_GAMES = 150
SEATS = 4


def steps_per_second(slug: str) -> float:
    """Return the best steps per second of a few runs."""
    best = 0.0
    for _ in range(RUNS):
        steps, seconds = simulate.bench(slug, GAMES, SEATS)
        best = max(best, steps / seconds)
    return best


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
    figures = {slug: steps_per_second(slug) for slug in asked.games}
    for slug, figure in figures.items():
        print(f"{slug:<12} {figure:>9,.0f} steps/s")
    if "monko" not in figures:
        return
    try:
        rlcard = importlib.import_module("rlcard")
    except ImportError:
        print("RLCard is not installed (extra: bench), so there is nothing to compare with.")
        return
    environment = max(uno_environment(rlcard) for _ in range(RUNS))
    loop = max(uno_loop(rlcard) for _ in range(RUNS))
    ours = figures["monko"]
    for name, theirs in (("environment", environment), ("bare loop", loop)):
        print(f"RLCard UNO {name:<12} {theirs:>9,.0f} steps/s; Monko is {ours / theirs:.2f} times as fast")


if __name__ == "__main__":
    main()
