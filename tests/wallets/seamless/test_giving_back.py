"""What is owed to an operator's wallet is sent until it gives a definite answer: once in effect, however often."""

from __future__ import annotations

import threading
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from apps.core.clock import now_ms
from apps.wallets import services
from apps.wallets.errors import (
    BuyInUnknown,
    InsufficientFunds,
    WalletInUse,
    WalletIsSeamless,
    WalletKeyInvalid,
    WalletUrlRefused,
)
from apps.wallets.models import AccountStatus, LedgerTransaction
from apps.wallets.seamless import metrics, sweep
from apps.wallets.seamless.models import OperatorWallet, Stake, WalletKind
from apps.wallets.seamless.protocol import Outcome, Verdict
from tests.wallets.conftest import House
from tests.wallets.seamless import remote as remotes
from tests.wallets.seamless.conftest import SeamlessHouse
from tests.wallets.seamless.remote import ANSWER_PUBLIC, Fault

pytestmark = pytest.mark.django_db(transaction=True)


class TestRollbacks:
    def test_a_stake_that_is_not_played_goes_back(self, house: SeamlessHouse, round_id: UUID) -> None:
        player = house.player(250)
        stake = house.fetch(player, round_id)
        house.give_back(round_id, player)
        assert (house.available(player), house.suspense()) == (0, 100)
        assert sweep.run() == 1
        assert (house.stake(stake.pk).state, house.suspense(), house.remote_balance(player)) == ("rolled_back", 0, 250)
        (call,) = house.remote.calls("rollback")
        assert (call["transaction_id"], call["bet_transaction_id"]) == (f"r-{stake.pk.hex}", f"b-{stake.pk.hex}")

    def test_goes_back_once(self, house: SeamlessHouse, round_id: UUID) -> None:
        stake = house.fetch(house.player(250), round_id)
        house.give_back(round_id)
        house.give_back(round_id)
        assert (sweep.run(), sweep.run(), house.hours_pass()) == (1, 0, 0)
        assert LedgerTransaction.objects.filter(external_id__endswith=stake.pk.hex).count() == 3

    def test_only_the_stakes_that_were_named(self, house: SeamlessHouse, round_id: UUID) -> None:
        ann, bob = house.player(100), house.player(100)
        for player in (ann, bob):
            house.fetch(player, round_id)
        house.give_back(round_id, ann)
        sweep.run()
        assert (house.remote_balance(ann), house.remote_balance(bob), house.available(bob)) == (100, 0, 100)

    def test_an_operator_that_is_down_for_days_is_asked_again_and_again(
        self, house: SeamlessHouse, round_id: UUID
    ) -> None:
        player = house.player(250)
        stake = house.fetch(player, round_id)
        house.give_back(round_id)
        house.remote.is_down = True
        waits = []
        for _ in range(20):
            assert house.hours_pass() == 0
            waits.append((house.stake(stake.pk).next_try_at_ms or 0) - now_ms())
        assert (house.suspense(), house.stake(stake.pk).attempts) == (100, 20)
        assert waits[0] < sweep.RETRY_MIN_MS * 1.2
        assert all(waits[n] < waits[n + 2] for n in range(8))
        assert sweep.RETRY_MAX_MS * 0.7 < waits[-1] < sweep.RETRY_MAX_MS * 1.2
        house.remote.is_down = False
        assert house.hours_pass() == 1
        assert (house.suspense(), house.remote_balance(player)) == (0, 250)
        bodies = [body for call, body in house.remote.seen if call == "rollback"]
        assert (len(bodies), len(set(bodies))) == (21, 1)

    def test_nothing_is_sent_before_it_is_due(self, house: SeamlessHouse, round_id: UUID) -> None:
        house.fetch(house.player(250), round_id)
        house.give_back(round_id)
        house.remote.is_down = True
        assert (sweep.run(), sweep.run()) == (0, 0)
        assert len(house.remote.calls("rollback")) == 1
        house.remote.is_down = False
        house.hours_pass()

    @pytest.mark.parametrize("fault", [remotes.lost, remotes.ignored, remotes.unsigned, remotes.altered(currency="X")])
    def test_an_unknown_rollback_is_sent_again(self, house: SeamlessHouse, round_id: UUID, fault: Fault) -> None:
        player = house.player(250)
        stake = house.fetch(player, round_id)
        house.give_back(round_id)
        house.remote.faults["rollback"] = [fault]
        assert sweep.run() == 0
        assert (house.stake(stake.pk).state, house.suspense()) == ("rollback_unknown", 100)
        assert house.hours_pass() == 1
        assert house.remote_balance(player) == 250

    def test_a_bet_that_never_came_may_be_unknown_to_the_operator(self, house: SeamlessHouse, round_id: UUID) -> None:
        house.remote.faults["bet"] = [remotes.ignored]
        house.remote.faults["rollback"] = [remotes.refused("reference_unknown", 404)]
        with pytest.raises(BuyInUnknown):
            house.fetch(house.player(250), round_id)
        assert sweep.run() == 1
        assert (Stake.objects.get().state, house.suspense()) == ("rolled_back", 0)

    def test_a_bet_that_was_given_may_not(self, house: SeamlessHouse, round_id: UUID) -> None:
        stake = house.fetch(house.player(250), round_id)
        house.give_back(round_id)
        house.remote.faults["rollback"] = [remotes.refused("reference_unknown", 404)]
        assert sweep.run() == 1
        assert (house.stake(stake.pk).state, house.suspense()) == ("rollback_refused", 100)

    def test_what_the_operator_refuses_waits_for_a_person(self, house: SeamlessHouse, round_id: UUID) -> None:
        player = house.player(250)
        stake = house.fetch(player, round_id)
        house.give_back(round_id)
        house.remote.faults["rollback"] = [remotes.refused("round_settled")]
        assert sweep.run() == 1
        assert (house.stake(stake.pk).state, house.stake(stake.pk).last_error) == ("rollback_refused", "round_settled")
        assert (house.hours_pass(), house.suspense()) == (0, 100)
        assert services.stakes_retry(stake_ids=[stake.pk]) == 1
        assert house.hours_pass() == 1
        assert (house.stake(stake.pk).state, house.remote_balance(player)) == ("rolled_back", 250)

    def test_an_answer_counts_once(self, house: SeamlessHouse, round_id: UUID) -> None:
        stake = house.fetch(house.player(250), round_id)
        house.give_back(round_id)
        sent = sweep._next(house.operator_id)
        assert sent is not None
        assert sweep.answer_record(stake=sent, said=Verdict(Outcome.UNKNOWN, "no_answer"))
        assert not sweep.answer_record(stake=sent, said=Verdict(Outcome.DONE))
        Stake.objects.update(next_try_at_ms=0)
        again = sweep._next(house.operator_id)
        assert again is not None
        assert not sweep.answer_record(stake=sent, said=Verdict(Outcome.DONE))  # Late: of the attempt before.
        assert sweep.answer_record(stake=again, said=Verdict(Outcome.DONE))
        assert not sweep.answer_record(stake=again, said=Verdict(Outcome.DONE))
        assert (house.stake(stake.pk).state, house.suspense()) == ("rolled_back", 0)

    def test_a_sweeper_that_died_leaves_the_call_due(self, house: SeamlessHouse, round_id: UUID) -> None:
        player = house.player(250)
        house.fetch(player, round_id)
        house.give_back(round_id)
        assert sweep._operators_claim() == [house.operator_id]
        assert sweep._next(house.operator_id) is not None
        assert sweep.run() == 0  # The lease is still on.
        assert house.hours_pass() == 1
        assert house.remote_balance(player) == 250

    def test_sweeps_at_once_send_each_call_once(self, house: SeamlessHouse, round_id: UUID) -> None:
        for _ in range(12):
            house.fetch(house.player(100), round_id)
        house.give_back(round_id)

        def swept() -> None:
            sweep.run()
            connection.close()

        threads = [threading.Thread(target=swept) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(call["transaction_id"] for call in house.remote.calls("rollback")) == sorted(
            f"r-{stake.pk.hex}" for stake in Stake.objects.filter(state="rolled_back")
        )
        assert Stake.objects.filter(state="rolled_back").count() == 12


class TestRounds:
    def test_winners_are_paid_and_losers_stakes_are_settled_with_nothing(
        self, house: SeamlessHouse, round_id: UUID
    ) -> None:
        ann, bob = house.player(100), house.player(100)
        stakes = {player: house.fetch(player, round_id) for player in (ann, bob)}
        house.buy_in(round_id, ann, bob)
        assert {stake.state for stake in Stake.objects.all()} == {"played"}
        house.settle(round_id, (ann, 190), fee_minor=10)
        assert (house.available(ann), house.suspense()) == (0, 190)
        house.settle(round_id, (ann, 190), fee_minor=10)
        assert sweep.run() == 2
        assert (house.remote_balance(ann), house.remote_balance(bob), house.suspense()) == (190, 0, 0)
        wins = {call["bet_transaction_id"]: call["amount_minor"] for call in house.remote.calls("win")}
        assert wins == {f"b-{stakes[ann].pk.hex}": 190, f"b-{stakes[bob].pk.hex}": 0}
        assert {stake.state for stake in Stake.objects.all()} == {"paid"}

    def test_a_refund_rolls_every_bet_back(self, house: SeamlessHouse, round_id: UUID) -> None:
        ann, bob = house.player(100), house.player(100)
        for player in (ann, bob):
            house.fetch(player, round_id)
        house.buy_in(round_id, ann, bob)
        house.refund(round_id)
        house.refund(round_id)
        assert (house.suspense(), sweep.run(), house.suspense()) == (200, 2, 0)
        assert (house.remote_balance(ann), house.remote_balance(bob)) == (100, 100)

    def test_nobody_plays_without_a_stake_of_his_buy_in(self, house: SeamlessHouse, round_id: UUID) -> None:
        ann, bob, eve = (house.player(500) for _ in range(3))
        house.fetch(ann, round_id)
        house.fetch(bob, round_id, 99)
        house.fetch(eve, uuid4())  # For another table's round: the money is there, and not for this one.
        with pytest.raises(InsufficientFunds) as refusal:
            house.buy_in(round_id, ann, bob, eve)
        assert refusal.value.facts == {"player_ids": [bob, eve]}
        assert {stake.state for stake in Stake.objects.all()} == {"confirmed"}

    def test_the_same_buy_in_again_is_the_same(self, house: SeamlessHouse, round_id: UUID) -> None:
        ann, bob = house.player(100), house.player(100)
        for player in (ann, bob):
            house.fetch(player, round_id)
        assert house.buy_in(round_id, ann, bob) == house.buy_in(round_id, ann, bob)

    @pytest.mark.parametrize("status", [AccountStatus.FROZEN, AccountStatus.CLOSED])
    def test_a_payout_leaves_every_account(self, house: SeamlessHouse, round_id: UUID, status: AccountStatus) -> None:
        ann, bob = house.player(100), house.player(100)
        for player in (ann, bob):
            house.fetch(player, round_id)
        house.buy_in(round_id, ann, bob)
        house.status(ann, status)
        house.settle(round_id, (ann, 200))
        assert sweep.run() == 2
        assert house.remote_balance(ann) == 200

    @pytest.mark.parametrize("fault", [remotes.lost, remotes.ignored, remotes.altered(balance_minor=1)])
    def test_an_unknown_win_is_sent_again_and_paid_once(
        self, house: SeamlessHouse, round_id: UUID, fault: Fault
    ) -> None:
        ann, bob = house.player(100), house.player(100)
        for player in (ann, bob):
            house.fetch(player, round_id)
        house.buy_in(round_id, ann, bob)
        house.settle(round_id, (ann, 200))
        house.remote.faults["win"] = [fault, fault]
        house.hours_pass()
        assert Stake.objects.filter(state="win_unknown").count() == 1
        for _ in range(2):
            house.hours_pass()
        assert not Stake.objects.exclude(state="paid").exists()
        assert (house.remote_balance(ann), house.remote_balance(bob), house.suspense()) == (200, 0, 0)

    def test_a_win_that_the_operator_refuses_stays_in_suspense(self, house: SeamlessHouse, round_id: UUID) -> None:
        ann, bob = house.player(100), house.player(100)
        stakes = {player: house.fetch(player, round_id) for player in (ann, bob)}
        house.buy_in(round_id, ann, bob)
        house.settle(round_id, (ann, 200))
        house.remote.faults["win"] = [remotes.refused("rolled_back")] * 2
        house.hours_pass()
        assert (house.stake(stakes[ann].pk).state, house.suspense()) == ("win_refused", 200)
        services.stakes_retry(stake_ids=[stake.pk for stake in stakes.values()])
        house.hours_pass()
        assert (house.stake(stakes[ann].pk).state, house.suspense()) == ("paid", 0)


class TestSetting:
    def set(self, house: House, kind: WalletKind, url: str = "https://wallet.example/x", keys: int = 1) -> None:
        """Set the operator's wallet."""
        with transaction.atomic():
            services.operator_wallet_set(
                operator_id=house.operator_id, kind=kind, url=url, answer_keys=[ANSWER_PUBLIC.hex()] * keys
            )

    def test_does_not_change_while_a_stake_is_under_way(self, house: SeamlessHouse, round_id: UUID) -> None:
        house.fetch(house.player(250), round_id)
        with pytest.raises(WalletInUse):
            self.set(house, WalletKind.TRANSFER)
        house.give_back(round_id)
        with pytest.raises(WalletInUse):
            self.set(house, WalletKind.TRANSFER)
        sweep.run()
        self.set(house, WalletKind.TRANSFER)
        player = House.player(house)
        house.credit(player, 5)
        with pytest.raises(WalletInUse):
            self.set(house, WalletKind.SEAMLESS)

    def test_address_and_keys_may_change_at_any_time(self, house: SeamlessHouse, round_id: UUID) -> None:
        house.fetch(house.player(250), round_id)
        self.set(house, WalletKind.SEAMLESS, keys=2)
        wallet = OperatorWallet.objects.get()
        assert (wallet.url, len(wallet.answer_keys)) == ("https://wallet.example/x", 2)

    @pytest.mark.parametrize(
        "url", ["", "ftp://a.example", "https://10.0.0.1/", "https://u:p@a.example/", "https://a.example/?a=1"]
    )
    def test_an_address_that_is_not_called_is_refused(self, house: SeamlessHouse, url: str) -> None:
        with pytest.raises(WalletUrlRefused):
            self.set(house, WalletKind.SEAMLESS, url)

    @pytest.mark.parametrize("keys", [0, 3])
    def test_one_or_two_keys(self, house: SeamlessHouse, keys: int) -> None:
        with pytest.raises(WalletKeyInvalid):
            self.set(house, WalletKind.SEAMLESS, keys=keys)

    def test_money_is_not_put_in_held_or_taken_out_here(self, house: SeamlessHouse, round_id: UUID) -> None:
        player = house.player(250)
        house.fetch(player, round_id)
        facts: dict[str, Any] = {
            "operator_id": house.operator_id,
            "player_id": player,
            "currency": "PTS",
            "amount_minor": 10,
        }
        asked: dict[str, Any] = {"reason": "ticket", "requested_by": "ann"}
        for work in (
            lambda: services.wallet_credit(**facts, external_id="c-1", actor="test"),
            lambda: services.wallet_debit(**facts, external_id="d-1", actor="test"),
            lambda: services.hold_place(**facts, purpose="test", reference=uuid4(), ttl_ms=1_000),
            lambda: services.adjustment_request(**facts, **asked),
            lambda: services.reversal_request(operator_id=house.operator_id, tx_id=uuid4(), **asked),
            lambda: services.resettlement_request(
                operator_id=house.operator_id, round_id=round_id, payouts=[(player, 100)], fee_minor=0, **asked
            ),
        ):
            with pytest.raises(WalletIsSeamless), transaction.atomic():
                work()
        assert house.available(player) == 100


class TestGuards:
    @pytest.mark.parametrize(
        ("state", "other"),
        [
            ("confirmed", "paid"),
            ("confirmed", "refused"),
            ("confirmed", "unknown"),
            ("rolled_back", "rollback_sent"),
            ("rolled_back", "confirmed"),
            ("rollback_planned", "rolled_back"),
            ("rollback_planned", "played"),
        ],
    )
    def test_a_state_changes_along_its_path_only(
        self, house: SeamlessHouse, round_id: UUID, state: str, other: str
    ) -> None:
        stake = house.fetch(house.player(250), round_id)
        if state != "confirmed":
            house.give_back(round_id)
        if state == "rolled_back":
            sweep.run()
        with pytest.raises(IntegrityError, match="cannot become"), transaction.atomic():
            Stake.objects.filter(pk=stake.pk, state=state).update(state=other)

    @pytest.mark.parametrize("column", ["amount_minor", "player_ref", "round_id", "confirmed_at_ms"])
    def test_what_a_stake_is_never_changes(self, house: SeamlessHouse, round_id: UUID, column: str) -> None:
        house.fetch(house.player(250), round_id)
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            Stake.objects.update(**{column: None})

    def test_a_stake_begins_as_a_plan_of_the_operators_player(self, house: SeamlessHouse, round_id: UUID) -> None:
        stranger = House().player()
        for facts in ({"state": "confirmed"}, {"player_id": stranger}, {"player_ref": "somebody"}, {"win_minor": 1}):
            player = house.player()
            right = {"operator_id": house.operator_id, "player_id": player, "player_ref": house.ref(player)}
            more = {"currency_id": "PTS", "amount_minor": 1, "table_id": uuid4(), "round_id": round_id}
            with pytest.raises(IntegrityError), transaction.atomic():
                Stake.objects.create(**{**right, **more, **facts})
        assert not Stake.objects.exists()


class TestInvariant:
    @pytest.mark.parametrize(
        ("statement", "expected"),
        [
            ("UPDATE wallets_stake SET amount_minor = amount_minor + 1 WHERE state = 'rollback_planned'", {"I19"}),
            ("UPDATE wallets_stake SET state = 'rolled_back' WHERE state = 'rollback_planned'", {"I19"}),
            ("UPDATE wallets_stake SET amount_minor = amount_minor + 1 WHERE state = 'confirmed'", {"I19"}),
        ],
    )
    def test_says_when_stakes_and_ledger_tell_different_things(
        self, house: SeamlessHouse, round_id: UUID, administrator: Any, statement: str, expected: set[str]
    ) -> None:
        house.fetch(house.player(250), round_id)
        house.give_back(round_id)
        house.fetch(house.player(250), round_id)
        with administrator.transaction():
            administrator.execute("SET LOCAL session_replication_role = replica")
            before = list(Stake.objects.order_by("pk").values())
            administrator.execute(statement)
        assert house.broken() == expected
        with administrator.transaction():
            administrator.execute("SET LOCAL session_replication_role = replica")
            for row in before:
                administrator.execute(
                    "UPDATE wallets_stake SET amount_minor = %s, state = %s WHERE id = %s",
                    (row["amount_minor"], row["state"], row["id"]),
                )

    def test_metrics_tell_how_old_suspense_is(self, house: SeamlessHouse, round_id: UUID) -> None:
        assert sweep.ages_measure() == 0
        stake = house.fetch(house.player(250), round_id)
        house.give_back(round_id)
        assert sweep.ages_measure() <= (now_ms() - stake.created_at_ms) // 1000 + 1
        assert metrics.OPEN.labels(state="rollback_planned")._value.get() == 1
        assert metrics.OPEN.labels(state="confirmed")._value.get() == 0
