"""The clock of a table in a sandbox moves deadlines, and the round stays one that verifies."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings

from apps.core import clock
from apps.core.sandbox import HEADER
from apps.fairness import sequencer
from apps.fairness.protocol.verify import verify_bundles
from apps.games.monko.rules import FIRST_TURN_MS
from apps.history import selectors as history
from apps.history.models import Entry
from apps.tables.models import Round
from tests.accounts.conftest import Caller
from tests.tables.conftest import House, Place

pytestmark = pytest.mark.django_db(transaction=True)


def advance(house: House, table_id: Any, ms: int = 600_000) -> Any:
    """Move a table's clock by the route."""
    return Caller(house.key)("POST", f"/sandbox/tables/{table_id}/clock", {"ms": ms})


class TestClock:
    def test_lets_a_turn_run_out(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        before = Entry.objects.filter(round_id=round_.pk).count()
        with override_settings(SEALDECK_SANDBOX=True):
            assert advance(house, place.id).status_code == 200
        assert Entry.objects.filter(round_id=round_.pk).count() > before

    def test_starts_a_round_that_waits_for_more_players(self, house: House) -> None:
        place = house.table(start_after_ms=600_000, seats_max=4)
        place.sit(2)
        for number in (0, 1):
            place.sit(number)
        for number in (0, 1):
            place.ready(number)
        assert place.round.status == Round.Status.OPEN
        with override_settings(SEALDECK_SANDBOX=True):
            advance(house, place.id)
        assert place.round.status == Round.Status.RUNNING
        assert (place.round.wake_at_ms or 0) - clock.now_ms() < 60_000, "the first turn begins now"

    def test_goes_from_deadline_to_deadline_and_no_further_than_it_was_told(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        with override_settings(SEALDECK_SANDBOX=True):
            for _ in range(2):
                seq, deadline_ms = place.round.seq, place.round.wake_at_ms
                left_ms = (deadline_ms or 0) - clock.now_ms()
                advance(house, place.id, left_ms // 2)
                assert (place.round.seq, place.round.wake_at_ms) == (seq, deadline_ms), "nothing was due"
                advance(house, place.id, left_ms)
                assert Entry.objects.filter(round_id=round_.pk, seq__gt=seq).count() == 1
                assert (place.round.wake_at_ms or 0) - clock.now_ms() <= FIRST_TURN_MS, "a turn as long as any"

    def test_plays_a_round_to_an_end_that_verifies(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        with override_settings(SEALDECK_SANDBOX=True):
            assert advance(house, place.id).status_code == 200
        round_.refresh_from_db()
        assert round_.status == Round.Status.FINISHED
        sequencer.tick(now_ms=clock.now_ms())
        line = history.bundle(round_id=round_.pk).data + b"\n"
        assert [verdict.verdict for verdict in verify_bundles([line], complete=True)] == ["pass"]

    def test_is_nobodys_elsewhere_and_not_another_operators(self, house: House) -> None:
        place, other = house.table(), House()
        round_ = place.deal(0, 1)
        before = Entry.objects.filter(round_id=round_.pk).count()
        assert advance(house, place.id).json()["code"] == "table_not_found"
        with override_settings(SEALDECK_SANDBOX=True):
            assert advance(other, place.id).json()["code"] == "table_not_found"
            assert advance(house, place.id, 600_001).status_code == 400
        assert Entry.objects.filter(round_id=round_.pk).count() == before


class TestMove:
    def sender(self, house: House) -> tuple[Place, Any]:
        """Return a table at play, and what sends the first move of its round with a wish, again and again."""
        place = house.table()
        round_ = place.deal(0, 1)
        number = place.turn()
        body = {"action": place.legal(number)[0], "seen": round_.seq}
        caller, path = Caller(house.token(place.players[number])), f"/rounds/{round_.pk.hex}/actions"

        def send(**wish: str) -> Any:
            return caller("POST", path, body, **{"Idempotency-Key": "one-move"}, **wish)

        return place, send

    def test_whose_answer_is_lost_is_played_and_the_retry_tells(self, house: House, settings: Any) -> None:
        settings.SEALDECK_SANDBOX = True
        place, send = self.sender(house)
        seq = place.round.seq
        lost = send(**{HEADER: "lost"})
        assert (lost.status_code, lost.content, place.round.seq) == (504, b"", seq + 1)
        again = send()
        assert (again.status_code, again.headers["Idempotency-Replayed"]) == (201, "true")
        assert place.round.seq == seq + 1

    def test_that_is_refused_to_order_is_not_played(self, house: House, settings: Any) -> None:
        settings.SEALDECK_SANDBOX = True
        place, send = self.sender(house)
        seq = place.round.seq
        refused = send(**{HEADER: "refuse=stale_seq"})
        assert (refused.status_code, refused.json()["code"], place.round.seq) == (409, "stale_seq", seq)

    def test_does_not_heed_the_header_elsewhere(self, house: House) -> None:
        _, send = self.sender(house)
        assert send(**{HEADER: "lost"}).status_code == 201
