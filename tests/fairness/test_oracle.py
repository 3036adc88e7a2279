"""Who knows everything public, or even the seed, guesses the cards no better than chance; and a bad schedule is caught.

Hazard F1: results that could be worked out from the published commitment.  An oracle tries every 32-byte value that is
public as seed, as key of the round and as key of the deck's stream, plain and hashed; another one knows the seed before
the seats contribute, as the house does.  Both must fail to know a deck.  That they would notice is shown by key
schedules that are a plain hash of the seed.  Source: docs/fairness/protocol.md, sections 5 and 6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from math import sqrt
from typing import Any

import pytest
from django.test import Client

from apps.fairness import sealing
from apps.fairness.models import FairRound
from apps.fairness.protocol import streams
from apps.fairness.protocol.records import seed_commitment
from apps.fairness.protocol.streams import KeySchedule, Stream, StreamChance
from tests.fairness.table import FairTable
from tests.fairness.test_secrecy import everything_public

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 4
SIGMAS = 5
HONEST = KeySchedule.derive
Rows = list[tuple[int, bytes, bytes]]
values = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])").findall


class Game:
    """One round, what was public before its deal and during play, and the deck that nobody may know."""

    def __init__(self, client: Client) -> None:
        table = FairTable(entropy="open")
        table.open()
        table.merge()
        hands = table.seats(0, 1, 2)
        given = " ".join(f"{hand.pk} {hand.entropy}" for hand in hands)
        before = f"{everything_public(client, table)} {given}"
        table.dealt(table.roster(hands))
        table.play([0, 1, 2], entries_max=8)
        table.merge()
        row = FairRound.objects.get(pk=table.round_id)
        self.round = table.round_id.bytes
        self.open_hash = bytes(row.open_hash)
        self.seed = sealing.seed_open(
            bytes(row.seed_sealed), table=table.id.bytes, index=row.index, seed_commit=bytes(row.seed_commit)
        )
        self.rows: Rows = [(hand.number, bytes.fromhex(hand.pk), bytes.fromhex(hand.entropy)) for hand in hands]
        self.order = table.game.deck(table.options, 3)
        self.deck = table.deal.deck
        self.public = [bytes.fromhex(text) for text in {*values(before), *values(everything_public(client, table))}]


def schedules(game: Game, secret: bytes, rows: Rows) -> Iterable[KeySchedule]:
    """Give the key schedules that a value could stand for."""
    yield KeySchedule(secret, game.round)
    yield HONEST(seed=secret, rows=rows, round_=game.round, open_hash=game.open_hash)
    yield HONEST(seed=secret, rows=[], round_=game.round, open_hash=game.open_hash)


def guesses(game: Game, secrets: Iterable[bytes], rows: Rows) -> list[tuple[str, ...]]:
    """Return every deck that these values lead to."""
    found = []
    for value in secrets:
        for secret in (value, sha256(value).digest()):
            found.append(Stream(secret).shuffle(game.order))
            found += [StreamChance(one).shuffle(streams.DECK, game.order) for one in schedules(game, secret, rows)]
    return found


def who_knows(client: Client) -> set[str]:
    """Return which oracles know more of the decks than chance tells them."""
    knowing = set()
    for name, has in ORACLES.items():
        hits = tries = 0
        for game in (Game(client) for _ in range(ROUNDS)):
            decks = has(game)
            assert len(decks) > 6, "the oracle has something to try"
            if game.deck in decks:
                knowing.add(name)
            hits += sum(deck[0] == game.deck[0] for deck in decks)
            tries += len(decks)
        mean = tries / 108
        if hits > mean + SIGMAS * sqrt(mean) + SIGMAS:
            knowing.add(name)
    return knowing


def _public(game: Game) -> list[tuple[str, ...]]:
    return guesses(game, game.public, game.rows)


def _house(game: Game) -> list[tuple[str, ...]]:
    others: Rows = [(seat, pk, bytes(32)) for seat, pk, _ in game.rows]
    return guesses(game, [game.seed], others) + guesses(game, [game.seed], [])


ORACLES: dict[str, Callable[[Game], list[tuple[str, ...]]]] = {
    "who has all that is public": _public,
    "who has the seed before the seats contribute": _house,
}


def test_nobody_knows_the_deck(client: Client) -> None:
    assert who_knows(client) == set()


def plain(cls: type[KeySchedule], *, seed: bytes, round_: bytes, **_: Any) -> KeySchedule:
    """Return a schedule that is a plain hash of the seed."""
    return cls(sha256(seed).digest(), round_)


def committed(cls: type[KeySchedule], *, seed: bytes, round_: bytes, **_: Any) -> KeySchedule:
    """Return a schedule that is the very hash by which the seed was committed."""
    table, index = FairRound.objects.values_list("table_id", "index").get(pk=round_.hex())
    return cls(seed_commitment(table.bytes, index, seed), round_)


@pytest.mark.parametrize(
    ("schedule", "knowing"),
    [
        (plain, {"who has the seed before the seats contribute"}),
        (committed, {"who has all that is public"}),
    ],
)
def test_a_key_schedule_that_is_a_plain_hash_of_the_seed_is_noticed(
    client: Client, monkeypatch: pytest.MonkeyPatch, schedule: Any, knowing: set[str]
) -> None:
    monkeypatch.setattr(KeySchedule, "derive", classmethod(schedule))
    assert who_knows(client) == knowing
