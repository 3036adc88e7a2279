"""The contract between a game and everything that runs it: server, verifier, tests and bots.

A game is a pure function of its setup, its inputs with their times, and the chance of the round's committed seed.
Nothing here, and nothing in a game, reads a clock, a file, the network, a database or a random source.

Source: docs/developers/engine-contract.md and docs/games/common.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, NewType, Protocol, TypeVar

Seat = NewType("Seat", int)
"""Table seat number, 0 to 254, clockwise ascending; the seats dealt in may have gaps."""

Card = str
"""Card code ``FACE#COPY``, unique in its deck."""

Options = Mapping[str, Any]
Action = dict[str, Any]
Event = dict[str, Any]
View = dict[str, Any]
JSON = Any
"""A value that json.dumps takes: dicts with string keys, lists, strings, integers, booleans, None."""


class RuleError(Exception):
    """The rules refuse; nothing changed.

    ``code`` is lower_snake and listed in the game's rule page; ``facts`` help a person and never depend on a card that
    the reader may not know.
    """

    def __init__(self, code: str, **facts: Any) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts


class Chance(Protocol):
    """Named, independent streams of the round's committed seed; drawing from one never shifts another."""

    def uniform(self, stream: str, m: int) -> int:
        """Return an integer in [0, m), 1 <= m <= 65536."""
        ...

    def shuffle(self, stream: str, items: Sequence[Card]) -> tuple[Card, ...]:
        """Return the items in the order the stream gives; index 0 is the top."""
        ...


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a game: its name, default and all allowed values, which share one JSON type."""

    name: str
    default: bool | int | str
    allowed: tuple[bool | int | str, ...]
    about: str


@dataclass(frozen=True, slots=True)
class Spec:
    """What a game is called, how many may play it, and the constants of its rules version."""

    slug: str
    title: str
    rules: str
    """Rules version, ``slug/number``."""
    seats_min: int
    seats_max: int
    options: tuple[Option, ...] = ()
    clocks: Mapping[str, int] = field(default_factory=dict)
    """Clock and limit names of the rule page to their values; names ending in ``_ms`` are milliseconds."""
    streams: tuple[str, ...] = ()
    """Names of the chance streams besides ``deck`` and ``first-seat``; ``/n`` stands for a number counted from 0."""
    unsequenced: frozenset[str] = frozenset()
    """Verbs that name their own window or turn and are exempt from the sequence check."""
    refusals: frozenset[str] = frozenset()
    """Codes with which an action that ``legal`` lists may still be refused; none but where the rule page says so."""
    match_game: bool = False
    """True where one buy-in and one pot span several rounds."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything a round starts from besides its chance."""

    seats: tuple[Seat, ...]
    """Ascending, which is clockwise."""
    deck: tuple[Card, ...]
    """The shuffled cards, index 0 on top."""
    options: Options
    now: int
    """Unix time in milliseconds."""
    opener: Seat
    carry: JSON = None
    """What the previous round of the same match handed on."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A re-ordering of the draw deck.  Secret while the round runs."""

    gen: int
    stream: str
    source: tuple[Card, ...]
    """The cards that went into the shuffle or insert_back."""
    order: tuple[Card, ...]
    """The draw deck that came out, top first."""


S = TypeVar("S")


class Step(NamedTuple, Generic[S]):
    """What one call into a game produced.

    A named tuple, since one is made at every step and it is built twice as fast as a frozen dataclass.
    """

    state: S
    events: tuple[Event, ...]
    generations: tuple[Generation, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a round ended."""

    final: bool
    """False while a match goes on with another round; then no money moves yet."""
    shares: Mapping[Seat, int]
    """Integer weights of the seats that get money."""
    ranking: tuple[tuple[Seat, ...], ...]
    """Groups of seats, best first, each ascending; without seats that left."""
    scores: Mapping[Seat, int]
    reason: str
    carry: JSON = None


class Game(Protocol[S]):
    """One game's rules.  Instances hold no state of a round."""

    spec: Spec

    def deck(self, options: Options, seats: int) -> tuple[Card, ...]:
        """Return the canonical order of the cards for this many seats, before any shuffle."""
        ...

    def start(self, setup: Setup, chance: Chance) -> Step[S]:
        """Deal and open the round.

        Raises:
            RuleError: bad_option, bad_seats, bad_opener, bad_deck or bad_carry.
        """
        ...

    def actors(self, state: S) -> frozenset[Seat]:
        """Return the seats whose turn it is; may be empty while a clock plays."""
        ...

    def legal(self, state: S, seat: Seat, now: int) -> tuple[Action, ...]:
        """Return every action the seat may take now, parameters filled in, in the order of the rule page.

        They may be shared with other calls and rounds: change a copy.
        """
        ...

    def act(self, state: S, seat: Seat, action: Action, now: int, chance: Chance) -> Step[S]:
        """Apply one action.

        Raises:
            RuleError: with the code of the first guard that fails; nothing changes.
        """
        ...

    def wake_at(self, state: S) -> int | None:
        """Return the earliest time at which something happens by itself; None once the round is over."""
        ...

    def wake(self, state: S, now: int, chance: Chance) -> Step[S]:
        """Let everything that is due by ``now`` happen, in order of its due time."""
        ...

    def leave(self, state: S, seat: Seat, reason: str, now: int, chance: Chance) -> Step[S]:
        """Take the seat out of the round for good; ``reason`` is left, timeouts or connection."""
        ...

    def connection(self, state: S, seat: Seat, connected: bool, now: int) -> Step[S]:
        """Tell that the seat's connection was lost or is back; clocks may shorten."""
        ...

    def outcome(self, state: S) -> Outcome | None:
        """Return how the round ended; None while it runs."""
        ...

    def view(self, state: S, viewer: Seat | None) -> View:
        """Return all that the viewer may know, ready for JSON; None is a spectator.  Does not depend on the time."""
        ...

    def dump(self, state: S) -> JSON:
        """Return the state as plain JSON with string keys."""
        ...

    def load(self, data: JSON) -> S:
        """Return a state equal to the one that was dumped."""
        ...
