"""Play a game in the terminal: ``python -m apps.games.play monko --seats 3 --seed 7``.

One person against bots, several persons at one screen (``--hot-seat``), or bots alone (``--auto``).  The table is
printed from the view of the seat that is to act and its allowed actions are numbered, so a rule can be felt within a
minute.  Time passes only by what is done: a second a move; ``w`` lets the next clock run out.  ``--transcript`` writes
what happened, one JSON line an input.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from apps.games import bots, registry
from apps.games.chance import Dice
from apps.games.contract import Action, Event, RuleError, Seat, View
from apps.games.inputs import Input, apply, setup_of
from apps.games.kit.cards import face
from apps.games.table_text import Paint, event_text, plain, rows_of

MOVE_MS = 1_000
BOT_MOVE_MS = 700
SEEDS = 1_000_000
ACTIONS_SHOWN_MAX = 60

ANSI = {
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    "black": "90",
    "orange": "38;5;208",
    "bold": "1",
}

HELP = """  a number   take the action with this number
  {...}      take an action written as JSON, also one that is not listed, to see what the rules say
  w          wait until the next clock runs out
  x          lose the connection, or come back
  l          leave the round for good
  ?          this help
  q          stop"""

REASONS = {
    "not_your_turn": "it is not this seat's turn",
    "bad_action": "that is no action of this game: a word, a key or a value is wrong",
    "clock_due": "a clock ran out first",
    "not_in_round": "this seat is no longer in the round",
    "disconnected": "this seat has no connection; press x to come back",
    "round_over": "the round is over",
    "card_not_held": "the seat does not hold this card",
}


class Stopped(Exception):
    """The person at the keyboard has had enough: q, end of input or Ctrl-C."""


def colours_wanted(out: TextIO) -> bool:
    """Return whether to write colours: only on a terminal, and not where NO_COLOR is set."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painter(slug: str, wanted: bool) -> Paint:
    """Return how a game's cards are shown: by face, coloured where that is wanted and the game says how."""
    part = registry.part(slug, "paint") if wanted else None
    if part is None:
        return plain

    def paint(code: str) -> str:
        number = ANSI.get(part.colour(face(code)))
        return f"\033[{number}m{code}\033[0m" if number else code

    return paint


class Session:
    """One sitting at the terminal: a game, who plays which seat, and where text goes."""

    def __init__(
        self,
        slug: str,
        seats: tuple[Seat, ...],
        options: dict[str, Any],
        seed: int,
        people: frozenset[Seat],
        read: Callable[[], str],
        out: TextIO,
    ) -> None:
        self.game = registry.game(slug)
        self.seats = seats
        self.options = options
        self.seed = seed
        self.people = people
        self.read = read
        self.out = out
        self.paint = painter(slug, colours_wanted(out))
        self.choose = bots.bot(slug)
        self.dice = Dice(seed)
        self.transcript: list[dict[str, Any]] = []
        self.now = 0
        self.state: Any = None
        self.chance: Any = None
        self.declined: set[Seat] = set()
        """People who chose to wait out of turn since the last thing happened."""

    def say(self, text: str = "") -> None:
        """Write a line."""
        self.out.write(text + "\n")
        self.out.flush()

    def play(self) -> None:
        """Play a round, or all rounds of a match.

        Raises:
            Stopped: at the person's wish.
        """
        carry, seats, number = None, self.seats, 0
        while True:
            outcome, left = self._round(seats, self.seed + number, carry)
            if outcome.final:
                return
            carry, number = outcome.carry, number + 1
            seats = tuple(seat for seat in seats if seat not in left)

    def _round(self, seats: tuple[Seat, ...], seed: int, carry: Any) -> tuple[Any, set[Seat]]:
        setup, self.chance = setup_of(self.game, seed, seats, self.options, carry)
        step = self.game.start(setup, self.chance)
        self.state, self.now = step.state, setup.now
        self._record("start", None, {}, step.events)
        while (outcome := self.game.outcome(self.state)) is None:
            self._next()
        self.say()
        self.say("The round is over.")
        self._show(None)
        left = {row["seat"] for row in self.game.view(self.state, None)["seats"] if row["status"] == "left"}
        return outcome, left

    def _next(self) -> None:
        """Let one thing happen: a person's action, a bot's, or a clock."""
        due = self.game.wake_at(self.state)
        assert due is not None, "a running round has something due"
        actors = self.game.actors(self.state)
        turn_first = sorted(self.seats, key=lambda seat: (seat in actors, seat))
        for seat in turn_first:
            now = min(self.now + (MOVE_MS if seat in self.people else BOT_MOVE_MS), due - 1)
            now = max(now, self.now)
            legal = self.game.legal(self.state, seat, now)
            if not legal and not (seat in self.people and seat in actors):
                continue
            if seat in self.people:
                if seat not in actors and seat in self.declined:
                    continue
                if self._ask(seat, legal, now, seat in actors):
                    return
                self.declined.add(seat)
                continue
            action = self.choose(self.game.view(self.state, seat), legal, self.dice.below)
            if action is not None and self._feed(Input("act", now, seat, action)):
                return
        self._feed(Input("wake", due))

    def _ask(self, seat: Seat, legal: Sequence[Action], now: int, turn: bool) -> bool:
        """Ask a person what to do; return False if the person waits out of turn."""
        self.say()
        self._show(seat)
        shown = legal[:ACTIONS_SHOWN_MAX]
        for number, action in enumerate(shown, 1):
            self.say(f"  {number:>3}  {self._action_text(action)}")
        if len(legal) > len(shown):
            self.say(f"       and {len(legal) - len(shown)} more; write one as JSON")
        while True:
            numbers = f", 1-{len(legal)}" if legal else ""
            end = "" if turn else ", Enter to wait"
            self.out.write(f"seat {seat}{numbers}{end}, ? for help > ")
            self.out.flush()
            word = self.read().strip()
            if not word and not turn:
                return False
            given = self._input_of(word, seat, legal, now)
            if given is not None and self._feed(given):
                return True

    def _input_of(self, word: str, seat: Seat, legal: Sequence[Action], now: int) -> Input | None:
        if word == "q":
            raise Stopped
        if word == "w":
            return Input("wake", self.game.wake_at(self.state) or now)
        if word == "l":
            return Input("leave", now, seat, "left")
        if word == "x":
            rows = self.game.view(self.state, None)["seats"]
            return Input("connection", now, seat, not next(row["connected"] for row in rows if row["seat"] == seat))
        if word.isdigit() and 1 <= int(word) <= len(legal):
            return Input("act", now, seat, legal[int(word) - 1])
        if word.startswith("{"):
            try:
                return Input("act", now, seat, json.loads(word))
            except ValueError as error:
                self.say(f"That is not JSON: {error}")
                return None
        self.say(HELP if word == "?" else f"I do not know {word!r}: give a number from the list, or ? for help.")
        return None

    def _feed(self, given: Input) -> bool:
        """Feed one input, say what happened, and return whether the rules took it."""
        try:
            step = apply(self.game, self.state, given, self.chance)
        except RuleError as error:
            why = REASONS.get(error.code, error.code.replace("_", " "))
            if given.seat in self.people:
                self.say(f"The rules refuse that: {why} ({error.code}).")
            return False
        self.state, self.now = step.state, given.now
        self.declined.clear()
        value = {"leave": {"reason": given.value}, "connection": {"connected": given.value}, "act": given.value}
        self._record(given.kind, given.seat, value.get(given.kind, {}), step.events)
        return True

    def _record(self, kind: str, seat: Seat | None, value: Any, events: Sequence[Event]) -> None:
        entry = {"seq": len(self.transcript), "at": self.now, "kind": kind, "seat": seat, "input": value}
        self.transcript.append({**entry, "events": list(events)})
        for event in events:
            if event["type"] not in ("turn_started", "clock_changed"):
                self.say("  " + event_text(event, self.paint))

    def _action_text(self, action: Action) -> str:
        words = [str(action["type"])]
        for key, value in action.items():
            if key == "type":
                continue
            if key == "card":
                words.append(self.paint(value))
            elif key == "cards":
                words += [self.paint(code) for code in value]
            else:
                words.append(f"{key} {json.dumps(value) if isinstance(value, (dict, list)) else value}")
        return " ".join(words)

    def _show(self, seat: Seat | None) -> None:
        """Print the table as a seat sees it, or (None) as a spectator does."""
        view: View = self.game.view(self.state, seat)
        title = self.game.spec.title
        self.say(f"{title}, as {'a spectator sees' if seat is None else f'seat {seat} sees'} it:")
        rows = {label: text for label, text in rows_of(view, self.paint).items() if label not in ("phase", "actors")}
        if view["deadline"] is not None:
            rows["deadline"] = f"{(view['deadline'] - self.now) / 1000:.1f} s left"
        width = max(len(label) for label in rows)
        for label, text in rows.items():
            self.say(f"  {label:<{width}}  {text}")


def _lines(source: TextIO) -> Iterator[str]:
    yield from iter(source.readline, "")


def _reader(source: TextIO) -> Callable[[], str]:
    lines = _lines(source)

    def read() -> str:
        line = next(lines, None)
        if line is None:
            raise Stopped
        return line

    return read


def _option(text: str) -> tuple[str, Any]:
    name, found, value = text.partition("=")
    if not found:
        raise argparse.ArgumentTypeError("write an option as name=value")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m apps.games.play", description="Play a game in the terminal.")
    parser.add_argument("game", choices=registry.slugs())
    parser.add_argument("--seats", type=int, help="how many play (default: the fewest that may)")
    parser.add_argument("--seat", type=int, default=0, help="the seat you take against bots (default 0)")
    parser.add_argument("--seed", type=int, help="of deck and bots; the same seed gives the same deal")
    parser.add_argument("--option", type=_option, action="append", default=[], help="name=value, of the rule page")
    parser.add_argument("--hot-seat", action="store_true", help="people play all seats at this screen")
    parser.add_argument("--auto", action="store_true", help="bots play all seats")
    parser.add_argument("--transcript", type=Path, help="file to write what happened to, one JSON line an input")
    asked = parser.parse_args(arguments)
    spec = registry.game(asked.game).spec
    count = spec.seats_min if asked.seats is None else asked.seats
    seats = tuple(Seat(number) for number in range(count))
    if not spec.seats_min <= count <= spec.seats_max:
        parser.error(f"{spec.title} is for {spec.seats_min} to {spec.seats_max} seats")
    if asked.seat not in seats:
        parser.error(f"there is no seat {asked.seat}; seats are 0 to {count - 1}")
    people = frozenset(seats if asked.hot_seat else () if asked.auto else (Seat(asked.seat),))
    seed = secrets.randbelow(SEEDS) if asked.seed is None else asked.seed
    session = Session(asked.game, seats, dict(asked.option), seed, people, _reader(sys.stdin), sys.stdout)
    status = 0
    try:
        session.say(f"{spec.title} ({spec.rules}), {count} seats, seed {seed}")
        session.play()
    except RuleError as error:
        print(f"This round cannot start: {error.code.replace('_', ' ')}.", file=sys.stderr)
        status = 2
    except Stopped:
        session.say("\nStopped.")
    except KeyboardInterrupt:
        session.say("\nStopped.")
        status = 130
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if asked.transcript is not None:
        asked.transcript.write_text("".join(json.dumps(entry) + "\n" for entry in session.transcript))
    return status


if __name__ == "__main__":
    sys.exit(main())
