"""A pot is always paid out or given back, and no escrow keeps anything: whoever leaves, sleeps, or is frozen."""

from __future__ import annotations

import threading
from contextlib import suppress
from uuid import UUID

import pytest
from django.db import connection, transaction

from apps.accounts.models import PlayerStatus
from apps.accounts.services import player_status_set
from apps.core import clock
from apps.fairness.models import Record
from apps.games import registry
from apps.tables import sweeper
from apps.tables.errors import RoundClosed, StaleSeq
from apps.tables.models import Round, Seat
from apps.tables.services import advance, play
from apps.wallets.models import AccountStatus, LedgerTransaction
from apps.wallets.services import account_status_set
from tests.tables.conftest import POINTS, House, Place

pytestmark = pytest.mark.django_db(transaction=True)


def settled(place: Place, round_: Round) -> None:
    """Check that a round's pot went somewhere, once, and that nothing is left in its escrow."""
    round_.refresh_from_db()
    assert round_.status in (Round.Status.FINISHED, Round.Status.VOID)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(e.amount), 0) FROM wallets_entry e JOIN wallets_account a ON a.id = e.account_id"
            " WHERE a.kind = 'escrow' AND e.operator_id = %s",
            [place.house.operator_id],
        )
        assert cursor.fetchone() == (0,)
    total = sum(place.house.points(player) for player in place.players.values())
    assert total + round_.fee_minor == POINTS * len(place.players)
    assert LedgerTransaction.objects.filter(round_id=round_.pk, kind__in=("settle", "void")).count() == 1


def leave(place: Place, round_id: UUID, number: int) -> None:
    """Let a seat leave the round."""
    play.round_leave(round_id=round_id, player_id=place.players[number], session_id=None, now_ms=place.now)


class TestPots:
    @pytest.mark.parametrize("slug", registry.slugs())
    def test_when_everybody_leaves_the_last_one_is_paid(self, house: House, slug: str) -> None:
        place = house.table(slug)
        round_ = place.deal(0, 1, 2, 3)
        for number in (0, 1, 2):
            leave(place, round_.pk, number)
        settled(place, round_)
        assert house.points(place.players[3]) == POINTS - 1_000 + 3_800

    @pytest.mark.parametrize("slug", registry.slugs())
    def test_when_nobody_ever_moves_somebody_is_paid_or_everybody_gets_it_back(self, house: House, slug: str) -> None:
        place = house.table(slug)
        round_ = place.deal(0, 1, 2)
        for _ in range(200):
            round_.refresh_from_db()
            if round_.status != Round.Status.RUNNING:
                break
            house.now_ms = max(house.now_ms, round_.wake_at_ms or 0)
            place.wake(round_.pk)
        if not (round_.outcome or {}).get("final", True):
            house.now_ms += 300_000
            advance.table_tick(table_id=place.id, now_ms=place.now)
            round_ = Round.objects.get(pk=round_.match_id)
        settled(place, round_)

    def test_a_winner_who_is_frozen_meanwhile_is_paid_into_the_frozen_account(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        player_status_set(player_id=place.players[1], status=PlayerStatus.FROZEN, reason="under investigation")
        with transaction.atomic():
            account_status_set(
                operator_id=house.operator_id,
                player_id=place.players[1],
                currency="PTS",
                status=AccountStatus.FROZEN,
                actor="test",
                reason="under investigation",
            )
        leave(place, round_.pk, 0)
        settled(place, round_)
        assert house.points(place.players[1]) == POINTS - 1_000 + 1_900


def played(place: Place, round_: Round) -> Round:
    """Play a round out in real time, whatever clocks run out meanwhile."""
    while round_.status == Round.Status.RUNNING:
        place.house.now_ms = max(place.now, clock.now_ms())
        with suppress(StaleSeq, RoundClosed):
            place.play_out()
        round_.refresh_from_db()
    return round_


class TestSweepingAllTheTime:
    def test_ends_no_round_twice_and_voids_none_that_is_played(self, house: House) -> None:
        over = threading.Event()

        def sweeps() -> None:
            try:
                while not over.is_set():
                    sweeper.sweep()
            finally:
                connection.close()

        threads = [threading.Thread(target=sweeps) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            ended = []
            for slug in registry.slugs():
                place = house.table(slug)
                ended.append(played(place, place.deal(0, 1)))
        finally:
            over.set()
            for thread in threads:
                thread.join()
        assert {round_.status for round_ in ended} == {Round.Status.FINISHED}
        for round_ in ended:
            types = list(Record.objects.filter(round_id=round_.pk).order_by("id").values_list("type", flat=True))
            assert types == ["open", "deck", "reveal"]


class TestEviction:
    def test_an_evicted_player_has_nothing_locked(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        for _ in range(40):
            round_.refresh_from_db()
            if round_.status != Round.Status.RUNNING:
                break
            house.now_ms = round_.wake_at_ms or 0
            place.wake(round_.pk)
        settled(place, round_)
        [removed] = round_.desk["left"]
        assert round_.desk["left"][removed] == "timeouts"
        assert not Seat.objects.filter(table_id=place.id, number=int(removed)).exists()
        assert house.points(place.players[int(removed)]) == POINTS - 1_000
