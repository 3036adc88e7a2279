"""Rounds of every entropy mode and of a match, each verified; voids and what they give back.

Protocol: docs/fairness/protocol.md, sections 3, 8 and 9.
"""

from __future__ import annotations

import json
import secrets
from uuid import UUID

import pytest

from apps.core import clock
from apps.fairness import sequencer
from apps.fairness.errors import ContributionMismatch
from apps.fairness.protocol import contributions
from apps.fairness.protocol.limits import CLOSE_MS
from apps.fairness.protocol.verify import verify_bundles
from apps.games import registry
from apps.history import selectors as history
from apps.tables.errors import AlreadyReady
from apps.tables.models import Round, RoundSeat, Seat
from apps.tables.services import advance, play, seats, starting
from apps.tables.services.seats import Contribution
from tests.tables.conftest import POINTS, House, Place

pytestmark = pytest.mark.django_db(transaction=True)


def verified(*round_ids: UUID) -> list[str]:
    """Return the verdicts on the bundles of rounds, checked together with the rules."""
    sequencer.tick(now_ms=clock.now_ms())
    verdicts = verify_bundles([history.bundle(round_id=round_id).data for round_id in round_ids])
    return [",".join(verdict.codes) or "pass" for verdict in verdicts]


def sealed_ready(place: Place, number: int) -> bytes:
    """Get a seat ready in a sealed round; return the entropy it committed to."""
    sequencer.tick(now_ms=clock.now_ms())
    round_, entropy = place.round, secrets.token_bytes(32)
    record = json.loads(history.bundle(round_id=round_.pk).data)["records"][0]
    from apps.fairness.protocol.records import record_hash

    commit = contributions.commitment(
        round_=round_.pk.bytes,
        open_hash=record_hash("open", record["body"]),
        seat=number,
        public_key=b"",
        entropy=entropy,
    )
    seats.seat_ready(
        table_id=place.id,
        player_id=place.players[number],
        round_id=round_.pk,
        contribution=Contribution(value=commit.hex()),
        now_ms=place.now,
    )
    return entropy


def sealed_open(place: Place, number: int, entropy: bytes) -> None:
    """Open a seat's commitment."""
    sequencer.tick(now_ms=clock.now_ms())
    seats.seat_open(
        table_id=place.id,
        player_id=place.players[number],
        round_id=place.round.pk,
        contribution=Contribution(value=entropy.hex()),
        now_ms=place.now,
    )


class TestModes:
    def test_a_round_without_entropy_of_seats_is_dealt_and_verified(self, house: House) -> None:
        place = house.table(entropy="none")
        place.deal(0, 1)
        assert verified(place.play_out().pk) == ["pass"]

    def test_a_sealed_round_is_closed_opened_dealt_and_verified(self, house: House) -> None:
        place = house.table(entropy="sealed")
        for number in (0, 1):
            place.sit(number)
        given = {number: sealed_ready(place, number) for number in (0, 1)}
        assert place.round.status == Round.Status.CLOSING
        sealed_open(place, 0, given[0])
        assert place.round.status == Round.Status.CLOSING
        with pytest.raises(AlreadyReady):
            sealed_open(place, 0, given[0])
        with pytest.raises(ContributionMismatch):
            sealed_open(place, 1, bytes(32))
        sealed_open(place, 1, given[1])
        assert place.round.status == Round.Status.RUNNING
        assert verified(place.play_out().pk) == ["pass"]

    def test_a_seat_that_does_not_open_voids_the_round_and_loses_its_place(self, house: House) -> None:
        place = house.table(entropy="sealed")
        for number in (0, 1):
            place.sit(number)
        given = {number: sealed_ready(place, number) for number in (0, 1)}
        round_ = place.round
        sealed_open(place, 0, given[0])
        house.now_ms += starting.OPENINGS_MAX_MS
        advance.table_tick(table_id=place.id, now_ms=place.now)
        round_.refresh_from_db()
        assert round_.status == Round.Status.VOID
        assert round_.outcome == {"final": True, "void": "entropy_missing", "fault": "seat:1"}
        assert [house.points(player) for player in place.players.values()] == [POINTS, POINTS]
        assert list(Seat.objects.filter(table_id=place.id).values_list("number", flat=True)) == [0]
        assert verified(round_.pk) == ["pass"]

    def test_every_game_is_played_and_verified(self, house: House) -> None:
        for slug in registry.slugs():
            place = house.table(slug)
            place.deal(0, 1)
            ended = place.play_out()
            assert ended.status == Round.Status.FINISHED, slug
            assert verified(ended.pk) == ["pass"], slug


class TestMatches:
    def test_a_match_is_paid_once_in_its_last_round(self, house: House) -> None:
        place = house.table("mojo")
        first = place.deal(0, 1, 2)
        rounds = [first.pk]
        ended = place.play_out()
        assert [house.points(player) for player in place.players.values()] == [POINTS - 1_000] * 3
        while not (ended.outcome or {})["final"]:
            place.deal(0, 1, 2)
            assert place.round.match_id == first.pk
            rounds.append(place.round.pk)
            ended = place.play_out()
        assert (ended.pot_minor, ended.fee_minor) == (3_000, 150)
        assert sum(house.points(player) for player in place.players.values()) == 3 * POINTS - 150
        assert len(rounds) >= 2
        assert verified(*rounds) == ["pass"] * len(rounds)
        assert not Seat.objects.filter(table_id=place.id, in_match=True).exists()

    def test_the_last_seat_between_two_rounds_gets_the_payout(self, house: House) -> None:
        place = house.table("mojo")
        first = place.deal(0, 1)
        while not (ended := place.play_out()).outcome:
            pass
        if ended.outcome["final"]:
            raise AssertionError("a first round of Mojo never reaches 50 points")
        seats.seat_stand_up(table_id=place.id, player_id=place.players[0], now_ms=place.now)
        assert [house.points(place.players[n]) for n in (0, 1)] == [POINTS - 1_000, POINTS - 1_000 + 1_900]
        assert RoundSeat.objects.get(round_id=first.pk, number=1).payout_minor == 1_900
        given_up = Round.objects.get(table_id=place.id, index=1)
        assert given_up.status == Round.Status.VOID
        assert verified(first.pk, given_up.pk) == ["pass", "pass"]

    def test_a_match_that_everybody_abandons_is_refunded(self, house: House) -> None:
        place = house.table("mojo")
        place.deal(0, 1)
        place.play_out()
        house.now_ms += advance.MATCH_WAIT_MS + 60_000
        advance.table_tick(table_id=place.id, now_ms=place.now)
        assert [house.points(player) for player in place.players.values()] == [POINTS, POINTS]

    def test_who_joins_during_a_match_waits_for_the_next_one(self, house: House) -> None:
        place = house.table("mojo")
        place.deal(0, 1)
        place.sit(2)
        place.play_out()
        if not Seat.objects.filter(table_id=place.id, in_match=True).exists():
            raise AssertionError("a first round of Mojo never reaches 50 points")
        sequencer.tick(now_ms=clock.now_ms())
        from apps.tables.errors import RoundRunning

        with pytest.raises(RoundRunning):
            place.ready(2)


class TestVoids:
    def test_a_round_nobody_starts_is_given_up_within_its_day_and_the_next_one_opens(self, house: House) -> None:
        place = house.table()
        place.sit(0)
        place.ready(0)
        round_ = place.round
        house.now_ms += advance.OPEN_MAX_MS
        advance.table_tick(table_id=place.id, now_ms=place.now)
        round_.refresh_from_db()
        assert round_.outcome == {"final": True, "void": "not_started", "fault": "none"}
        assert place.round.index == 1
        assert verified(round_.pk) == ["pass"]

    @pytest.mark.parametrize("opened", [(), (0,), (0, 1)])
    def test_a_closed_round_that_nobody_looked_at_in_time_is_the_operators_fault(
        self, house: House, opened: tuple[int, ...]
    ) -> None:
        place = house.table(entropy="sealed")
        for number in (0, 1):
            place.sit(number)
        given = {number: sealed_ready(place, number) for number in (0, 1)}
        round_ = place.round
        for number in opened[:1]:
            sealed_open(place, number, given[number])
        house.now_ms = (round_.closed_ms or 0) + CLOSE_MS + 1
        if len(opened) == 2:
            sealed_open(place, 1, given[1])
        advance.table_tick(table_id=place.id, now_ms=place.now)
        round_.refresh_from_db()
        assert round_.outcome == {"final": True, "void": "operator_fault", "fault": "operator"}
        assert round_.advanced
        assert place.round.index == 1
        assert verified(round_.pk) == ["pass"]

    def test_a_void_during_play_gives_back_what_leavers_paid_too(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1, 2)
        play.round_leave(round_id=round_.pk, player_id=place.players[0], session_id=None, now_ms=place.now)
        advance.round_give_up(round_id=round_.pk, reason="operator_fault", now_ms=place.now)
        assert [house.points(player) for player in place.players.values()] == [POINTS] * 3
        assert verified(round_.pk) == ["pass"]
