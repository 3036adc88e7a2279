"""Seats: who may sit, who plays the next round, and who loses the seat.

Rules: docs/games/common.md, X-17 to X-19.
"""

from __future__ import annotations

import threading
from uuid import UUID

import pytest
from django.db import connection

from apps.accounts.errors import LimitExceeded
from apps.accounts.limits import LimitKind
from apps.accounts.models import Player
from apps.accounts.services import LimitWish, limits_set, player_upsert
from apps.core.errors import ApplicationError
from apps.tables.errors import BuyInShort, RoundRunning, SelfPlay, TableClosed, TablePaused, WrongTableCode
from apps.tables.models import Round, Seat, Table
from apps.tables.services import advance, play, seats, tables
from tests.tables.conftest import House, Place

pytestmark = pytest.mark.django_db(transaction=True)


class TestSitting:
    def test_many_who_want_one_seat_at_once_get_one_seat(self, house: House) -> None:
        place = house.table()
        players = [house.player() for _ in range(8)]
        told: list[str] = []

        def sit(player_id: UUID) -> None:
            try:
                seats.seat_take(
                    table_id=place.id,
                    operator_id=house.operator_id,
                    player_id=player_id,
                    number=2,
                    now_ms=place.now,
                )
                told.append("sits")
            except ApplicationError as refusal:
                told.append(refusal.code)
            finally:
                connection.close()

        threads = [threading.Thread(target=sit, args=(player,)) for player in players]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(told) == ["seat_taken"] * 7 + ["sits"]

    def test_one_player_from_two_devices_sits_once(self, house: House) -> None:
        place, player = house.table(), house.player()
        told: list[str] = []

        def sit(number: int) -> None:
            try:
                seats.seat_take(
                    table_id=place.id,
                    operator_id=house.operator_id,
                    player_id=player,
                    number=number,
                    now_ms=place.now,
                )
                told.append("sits")
            except ApplicationError as refusal:
                told.append(refusal.code)
            finally:
                connection.close()

        threads = [threading.Thread(target=sit, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(told) == ["already_seated", "sits"]

    def test_one_person_under_two_accounts_sits_once(self, house: House) -> None:
        place = house.table()
        place.sit(0, house.player(person_key="human-1"))
        with pytest.raises(SelfPlay):
            place.sit(1, house.player(person_key="human-1"))

    def test_one_person_from_two_accounts_at_once_sits_once(self, house: House) -> None:
        place = house.table()
        players = [house.player(person_key="human-1") for _ in range(4)]
        told: list[str] = []

        def sit(number: int) -> None:
            try:
                seats.seat_take(
                    table_id=place.id,
                    operator_id=house.operator_id,
                    player_id=players[number],
                    number=number,
                    now_ms=place.now,
                )
                told.append("sits")
            except ApplicationError as refusal:
                told.append(refusal.code)
            finally:
                connection.close()

        threads = [threading.Thread(target=sit, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(told) == ["self_play"] * 3 + ["sits"]

    def test_two_who_turn_out_to_be_one_person_do_not_play_each_other(self, house: House) -> None:
        place = house.table()
        for number in (0, 1):
            external_id = Player.objects.get(pk=place.sit(number)).external_id
            player_upsert(operator_id=house.operator_id, external_id=external_id, person_key="human-1")
        place.ready(0)
        with pytest.raises(SelfPlay):
            place.ready(1)

    def test_a_private_table_asks_for_its_code(self, house: House) -> None:
        place = house.table(code="friends")
        with pytest.raises(WrongTableCode):
            place.sit(0)

    def test_a_paused_table_takes_nobody_and_a_drained_one_closes(self, house: House) -> None:
        place = house.table()
        place.sit(0)
        tables.table_status_set(table_id=place.id, status="paused", now_ms=place.now)
        with pytest.raises(TablePaused):
            place.sit(1)
        tables.table_status_set(table_id=place.id, status="draining", now_ms=place.now)
        assert place.table.status == Table.Status.CLOSED
        assert not Seat.objects.filter(table_id=place.id).exists()
        with pytest.raises(TableClosed):
            place.sit(1)

    def test_a_draining_table_plays_its_round_to_the_end(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        tables.table_status_set(table_id=place.id, status="draining", now_ms=place.now)
        assert Round.objects.get(pk=round_.pk).status == Round.Status.RUNNING
        place.play_out()
        assert Round.objects.get(pk=round_.pk).status == Round.Status.FINISHED
        assert Table.objects.get(pk=place.id).status == Table.Status.CLOSED


class TestLossLimit:
    def limited(self, house: House, lost_minor: int) -> tuple[UUID, UUID]:
        """Return two accounts of one person, who may lose so much in a day."""
        players = house.player(person_key="human-1"), house.player(person_key="human-1")
        wish = LimitWish(LimitKind.LOSS_DAY, "PTS", lost_minor)
        limits_set(player_id=players[0], wishes=[wish], actor="test", now=house.now_ms)
        return players

    def test_counts_what_the_other_account_has_at_stake(self, house: House) -> None:
        first, second = self.limited(house, 1_999)
        place, other = house.table(), house.table()
        place.sit(0, first)
        place.deal(0, 1)
        other.sit(0, second)
        with pytest.raises(LimitExceeded) as told:
            other.ready(0)
        assert told.value.facts["kind"] == "loss_day"

    def test_two_stakes_at_once_do_not_both_just_fit(self, house: House) -> None:
        places = [house.table(), house.table()]
        for place, player in zip(places, self.limited(house, 1_999), strict=True):
            place.sit(0, player)
        told: list[str] = []

        def ready(place: Place) -> None:
            try:
                place.ready(0)
                told.append("ready")
            except ApplicationError as refusal:
                told.append(refusal.code)
            finally:
                connection.close()

        threads = [threading.Thread(target=ready, args=(place,)) for place in places]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(told) == ["limit_exceeded", "ready"]


class TestReadiness:
    def test_who_cannot_pay_is_told_so_and_is_not_ready(self, house: House) -> None:
        place = house.table()
        place.sit(0, house.player(points=999))
        with pytest.raises(BuyInShort) as told:
            place.ready(0)
        assert told.value.facts == {"balance_minor": 999, "needed_minor": 1_000}

    def test_a_stake_spent_meanwhile_leaves_the_seat_out_and_the_others_play(self, house: House) -> None:
        place = house.table()
        rich = house.player(points=1_000)
        other = house.table()
        for number in (0, 1):
            place.sit(number)
        place.sit(2, rich)
        other.sit(0, rich)
        other.sit(1)
        place.ready(2)
        other.ready(0)
        other.ready(1)
        assert house.points(rich) == 0
        place.ready(0)
        place.ready(1)
        round_ = place.round
        assert (round_.status, list(round_.numbers)) == (Round.Status.RUNNING, [0, 1])
        assert not Seat.objects.get(table_id=place.id, number=2).is_ready

    def test_who_sits_down_during_a_round_waits(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        place.sit(2)
        with pytest.raises(RoundRunning):
            place.ready(2, round_id=round_.pk)
        place.play_out()
        place.deal(0, 1, 2)
        assert list(place.round.numbers) == [0, 1, 2]

    def test_three_rounds_not_played_free_the_seat(self, house: House) -> None:
        place = house.table(start_after_ms=0)
        for number in (0, 1, 2):
            place.sit(number)
        for missed in (1, 2, 3):
            place.ready(0)
            place.ready(1)
            found = Seat.objects.filter(table_id=place.id, number=2).first()
            assert (found.rounds_missed if found else 3) == missed
            play.round_leave(round_id=place.round.pk, player_id=place.players[0], session_id=None, now_ms=place.now)
            place.sit(0, place.players[0])
        assert not Seat.objects.filter(table_id=place.id, number=2).exists()

    def test_sitting_out_lets_the_others_start_without_waiting(self, house: House) -> None:
        place = house.table()
        for number in (0, 1, 2):
            place.sit(number)
        seats.seat_away_set(table_id=place.id, player_id=place.players[2], away=True, now_ms=place.now)
        place.ready(0)
        place.ready(1)
        assert list(place.round.numbers) == [0, 1]

    def test_a_round_waits_for_the_pause_between_rounds(self, house: House) -> None:
        place = house.table(pause_ms=5_000)
        place.deal(0, 1)
        place.play_out()
        place.ready(0)
        place.ready(1)
        assert place.round.status == Round.Status.OPEN
        house.now_ms = place.table.start_at_ms or 0
        advance.table_tick(table_id=place.id, now_ms=place.now)
        assert place.round.status == Round.Status.RUNNING
