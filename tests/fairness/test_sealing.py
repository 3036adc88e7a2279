"""Sealed values open with their own key and facts, and with nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from apps.fairness import checks, conf, dealer, sealing
from apps.fairness.errors import KeysUnavailable, SealBroken

ROUND = UUID(int=1)
OTHER = UUID(int=2)


class TestState:
    def test_opens_as_it_was(self) -> None:
        for data in (b"", b"x", bytes(100_000)):
            assert dealer.state_open(ROUND, 3, dealer.state_seal(ROUND, 3, data)) == data

    def test_never_looks_the_same_twice(self) -> None:
        assert dealer.state_seal(ROUND, 3, b"state") != dealer.state_seal(ROUND, 3, b"state")

    @pytest.mark.parametrize(("round_id", "seq"), [(ROUND, 4), (OTHER, 3)])
    def test_opens_nowhere_else(self, round_id: UUID, seq: int) -> None:
        with pytest.raises(SealBroken):
            dealer.state_open(round_id, seq, dealer.state_seal(ROUND, 3, b"state"))

    def test_opens_with_no_byte_changed(self) -> None:
        sealed = dealer.state_seal(ROUND, 3, b"state")
        for at in range(len(sealed)):
            changed = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]
            with pytest.raises((SealBroken, KeysUnavailable)):
                dealer.state_open(ROUND, 3, changed)

    def test_opens_with_no_byte_missing(self) -> None:
        sealed = dealer.state_seal(ROUND, 3, b"state")
        for size in range(len(sealed)):
            with pytest.raises((SealBroken, KeysUnavailable)):
                dealer.state_open(ROUND, 3, sealed[:size])


class TestSeed:
    FACTS: dict[str, Any] = {"table": bytes(16), "index": 7, "seed_commit": bytes(32)}  # noqa: RUF012

    def test_is_that_of_the_vectors(self, settings: Any) -> None:
        path = Path(__file__).parent.parent / "vectors" / "vectors.json"
        vector = json.loads(path.read_text())["primitives"]["at_rest"]
        settings.SEALDECK_KEKS = {vector["kek_id"]: vector["kek"]}
        seed = sealing.seed_open(
            bytes.fromhex(vector["blob"]),
            table=bytes.fromhex(vector["table"]),
            index=vector["index"],
            seed_commit=bytes.fromhex(vector["seed_commit"]),
        )
        assert seed.hex() == vector["seed"]

    @pytest.mark.parametrize("changed", [{"table": bytes(15) + b"x"}, {"index": 8}, {"seed_commit": bytes(31) + b"x"}])
    def test_opens_for_no_other_round(self, changed: dict[str, Any]) -> None:
        sealed = sealing.seed_seal(bytes(32), **self.FACTS)
        with pytest.raises(SealBroken):
            sealing.seed_open(sealed, **{**self.FACTS, **changed})

    def test_needs_its_key(self, settings: Any) -> None:
        sealed = sealing.seed_seal(bytes(32), **self.FACTS)
        settings.SEALDECK_KEKS, settings.SEALDECK_KEK_ID = {"other": "33" * 32}, "other"
        with pytest.raises(KeysUnavailable):
            sealing.seed_open(sealed, **self.FACTS)

    def test_is_sealed_by_no_process_without_keys(self, settings: Any) -> None:
        settings.SEALDECK_KEKS = {}
        with pytest.raises(KeysUnavailable):
            sealing.seed_seal(bytes(32), **self.FACTS)


class TestSettings:
    @pytest.mark.parametrize(
        "keks",
        [{"A": "11" * 32}, {"a" * 33: "11" * 32}, {"a": "11" * 31}, {"a": "zz" * 32}, {"a": 1}, ["a"],
         {"a": "11" * 32, "b": "11" * 32}],
    )  # fmt: skip
    def test_refuse_malformed_keys_without_showing_them(self, settings: Any, keks: Any) -> None:
        settings.SEALDECK_KEKS = keks
        with pytest.raises(conf.ConfigurationError) as caught:
            conf.keks()
        assert "1111" not in str(caught.value)
        assert [message.id for message in checks.keys_well_formed(None)] == ["fairness.E001"]

    @pytest.mark.parametrize(
        ("name", "value", "code"),
        [
            ("SEALDECK_KEK_ID", "other", "fairness.E002"),
            ("SEALDECK_LOG_ORIGIN", "a b", "fairness.E003"),
            ("SEALDECK_WITNESS_QUORUM", 1, "fairness.E004"),
            ("SEALDECK_WITNESSES", [{"vkey": "x", "url": "http://127.0.0.1"}], "fairness.E007"),
            ("SEALDECK_WITNESSES", [{"url": "http://127.0.0.1"}], "fairness.E007"),
            ("SEALDECK_WITNESSES", ["x"], "fairness.E007"),
        ],
    )
    def test_are_checked_at_the_start(self, settings: Any, name: str, value: Any, code: str) -> None:
        assert checks.keys_well_formed(None) == []
        setattr(settings, name, value)
        assert [message.id for message in checks.keys_well_formed(None)] == [code]

    def test_are_asked_for_in_production(self, settings: Any) -> None:
        assert checks.keys_present(None) == []
        settings.SEALDECK_KEKS, settings.SEALDECK_LOG_ORIGIN = {}, ""
        settings.SEALDECK_ROOT_KEY_FILE = "/root.key"
        found = [message.id for message in checks.keys_present(None)]
        assert found == ["fairness.E005", "fairness.E006", "fairness.W001"]
