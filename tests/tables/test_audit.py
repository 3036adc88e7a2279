"""Executing stored rounds again finds nothing where nothing is wrong, and what is wrong where something is."""

from __future__ import annotations

from io import StringIO

import psycopg
import pytest
from django.core.management import call_command

from apps.core import clock
from apps.fairness import sequencer
from apps.tables.audit import round_audit, round_findings
from apps.tables.models import Round, RoundSeat
from tests.tables.conftest import House

pytestmark = pytest.mark.django_db(transaction=True)


def read(round_: Round) -> Round:
    """Return the round as it is stored now."""
    return Round.objects.select_related("table").get(pk=round_.pk)


class TestFsck:
    def test_sound_rounds_of_every_kind_pass(self, house: House) -> None:
        monko, mojo = house.table(), house.table("mojo")
        for _ in range(2):
            monko.deal(0, 1, 2)
            monko.play_out()
        mojo.deal(0, 1)
        mojo.play_out()
        house.table("monkey_butt").deal(0, 1, 2)
        sequencer.tick(now_ms=clock.now_ms())
        told = StringIO()
        call_command("fsck", stdout=told)
        assert "4 rounds executed again, 0 findings." in told.getvalue()

    @pytest.mark.parametrize(
        ("change", "found"),
        [
            (
                r"""UPDATE history_entry SET body = replace(body, '"at":1', '"at":2') WHERE seq = 1""",
                "not what its input",
            ),
            ("UPDATE history_entry SET head = decode(repeat('00', 32), 'hex') WHERE seq = 1", "another head"),
            ("DELETE FROM history_entry WHERE seq = (SELECT max(seq) FROM history_entry)", "its row says"),
            ("UPDATE tables_round SET match_opener = 1 - match_opener, opener = 1 - opener", "not what its"),
            ("UPDATE tables_roundseat SET number = number + 5", "names a seat that did not pay"),
        ],
    )
    def test_a_changed_row_is_found(
        self, house: House, administrator: psycopg.Connection, change: str, found: str
    ) -> None:
        place = house.table()
        place.deal(0, 1)
        ended = place.play_out()
        with administrator.transaction():
            administrator.execute("SET LOCAL session_replication_role = replica")
            administrator.execute(change.encode())
        assert any(found in finding for finding in round_findings(read(ended)))

    def test_the_ledger_is_told_what_a_round_should_have_paid(self, house: House) -> None:
        place = house.table()
        place.deal(0, 1, 2)
        ended = place.play_out()
        audit = round_audit(ended.pk)
        assert audit is not None
        paid = {row.player_id: row.payout_minor for row in RoundSeat.objects.filter(round=ended) if row.payout_minor}
        assert (audit.pot_minor, audit.fee_bp, audit.payouts) == (3_000, 500, paid)
