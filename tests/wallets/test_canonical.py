"""The canonical forms of blocks and daily files, byte by byte (tests/vectors/ledger_blocks.json)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from apps.wallets import canonical
from apps.wallets.canonical import Block, BlockEntry
from apps.wallets.keys import signature_is_valid

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "ledger_blocks.json").read_text())


def block_of(case: dict[str, Any]) -> Block:
    """Return the block that a vector describes."""
    entries = [BlockEntry(**{**entry, "tx_id": UUID(entry["tx_id"])}) for entry in case["entries"]]
    return Block(
        UUID(case["operator_id"]),
        case["seq"],
        bytes.fromhex(case["prev_hash"]),
        case["from_xid"],
        case["upto_xid"],
        entries,
    )


class TestBlockVectors:
    @pytest.mark.parametrize("case", VECTORS["blocks"], ids=lambda case: str(case["name"]))
    def test_content_hash_and_signature_are_as_published(self, case: dict[str, Any]) -> None:
        block = block_of(case)
        assert block.content().decode("ascii").splitlines() == case["lines"]
        assert block.content().endswith(b"\n")
        assert block.hash().hex() == case["hash"]
        statement = canonical.block_statement(block.operator_id, block.seq, block.hash(), case["sealed_at_ms"])
        assert statement.decode("ascii") == case["statement"]
        public_key = bytes.fromhex(VECTORS["public_key"])
        assert canonical.kid_of(public_key) == VECTORS["kid"]
        assert signature_is_valid(public_key, bytes.fromhex(case["signature"]), statement)
        assert not signature_is_valid(public_key, bytes.fromhex(case["signature"]), statement + b" ")

    def test_the_second_block_names_the_first(self) -> None:
        first, second = VECTORS["blocks"][:2]
        assert second["prev_hash"] == first["hash"]
        assert first["prev_hash"] == canonical.GENESIS.hex()

    @pytest.mark.parametrize(
        "change",
        [
            {"id": 9},
            {"tx_id": UUID(int=9)},
            {"account_id": 9},
            {"currency": "GEM"},
            {"amount": 9},
            {"account_seq": None},
            {"kind": "debit"},
            {"external_id": "other"},
            {"created_at_ms": 9},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_every_field_of_an_entry_changes_the_hash(self, change: dict[str, Any]) -> None:
        block = block_of(VECTORS["blocks"][0])
        changed = replace(block, entries=[replace(block.entries[0], **change), *block.entries[1:]])
        assert changed.hash() != block.hash()

    @pytest.mark.parametrize(
        "change", [{"operator_id": UUID(int=9)}, {"seq": 9}, {"prev_hash": bytes(31) + b"\1"}, {"from_xid": 9}]
    )
    def test_every_field_of_a_block_changes_the_hash(self, change: dict[str, Any]) -> None:
        block = block_of(VECTORS["blocks"][0])
        assert replace(block, **change).hash() != block.hash()


class TestDailyVector:
    def test_body_hash_and_signature_are_as_published(self) -> None:
        case = VECTORS["daily"]
        body = canonical.daily_body(case["header"], case["transactions"])
        assert body.decode("ascii").splitlines() == case["lines"]
        assert canonical.daily_hash(body).hex() == case["hash"]
        statement = canonical.daily_statement(
            UUID(case["header"]["operator_id"]),
            case["header"]["currency"],
            case["header"]["day"],
            canonical.daily_hash(body),
        )
        assert statement.decode("ascii") == case["statement"]
        assert signature_is_valid(bytes.fromhex(VECTORS["public_key"]), bytes.fromhex(case["signature"]), statement)
