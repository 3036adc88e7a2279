"""The check of everything stored finds one changed bit, wherever it is, and nothing where nothing was changed."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from apps.fairness import fsck, sequencer
from apps.fairness.errors import LogUnavailable
from apps.fairness.models import Generation, Log
from tests.fairness.table import START_MS, FairTable

pytestmark = pytest.mark.django_db(transaction=True)

Alter = Callable[[str], None]


@pytest.fixture
def altered(administrator: psycopg.Connection) -> Alter:
    """Return a way to alter stored bytes that not even the owner has."""

    def alter(statement: str) -> None:
        with administrator.transaction():
            administrator.execute("SET LOCAL session_replication_role = replica")
            assert administrator.execute(statement).rowcount

    return alter


@pytest.fixture
def played() -> FairTable:
    """Return a table with finished rounds, of which one made its deck anew, and a voided one."""
    table = FairTable(entropy="open")
    for seed in range(30):
        table.open()
        table.merge()
        table.dealt(table.roster(table.seats(0, 1)))
        table.reveal([0, 1], table.play([0, 1], seed=seed))
        table.merge()
        if Generation.objects.exists():
            break
    assert Generation.objects.exists(), "some round makes its deck anew"
    table.open()
    table.void(stage="open", reason="not_started", fault="none")
    table.merge()
    return table


def codes() -> list[str]:
    return [finding.code for finding in fsck.check(now_ms=START_MS)]


def flip(table: str, column: str, where: str = "true", bit: int = 77) -> str:
    return f"UPDATE {table} SET {column} = set_bit({column}, {bit}, 1 - get_bit({column}, {bit})) WHERE {where}"


def test_finds_nothing_where_nothing_was_changed(played: FairTable) -> None:
    assert codes() == []


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        (flip("fairness_record", "entry", "log_index = 4"), "entry"),
        (flip("fairness_record", "record_hash", "log_index = 4"), "entry"),
        (flip("fairness_record", "leaf_hash", "log_index = 4"), "entry"),
        ("UPDATE fairness_record SET log_index = 9000 WHERE log_index = 4", "log_index"),
        (flip("fairness_checkpoint", "root", "size = 4"), "checkpoint_root"),
        ("UPDATE fairness_checkpoint SET note = replace(note, '4', '5') WHERE size = 4", "checkpoint_note"),
        ("UPDATE fairness_log SET size = size + 1", "log_size"),
        (flip("fairness_round", "seed_sealed", bit=300), "seed_sealed"),
        (flip("fairness_round", "seed_commit"), "seed_sealed"),
        (flip("fairness_round", "open_hash"), "round_row"),
        (flip("fairness_round", "last_hash"), "round_row"),
        (flip("fairness_round", "deck_hash", "deck_hash IS NOT NULL"), "round_row"),
        ("UPDATE fairness_round SET table_id = gen_random_uuid()", "round_row"),
        (flip("fairness_generation", "source_sealed", bit=300), "generation_source"),
        (flip("fairness_generation", "root"), "generation_root"),
        ("UPDATE fairness_generation SET n = n + 1", "generation_root"),
        ("UPDATE fairness_deck_order SET codes = jsonb_set(codes, '{0}', codes -> 1)", "order"),
        ("DELETE FROM fairness_deck_order", "order_missing"),
        ("UPDATE fairness_tally SET rounds = rounds + 1 WHERE ending = 'void'", "tally"),
        ("DELETE FROM fairness_tally", "tally"),
    ],
)
def test_finds_one_change(played: FairTable, altered: Alter, statement: str, code: str) -> None:
    altered(statement)
    assert code in codes()


def test_finds_one_change_in_a_tile(altered: Alter) -> None:
    with transaction.atomic():
        for _ in range(127):
            table = FairTable(entropy="none")
            table.open()
            table.void(stage="open", reason="not_started", fault="none")
    sequencer.tick(now_ms=START_MS)
    for change in (flip("fairness_tile", "hashes"), flip("fairness_tile", "root")):
        altered(change)
        assert codes() == ["tile"]
        altered(change)
    altered("UPDATE fairness_tile SET level = 3")
    assert codes() == ["tile_missing", "tile_extra", "tile_extra"]
    altered("UPDATE fairness_tile SET level = 0")
    assert codes() == []
    altered("DELETE FROM fairness_tile")
    assert "tile_missing" in codes()


def test_names_a_record_that_nobody_merges() -> None:
    sequencer.tick(now_ms=START_MS)
    FairTable(entropy="none").open()
    assert [finding.code for finding in fsck.check(now_ms=START_MS + fsck.PENDING_MS)] == []
    assert [finding.code for finding in fsck.check(now_ms=START_MS + fsck.PENDING_MS + 1)] == ["pending"]


def test_lets_a_stopped_writer_go_on_after_a_clean_pass_only(altered: Alter) -> None:
    sequencer.tick(now_ms=START_MS)
    FairTable(entropy="none").open()
    change = flip("fairness_checkpoint", "root", "size = 3")
    altered(change)
    with pytest.raises(LogUnavailable):
        sequencer.tick(now_ms=START_MS)
    with pytest.raises(CommandError, match="findings"):
        call_command("fsck_fairness", "--resume", stdout=StringIO())
    assert Log.objects.get().stopped_reason == "tree_inconsistent"
    altered(change)
    call_command("fsck_fairness", "--resume", stdout=StringIO())
    assert sequencer.tick(now_ms=START_MS)[0].size == 4
