"""The key ceremony, its command, and re-wrapping under a new key-encryption key."""

from __future__ import annotations

import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command

from apps.fairness import dealer, rewrap, sealing, selectors, sequencer
from apps.fairness.ceremony import Ceremony, CeremonyError, root_key_create, root_key_read
from apps.fairness.errors import KeysUnavailable
from apps.fairness.models import KeyUse, Log, Record, SigningKey
from apps.fairness.protocol import signatures
from apps.fairness.protocol.notes import checkpoint_read, checkpoint_verify
from apps.fairness.protocol.records import key_id
from apps.fairness.protocol.trust import trust_read
from apps.fairness.protocol.verify import verify_bundles
from tests.fairness.keys import ROOT_SECRET, ceremony
from tests.fairness.table import START_MS, FairTable

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

NEW = {"test-1": "11" * 32, "test-2": "22" * 32}


def command(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, no_color=True)
    return out.getvalue()


@pytest.fixture
def root_file(tmp_path: Path, settings: Any) -> Path:
    """Return the file with the root key of the suite's log."""
    path = tmp_path / "root"
    path.write_text(ROOT_SECRET.hex() + "\n")
    settings.SEALDECK_ROOT_KEY_FILE = str(path)
    return path


@pytest.fixture
def no_log(administrator: psycopg.Connection) -> None:
    """Take the suite's log away."""
    with administrator.transaction():
        administrator.execute("SET LOCAL session_replication_role = replica")
        administrator.execute("TRUNCATE fairness_log, fairness_signing_key, fairness_record CASCADE")


def verdict(table: FairTable) -> str | None:

    return verify_bundles([json.dumps(table.bundle())], trust_read(selectors.trust()))[0].verdict


class TestRotation:
    def test_of_the_records_key_revokes_the_old_one_and_rounds_go_on(self) -> None:
        table = FairTable(entropy="open")
        table.open()
        table.merge()
        hands = table.seats(0, 1)
        old = SigningKey.objects.get(use="records")
        kid = ceremony().rotate(KeyUse.RECORDS, reason="scheduled")
        table.dealt(table.roster(hands))
        table.reveal([0, 1], table.play([0, 1]))
        table.merge()
        assert [record["kid"] for record in table.bundle()["records"]] == [old.kid, kid, kid]
        assert SigningKey.objects.get(pk=old.kid).revoked_id is not None
        assert verdict(table) == "pass"

    def test_of_the_log_key_signs_with_both_until_the_old_one_is_revoked(self) -> None:
        sequencer.tick(now_ms=START_MS)
        before = trust_read(selectors.trust())
        ceremony().rotate(KeyUse.LOG, reason="scheduled")
        sequencer.tick(now_ms=START_MS)
        after = selectors.published()
        assert after is not None
        checkpoint = checkpoint_read(after.note)
        assert len(checkpoint.lines) == 2
        checkpoint_verify(checkpoint, before.log)
        old = SigningKey.objects.filter(use="log").order_by("added").first()
        assert old is not None
        ceremony().revoke(old.kid, reason="scheduled")
        sequencer.tick(now_ms=START_MS)
        now = trust_read(selectors.trust())
        assert now.log != before.log
        newest = selectors.published()
        assert newest is not None
        checkpoint_verify(checkpoint_read(newest.note), now.log)

    def test_of_the_root_key_hands_over_to_the_new_one(self) -> None:
        new = Ceremony(root_secret=bytes(range(32, 64)), now_ms=START_MS)
        with pytest.raises(CeremonyError, match="not a live root key"):
            new.rotate(KeyUse.RECORDS, reason="scheduled")
        ceremony().rotate(KeyUse.ROOT, reason="scheduled", new_root=new.root_secret)
        before = selectors.trust()
        new.revoke(key_id(signatures.public_key(ROOT_SECRET)), reason="scheduled")
        new.rotate(KeyUse.RECORDS, reason="scheduled")
        with pytest.raises(CeremonyError, match="not a live root key"):
            ceremony().rotate(KeyUse.RECORDS, reason="scheduled")
        table = FairTable(entropy="none")
        table.whole_round(0, 1)
        assert selectors.trust() == before, "trust files pin the root key that began the log"
        assert verdict(table) == "pass"

    def test_never_revokes_the_last_key_of_a_use(self) -> None:
        key = SigningKey.objects.get(use="records")
        with pytest.raises(CeremonyError, match="last live records key"):
            ceremony().revoke(key.kid, reason="scheduled")
        assert Record.objects.count() == 3

    def test_refuses_a_root_key_of_another_log(self) -> None:
        with pytest.raises(CeremonyError, match="not a live root key"):
            Ceremony(root_secret=os.urandom(32), now_ms=START_MS).rotate(KeyUse.RECORDS, reason="scheduled")
        assert Record.objects.count() == 3


class TestCommand:
    def test_starts_a_log_once(self, no_log: None, tmp_path: Path, settings: Any) -> None:
        settings.SEALDECK_ROOT_KEY_FILE = str(tmp_path / "keys" / "root")
        assert "was started" in command("fairness_keys", "init", "--create-root")
        assert command("fairness_keys", "init", "--if-missing", "--create-root") == ""
        with pytest.raises(CommandError, match="has a log already"):
            command("fairness_keys", "init")
        sequencer.tick(now_ms=START_MS)
        assert trust_read(selectors.trust()).log.name == settings.SEALDECK_LOG_ORIGIN

    def test_makes_a_root_key_only_its_owner_can_read(self, tmp_path: Path) -> None:
        path = tmp_path / "root"
        said = command("fairness_keys", "root-new", str(path))
        assert path.stat().st_mode & 0o777 == 0o600
        assert root_key_read(path).hex() not in said
        with pytest.raises(CommandError, match="never overwritten"):
            command("fairness_keys", "root-new", str(path))

    def test_rotates_revokes_and_shows(self, root_file: Path) -> None:
        command("fairness_keys", "rotate", "log")
        old = SigningKey.objects.filter(use="log").order_by("added").first()
        assert old is not None
        command("fairness_keys", "revoke", old.kid, "--reason", "scheduled")
        said = command("fairness_keys", "status")
        assert f"{old.kid}  revoked" in said
        assert ROOT_SECRET.hex() not in said

    def test_starts_no_log_beside_one_that_was_signed_before(
        self, no_log: None, root_file: Path, tmp_path: Path, settings: Any
    ) -> None:
        settings.SEALDECK_LOG_ANCHOR_FILE = str(tmp_path / "anchor")
        (tmp_path / "anchor").write_text(f"3 {bytes(32).hex()}\n")
        with pytest.raises(CommandError, match="never started twice"):
            command("fairness_keys", "init")
        assert not Log.objects.exists()

    @pytest.mark.parametrize("content", ["", "zz", "00" * 31, "00" * 33])
    def test_refuses_a_file_that_holds_no_key(self, root_file: Path, content: str) -> None:
        root_file.write_text(content)
        with pytest.raises(CommandError, match="does not hold a root key"):
            command("fairness_keys", "rotate", "records")


class TestRewrap:
    @pytest.fixture
    def running(self) -> FairTable:
        table = FairTable(entropy="open")
        table.open()
        table.merge()
        table.dealt(table.roster(table.seats(0, 1)))
        return table

    def test_moves_everything_to_the_newest_key(self, running: FairTable, settings: Any) -> None:
        openings = dealer.openings(running.round_id, [(0, 3)])
        settings.SEALDECK_KEKS, settings.SEALDECK_KEK_ID = NEW, "test-2"
        with pytest.raises(CommandError, match="sealed under older keys"):
            command("fairness_rewrap", "--check")
        command("fairness_rewrap")
        command("fairness_rewrap", "--check")
        settings.SEALDECK_KEKS = {"test-2": NEW["test-2"]}
        dealer.forget_all()
        assert dealer.openings(running.round_id, [(0, 3)]) == openings
        running.reveal([0, 1], running.play([0, 1]))
        running.merge()
        assert verdict(running) == "pass"

    def test_counts_what_names_each_key(self, running: FairTable) -> None:
        assert rewrap.uses(using="owner")["fairness_signing_key"] == {"test-1": 2}
        assert rewrap.uses(using="owner")["fairness_round"] == {"test-1": 1}

    def test_needs_the_old_key(self, running: FairTable, settings: Any) -> None:
        settings.SEALDECK_KEKS, settings.SEALDECK_KEK_ID = {"test-2": NEW["test-2"]}, "test-2"
        with pytest.raises(CommandError, match="test-1"):
            command("fairness_rewrap")
        dealer.forget_all()
        with pytest.raises(KeysUnavailable):
            dealer.openings(running.round_id, [(0, 3)])

    def test_leaves_older_snapshots_readable(self, running: FairTable, settings: Any) -> None:
        sealed = dealer.state_seal(running.round_id, 7, b"state")
        settings.SEALDECK_KEKS, settings.SEALDECK_KEK_ID = NEW, "test-2"
        assert dealer.state_open(running.round_id, 7, sealed) == b"state"
        assert sealing.kek_id_of(dealer.state_seal(running.round_id, 8, b"state")) == "test-2"


def test_a_root_key_file_is_as_it_was_written(tmp_path: Path) -> None:
    public = root_key_create(tmp_path / "root")
    assert len(public) == 32
    assert len(root_key_read(tmp_path / "root")) == 32
