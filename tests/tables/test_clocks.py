"""Clocks at the table: late moves, time-outs in a row, lost connections, outages.

Rules: docs/games/common.md, section 4 and X-14 to X-28.
"""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from django.db import connection, transaction

from apps.core import backlog, clock
from apps.core.health import Unhealthy
from apps.games.contract import RuleError
from apps.history.models import Entry
from apps.history.selectors import transcript
from apps.tables import presence, sweeper
from apps.tables.desk import GRACE_MS
from apps.tables.errors import RoundClosed, StaleSeq
from apps.tables.locks import table_lock
from apps.tables.models import Round, RoundSeat, Seat, Table
from apps.tables.services import advance, play, seats, tables
from tests.tables.conftest import POINTS, House, Place

pytestmark = pytest.mark.django_db(transaction=True)


def kinds(round_: Round) -> list[str]:
    """Return the kinds of a round's entries."""
    return [entry.kind for entry in transcript(round_id=round_.pk)]


def events(round_: Round, seq: int) -> list[dict[str, Any]]:
    """Return the events of one entry."""
    found: list[dict[str, Any]] = json.loads(transcript(round_id=round_.pk)[seq].body)["events"]
    return found


class TestTurnClock:
    def test_a_move_at_its_deadline_is_late_whoever_is_awake(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        number = place.turn()
        move = place.legal(number)[0]
        assert round_.wake_at_ms is not None
        house.now_ms = round_.wake_at_ms
        with pytest.raises(StaleSeq) as told:
            place.act(number, move, seen=0)
        assert told.value.facts["seq"] == 1
        assert kinds(round_) == ["start", "wake"]
        assert events(round_, 1)[0] == {"type": "timed_out", "seat": number, "counts": True}

    def test_a_move_a_millisecond_before_its_deadline_is_in_time(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        number = place.turn()
        assert round_.wake_at_ms is not None
        house.now_ms = round_.wake_at_ms - 1
        place.act(number, place.legal(number)[0])
        assert kinds(round_) == ["start", "act"]

    def test_reading_lets_what_is_due_happen(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        house.now_ms = (round_.wake_at_ms or 0) + 5
        assert place.wake()
        assert not place.wake()

    def test_move_and_time_out_at_once_are_one_of_the_two_200_times(self, house: House) -> None:
        answers: list[str] = []
        while len(answers) < RACES:
            place = house.table()
            round_ = place.deal(0, 1)
            while round_.status == Round.Status.RUNNING and len(answers) < RACES:
                answers.append(_race(place, round_))
                round_.refresh_from_db()
        assert set(answers) <= {"moved", "stale_seq", "round_closed"}


RACES = 200


def _race(place: Place, round_: Round) -> str:
    """Send a move that is just in time while the clock is about to run out; return what the player is told.

    Exactly one of the two happens: whoever is first changes the clock, or the number that the other one has seen.
    """
    number, barrier = place.turn(), threading.Barrier(2)
    legal = {action["type"]: action for action in place.legal(number)}
    if not legal.keys() & {"take", "pass"}:
        place.act(number, legal["draw"])  # Ends no turn and changes no clock.
        round_.refresh_from_db()
        legal = {action["type"]: action for action in place.legal(number)}
    move, due = legal.get("take") or legal["pass"], round_.wake_at_ms or 0
    told: list[StaleSeq | RoundClosed | None] = []

    def moves() -> None:
        try:
            barrier.wait()
            place.act(number, move, round_id=round_.pk, seen=round_.seq, now_ms=due - 1)
            told.append(None)
        except (StaleSeq, RoundClosed) as refusal:
            told.append(refusal)
        finally:
            connection.close()

    def wakes() -> None:
        try:
            barrier.wait()
            play.round_wake(round_id=round_.pk, now_ms=due)
        finally:
            connection.close()

    pair = [threading.Thread(target=moves), threading.Thread(target=wakes)]
    for thread in pair:
        thread.start()
    for thread in pair:
        thread.join()
    place.house.now_ms = due + 1
    fresh = list(Entry.objects.filter(round_id=round_.pk, seq__gt=round_.seq).order_by("seq"))
    [refusal] = told
    if refusal is None:
        assert [(entry.kind, entry.seat) for entry in fresh] == [("act", number)]
        return "moved"
    assert fresh[0].kind == "wake"
    assert {entry.kind for entry in fresh[1:]} <= {"leave"}
    if isinstance(refusal, StaleSeq):
        assert refusal.facts["seq"] == fresh[-1].seq
        assert refusal.facts["view"]["viewer"] == number
    return refusal.code


class TestTimeOutsInARow:
    def test_five_counted_time_outs_in_a_row_remove_the_seat(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1, 2)
        idle = place.turn()
        for _ in range(400):
            round_.refresh_from_db()
            if round_.status != Round.Status.RUNNING or str(idle) in round_.desk.get("left", {}):
                break
            number = place.turn()
            if number == idle:
                house.now_ms = round_.wake_at_ms or 0
                place.wake(round_.pk)
            else:
                legal = [a for a in place.legal(number) if a["type"] in ("draw", "pass", "take")]
                place.act(number, legal[0])
        assert round_.desk["left"] == {str(idle): "timeouts"}
        stored = [json.loads(entry.body) for entry in transcript(round_id=round_.pk)]
        at = next(i for i, entry in enumerate(stored) if entry["kind"] == "leave")
        assert stored[at]["input"] == {"reason": "timeouts"}
        assert stored[at]["at"] == stored[at - 1]["at"]
        assert [e["type"] for entry in stored[:at] for e in entry["events"]].count("timed_out") == 5
        place.play_out()
        assert not Seat.objects.filter(table_id=place.id, number=idle).exists()
        row = RoundSeat.objects.get(round_id=round_.pk, number=idle)
        assert (row.left_reason, row.payout_minor) == ("timeouts", 0)

    def test_an_accepted_action_on_turn_starts_the_row_anew(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        number = place.turn()
        house.now_ms = round_.wake_at_ms or 0
        place.wake()
        assert place.round.desk["timeouts"] == {str(number): 1}
        other = place.turn()
        place.act(other, next(a for a in place.legal(other) if a["type"] in ("draw", "take")))
        assert place.round.desk["timeouts"] == {str(number): 1}
        house.now_ms = place.round.wake_at_ms or 0
        place.wake()
        assert place.turn() == number
        place.act(number, next(a for a in place.legal(number) if a["type"] in ("draw", "take")))
        assert str(number) not in place.round.desk["timeouts"]

    def test_the_row_goes_on_over_rounds(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        for _ in range(4):
            house.now_ms = place.round.wake_at_ms or 0
            place.wake()
        counted = place.round.desk["timeouts"]
        play.round_leave(round_id=round_.pk, player_id=place.players[place.turn()], session_id=None, now_ms=place.now)
        kept = Seat.objects.get(table_id=place.id)
        assert kept.timeouts_row == counted.get(str(kept.number), 0)
        assert kept.timeouts_row == 2


class TestConnections:
    def test_a_lapsed_lease_shortens_the_clock_and_coming_back_keeps_the_hand(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        number = place.turn()
        seat = Seat.objects.get(table_id=place.id, number=number)
        presence.seats_seen(seat_ids=[seat.pk], until_ms=place.now + 100, now_ms=place.now)
        house.now_ms += 101
        assert presence.lease_lapse(seat_id=seat.pk, now_ms=place.now)
        assert [e["type"] for e in events(round_, 1)] == ["connection_changed", "clock_changed"]
        assert place.round.wake_at_ms == place.now + 5_000
        game, state = place.state()
        hand = game.view(state, number)["seats"][0 if number == 0 else 1]["hand"]
        presence.seats_seen(seat_ids=[seat.pk], until_ms=place.now + 60_000, now_ms=place.now)
        game, state = place.state()
        assert game.view(state, number)["seats"][0 if number == 0 else 1]["hand"] == hand
        assert kinds(round_) == ["start", "connection", "connection"]
        assert place.round.desk["lost_at"] == {}

    def test_who_is_away_for_two_minutes_has_left(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1, 2)
        away = next(n for n in (0, 1, 2) if n != place.turn())
        play.round_connection(round_id=round_.pk, seat=away, connected=False, now_ms=place.now)
        lost_at = place.now
        while place.now < lost_at + GRACE_MS:
            round_.refresh_from_db()
            number = place.turn()
            if number == away:
                house.now_ms = min(round_.wake_at_ms or 0, lost_at + GRACE_MS)
                place.wake(round_.pk)
            else:
                place.act(number, next(a for a in place.legal(number) if a["type"] in ("draw", "pass", "take")))
                house.now_ms += 3_000
        place.wake(round_.pk)
        round_.refresh_from_db()
        assert round_.desk["left"] == {str(away): "connection"}
        leave = next(entry for entry in transcript(round_id=round_.pk) if entry.kind == "leave")
        assert leave.seat == away
        assert leave.at_ms >= lost_at + GRACE_MS

    def test_an_action_of_a_seat_that_counts_as_away_brings_it_back_first(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        number = place.turn()
        play.round_connection(round_id=round_.pk, seat=number, connected=False, now_ms=place.now)
        with pytest.raises(RuleError):
            place.act(number, {"type": "nonsense"})
        assert kinds(round_) == ["start", "connection"]
        place.act(number, next(a for a in place_legal(place, number)))
        assert kinds(round_) == ["start", "connection", "connection", "act"]


def place_legal(place: Place, number: int) -> list[dict[str, Any]]:
    """Return what a seat could do if it were connected."""
    game, state = place.state()
    back = game.connection(state, number, True, place.now).state
    return list(game.legal(back, number, place.now))


class TestOutages:
    def test_an_outage_costs_nobody_a_turn(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        due = round_.wake_at_ms or 0
        number = place.turn()
        sweeper.outage_add(60_000)
        assert place.round.wake_at_ms == due + 60_000
        house.now_ms = due + 59_999
        assert not place.wake()
        place.act(number, place.legal(number)[0])
        entry = transcript(round_id=round_.pk)[1]
        assert entry.kind == "act"
        assert entry.at_ms == due - 1

    def test_an_outage_costs_nobody_a_connection_or_a_seat(self, house: House) -> None:
        place = house.table()
        for number in (0, 1):
            place.sit(number)
        now_ms = clock.now_ms()
        Seat.objects.filter(table_id=place.id, number=0).update(seen_until_ms=now_ms - 50_000)
        Seat.objects.filter(table_id=place.id, number=1).update(active_ms=now_ms - seats.IDLE_MAX_MS - 50_000)
        sweeper.outage_add(60_000)
        taken = sweeper.sweep()
        assert (taken["connections"], taken["idle_seats"]) == (0, 0)
        assert Seat.objects.filter(table_id=place.id, connected=True).count() == 2


class TestSweeper:
    def test_a_tick_lets_due_clocks_happen_and_a_second_one_nothing(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        Round.objects.filter(pk=round_.pk).update(wake_at_ms=place.now - 20_000, offset_ms=-30_000)
        assert sweeper.sweep()["clocks"] == 1
        assert sweeper.sweep()["clocks"] == 0
        assert kinds(round_) == ["start", "wake"]

    def test_two_sweepers_at_once_write_what_one_would(self, house: House) -> None:
        places = [house.table() for _ in range(6)]
        for place in places:
            place.deal(0, 1)
        Round.objects.update(offset_ms=-30_000, wake_at_ms=places[0].now - 1)

        def ticks() -> None:
            try:
                for _ in range(5):
                    sweeper.sweep()
            finally:
                connection.close()

        threads = [threading.Thread(target=ticks) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [kinds(place.round) for place in places] == [["start", "wake"]] * 6

    def test_a_round_that_nobody_moved_on_is_moved_on(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '200ms'")
        holder = threading.Event()
        held = threading.Event()

        def hold() -> None:
            from django.db import transaction

            from apps.tables.locks import table_lock

            try:
                with transaction.atomic():
                    table_lock(place.id)
                    held.set()
                    holder.wait(10)
            finally:
                connection.close()

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(10)
        play.round_leave(round_id=round_.pk, player_id=place.players[0], session_id=None, now_ms=place.now)
        stuck = Round.objects.get(pk=round_.pk)
        assert (stuck.status, stuck.advanced) == (Round.Status.FINISHED, False)
        holder.set()
        thread.join()
        connection.close()
        sweeper.sweep()
        assert Round.objects.get(pk=round_.pk).advanced
        assert place.round.index == 1

    def test_a_round_that_runs_for_ever_is_void_and_refunded(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        before = [house.points(player) for player in place.players.values()]
        advance.round_give_up(round_id=round_.pk, reason="operator_fault", now_ms=place.now)
        round_.refresh_from_db()
        assert round_.status == Round.Status.VOID
        assert [house.points(player) for player in place.players.values()] == [b + 1_000 for b in before]
        advance.round_give_up(round_id=round_.pk, reason="operator_fault", now_ms=place.now)
        assert [house.points(player) for player in place.players.values()] == [b + 1_000 for b in before]


class TestKinds:
    def test_everything_that_ticks_is_watched(self) -> None:
        watched = {finding.kind.name for finding in backlog.findings(clock.now_ms())}
        tables = {"clocks", "tables", "ended_rounds", "overdue_reveals", "connections", "idle_seats"}
        assert watched == tables | {"holds", "webhooks", "log_records", "nonces", "idempotency_keys"}

    def test_a_late_clock_makes_the_service_not_ready_until_it_has_run_out(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        late_ms = sweeper.ALARM_MS + 20_000
        Round.objects.filter(pk=round_.pk).update(wake_at_ms=place.now - late_ms, offset_ms=-30_000)
        with pytest.raises(Unhealthy, match="Of clocks, the oldest has been due for"):
            backlog.check()
        assert sweeper.sweep()["clocks"] == 1
        backlog.check()

    def test_a_tick_takes_a_bounded_number_of_rows(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sweeper, "BATCH_MAX", 2)
        places = [house.table() for _ in range(5)]
        for place in places:
            place.deal(0, 1)
        Round.objects.update(offset_ms=-30_000, wake_at_ms=places[0].now - 1)
        assert [sweeper.sweep()["clocks"] for _ in range(4)] == [2, 2, 1, 0]

    def test_a_kind_that_takes_long_gives_way_to_the_others(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sweeper, "KIND_MAX_S", 0.0)
        places = [house.table() for _ in range(3)]
        for place in places:
            place.deal(0, 1)
        Round.objects.update(offset_ms=-30_000, wake_at_ms=places[0].now - 1)
        Seat.objects.update(seen_until_ms=places[0].now - 1)
        taken = sweeper.sweep()
        assert 0 <= taken["clocks"] <= 1
        assert 0 <= taken["connections"] <= 1
        monkeypatch.setattr(sweeper, "KIND_MAX_S", 1.0)
        while any(sweeper.sweep().values()):
            pass
        assert [kinds(place.round)[:2] for place in places] == [["start", "wake"]] * 3

    def test_a_table_that_somebody_works_on_holds_up_no_tick(self, house: House) -> None:
        place, other = house.table(), house.table()
        for each in (place, other):
            each.sit(0)
        Table.objects.update(wake_at_ms=place.now - 1)
        locked, over = threading.Event(), threading.Event()

        def hold() -> None:
            try:
                with transaction.atomic():
                    table_lock(place.id)
                    locked.set()
                    over.wait(30)
            finally:
                connection.close()

        thread = threading.Thread(target=hold)
        thread.start()
        try:
            assert locked.wait(10)
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '30s'")  # Whoever waits for the lock waits for the test's end.
            assert sweeper.sweep()["tables"] == 2
            assert place.table.wake_at_ms == place.now - 1
            assert (other.table.wake_at_ms or 0) > place.now
        finally:
            over.set()
            thread.join()
            connection.close()


class TestIdleSeats:
    def test_who_does_nothing_for_too_long_loses_the_seat_though_no_round_starts(self, house: House) -> None:
        place = house.table()
        for number in (0, 1):
            place.sit(number)
        idle_since_ms = clock.now_ms() - seats.IDLE_MAX_MS - 1
        Seat.objects.filter(table_id=place.id, number=0).update(active_ms=idle_since_ms)
        assert sweeper.sweep()["idle_seats"] == 1
        assert list(Seat.objects.filter(table_id=place.id).values_list("number", flat=True)) == [1]
        assert house.points(place.players[0]) == POINTS
        place.sit(0, place.players[0])

    @pytest.mark.parametrize("state", [{"is_ready": True}, {"in_match": True}])
    def test_who_is_ready_or_in_a_match_keeps_it(self, house: House, state: dict[str, bool]) -> None:
        place = house.table()
        place.sit(0)
        Seat.objects.filter(table_id=place.id).update(active_ms=clock.now_ms() - seats.IDLE_MAX_MS - 1, **state)
        assert sweeper.sweep()["idle_seats"] == 0
        assert Seat.objects.filter(table_id=place.id).count() == 1

    def test_a_paused_table_takes_no_seat_and_gives_the_time_back(self, house: House) -> None:
        place = house.table()
        place.sit(0)
        tables.table_status_set(table_id=place.id, status="paused", now_ms=place.now)
        Seat.objects.filter(table_id=place.id).update(active_ms=clock.now_ms() - seats.IDLE_MAX_MS - 1)
        assert sweeper.sweep()["idle_seats"] == 0
        tables.table_status_set(table_id=place.id, status="open", now_ms=clock.now_ms())
        assert sweeper.sweep()["idle_seats"] == 0
        assert Seat.objects.filter(table_id=place.id).count() == 1

    def test_playing_and_coming_back_begin_the_time_anew(self, house: House) -> None:
        place = house.table()
        place.deal(0, 1)
        Seat.objects.filter(table_id=place.id).update(active_ms=0)
        place.play_out()
        assert sweeper.sweep()["idle_seats"] == 0
        seat = Seat.objects.filter(table_id=place.id).first()
        assert seat is not None
        Seat.objects.filter(pk=seat.pk).update(active_ms=0)
        seats.seat_away_set(table_id=place.id, player_id=seat.player_id, away=True, now_ms=clock.now_ms())
        assert not seats.seat_give_away(seat_id=seat.pk, now_ms=clock.now_ms())


class TestConnectionsAtOnce:
    def test_a_process_that_dies_after_it_told_the_round_leaves_the_lease_due(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        seat = Seat.objects.get(table_id=place.id, number=place.turn())
        Seat.objects.filter(pk=seat.pk).update(seen_until_ms=clock.now_ms() - 1)
        play.round_connection(round_id=round_.pk, seat=seat.number, connected=False, now_ms=place.now)
        assert sweeper.sweep()["connections"] == 1
        assert not Seat.objects.get(pk=seat.pk).connected
        assert kinds(round_) == ["start", "connection"]
