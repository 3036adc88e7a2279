"""The nine laws of the contract, for every registered game, every number of seats and every choice of options.

Source: docs/developers/engine-contract.md, section Laws; the checks stand in apps/games/laws.py and secrecy.py.
``SEALDECK_LAW_GAMES`` (default 1) is how many random rounds are played per game, seats and options; the long runs are
``make simulate`` with ``--laws``.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.games import registry
from apps.games.contract import Game, Seat
from apps.games.inputs import MANNERS, RandomPlay, apply, setup_of
from apps.games.laws import Laws, digest
from apps.games.secrecy import check_secrecy

GAMES_EACH = int(os.environ.get("SEALDECK_LAW_GAMES", "1"))
EXAMPLES_EACH = 4
PROCESS_GAMES = 3
TWINS = 2
INPUTS_MAX = 100_000

DIGEST_COMMAND = "import sys; from tests.games import test_laws; print(test_laws.digests(sys.argv[1]))"


def choices(slug: str) -> list[dict[str, Any]]:
    """Return every choice of options of a game."""
    options = registry.game(slug).spec.options
    values = itertools.product(*(option.allowed for option in options))
    return [dict(zip([option.name for option in options], chosen, strict=True)) for chosen in values]


TABLES = [
    (slug, seats, options)
    for slug in registry.slugs()
    for seats in range(registry.game(slug).spec.seats_min, registry.game(slug).spec.seats_max + 1)
    for options in choices(slug)
]
CASES = [  # Each with a first seed of its own, so that neighbours are played in another manner.
    pytest.param(slug, seats, options, first, id=f"{slug}-{seats}-{'-'.join(map(str, options.values())) or 'plain'}")
    for first, (slug, seats, options) in enumerate(TABLES)
]


def ring(count: int, gap: int) -> tuple[Seat, ...]:
    """Return seats with gaps between them."""
    return tuple(Seat(1 + place * (1 + gap)) if gap else Seat(place) for place in range(count))


def play_under_law(slug: str, seats: tuple[Seat, ...], options: dict[str, Any], manner: str, seed: int) -> Laws:
    """Play one round at random with all laws checked at every step, and its twins; carry a match on once."""
    game = registry.game(slug)
    part = registry.part(slug, "disclosures")
    carry = None
    for number in range(2):
        setup, chance = setup_of(game, seed * 2 + number, seats, options, carry)
        laws, source = Laws(game, setup, chance, seed), RandomPlay(game, seed, MANNERS[manner])
        while game.outcome(laws.state) is None:
            assert len(laws.inputs) < INPUTS_MAX
            laws.feed(source.next(laws.state))
        for twin in range(TWINS):
            check_secrecy(game, setup, chance, laws.inputs, seed * TWINS + twin, part.discloses if part else None)
        outcome = game.outcome(laws.state)
        assert outcome is not None
        if outcome.final:
            break
        carry = outcome.carry
        left = {row["seat"] for row in game.view(laws.state, None)["seats"] if row["status"] == "left"}
        seats = tuple(seat for seat in seats if seat not in left)
    return laws


@pytest.mark.parametrize(("slug", "seats", "options", "first"), CASES)
def test_random_rounds_break_no_law(slug: str, seats: int, options: dict[str, Any], first: int) -> None:
    for seed in range(first, first + GAMES_EACH):
        manner = sorted(MANNERS)[seed % len(MANNERS)]
        play_under_law(slug, ring(seats, seed // len(MANNERS) % 3), options, manner, seed)


@pytest.mark.parametrize("slug", registry.slugs())
def test_rounds_that_hypothesis_makes_up_break_no_law(slug: str) -> None:
    spec = registry.game(slug).spec

    @settings(
        max_examples=GAMES_EACH * EXAMPLES_EACH, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(
        seats=st.sets(st.integers(0, 254), min_size=spec.seats_min, max_size=spec.seats_max),
        options=st.sampled_from(choices(slug)),
        manner=st.sampled_from(sorted(MANNERS)),
        seed=st.integers(0, 2**32),
    )
    def check(seats: set[int], options: dict[str, Any], manner: str, seed: int) -> None:
        play_under_law(slug, tuple(Seat(seat) for seat in sorted(seats)), options, manner, seed)

    check()


def digests(slug: str) -> str:
    """Return digests of some rounds: events and dumps, in this process."""
    game = registry.game(slug)
    return " ".join(_digest_of(game, seed) for seed in range(PROCESS_GAMES))


def _digest_of(game: Game[Any], seed: int) -> str:
    spec = game.spec
    seats = ring(spec.seats_min + seed % (spec.seats_max - spec.seats_min + 1), seed % 3)
    setup, chance = setup_of(game, seed, seats)
    step = game.start(setup, chance)
    source = RandomPlay(game, seed, MANNERS["rough"])
    told: list[Any] = [step.events, [game.dump(step.state)]]
    while game.outcome(step.state) is None:
        step = apply(game, step.state, source.next(step.state), chance)
        told += [step.events, [game.dump(step.state)]]
    return digest(told)


@pytest.mark.parametrize("slug", registry.slugs())
def test_another_process_with_other_hashing_gives_the_same_bytes(slug: str) -> None:
    ours = digests(slug)
    for hash_seed in ("0", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        other = subprocess.run(
            [sys.executable, "-c", DIGEST_COMMAND, slug], env=environment, capture_output=True, text=True, check=True
        )
        assert other.stdout.split() == ours.split()
