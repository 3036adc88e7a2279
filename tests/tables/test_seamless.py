"""Tables of an operator with a seamless wallet: a stake is fetched when its player gets ready, and always ends."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from apps.accounts import selectors as accounts
from apps.client.wallet.server import Answer
from apps.client.wallet.signed import Request
from apps.core import clock
from apps.core.errors import ApplicationError
from apps.fairness import sequencer
from apps.tables.errors import AutoReadyNotAllowed, NotSeated, RoundRunning
from apps.tables.models import Round, Seat
from apps.tables.services import advance, auto_ready, seats, tables
from apps.tables.services.seats import Contribution
from apps.wallets import fsck, selectors, services
from apps.wallets.errors import BuyInPending, BuyInUnknown, InsufficientFunds, OperatorUnavailable
from apps.wallets.seamless import sweep
from apps.wallets.seamless.models import OperatorWallet, Stake, WalletKind
from tests.tables.conftest import House, Place
from tests.wallets.seamless import remote as remotes
from tests.wallets.seamless.remote import ANSWER_PUBLIC, Remote, remote_serving

pytestmark = pytest.mark.django_db(transaction=True)

BUY_IN = 1_000
FUNDS = 5_000


class SeamlessHouse(House):
    """An operator whose players' money is with ``remote``."""

    def __init__(self, remote: Remote | None = None) -> None:
        super().__init__()
        self.remote = remote

    def player(self, points: int = FUNDS, **facts: Any) -> UUID:
        """Return a new player with so many points in the operator's wallet."""
        player_id = super().player(0, **facts)
        assert self.remote is not None
        self.remote.book.deposit(self.ref(player_id), "PTS", points)
        return player_id

    def ref(self, player_id: UUID) -> str:
        """Return the operator's id of a player."""
        return accounts.player_get(operator_id=self.operator_id, player_id=player_id).external_id

    def funds(self, place: Place, *numbers: int) -> list[int]:
        """Return what players at a table have in the operator's wallet."""
        assert self.remote is not None
        return [self.remote.book.balance_of(self.ref(place.players[number]), "PTS") or 0 for number in numbers]

    def states(self) -> list[str]:
        """Return the states of all stakes, oldest first."""
        return list(Stake.objects.order_by("created_at_ms", "id").values_list("state", flat=True))


@pytest.fixture
def house(transactional_db: None, settings: Any) -> Iterator[SeamlessHouse]:
    """Return a seamless operator; when a test is over nothing is left here, and every invariant holds."""
    settings.SEALDECK_WEBHOOK_NETWORKS = ["127.0.0.1/32"]
    made = SeamlessHouse()
    with remote_serving(made.operator_id) as remote:
        made.remote = remote
        with transaction.atomic():
            services.operator_wallet_set(
                operator_id=made.operator_id,
                kind=WalletKind.SEAMLESS,
                url=remote.url,
                answer_keys=[ANSWER_PUBLIC.hex()],
            )
        yield made
        sweep_all()
        assert [each for each in fsck.check(operator_id=made.operator_id) if each.state == "broken"] == []


def sweep_all() -> None:
    """Let everything that waits be due, and sweep."""
    Stake.objects.filter(next_try_at_ms__isnull=False).update(next_try_at_ms=0)
    OperatorWallet.objects.update(not_before_ms=0)
    sweep.run()


def remote_of(house: SeamlessHouse) -> Remote:
    """Return the operator's wallet."""
    assert house.remote is not None
    return house.remote


class TestRounds:
    def test_a_round_from_wallet_to_wallet(self, house: SeamlessHouse) -> None:
        place = house.table()
        place.deal(0, 1)
        assert (house.funds(place, 0, 1), house.states()) == ([FUNDS - BUY_IN] * 2, ["played"] * 2)
        round_ = place.play_out()
        assert round_.status == Round.Status.FINISHED
        sweep_all()
        assert round_.outcome is not None
        payouts = {int(number): amount for number, amount in round_.outcome["payouts"].items()}
        expected = [FUNDS - BUY_IN + payouts.get(number, 0) for number in (0, 1)]
        assert (house.funds(place, 0, 1), house.states()) == (expected, ["paid"] * 2)
        assert [house.points(place.players[number]) for number in (0, 1)] == [0, 0]
        assert selectors.house_balances(operator_id=house.operator_id, currency="PTS")["suspense"] == 0
        assert sum(expected) + round_.fee_minor == 2 * FUNDS

    def test_rounds_one_after_the_other(self, house: SeamlessHouse) -> None:
        place = house.table()
        for _ in range(2):
            place.deal(0, 1)
            place.play_out()
            advance.table_tick(table_id=place.id, now_ms=place.now)
        sweep_all()
        assert house.states() == ["paid"] * 4

    def test_a_match_has_one_stake_of_each_player(self, house: SeamlessHouse) -> None:
        place = house.table("mongooz")
        place.deal(0, 1)
        first = place.round
        place.play_out()
        advance.table_tick(table_id=place.id, now_ms=place.now)
        if place.table.round_id != first.pk and place.round.match_id == first.pk:
            assert house.states() == ["played"] * 2
            for number in (0, 1):
                place.ready(number)
            assert len(remote_of(house).calls("bet")) == 2
            advance.round_give_up(round_id=place.round.pk, reason="operator_fault", now_ms=place.now)
            sweep_all()
            assert (house.states(), house.funds(place, 0, 1)) == (["rolled_back"] * 2, [FUNDS] * 2)
        else:
            sweep_all()
            assert house.states() == ["paid"] * 2

    def test_a_void_round_gives_everything_back(self, house: SeamlessHouse) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        advance.round_give_up(round_id=round_.pk, reason="operator_fault", now_ms=place.now)
        sweep_all()
        assert (house.funds(place, 0, 1), house.states()) == ([FUNDS] * 2, ["rolled_back"] * 2)


class TestGettingReady:
    def test_a_refusal_seats_nobody(self, house: SeamlessHouse) -> None:
        place = house.table()
        place.sit(0, house.player(BUY_IN - 1))
        with pytest.raises(InsufficientFunds):
            place.ready(0)
        assert (Seat.objects.get().is_ready, house.states()) == (False, ["refused"])

    def test_an_unknown_buy_in_seats_nobody_until_it_is_back(self, house: SeamlessHouse) -> None:
        place = house.table()
        place.sit(0)
        remote_of(house).faults["bet"] = [remotes.lost]
        for _ in range(2):
            with pytest.raises(BuyInUnknown):
                place.ready(0)
        assert not Seat.objects.get().is_ready
        sweep_all()
        place.ready(0)
        assert (Seat.objects.get().is_ready, house.funds(place, 0)) == (True, [FUNDS - BUY_IN])

    def test_the_same_request_again_fetches_nothing(self, house: SeamlessHouse) -> None:
        place = house.table()
        place.sit(0)
        sequencer.tick(now_ms=clock.now_ms())
        contribution = Contribution(value=secrets.token_hex(32))
        for _ in range(2):
            seats.seat_ready(
                table_id=place.id,
                player_id=place.players[0],
                round_id=place.round.pk,
                contribution=contribution,
                now_ms=place.now,
            )
        assert len(remote_of(house).calls("bet")) == 1

    def test_what_is_refused_here_asks_the_operator_nothing(self, house: SeamlessHouse) -> None:
        place = house.table()
        place.sit(0)
        for contribution in (Contribution(), Contribution(value="zz")):
            with pytest.raises(ApplicationError):
                seats.seat_ready(
                    table_id=place.id,
                    player_id=place.players[0],
                    round_id=place.round.pk,
                    contribution=contribution,
                    now_ms=place.now,
                )
        assert (remote_of(house).seen, house.states()) == ([], [])

    def test_the_breaker_stops_buy_ins_and_no_payout(self, house: SeamlessHouse) -> None:
        place = house.table()
        place.deal(0, 1)
        waiting = house.table()
        waiting.sit(0)
        OperatorWallet.objects.update(failures=9, open_until_ms=clock.now_ms() + 60_000)
        with pytest.raises(OperatorUnavailable):
            waiting.ready(0)
        assert place.play_out().status == Round.Status.FINISHED
        sweep_all()
        assert sorted(house.states()) == ["paid", "paid", "refused"]
        waiting.ready(0)  # The payouts were answered, which closed it.

    def test_while_the_operator_thinks_others_play_and_the_table_is_free(self, house: SeamlessHouse) -> None:
        """What changes meanwhile decides: the player has stood up, so his stake goes back."""
        place = house.table()
        place.sit(0)
        asked, goes_on = threading.Event(), threading.Event()

        def slow(remote: Remote, request: Request) -> Answer:
            asked.set()
            assert goes_on.wait(30)
            return remotes.right(remote, request)

        remote_of(house).faults["bet"] = [slow]
        came: list[BaseException] = []

        def get_ready() -> None:
            try:
                place.ready(0)
            except ApplicationError as error:
                came.append(error)
            connection.close()

        thread = threading.Thread(target=get_ready)
        thread.start()
        assert asked.wait(30)
        with pytest.raises(BuyInPending):
            place.ready(0)
        seats.seat_stand_up(table_id=place.id, player_id=place.players[0], now_ms=place.now)
        goes_on.set()
        thread.join()
        assert [type(error) for error in came] == [NotSeated]
        sweep_all()
        assert (house.states(), house.funds(place, 0)) == (["rolled_back"], [FUNDS])

    def test_who_is_too_late_for_the_round_gets_his_stake_back(self, house: SeamlessHouse) -> None:
        place = house.table(start_after_ms=0)
        for number in (0, 1, 2):
            place.sit(number)

        def meanwhile(remote: Remote, request: Request) -> Answer:
            for number in (0, 1):
                place.ready(number)
            house.now_ms += 60_000
            advance.table_tick(table_id=place.id, now_ms=place.now)
            connection.close()
            return remotes.right(remote, request)

        remote_of(house).faults["bet"] = [meanwhile]
        with pytest.raises(RoundRunning):
            place.ready(2)
        sweep_all()
        assert sorted(house.states()) == ["played", "played", "rolled_back"]
        assert house.funds(place, 2) == [FUNDS]

    def test_nobody_is_made_ready_without_being_asked_for_a_stake(self, house: SeamlessHouse) -> None:
        place = house.table(entropy="none", auto_ready_rounds=5)
        place.sit(0)
        with pytest.raises(AutoReadyNotAllowed):
            auto_ready.auto_ready_set(table_id=place.id, player_id=place.players[0], rounds=3)
        free = house.table(entropy="none", auto_ready_rounds=5, buy_in_minor=0)
        free.sit(0)
        assert auto_ready.auto_ready_set(table_id=free.id, player_id=free.players[0], rounds=3) == 3


class TestNotPlayed:
    def ready_one(self, house: SeamlessHouse) -> Place:
        """Return a table where one player is ready and waits."""
        place = house.table()
        place.sit(0)
        place.ready(0)
        assert (house.states(), house.funds(place, 0)) == (["confirmed"], [FUNDS - BUY_IN])
        return place

    def test_who_stands_up_gets_his_stake_back(self, house: SeamlessHouse) -> None:
        place = self.ready_one(house)
        seats.seat_stand_up(table_id=place.id, player_id=place.players[0], now_ms=place.now)
        assert house.states() == ["rollback_planned"]
        sweep_all()
        assert house.funds(place, 0) == [FUNDS]

    def test_a_round_that_never_starts_gives_stakes_back(self, house: SeamlessHouse) -> None:
        place = self.ready_one(house)
        house.now_ms += advance.OPEN_MAX_MS
        advance.table_tick(table_id=place.id, now_ms=place.now)
        sweep_all()
        assert (house.states(), house.funds(place, 0)) == (["rolled_back"], [FUNDS])

    def test_a_table_that_is_drained_gives_stakes_back(self, house: SeamlessHouse) -> None:
        place = self.ready_one(house)
        tables.table_status_set(table_id=place.id, status="draining", now_ms=place.now)
        sweep_all()
        assert (house.states(), house.funds(place, 0)) == (["rolled_back"], [FUNDS])

    def test_who_is_not_there_when_the_round_starts_gets_his_stake_back(self, house: SeamlessHouse) -> None:
        place = house.table()
        for number in (0, 1, 2, 3):
            place.sit(number)
        for number in (0, 1, 2):
            place.ready(number)
        Seat.objects.filter(number=2).update(connected=False)
        house.now_ms += 120_000
        advance.table_tick(table_id=place.id, now_ms=place.now)
        assert place.round.numbers == [0, 1]
        sweep_all()
        assert (sorted(house.states()), house.funds(place, 2)) == (["played", "played", "rolled_back"], [FUNDS])
