"""What a seat contributes is refused, guard by guard, before it can stand in a record."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from apps.fairness import errors, services
from tests.fairness.table import FairTable, SeatHands

pytestmark = pytest.mark.django_db

LATE_MS = 1_776_197_898_000
"""Time of the beacon round that a close record of 1776197891250 binds with margin 2."""


def ready(table: FairTable, hand: SeatHands, **changed: Any) -> None:
    """Send a ready call with some members changed, signed as it is unless ``sig`` is given."""
    hand.cp = changed.pop("cp", hand.cp)
    facts: dict[str, Any] = {
        "mode": table.entropy,
        "seat": hand.number,
        "pk": hand.pk,
        "entropy_or_commit": table.value(hand),
        "cp": hand.cp,
        **changed,
    }
    if "sig" not in facts:
        facts["sig"] = hand.sign(*table.ready_message(hand))
    services.contribution_check(round_id=table.round_id, **facts)


@pytest.fixture(params=["open", "sealed"])
def table(request: pytest.FixtureRequest) -> FairTable:
    """Return a table whose round is open and published."""
    table = FairTable(entropy=request.param)
    table.open()
    table.merge()
    return table


class TestReady:
    def test_is_taken_with_a_key_and_a_view(self, table: FairTable) -> None:
        ready(table, SeatHands(3), cp=table.view("open"))

    def test_is_taken_with_a_key_and_no_view(self, table: FairTable) -> None:
        ready(table, SeatHands(3))

    def test_is_taken_without_a_key(self, table: FairTable) -> None:
        ready(table, SeatHands(3, keyed=False))

    def test_is_refused_for_an_unknown_round(self, table: FairTable) -> None:
        table.opened = services.OpenedRound(uuid4(), table.opened.open_hash, "")
        with pytest.raises(errors.RoundUnknown):
            ready(table, SeatHands(0))

    def test_is_refused_after_the_end(self, table: FairTable) -> None:
        table.void(stage="open", reason="not_started", fault="none")
        with pytest.raises(errors.RoundStage):
            ready(table, SeatHands(0))

    @pytest.mark.parametrize("mode", ["none", "other"])
    def test_is_refused_in_another_mode(self, table: FairTable, mode: str) -> None:
        with pytest.raises(errors.ContributionForm):
            ready(table, SeatHands(0), mode=mode)

    @pytest.mark.parametrize(
        ("changed", "pointer"),
        [
            ({"seat": -1}, "/seat"),
            ({"seat": 255}, "/seat"),
            ({"seat": True}, "/seat"),
            ({"entropy_or_commit": ""}, "/entropy"),
            ({"entropy_or_commit": "ab" * 31}, "/entropy"),
            ({"entropy_or_commit": "AB" * 32}, "/entropy"),
            ({"entropy_or_commit": None}, "/entropy"),
            ({"pk": "ab"}, "/pk"),
            ({"pk": ""}, "/pk"),
            ({"sig": ""}, "/sig"),
            ({"sig": "ab" * 63}, "/sig"),
            ({"cp": {}, "sig": "ab" * 64}, "/cp"),
            ({"cp": {"size": 4}, "sig": "ab" * 64}, "/cp"),
            ({"cp": {"size": 4, "root": "ab"}, "sig": "ab" * 64}, "/cp"),
            ({"cp": {"size": "4", "root": "ab" * 32}, "sig": "ab" * 64}, "/cp"),
            ({"cp": {"size": True, "root": "ab" * 32}, "sig": "ab" * 64}, "/cp"),
            ({"cp": {"size": 4, "root": "ab" * 32, "x": 1}, "sig": "ab" * 64}, "/cp"),
            ({"cp": [4], "sig": "ab" * 64}, "/cp"),
        ],
    )
    def test_is_refused_where_a_member_has_another_form(
        self, table: FairTable, changed: dict[str, Any], pointer: str
    ) -> None:
        with pytest.raises(errors.ContributionForm) as caught:
            ready(table, SeatHands(0), **changed)
        assert caught.value.pointer == pointer

    def test_is_refused_before_the_commitment_is_published(self) -> None:
        table = FairTable(entropy="open")
        table.open()
        with pytest.raises(errors.OpenUnpublished):
            ready(table, SeatHands(0))

    def test_is_refused_with_a_view_from_before_the_commitment(self, table: FairTable) -> None:
        view = table.view("open")
        other = FairTable(entropy=table.entropy)
        other.open()
        other.merge()
        with pytest.raises(errors.ViewEarly):
            ready(other, SeatHands(0), cp=view)

    @pytest.mark.parametrize("changed", [{"root": "ab" * 32}, {"size": 999}])
    def test_is_refused_with_a_view_of_another_log(self, table: FairTable, changed: dict[str, Any]) -> None:
        with pytest.raises(errors.ViewUnknown):
            ready(table, SeatHands(0), cp={**table.view("open"), **changed})

    @pytest.mark.parametrize("member", ["pk", "value"])
    def test_is_refused_when_another_seat_gave_the_same(self, table: FairTable, member: str) -> None:
        hand = SeatHands(0)
        other = {"pk": "ab" * 32, "value": "cd" * 32, member: hand.pk if member == "pk" else table.value(hand)}
        with pytest.raises(errors.ContributionRepeated):
            ready(table, hand, others=[other])

    @pytest.mark.parametrize("changed", [{"seat": 1}, {"entropy_or_commit": "ab" * 32}, {"sig": "ab" * 64}])
    def test_is_refused_where_the_signature_is_over_something_else(
        self, table: FairTable, changed: dict[str, Any]
    ) -> None:
        hand = SeatHands(0)
        signature = hand.sign(*table.ready_message(hand))
        with pytest.raises(errors.ContributionSignature):
            ready(table, hand, **{"sig": signature, **changed})

    def test_is_refused_where_the_signature_is_another_seats(self, table: FairTable) -> None:
        hand, other = SeatHands(0), SeatHands(0)
        other.entropy = hand.entropy
        with pytest.raises(errors.ContributionSignature):
            ready(table, hand, sig=other.sign(*table.ready_message(hand)))


class TestOpening:
    @pytest.fixture
    def hands(self) -> list[SeatHands]:
        """Return two seats of a closed sealed round with a beacon, its table beside them."""
        self.table = FairTable(entropy="sealed", margin=2)
        self.table.open()
        self.table.merge()
        hands = self.table.seats(0, 1)
        self.table.now_ms = LATE_MS - 6750
        self.table.close(hands)
        return hands

    def test_is_refused_before_the_close_record_is_published(self, hands: list[SeatHands]) -> None:
        with pytest.raises(errors.OpenUnpublished):
            services.opening_check(
                round_id=self.table.round_id,
                seat=0,
                entropy=hands[0].entropy,
                cp=None,
                sig="ab" * 64,
                now_ms=self.table.now_ms,
            )

    def test_is_taken_once_it_is(self, hands: list[SeatHands]) -> None:
        self.table.merge()
        assert [row.seat for row in self.table.open_seats(hands)] == [0, 1]

    def test_is_refused_from_the_beacons_time_on(self, hands: list[SeatHands]) -> None:
        self.table.merge()
        self.table.now_ms = LATE_MS - 1
        self.table.open_seats(hands)
        self.table.now_ms = LATE_MS
        with pytest.raises(errors.DeadlinePassed):
            self.table.open_seats(hands)

    def test_is_refused_where_it_does_not_open_the_commitment(self, hands: list[SeatHands]) -> None:
        self.table.merge()
        hands[0].entropy = "ab" * 32
        with pytest.raises(errors.ContributionMismatch):
            self.table.open_seats(hands)

    def test_is_refused_for_a_seat_that_is_not_in(self, hands: list[SeatHands]) -> None:
        self.table.merge()
        hands[0].number = 5
        with pytest.raises(errors.ContributionForm):
            self.table.open_seats(hands)

    def test_is_refused_with_another_key(self, hands: list[SeatHands]) -> None:
        self.table.merge()
        hands[0].secret = hands[1].secret
        with pytest.raises(errors.ContributionSignature):
            self.table.open_seats(hands)

    def test_is_refused_in_another_mode(self) -> None:
        table = FairTable(entropy="open", margin=2)
        table.open()
        table.merge()
        hands = table.seats(0, 1)
        table.close(hands)
        table.merge()
        with pytest.raises(errors.RoundStage):
            table.open_seats(hands)


class TestClosing:
    def test_is_refused_where_the_mode_has_no_close_record(self) -> None:
        table = FairTable(entropy="open")
        table.open()
        table.merge()
        with pytest.raises(errors.RoundStage):
            table.close(table.seats(0, 1))

    def test_is_refused_twice(self) -> None:
        table = FairTable(entropy="sealed")
        table.open()
        table.merge()
        hands = table.seats(0, 1)
        table.close(hands)
        with pytest.raises(errors.RoundStage):
            table.close(hands)

    def test_is_refused_after_a_day(self) -> None:
        table = FairTable(entropy="sealed")
        table.open()
        table.merge()
        hands = table.seats(0, 1)
        table.now_ms += 24 * 3_600_000 + 1
        with pytest.raises(errors.DeadlinePassed):
            table.close(hands)
