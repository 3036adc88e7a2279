"""The log's writer: one at a time, in order, twice hashed, and stopped by whatever it must not sign."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connections, transaction

from apps.core.health import Unhealthy
from apps.fairness import anchor, readiness, selectors, sequencer, tree
from apps.fairness.errors import LogUnavailable, OpenUnpublished
from apps.fairness.models import Checkpoint, FairRound, KeyUse, Log, Record, Tally, Tile
from apps.fairness.protocol import log as log_rules
from apps.fairness.protocol import notes
from apps.fairness.protocol.trust import trust_read
from tests.fairness.keys import ceremony
from tests.fairness.table import START_MS, FairTable, in_threads

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def tick(name: str = "test") -> list[sequencer.Merge]:
    return sequencer.tick(now_ms=START_MS, name=name)


def aside(work: Callable[[], None]) -> threading.Thread:
    """Return a thread for some work, with database connections of its own."""

    def run() -> None:
        try:
            work()
        finally:
            connections.close_all()

    return threading.Thread(target=run)


def voided_round() -> None:
    """Store the shortest life of a round: two records."""
    table = FairTable(entropy="none")
    table.open()
    table.void(stage="open", reason="not_started", fault="none")


def log_is_sound() -> int:
    """Check the whole log against its checkpoints and return its size."""
    rows = list(Record.objects.filter(log_index__isnull=False).order_by("log_index"))
    assert [row.log_index for row in rows] == list(range(len(rows)))
    key = trust_read(selectors.trust()).log
    frontier = log_rules.Frontier()
    checkpoints = {row.size: row for row in Checkpoint.objects.all()}
    last: dict[Any, int] = {}
    for row in rows:
        frontier.append(log_rules.leaf_hash(bytes(row.entry)))
        if row.round_id is not None:
            assert row.place == last.get(row.round_id, -1) + 1, "entries of a round are merged in its order"
            last[row.round_id] = row.place
        checkpoint = checkpoints.get(frontier.size)
        if checkpoint is not None:
            note = notes.checkpoint_read(checkpoint.note)
            notes.checkpoint_verify(note, key)
            assert (note.size, note.root) == (frontier.size, frontier.root())
    assert max(checkpoints) == len(rows) == Log.objects.get().size
    return len(rows)


class TestMerging:
    def test_publishes_the_keys_first(self) -> None:
        assert tick()[-1].size == 3
        announced = selectors.keys()
        assert [row["record"]["body"]["use"] for row in announced] == ["root", "log", "records"]

    def test_does_nothing_where_nothing_is_pending(self) -> None:
        tick()
        assert tick() == []
        assert Checkpoint.objects.count() == 1

    def test_rests_only_where_nothing_waits_and_all_was_looked_at_lately(self) -> None:
        assert not sequencer.is_idle(now_ms=START_MS), "the keys wait"
        tick()
        assert sequencer.is_idle(now_ms=START_MS)
        assert not sequencer.is_idle(now_ms=START_MS + sequencer.HEARTBEAT_MS)
        voided_round()
        assert not sequencer.is_idle(now_ms=START_MS)
        tick()
        assert sequencer.is_idle(now_ms=START_MS)
        Log.objects.update(stopped_at_ms=START_MS)
        assert not sequencer.is_idle(now_ms=START_MS), "a stopped writer is told of"

    def test_takes_batches_of_a_bounded_size(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sequencer, "BATCH_MAX", 4)
        monkeypatch.setattr(sequencer, "BATCHES_MAX", 2)
        for _ in range(5):
            voided_round()
        assert [merge.merged for merge in tick()] == [4, 4]
        assert [merge.merged for merge in tick()] == [4, 1]
        assert log_is_sound() == 13

    def test_serves_tiles_and_proofs_of_a_log_of_many_tiles(
        self, django_assert_max_num_queries: Callable[[int], Any]
    ) -> None:
        with transaction.atomic():
            for _ in range(130):
                voided_round()
        assert [merge.merged for merge in tick()] == [263]
        assert Tile.objects.filter(level=0).count() == 1
        size = log_is_sound()
        leaves = [bytes(row) for row in Record.objects.order_by("log_index").values_list("leaf_hash", flat=True)]
        memory = log_rules.MemoryTree(leaves)
        source = tree.source(size)
        for index in (0, 1, 255, 256, size - 1):
            assert log_rules.inclusion_path(source, index, size) == log_rules.inclusion_path(memory, index, size)
        for old in (1, 3, 128, 255, 256, 257, size):
            assert log_rules.consistency_path(source, old, size) == log_rules.consistency_path(memory, old, size)
        tree.forget_all()
        with django_assert_max_num_queries(8):
            selectors.inclusion(5, None)

    def test_counts_endings_as_they_are_merged(self) -> None:
        voided_round()
        FairTable(entropy="none").unplayed_round(0, 1)
        rows = {(row.ending, row.reason): row.rounds for row in Tally.objects.all()}
        assert rows == {("void", "not_started"): 1, ("reveal", ""): 1}
        assert sum(row["share_ppm"] for row in selectors.statistics()) == 1_000_000


class TestRaces:
    def test_two_writers_and_many_signers_make_one_log(self) -> None:
        stop = threading.Event()
        merged: list[int] = []

        def work(number: int) -> None:
            if number < 2:
                while not stop.is_set():
                    merged.extend(merge.merged for merge in tick(f"writer {number}"))
            else:
                try:
                    for _ in range(15):
                        voided_round()
                finally:
                    finished.append(number)
                    if len(finished) == 4:
                        stop.set()

        finished: list[int] = []
        in_threads(work, 6)
        merged.extend(merge.merged for merge in tick())
        assert sum(merged) == log_is_sound() == 3 + 4 * 15 * 2

    def test_an_older_transaction_that_commits_later_is_not_skipped(self) -> None:
        tick()
        table, other = FairTable(entropy="none"), FairTable(entropy="none")
        opened, go = threading.Event(), threading.Event()

        def slow() -> None:
            with transaction.atomic():
                table.open()
                opened.set()
                assert go.wait(30)

        thread = aside(slow)
        thread.start()
        assert opened.wait(30)
        other.open()
        assert tick()[0].merged == 1
        go.set()
        thread.join(30)
        assert tick()[0].merged == 1
        first, second = Record.objects.filter(type="open").order_by("id")
        assert (first.round_id, second.round_id) == (table.round_id, other.round_id)
        assert (first.log_index, second.log_index) == (4, 3)
        assert log_is_sound() == 5

    def test_a_key_is_revoked_only_when_nobody_signs_with_it(self) -> None:
        tick()
        table = FairTable(entropy="none")
        signed, go = threading.Event(), threading.Event()

        def sign() -> None:
            with transaction.atomic():
                table.open()
                signed.set()
                assert go.wait(30)

        def rotate() -> None:
            ceremony().rotate(KeyUse.RECORDS, reason="scheduled")

        first = aside(sign)
        second = aside(rotate)
        first.start()
        assert signed.wait(30)
        second.start()
        second.join(0.3)
        assert second.is_alive(), "the rotation waits for the signer"
        go.set()
        first.join(30)
        second.join(30)
        voided_round()
        tick()
        order = list(Record.objects.filter(log_index__gte=3).order_by("log_index").values_list("type", flat=True))
        assert order == ["open", "key", "key", "open", "void"]
        assert log_is_sound() == 8

    def test_takes_turns_with_another_process(self) -> None:
        tick("one")
        voided_round()
        tick("two")
        log = Log.objects.get()
        assert (log.holder, log.epoch) == ("two", 2)

    def test_steps_back_while_another_transaction_writes(self) -> None:
        begun, go = threading.Event(), threading.Event()

        def hold() -> None:
            with transaction.atomic(), connections["default"].cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(24225, 2)")
                begun.set()
                assert go.wait(30)

        thread = aside(hold)
        thread.start()
        assert begun.wait(30)
        assert tick() == []
        go.set()
        thread.join(30)
        assert tick()[0].size == 3


class TestStopping:
    @pytest.fixture
    def altered(self, administrator: psycopg.Connection) -> Callable[[str], None]:
        """Return a way to alter stored bytes that not even the owner has."""

        def alter(statement: str) -> None:
            with administrator.transaction():
                administrator.execute("SET LOCAL session_replication_role = replica")
                administrator.execute(statement)

        return alter

    def stopped(self) -> str:
        with pytest.raises(LogUnavailable):
            tick()
        size = Checkpoint.objects.order_by("-size").values_list("size", flat=True).first() or 0
        with pytest.raises(LogUnavailable, match="is stopped"):
            tick()
        assert Log.objects.get().size == size, "nothing was merged"
        return Log.objects.get().stopped_reason

    @pytest.mark.parametrize("column", ["entry", "leaf_hash", "record_hash"])
    def test_by_one_flipped_bit_in_a_pending_record(self, altered: Callable[[str], None], column: str) -> None:
        tick()
        voided_round()
        altered(
            f"UPDATE fairness_record SET {column} = set_bit({column}, 100, 1 - get_bit({column}, 100)) WHERE id = 4"
        )
        assert self.stopped() == "entry_unfit"

    def test_by_one_flipped_bit_in_a_merged_leaf(self, altered: Callable[[str], None]) -> None:
        tick()
        voided_round()
        altered("UPDATE fairness_record SET leaf_hash = set_bit(leaf_hash, 7, 1 - get_bit(leaf_hash, 7)) WHERE id = 2")
        assert self.stopped() == "tree_inconsistent"

    def test_by_one_flipped_bit_in_the_root_of_a_tile(self, altered: Callable[[str], None]) -> None:
        with transaction.atomic():
            for _ in range(130):
                voided_round()
        tick()
        voided_round()
        altered("UPDATE fairness_tile SET root = set_bit(root, 9, 1 - get_bit(root, 9))")
        assert self.stopped() == "tree_inconsistent"

    def test_by_a_checkpoint_that_is_gone(self, altered: Callable[[str], None]) -> None:
        tick()
        voided_round()
        tick()
        voided_round()
        altered("DELETE FROM fairness_checkpoint WHERE size = 5")
        with pytest.raises(LogUnavailable):
            tick()
        assert Log.objects.get().stopped_reason == "log_size"

    def test_by_a_record_whose_predecessor_is_not_merged(self, altered: Callable[[str], None]) -> None:
        tick()
        voided_round()
        altered("DELETE FROM fairness_record WHERE type = 'open'")
        assert self.stopped() == "entry_unfit"

    def test_by_a_record_of_a_key_that_is_not_live(self, altered: Callable[[str], None]) -> None:
        tick()
        ceremony().rotate(KeyUse.RECORDS, reason="scheduled")
        tick()
        altered("UPDATE fairness_signing_key SET revoked_id = NULL WHERE use = 'records' AND revoked_id IS NOT NULL")
        altered("UPDATE fairness_signing_key SET revoked_id = added_id WHERE added_id = 4")
        voided_round()
        assert self.stopped() == "entry_unfit"

    def test_by_a_database_older_than_the_anchor(
        self, altered: Callable[[str], None], settings: Any, tmp_path: Path
    ) -> None:
        settings.SEALDECK_LOG_ANCHOR_FILE = str(tmp_path / "anchor")
        tick()
        voided_round()
        tick()
        assert anchor.read() is not None
        # What restoring yesterday's backup does.
        altered("DELETE FROM fairness_checkpoint WHERE size = 5")
        altered("DELETE FROM fairness_record WHERE log_index >= 3")
        altered("UPDATE fairness_log SET size = 3")
        voided_round()
        assert self.stopped() == "log_rolled_back"

    def test_by_nothing_where_the_anchor_is_behind(self, settings: Any, tmp_path: Path) -> None:
        settings.SEALDECK_LOG_ANCHOR_FILE = str(tmp_path / "anchor")
        tick()
        first = (tmp_path / "anchor").read_bytes()
        voided_round()
        tick()
        # A process that died between the commit and the file leaves the older tree there.
        (tmp_path / "anchor").write_bytes(first)
        voided_round()
        assert tick()[0].size == 7
        assert anchor.read() == (7, bytes(Checkpoint.objects.get(size=7).root))

    def test_takes_no_contribution_while_stopped(self, altered: Callable[[str], None]) -> None:
        tick()
        table = FairTable()
        table.open()
        altered("UPDATE fairness_record SET entry = set_bit(entry, 100, 1 - get_bit(entry, 100)) WHERE id = 4")
        self.stopped()
        with pytest.raises(OpenUnpublished):
            table.seats(0, keyless=[0])


class TestReadiness:
    def test_is_given_while_the_log_goes_on(self) -> None:
        tick()
        readiness.log_check()

    def test_is_refused_where_a_record_waits(self) -> None:
        with pytest.raises(Unhealthy, match="has waited"):
            readiness.log_check()

    def test_is_refused_where_the_writer_is_stopped(self) -> None:
        Log.objects.update(stopped_reason="leaf_changed", stopped_at_ms=1)
        with pytest.raises(Unhealthy, match="stopped: leaf_changed"):
            readiness.log_check()

    def test_is_refused_where_there_is_no_log(self, administrator: psycopg.Connection) -> None:
        with administrator.transaction():
            administrator.execute("SET LOCAL session_replication_role = replica")
            administrator.execute("DELETE FROM fairness_log")
        with pytest.raises(Unhealthy, match="fairness_keys init"):
            readiness.log_check()
        with pytest.raises(LogUnavailable):
            tick()


def test_checkpoint_is_a_note_of_three_lines_and_a_signature() -> None:
    tick()
    published = selectors.published()
    assert published is not None
    body, _, signature = published.note.partition("\n\n")
    assert body.splitlines()[:2] == ["test.sealdeck.example/log", "3"]
    assert signature.startswith("— test.sealdeck.example/log ")
    assert json.loads(json.dumps(published.view()))["size"] == 3
    assert not FairRound.objects.exists()
