"""Chance of simulations: the streams of apps/games/chance.py, against the standard library and written down."""

from __future__ import annotations

import hmac

import pytest

from apps.games.chance import SeededChance, mac


@pytest.mark.parametrize("message", [b"", b"tremor/0", bytes(8), bytes(range(200))])
def test_mac_is_hmac_sha_256(message: bytes) -> None:
    for key in (bytes(32), bytes(range(32)), b"\xff" * 32):
        assert mac(key, message) == hmac.digest(key, message, "sha256")


def words(seed: int, stream: str) -> list[int]:
    """Return the first words of a stream, as the module's description says, with the standard library only."""
    key = hmac.digest(str(seed).encode(), b"sealdeck/simulation/", "sha256")
    stream_key = hmac.digest(key, stream.encode(), "sha256")
    data = b"".join(hmac.digest(stream_key, block.to_bytes(8, "big"), "sha256") for block in range(40))
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]


@pytest.mark.parametrize("m", [1, 2, 3, 10_000, 40_000, 65_535, 65_536])
def test_uniform_is_the_first_word_below_the_largest_multiple(m: int) -> None:
    for seed in range(30):
        expected = next(word % m for word in words(seed, "tremor/3") if word < 65_536 - 65_536 % m)
        assert SeededChance(seed).uniform("tremor/3", m) == expected


@pytest.mark.parametrize("cards", [0, 1, 2, 5, 54, 108])
def test_shuffle_is_fisher_yates_from_the_end(cards: int) -> None:
    for seed in range(10):
        stream = iter(words(seed, "deck"))
        order = [str(card) for card in range(cards)]
        for left in range(cards, 1, -1):
            other = next(word % left for word in stream if word < 65_536 - 65_536 % left)
            order[left - 1], order[other] = order[other], order[left - 1]
        assert SeededChance(seed).shuffle("deck", [str(card) for card in range(cards)]) == tuple(order)


def test_streams_seeds_and_labels_are_independent() -> None:
    chances = [SeededChance(1), SeededChance(2), SeededChance(1, "other")]
    numbers = {chance.uniform(stream, 65_536) for chance in chances for stream in ("a", "b", "a/0")}
    assert len(numbers) == 9
    assert SeededChance(1).uniform("a", 65_536) == SeededChance(1).uniform("a", 65_536)
