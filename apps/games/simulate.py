"""Play many rounds of one game and say what happened: ``python -m apps.games.simulate monko --games 100000``.

Random play or bots, on all cores.  ``--laws`` checks every law of the contract at every step (docs/developers/
engine-contract.md); a game that breaks one prints the command that repeats it.  ``--bench`` measures steps per second
on one core.  Everything follows from the seed; the clock is read only to say how fast it went.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from apps.games import registry
from apps.games.bots import BotPlay
from apps.games.chance import Dice
from apps.games.contract import Event, Game, RuleError, Seat, Setup
from apps.games.inputs import MANNERS, RandomPlay, apply, setup_of
from apps.games.laws import LawBroken, Laws
from apps.games.payout import fee_of, payouts
from apps.games.secrecy import check_secrecy

BUY_IN_MINOR = 1_000
BATCH = 20
"""Games that a worker plays before it reports."""
ROUNDS_MAX = 100
"""Rounds of a match after which a simulation gives up on it."""
INPUTS_MAX = 100_000
"""Inputs of a round after which a simulation gives up on it: law 1."""
TWINS = 1
"""How often each round is replayed with two hidden cards exchanged (law 7)."""
BENCH_GAMES = 400
BENCH_PAUSE_MS = 100
PROGRESS_S = 5
"""A line of progress is written at most this often where the output is no terminal."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one batch of games is played with."""

    slug: str
    seed: int
    games: int
    seats: tuple[Seat, ...] | None
    """None: another number and gaps from game to game."""
    options: dict[str, Any] | None
    """None: another choice from game to game."""
    manner: str | None
    """None: another from game to game."""
    laws: bool
    bots: bool


@dataclass(slots=True)
class Tally:
    """What happened in some games."""

    games: int = 0
    rounds: int = 0
    inputs: int = 0
    turns: Counter[int] = field(default_factory=Counter)
    """Rounds by their number of turns."""
    reasons: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    wins: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Games with a share, by number of seats and by place in the ring from the opener."""
    played: Counter[int] = field(default_factory=Counter)
    """Games by number of seats."""
    pot_minor: int = 0
    fee_minor: int = 0
    twins: int = 0
    """Inputs compared between twin deals."""

    def add(self, other: Tally) -> None:
        """Add what happened in other games."""
        self.games += other.games
        self.rounds += other.rounds
        self.inputs += other.inputs
        for name in ("turns", "reasons", "events", "wins", "played"):
            getattr(self, name).update(getattr(other, name))
        self.pot_minor += other.pot_minor
        self.fee_minor += other.fee_minor
        self.twins += other.twins


class GameFailed(Exception):
    """A simulated game went wrong; says what went wrong and how to repeat it."""

    def __init__(self, what: str, command: str) -> None:
        super().__init__(what, command)
        self.what = what
        self.command = command


def tables(game: Game[Any], seed: int) -> tuple[tuple[Seat, ...], dict[str, Any], str]:
    """Return seats (often with gaps), options and manner of the game with this seed."""
    spec, dice = game.spec, Dice(seed)
    count = spec.seats_min + seed % (spec.seats_max - spec.seats_min + 1)
    gap = dice.below(3)
    seats = tuple(Seat(place + dice.below(2) * gap + place * gap) for place in range(count))
    options = {option.name: option.allowed[dice.below(len(option.allowed))] for option in spec.options}
    return seats, options, sorted(MANNERS)[dice.below(len(MANNERS))]


def event_names(event: Event) -> Iterator[str]:
    """Yield the name under which an event is counted, and one more for the word that says which kind it was."""
    yield event["type"]
    for key in ("cause", "reason", "result", "effect", "valid", "counts", "stood", "forced"):
        if key in event and event["type"] not in ("round_over",):
            yield f"{event['type']} {key}={json.dumps(event[key])}"


def play_game(plan: Plan, seed: int) -> Tally:
    """Play one game (of a match game: all its rounds) and return what happened.

    Raises:
        GameFailed: a law is broken, or the game refuses what it listed, or raises.
    """
    game = registry.game(plan.slug)
    seats, options, manner = tables(game, seed)
    seats = plan.seats or seats
    options = options if plan.options is None else plan.options
    manner = plan.manner or manner
    try:
        return _play(game, seed, seats, options, manner, plan)
    except (RuleError, AssertionError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        raise GameFailed(what, _command(plan, seed, seats, options, manner)) from error


def _play(
    game: Game[Any], seed: int, seats: tuple[Seat, ...], options: dict[str, Any], manner: str, plan: Plan
) -> Tally:
    tally = Tally(games=1)
    tally.played[len(seats)] += 1
    carry, stayed, opener = None, seats, seats[0]
    for number in range(ROUNDS_MAX):
        setup, chance = setup_of(game, seed * ROUNDS_MAX + number, stayed, options, carry)
        opener = setup.opener if number == 0 else opener
        outcome, left = _play_round(game, setup, chance, seed * ROUNDS_MAX + number, manner, plan, tally)
        if outcome.final:
            break
        carry = outcome.carry
        stayed = tuple(seat for seat in stayed if seat not in left)
    else:
        raise LawBroken(1, "a match does not end", rounds=ROUNDS_MAX)
    tally.reasons[outcome.reason] += 1
    pot = BUY_IN_MINOR * len(seats)
    fee = fee_of(pot)
    paid = payouts(pot - fee, outcome.shares, seats, opener)
    if sum(paid.values()) + fee != pot:
        raise AssertionError(f"payouts {paid} and fee {fee} are not the pot {pot}")
    tally.pot_minor += pot
    tally.fee_minor += fee
    start = seats.index(opener)
    for seat in outcome.shares:
        tally.wins[len(seats), (seats.index(seat) - start) % len(seats)] += 1
    return tally


def _play_round(
    game: Game[Any], setup: Setup, chance: Any, seed: int, manner: str, plan: Plan, tally: Tally
) -> tuple[Any, set[Seat]]:
    """Play one round; return its outcome and the seats that left."""
    source = BotPlay(game, seed) if plan.bots else RandomPlay(game, seed, MANNERS[manner])
    watch = Laws(game, setup, chance, seed) if plan.laws else None
    step = game.start(setup, chance) if watch is None else None
    state = watch.state if watch else step.state if step else None
    events = list(watch.events[0] if watch else step.events if step else ())
    inputs = 0
    while (outcome := game.outcome(state)) is None:
        inputs += 1
        if inputs > INPUTS_MAX:
            raise LawBroken(1, "a round does not end", inputs=inputs)
        given = source.next(state)
        if watch:
            state = watch.feed(given)
            events += watch.events[-1]
        else:
            taken = apply(game, state, given, chance)
            state = taken.state
            events += taken.events
    if watch:
        part = registry.part(game.spec.slug, "disclosures")
        discloses = part.discloses if part else None
        for twin in range(TWINS):
            tally.twins += check_secrecy(game, setup, chance, watch.inputs, seed * TWINS + twin, discloses)
    tally.rounds += 1
    tally.inputs += inputs
    turns = 0
    left = set()
    for event in events:
        tally.events.update(event_names(event))
        if event["type"] == "turn_started":
            turns = event["turn"]
        elif event["type"] == "left":
            left.add(event["seat"])
    tally.turns[turns] += 1
    return outcome, left


def _command(plan: Plan, seed: int, seats: tuple[Seat, ...], options: dict[str, Any], manner: str) -> str:
    parts = ["python -m apps.games.simulate", plan.slug, "--games 1", f"--seed {seed}"]
    parts.append("--seats " + ",".join(map(str, seats)))
    parts += [f"--option {name}={json.dumps(value)}" for name, value in options.items()]
    parts.append("--bots" if plan.bots else f"--manner {manner}")
    if plan.laws:
        parts.append("--laws")
    return " ".join(parts)


def play_batch(plan: Plan) -> Tally | GameFailed:
    """Play the games of a plan one after the other; stop at the first that fails."""
    tally = Tally()
    for seed in range(plan.seed, plan.seed + plan.games):
        try:
            tally.add(play_game(plan, seed))
        except GameFailed as failed:
            return failed
    return tally


def bench(slug: str, games: int = BENCH_GAMES, seats: int = 4) -> tuple[int, float]:
    """Play at random on one core and return the number of steps and the seconds of processor time they took.

    A step is ``legal`` and ``act`` with all its events; the deal, and clocks that run out, are inside the time.
    """
    game = registry.game(slug)
    ring = tuple(Seat(number) for number in range(min(seats, game.spec.seats_max)))
    dice = Dice(1)
    steps = 0
    began = time.process_time()
    for seed in range(games):
        setup, chance = setup_of(game, seed, ring)
        state, now = game.start(setup, chance).state, setup.now
        while game.outcome(state) is None:
            now += BENCH_PAUSE_MS
            due = game.wake_at(state)
            seat = next(iter(game.actors(state)), None)
            if seat is None or (due is not None and due <= now):
                now = max(now, due or 0)
                state = game.wake(state, now, chance).state
                continue
            listed = game.legal(state, seat, now)
            try:
                state = game.act(state, seat, listed[dice.below(len(listed))], now, chance).state
            except RuleError as error:
                if error.code not in game.spec.refusals:
                    raise
            steps += 1
    return steps, time.process_time() - began


def report(tally: Tally, seconds: float, laws: bool) -> str:
    """Return the figures of a simulation as text."""
    rounds = max(1, tally.rounds)
    turns = sorted(tally.turns.elements())
    lines = [
        f"games {tally.games}, rounds {tally.rounds}, inputs {tally.inputs}"
        f" ({tally.inputs / rounds:.1f} a round), {tally.inputs / max(seconds, 1e-9):,.0f} inputs/s",
    ]
    if turns:
        middle, most = turns[len(turns) // 2], turns[-1]
        lines.append(f"turns a round: least {turns[0]}, median {middle}, mean {sum(turns) / rounds:.1f}, most {most}")
    lines.append("ended by: " + ", ".join(f"{name} {count}" for name, count in tally.reasons.most_common()))
    lines.append(f"pot {tally.pot_minor}, fee {tally.fee_minor} minor units; payouts and fees add up to the pots")
    lines.append("share of the pot, by place in the ring from the opener:")
    for seats, games in sorted(tally.played.items()):
        rates = [tally.wins[seats, place] / games for place in range(seats)]
        lines.append(f"  {seats} seats ({games} games): " + " ".join(f"{rate:6.1%}" for rate in rates))
    lines.append("events:")
    width = max((len(name) for name in tally.events), default=0)
    for name, count in sorted(tally.events.items()):
        lines.append(f"  {name:<{width}} {count:>10}  {count / rounds:10.2f} a round")
    if laws:
        lines.append(f"laws: all hold; {tally.twins} inputs compared between twin deals")
    return "\n".join(lines)


class Progress:
    """Says how far it is: a bar on a terminal, else a line now and then."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.began = self.last = time.perf_counter()

    def show(self, done: int) -> None:
        """Write that so many games are done."""
        now = time.perf_counter()
        if sys.stderr.isatty():
            filled = done * 40 // self.total
            end = "\n" if done == self.total else ""
            sys.stderr.write(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{self.total}{end}")
        elif now - self.last >= PROGRESS_S:
            self.last = now
            sys.stderr.write(f"{done}/{self.total} games, {now - self.began:.0f} s\n")
        sys.stderr.flush()


def simulate(plan: Plan, processes: int) -> Tally:
    """Play all games of a plan on so many processes.

    Raises:
        GameFailed: the first game that failed.
    """
    firsts = range(plan.seed, plan.seed + plan.games, BATCH)
    batches = [replace(plan, seed=first, games=min(BATCH, plan.seed + plan.games - first)) for first in firsts]
    tally, progress = Tally(), Progress(plan.games)
    with multiprocessing.Pool(processes) if processes > 1 else _InProcess() as pool:
        for result in pool.imap_unordered(play_batch, batches):
            if isinstance(result, GameFailed):
                raise result
            tally.add(result)
            progress.show(tally.games)
    return tally


class _InProcess:
    """Plays batches in this process, where one process was asked for."""

    def __enter__(self) -> _InProcess:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def imap_unordered(self, play: Any, batches: Sequence[Plan]) -> Iterator[Any]:
        return map(play, batches)


def _option(text: str) -> tuple[str, Any]:
    name, found, value = text.partition("=")
    if not found:
        raise argparse.ArgumentTypeError("write an option as name=value")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _seats(text: str) -> tuple[Seat, ...]:
    numbers = [int(number) for number in text.split(",")]
    if len(numbers) == 1:
        numbers = list(range(numbers[0]))
    return tuple(Seat(number) for number in numbers)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m apps.games.simulate", description="Play many rounds of one game.")
    parser.add_argument("game", choices=registry.slugs())
    parser.add_argument("--games", type=int, default=1_000, help="how many (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the first game; the next ones count up (default 0)")
    parser.add_argument("--seats", type=_seats, help="a number, or seats like 0,2,5 (default: varied)")
    parser.add_argument("--option", type=_option, action="append", help="name=value (default: varied)")
    parser.add_argument("--manner", choices=sorted(MANNERS), help="how random play goes (default: varied)")
    parser.add_argument("--bots", action="store_true", help="play the game's bot in every seat")
    parser.add_argument("--laws", action="store_true", help="check every law at every step")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="default: all cores")
    parser.add_argument("--bench", action="store_true", help="measure steps per second on one core, random play")
    asked = parser.parse_args(arguments)
    if asked.bench:
        seats = len(asked.seats) if asked.seats else 4
        steps, seconds = bench(asked.game, asked.games, seats)
        print(f"{asked.game}: {steps} steps in {seconds:.2f} s, {steps / seconds:,.0f} steps/s on one core")
        return 0
    options = None if asked.option is None else dict(asked.option)
    plan = Plan(asked.game, asked.seed, asked.games, asked.seats, options, asked.manner, asked.laws, asked.bots)
    began = time.perf_counter()
    try:
        tally = simulate(plan, max(1, min(asked.processes, asked.games // BATCH)))
    except GameFailed as failed:
        print(f"{failed.what}\nRepeat it with:\n  {failed.command}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    print(report(tally, time.perf_counter() - began, asked.laws))
    return 0


if __name__ == "__main__":
    sys.exit(main())
