"""A round from its commitment to its payout, through the services, on real PostgreSQL."""

from __future__ import annotations

import json

import pytest

from apps.accounts.services import operator_create
from apps.core import clock
from apps.fairness import sequencer
from apps.history import selectors as history
from apps.tables import replay
from apps.tables.errors import (
    AlreadySeated,
    CommitmentNotPublished,
    NotThisRound,
    RoundClosed,
    SeatTaken,
    StaleSeq,
    TableNotFound,
)
from apps.tables.models import Round
from apps.tables.services import seats
from apps.tables.services.seats import Contribution
from tests.tables.conftest import POINTS, House

pytestmark = pytest.mark.django_db(transaction=True)


class TestRoundLife:
    def test_a_round_is_committed_dealt_played_paid_and_verified(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1, 3)
        assert [house.points(p) for p in place.players.values()] == [POINTS - 1_000] * 3
        ended = place.play_out()
        assert ended.status == Round.Status.FINISHED
        assert ended.pot_minor == 3_000
        assert ended.fee_minor == 150
        assert sum(house.points(p) for p in place.players.values()) == 3 * POINTS - 150
        sequencer.tick(now_ms=clock.now_ms())
        bundle = history.bundle(round_id=round_.pk).data
        from apps.fairness.protocol.verify import verify_bundles

        [verdict] = verify_bundles([bundle])
        assert (verdict.status, verdict.codes) == (0, ())

    def test_replaying_the_stored_inputs_gives_the_stored_entries(self, house: House) -> None:
        place = house.table()
        place.deal(0, 1)
        ended = place.play_out()
        state = None
        for made in replay.replay(Round.objects.select_related("table").get(pk=ended.pk)):
            stored = json.loads(made.entry.body)["events"]
            told = [{k: v for k, v in e.items() if k not in ("n", "root") or "gen" not in e} for e in stored]
            assert [dict(e) for e in made.step.events] == told
            state = made.step.state
        game, kept = place.house, ended
        assert game is house
        assert kept.seq == made.entry.seq
        assert state is not None

    def test_the_next_round_opens_by_itself_and_its_opener_is_the_next_seat(self, house: House) -> None:
        place = house.table()
        first = place.deal(0, 2)
        place.play_out()
        second = place.round
        assert (second.index, second.status) == (1, Round.Status.OPEN)
        place.deal(0, 2)
        assert place.round.opener == {0: 2, 2: 0}[first.opener or 0]

    def test_a_contribution_before_the_commitment_is_published_is_refused(self, house: House) -> None:
        place = house.table()
        player = place.sit(0)
        with pytest.raises(CommitmentNotPublished):
            seats.seat_ready(
                table_id=place.id,
                player_id=player,
                round_id=place.round.pk,
                contribution=Contribution(value="ab" * 32),
                now_ms=place.now,
            )
        assert not place.table.seats.get(number=0).is_ready

    def test_a_contribution_to_another_round_is_refused(self, house: House) -> None:
        place = house.table()
        place.deal(0, 1)
        old = place.round.pk
        place.play_out()
        with pytest.raises(NotThisRound):
            place.ready(0, round_id=old)

    def test_a_stale_caller_is_told_the_present_and_nothing_is_written(self, house: House) -> None:
        place = house.table()
        place.deal(0, 1)
        number = place.turn()
        before = place.round.seq
        with pytest.raises(StaleSeq) as told:
            place.act(number, place.legal(number)[0], seen=before - 1)
        assert told.value.facts["seq"] == before
        assert told.value.facts["view"]["viewer"] == number
        assert place.round.seq == before

    def test_an_action_after_the_end_is_refused(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        place.play_out()
        with pytest.raises(RoundClosed):
            place.act(0, {"type": "draw"}, round_id=round_.pk, seen=0)

    def test_seats_and_players_are_one_to_one(self, house: House) -> None:
        place = house.table()
        player = place.sit(0)
        with pytest.raises(SeatTaken):
            place.sit(0)
        with pytest.raises(AlreadySeated):
            place.sit(1, player)

    def test_another_operators_player_finds_no_table(self, house: House) -> None:
        place = house.table()
        other, _ = operator_create(name="other")
        from apps.accounts.services import player_upsert

        stranger = player_upsert(operator_id=other.pk, external_id="x").pk
        with pytest.raises(TableNotFound):
            seats.seat_take(table_id=place.id, operator_id=other.pk, player_id=stranger, number=0, now_ms=place.now)
