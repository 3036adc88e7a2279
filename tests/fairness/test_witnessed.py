"""A server and a real witness process: what counts as published, and two stories told to two audiences.

Protocol: docs/fairness/protocol.md, sections 11 and 13; docs/fairness/threats.md, "show two logs to two audiences".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from apps.client.logview import LogView, ProofFailed
from apps.core import clock
from apps.fairness import selectors, sequencer, tasks, tree
from apps.fairness.models import Checkpoint, Cosignature
from apps.fairness.protocol import notes
from apps.fairness.protocol.trust import trust_read
from apps.fairness.verify import cli
from apps.fairness.verify.watch import watch
from tests.fairness.table import START_MS, FairTable
from tests.fairness.witness.process import WitnessProcess

pytestmark = pytest.mark.django_db(transaction=True)

LATER_MS = START_MS + 600_000


@pytest.fixture
def witness(settings: Any, tmp_path: Path) -> Iterator[WitnessProcess]:
    """Return the one witness that the log needs, with the log begun and cosigned."""
    pinned = tmp_path / "log.json"
    pinned.write_text(json.dumps(selectors.trust()))
    made = WitnessProcess(tmp_path, [pinned])
    with made.serving() as url:
        settings.SEALDECK_WITNESSES = [{"vkey": str(made.key), "url": url}]
        settings.SEALDECK_WITNESS_QUORUM = 1
        sequencer.tick(now_ms=START_MS)
        assert tasks.cosign.run() == 1
        yield made


class Monitor:
    """Somebody who follows the log from elsewhere, with a pinned trust file."""

    def __init__(self, base: str, folder: Path, name: str) -> None:
        self.base, self.state = base, str(folder / f"{name}.state")
        self.trust = trust_read(selectors.trust())

    def codes(self) -> list[str]:
        """Return what is wrong with the log, seen from here."""
        seen = watch(base=self.base, state_path=self.state, trust=self.trust, now_ms=LATER_MS, jobs=1)
        return list(seen.verdict.codes)


def history_replaced(administrator: psycopg.Connection, size: int) -> None:
    """Cut the log back, as an operator with every right could, and tell other rounds instead."""
    with administrator.transaction():
        administrator.execute("SET LOCAL session_replication_role = replica")
        administrator.execute("DELETE FROM fairness_cosignature WHERE size > %s", [size])
        administrator.execute("DELETE FROM fairness_checkpoint WHERE size > %s", [size])
        administrator.execute("DELETE FROM fairness_record WHERE log_index >= %s", [size])
        administrator.execute("DELETE FROM fairness_round")
        administrator.execute("UPDATE fairness_log SET size = %s", [size])
    tree.forget_all()


class TestPublishing:
    def test_waits_for_the_witness_and_shows_its_line(self, witness: WitnessProcess, client: Any) -> None:
        table = FairTable(entropy="none")
        table.open()
        table.merge()
        assert selectors.open_published(table.round_id) is None, "signed, but nobody else saw it"
        assert tasks.cosign.run() == 1
        note = client.get("/v1/fairness/checkpoint").content.decode()
        [found] = notes.cosignatures(notes.checkpoint_read(note), [witness.key])
        assert abs(found.time_s - clock.now_ms() // 1000) < 60
        assert selectors.open_published(table.round_id) is not None

    def test_goes_on_where_the_witness_was_killed_and_came_back(self, witness: WitnessProcess, settings: Any) -> None:
        table = FairTable(entropy="none")
        table.open()
        table.merge()
        witness.kill()
        assert tasks.cosign.run() == 0
        assert selectors.open_published(table.round_id) is None
        witness.start()
        settings.SEALDECK_WITNESSES = [{"vkey": str(witness.key), "url": witness.url}]
        assert tasks.cosign.run() == 1
        assert selectors.open_published(table.round_id) is not None

    def test_a_whole_round_passes_with_the_quorum(
        self, witness: WitnessProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        table = FairTable(entropy="open")
        table.open()
        table.merge()
        tasks.cosign.run()
        table.dealt(table.roster(table.seats(0, 1)))
        table.reveal([0, 1], table.play([0, 1]))
        table.merge()
        tasks.cosign.run()
        trust, bundle = tmp_path / "trust.json", tmp_path / "round.json"
        trust.write_text(json.dumps(selectors.trust()))
        told = table.bundle()
        bundle.write_text(json.dumps(told))
        assert cli.main(["--trust", str(trust), str(bundle)]) == 0
        note = told["log"]["checkpoint"]
        told["log"]["checkpoint"] = "\n".join(note.split("\n")[:5]) + "\n"
        bundle.write_text(json.dumps(told))
        capsys.readouterr()
        assert cli.main(["--trust", str(trust), "--json", str(bundle)]) == 1
        assert json.loads(capsys.readouterr().out)["verdict"] == "witness_quorum"

    def test_is_hurried_after_a_merge(
        self, witness: WitnessProcess, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A record counts within a second of its signing, so the witnesses are not left to the next tick."""
        from config.celery import app

        monkeypatch.setitem(app.conf, "task_always_eager", True)
        FairTable(entropy="none").open()
        before = Checkpoint.objects.count()
        tasks.sequence.run()
        newest = Checkpoint.objects.order_by("-size")[0]
        assert Checkpoint.objects.count() == before + 1
        assert Cosignature.objects.filter(checkpoint=newest).count() == 1


class TestSplitView:
    def test_is_refused_by_the_witness_and_reported_by_every_monitor(
        self,
        witness: WitnessProcess,
        settings: Any,
        tmp_path: Path,
        live_server: Any,
        administrator: psycopg.Connection,
    ) -> None:
        """One audience was shown a round; for another the house makes a log of the same size without it."""
        first = FairTable(entropy="none")
        first.unplayed_round(0, 1)
        assert tasks.cosign.run() == 1
        there_before, newcomer = (Monitor(live_server.url, tmp_path, name) for name in ("before", "newcomer"))
        assert there_before.codes() == []
        player = LogView(there_before.trust)
        shown = selectors.published()
        assert shown is not None
        player.checkpoint_take(shown.note, now_s=clock.now_ms() // 1000)

        history_replaced(administrator, 3)
        second = FairTable(entropy="none")
        second.unplayed_round(0, 1)
        assert tasks.cosign.run() == 0
        other = Checkpoint.objects.get(size=shown.size)
        assert bytes(other.root).hex() != shown.root, "two trees of one size"

        held, [proof] = witness.memory.logs()[0], witness.memory.refused()
        assert (held.size, held.root.hex()) == (shown.size, shown.root)
        assert (proof.note, proof.held) == (other.note, held.note)
        for one in map(notes.checkpoint_read, (proof.note, proof.held)):
            notes.checkpoint_verify(one, there_before.trust.log)

        settings.SEALDECK_WITNESS_QUORUM = 0  # It shows the other log without anybody's line.
        assert set(there_before.codes()) == {"log_root", "log_consistency", "log_witness"}
        assert newcomer.codes() == ["log_witness"], "who has seen nothing still has the quorum"
        told = selectors.published()
        assert told is not None
        with pytest.raises(ProofFailed, match="witness_quorum"):
            player.checkpoint_take(told.note, now_s=clock.now_ms() // 1000)
        careless = LogView(trust_read({**selectors.trust(), "quorum": 0}))
        careless.checkpoint_take(shown.note, now_s=0)
        with pytest.raises(ProofFailed, match="view_split"):
            careless.checkpoint_take(told.note, now_s=0)

    def test_a_log_that_was_rolled_back_is_not_cosigned_until_it_is_whole_again(
        self, witness: WitnessProcess, administrator: psycopg.Connection
    ) -> None:
        table = FairTable(entropy="none")
        table.unplayed_round(0, 1)
        assert tasks.cosign.run() == 1
        held = witness.memory.logs()[0]
        history_replaced(administrator, 3)
        FairTable(entropy="none").open()
        sequencer.tick(now_ms=LATER_MS)
        assert tasks.cosign.run() == 0, "smaller than what was cosigned"
        for _ in range(2):
            FairTable(entropy="none").unplayed_round(0, 1)
        assert tasks.cosign.run() == 0, "larger, and another history"
        assert witness.memory.logs() == [held]
        assert [proof.held for proof in witness.memory.refused()] == [held.note]

    def test_monitors_pass_where_nothing_is_wrong(
        self, witness: WitnessProcess, tmp_path: Path, live_server: Any
    ) -> None:
        monitor = Monitor(live_server.url, tmp_path, "one")
        for _ in range(2):
            FairTable(entropy="none").unplayed_round(0, 1)
            tasks.cosign.run()
            assert monitor.codes() == []
