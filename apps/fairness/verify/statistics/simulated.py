"""Simulated rounds: the protocol's own shuffle from made-up seeds and contributions, for every game known here.

Shows what the battery says of a house that is honest, with as many decks as one likes.  Never says anything about a
real house.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from apps.fairness.protocol.records import round_id
from apps.fairness.protocol.streams import DECK, KeySchedule, opener
from apps.fairness.verify.statistics.decks import Deck, dealt_of
from apps.games import registry

ROUNDS_PER_TABLE = 1000
SEATS = (0, 1, 2, 3)


def simulated_round(slug: str, number: int, secret: bytes, seats: Sequence[int] = SEATS) -> Deck:
    """Return one round of a game: open contributions of all seats, no beacon."""
    game = registry.game(slug)
    options = {option.name: option.default for option in game.spec.options}
    place, index = divmod(number, ROUNDS_PER_TABLE)
    table = _bytes(secret, f"{slug} table {place}")[:16]
    round_ = round_id(table, index)
    seed = _bytes(secret, f"{slug} seed {number}")
    rows = [(seat, b"", _bytes(secret, f"{slug} entropy {number} {seat}")) for seat in seats]
    open_hash = _bytes(secret, f"{slug} open {number}")
    schedule = KeySchedule.derive(seed=seed, rows=rows, round_=round_, open_hash=open_hash)
    chance, order = schedule.chance(), game.deck(options, len(seats))
    return Deck(
        round=round_.hex(),
        table=table.hex(),
        index=index,
        rules=game.spec.rules,
        void=None,
        seed=seed.hex(),
        entropies=tuple(entropy.hex() for _, _, entropy in rows),
        dealt=dealt_of(order, chance.shuffle(DECK, order), seats, opener(seats, None, chance), options, schedule),
    )


def simulated_batch(secret: bytes, batch: list[tuple[str, int]]) -> list[Deck]:
    """Return the rounds of a list of games and numbers."""
    return [simulated_round(slug, number, secret) for slug, number in batch]


def _bytes(secret: bytes, label: str) -> bytes:
    return sha256(secret + label.encode()).digest()
