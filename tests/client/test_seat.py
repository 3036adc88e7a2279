"""A seat's contribution: its own bytes, signed as the protocol says."""

from __future__ import annotations

import hashlib

import pytest

from apps.client.seat import SeatKey, contribute
from apps.fairness.protocol import contributions

ROUND, OPEN, CLOSE = "0679c979fe46c7d1f983bca60f37ef0f", "04" * 32, "05" * 32
CP = {"size": 9, "root": "ab" * 32, "note": "log\n9\n"}
QUOTED = {"size": 9, "root": "ab" * 32}


class TestContribute:
    def test_signs_its_entropy_in_open_mode(self) -> None:
        key = SeatKey.make()
        mine = contribute(mode="open", round_id=ROUND, open_hash=OPEN, seat=3, key=key, cp=CP)
        body = mine.ready_body()
        assert body.keys() == {"round_id", "entropy", "pk", "cp", "sig"}
        assert (body["round_id"], body["entropy"], body["pk"], body["cp"]) == (
            ROUND,
            mine.entropy.hex(),
            key.pk,
            QUOTED,
        )
        signed = contributions.entropy_body(
            round_=ROUND, open_=OPEN, seat=3, pk=key.pk, entropy=mine.entropy.hex(), cp=QUOTED
        )
        assert contributions.seat_verify(bytes.fromhex(key.pk), "entropy", signed, bytes.fromhex(body["sig"]))

    def test_commits_and_then_opens_in_sealed_mode(self) -> None:
        key = SeatKey.make()
        mine = contribute(mode="sealed", round_id=ROUND, open_hash=OPEN, seat=0, key=key, entropy=b"e" * 32)
        ready = mine.ready_body()
        assert ready.keys() == {"round_id", "commit", "pk", "cp", "sig"}
        assert mine.entropy.hex() not in str(ready)
        signed = contributions.commit_body(round_=ROUND, open_=OPEN, seat=0, pk=key.pk, commit=ready["commit"], cp=None)
        assert contributions.seat_verify(bytes.fromhex(key.pk), "commit", signed, bytes.fromhex(ready["sig"]))
        opening = mine.opening_body(close_hash=CLOSE, cp=CP)
        assert (opening["entropy"], opening["cp"]) == ((b"e" * 32).hex(), QUOTED)
        told = contributions.reveal_body(round_=ROUND, close=CLOSE, seat=0, entropy=opening["entropy"], cp=QUOTED)
        assert contributions.seat_verify(bytes.fromhex(key.pk), "reveal", told, bytes.fromhex(opening["sig"]))
        made = contributions.commitment(
            round_=bytes.fromhex(ROUND),
            open_hash=bytes.fromhex(OPEN),
            seat=0,
            public_key=bytes.fromhex(key.pk),
            entropy=b"e" * 32,
        )
        assert ready["commit"] == made.hex()

    def test_without_a_key_has_no_signature_and_quotes_nothing(self) -> None:
        mine = contribute(mode="open", round_id=ROUND, open_hash=OPEN, seat=1, key=None, cp=CP)
        assert mine.ready_body() == {
            "round_id": ROUND,
            "entropy": mine.entropy.hex(),
            "pk": "",
            "cp": None,
            "sig": "",
        }
        sealed = contribute(mode="sealed", round_id=ROUND, open_hash=OPEN, seat=1, key=None)
        opening = sealed.opening_body(close_hash=CLOSE, cp=CP)
        assert (opening["cp"], opening["sig"]) == (None, "")

    def test_gives_nothing_where_nobody_contributes(self) -> None:
        mine = contribute(mode="none", round_id=ROUND, open_hash=OPEN, seat=1, key=SeatKey.make())
        assert mine.ready_body() == {"round_id": ROUND}

    def test_is_fresh_every_time(self) -> None:
        made = {contribute(mode="open", round_id=ROUND, open_hash=OPEN, seat=1, key=None).entropy for _ in range(9)}
        assert len(made) == 9
        assert all(len(entropy) == 32 for entropy in made)
        assert SeatKey.make().pk != SeatKey.make().pk

    @pytest.mark.parametrize("entropy", [b"", b"x" * 31, b"x" * 33])
    def test_needs_32_bytes(self, entropy: bytes) -> None:
        with pytest.raises(ValueError, match="32 bytes"):
            contribute(mode="open", round_id=ROUND, open_hash=OPEN, seat=1, key=None, entropy=entropy)

    def test_never_shows_its_secrets(self) -> None:
        key = SeatKey(hashlib.sha256(b"k").digest())
        mine = contribute(mode="sealed", round_id=ROUND, open_hash=OPEN, seat=1, key=key)
        assert key.secret.hex() not in repr(mine) + repr(key)
        assert repr(mine.entropy) not in repr(mine)
        assert repr(key.secret) not in repr(mine)
