"""The verifier's own programs follow a running server's log over HTTP, and see when it goes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from apps.fairness import sequencer, tree
from apps.fairness.models import KeyUse
from apps.fairness.protocol.trust import Trust, trust_read
from apps.fairness.protocol.verdict import PASS
from apps.fairness.verify.watch import watch
from tests.fairness.keys import ceremony
from tests.fairness.table import START_MS, FairTable

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


class Monitor:
    """Somebody else's machine with a state file and a pinned trust file."""

    def __init__(self, base: str, folder: Path, trust: Trust) -> None:
        self.base, self.trust = base, trust
        self.state = str(folder / "log.state")

    def look(self, now_ms: int) -> tuple[int, str | None]:
        """Return the size that was seen and the verdict."""
        seen = watch(base=self.base, state_path=self.state, trust=self.trust, now_ms=now_ms, jobs=1)
        return seen.size, seen.verdict.verdict


@pytest.fixture
def monitor(live_server: Any, tmp_path: Path, client: Any) -> Monitor:
    """Return a monitor that pinned the trust file on the first day."""
    sequencer.tick(now_ms=START_MS)
    trust = client.get("/v1/fairness/trust.json").content
    return Monitor(live_server.url, tmp_path, trust_read(json.loads(trust)))


def test_follows_rounds_of_all_modes_voids_and_new_keys(monitor: Monitor) -> None:
    assert monitor.look(START_MS) == (3, PASS)
    FairTable(entropy="none").unplayed_round(0, 1)
    ceremony(START_MS).rotate(KeyUse.RECORDS, reason="scheduled")
    sealed = FairTable(entropy="sealed")
    sealed.open()
    sealed.merge()
    hands = sealed.seats(0, 1)
    sealed.close(hands)
    sealed.merge()
    assert monitor.look(START_MS) == (10, PASS)
    rows = sealed.open_seats(hands[:1])
    sealed.void(stage="close", reason="entropy_missing", fault="seat:1", entropies=rows)
    sealed.merge()
    table = FairTable(entropy="open")
    table.unplayed_round(0, 1, 2)
    table.unplayed_round(0, 1, 2)
    assert monitor.look(table.now_ms) == (17, PASS)


def test_sees_a_round_that_never_ends(monitor: Monitor) -> None:
    table = FairTable(entropy="open")
    table.open()
    table.merge()
    table.dealt(table.roster(table.seats(0, 1)))
    table.merge()
    deadline = table.deal.dealt_ms + 6 * 3_600_000 + 1000
    assert monitor.look(deadline)[1] == PASS
    assert monitor.look(deadline + 1)[1] == "log_overdue"


def test_sees_a_log_that_was_rolled_back(monitor: Monitor, administrator: psycopg.Connection) -> None:
    FairTable(entropy="none").unplayed_round(0, 1)
    assert monitor.look(START_MS + 600_000) == (6, PASS)
    with administrator.transaction():
        administrator.execute("SET LOCAL session_replication_role = replica")
        administrator.execute("DELETE FROM fairness_checkpoint WHERE size > 3")
        administrator.execute("DELETE FROM fairness_record WHERE log_index >= 3")
        administrator.execute("DELETE FROM fairness_round")
        administrator.execute("UPDATE fairness_log SET size = 3")
    tree.forget_all()
    for _ in range(2):
        FairTable(entropy="none").unplayed_round(0, 1)
    assert monitor.look(START_MS + 600_000)[1] == "log_root"
