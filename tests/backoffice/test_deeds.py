"""What staff may do in the admin: who may, what it asks, what it refuses, and what the history keeps of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Group, User
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Change, Player
from apps.backoffice.roles import DEEDS, roles_make
from apps.wallets import services
from apps.wallets.models import Account, Alarm, Approval, Hold, LedgerTransaction
from tests.wallets.conftest import House, house  # noqa: F401 - the fixture

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def login() -> Callable[..., Client]:
    """Return a function that logs a person of some roles in."""
    roles_make()

    def make(name: str, *roles: str) -> Client:
        user = User.objects.create_user(name, password=name, is_staff=True)
        user.groups.set(Group.objects.filter(name__in=roles))
        client = Client()
        assert client.login(username=name, password=name)
        return client

    return make


def address(row: Any, deed: str) -> str:
    """Return the page of a deed."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{deed}", args=[row.pk])


def do(client: Client, row: Any, deed: str, **data: Any) -> Any:
    """Do it, for a reason."""
    return client.post(address(row, deed), {"reason": "ticket 1", **data})


def actor(name: str) -> str:
    """Return how the ledger names a person."""
    return f"staff:{User.objects.get(username=name).pk}"


def account_of(player_id: UUID) -> Account:
    """Return a player's account."""
    return Account.objects.get(owner_ref=player_id)


def asked(house: House, client: Client, amount_minor: int = 40) -> tuple[UUID, Approval]:  # noqa: F811
    """Let somebody ask for a correction; return the player and the request."""
    player = house.player(100)
    assert do(client, account_of(player), "adjust", amount_minor=amount_minor).status_code == 302
    return player, Approval.objects.latest("requested_at_ms")


class TestCorrections:
    def test_one_asks_another_approves_and_it_happens_once(self, house: House, login: Any) -> None:  # noqa: F811
        anna, ben = login("anna", "support"), login("ben", "finance")
        player, approval = asked(house, anna)
        assert house.available(player) == 100
        page = ben.get(address(approval, "approve")).content.decode()
        assert f"player {player}" in page
        assert "+40 PTS" in page
        assert do(ben, approval, "approve").status_code == 302
        assert house.available(player) == 140
        assert do(ben, approval, "approve").status_code == 409
        assert house.available(player) == 140
        assert LedgerTransaction.objects.filter(approval=approval).count() == 1

    def test_who_asked_never_decides_not_in_a_second_browser_either(self, house: House, login: Any) -> None:  # noqa: F811
        first = login("cleo", "finance")
        second = Client()
        assert second.login(username="cleo", password="cleo")
        player, approval = asked(house, first)
        User.objects.filter(username="cleo").update(username="cleopatra")
        for deed in ("approve", "reject"):
            answer = do(second, approval, deed)
            assert answer.status_code == 409
            assert "same_person" in answer.content.decode()
        approval.refresh_from_db()
        assert (approval.state, house.available(player)) == ("requested", 100)

    def test_two_who_approve_at_once_do_it_once(self, house: House, login: Any) -> None:  # noqa: F811
        player, approval = asked(house, login("anna", "support"))
        answers: list[int] = []
        gate = threading.Barrier(2)

        def approve(client: Client) -> None:
            gate.wait()
            answers.append(do(client, approval, "approve").status_code)
            connection.close()

        threads = [threading.Thread(target=approve, args=[login(name, "finance")]) for name in ("ben", "dora")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(answers) == [302, 409]
        assert house.available(player) == 140
        assert LedgerTransaction.objects.filter(approval=approval).count() == 1

    def test_a_round_is_paid_anew_once_its_end_was_reversed(self, house: House, login: Any) -> None:  # noqa: F811
        anna, ben = login("anna", "support"), login("ben", "finance")
        first, second, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, first, second)
        wrong = LedgerTransaction.objects.get(pk=house.settle(round_id, (first, 190), fee_minor=10))
        assert do(anna, wrong, "reverse").status_code == 302
        assert do(ben, Approval.objects.get(), "approve").status_code == 302
        reversal = LedgerTransaction.objects.get(kind="reverse")
        for payouts in ("nobody 5", f"{second}", f"{second} -5"):
            assert do(anna, reversal, "pay-anew", payouts=payouts, fee_minor=0).status_code == 200
        refused = do(anna, reversal, "pay-anew", payouts=f"{second} 201", fee_minor=0)
        assert "payouts_invalid" in refused.content.decode()
        assert do(anna, reversal, "pay-anew", payouts=f"{second} 190\n", fee_minor=10).status_code == 302
        asked = Approval.objects.get(kind="resettle")
        assert house.available(second) == 0
        assert do(anna, asked, "approve").status_code == 403
        assert [do(ben, asked, "approve").status_code for _ in range(2)] == [302, 409]
        assert (house.available(first), house.available(second)) == (0, 190)

    def test_support_may_ask_and_not_decide(self, house: House, login: Any) -> None:  # noqa: F811
        player, approval = asked(house, login("anna", "support"))
        other = login("emil", "support")
        assert (
            address(approval, "approve")
            not in other.get(reverse("admin:wallets_approval_change", args=[approval.pk])).content.decode()
        )
        assert do(other, approval, "approve").status_code == 403
        assert house.available(player) == 100

    def test_a_rejected_one_moves_nothing_and_is_over(self, house: House, login: Any) -> None:  # noqa: F811
        player, approval = asked(house, login("anna", "support"))
        ben = login("ben", "finance")
        assert do(ben, approval, "reject").status_code == 302
        assert do(ben, approval, "approve").status_code == 409
        assert house.available(player) == 100

    def test_takes_no_more_than_there_is_and_stays_open(self, house: House, login: Any) -> None:  # noqa: F811
        player, approval = asked(house, login("anna", "support"), amount_minor=-101)
        answer = do(login("ben", "finance"), approval, "approve")
        assert answer.status_code == 409
        assert "insufficient_funds" in answer.content.decode()
        approval.refresh_from_db()
        assert (approval.state, house.available(player)) == ("requested", 100)

    def test_a_transaction_is_reversed_at_most_once(self, house: House, login: Any) -> None:  # noqa: F811
        player = house.player(100)
        credit = LedgerTransaction.objects.get(kind="credit", operator_id=house.operator_id)
        anna, ben = login("anna", "support"), login("ben", "finance")
        for _ in range(2):
            assert do(anna, credit, "reverse").status_code == 302
        first, second = Approval.objects.order_by("requested_at_ms", "id")
        assert do(ben, first, "approve").status_code == 302
        assert house.available(player) == 0
        assert do(ben, second, "approve").status_code == 409
        assert do(anna, credit, "reverse").status_code == 409

    def test_needs_a_reason_and_an_amount(self, house: House, login: Any) -> None:  # noqa: F811
        player, anna = house.player(100), login("anna", "support")
        assert do(anna, account_of(player), "adjust", amount_minor=0).status_code == 409
        assert do(anna, account_of(player), "adjust", amount_minor="1.5").status_code == 200
        assert do(anna, account_of(player), "adjust", amount_minor=1, reason="").status_code == 200
        assert not Approval.objects.exists()

    def test_leaves_a_history_that_the_database_writes(self, house: House, login: Any) -> None:  # noqa: F811
        _, approval = asked(house, login("anna", "support"))
        do(login("ben", "finance"), approval, "approve", reason="checked with the provider")
        rows = Change.objects.filter(subject="correction", subject_id=approval.pk).order_by("id")
        told = [(row.actor, row.reason, (row.old or {}).get("state"), row.new.get("state")) for row in rows]
        assert told == [
            (actor("anna"), "ticket 1", None, "requested"),
            (actor("ben"), "checked with the provider", "requested", "approved"),
            (actor("ben"), "checked with the provider", "approved", "executed"),
        ]


class TestAlarms:
    def alarm(self, house: House) -> Alarm:  # noqa: F811
        with transaction.atomic():
            services.alarm_raise(operator_id=house.operator_id, code="ledger_invariant", detail="I2")
        return Alarm.objects.get(operator_id=house.operator_id)

    def test_are_cleared_by_finance_for_a_reason_once(self, house: House, login: Any) -> None:  # noqa: F811
        alarm = self.alarm(house)
        assert do(login("anna", "support"), alarm, "clear").status_code == 403
        ben = login("ben", "finance")
        assert do(ben, alarm, "clear", reason="").status_code == 200
        assert do(ben, alarm, "clear").status_code == 302
        alarm.refresh_from_db()
        assert (alarm.cleared_by, alarm.reason) == (actor("ben"), "ticket 1")
        row = Change.objects.filter(subject="alarm", subject_id=house.operator_id).latest("id")
        assert (row.actor, row.reason) == (actor("ben"), "ticket 1")
        assert row.old == {"code": "ledger_invariant", "cleared_at_ms": None}

    def test_are_never_rewritten(self, house: House, login: Any) -> None:  # noqa: F811
        alarm = self.alarm(house)
        do(login("ben", "finance"), alarm, "clear")
        with pytest.raises(DatabaseError, match="cleared once"), transaction.atomic():
            Alarm.objects.filter(pk=alarm.pk).update(reason="another")


class TestPlayersAndHolds:
    def test_support_freezes_a_player(self, house: House, login: Any) -> None:  # noqa: F811
        player = Player.objects.get(pk=house.player())
        assert do(login("ben", "finance"), player, "status", status="frozen").status_code == 403
        assert do(login("anna", "support"), player, "status", status="frozen").status_code == 302
        player.refresh_from_db()
        row = Change.objects.filter(subject="player", subject_id=player.pk).latest("id")
        assert (player.status, row.old, row.new) == ("frozen", {"status": "active"}, {"status": "frozen"})
        assert (row.actor, row.reason) == (actor("anna"), "ticket 1")

    def test_a_hold_is_released(self, house: House, login: Any) -> None:  # noqa: F811
        player = house.player(100)
        with transaction.atomic():
            hold_id = services.hold_place(
                operator_id=house.operator_id,
                player_id=player,
                currency="PTS",
                amount_minor=60,
                purpose="withdrawal",
                reference=player,
                ttl_ms=60_000,
            )
        assert house.available(player) == 40
        assert do(login("ben", "finance"), Hold.objects.get(pk=hold_id), "release").status_code == 302
        assert house.available(player) == 100
        assert Change.objects.get(subject="hold", subject_id=hold_id).actor == actor("ben")


class TestRoles:
    def test_an_auditor_sees_everything_and_does_nothing(self, house: House, login: Any) -> None:  # noqa: F811
        _, approval = asked(house, login("anna", "support"))
        client = login("olga", "auditor")
        answer = client.get(reverse("admin:wallets_approval_change", args=[approval.pk]))
        assert answer.status_code == 200
        assert "/do/" not in answer.content.decode()
        assert do(client, approval, "approve").status_code == 403
        assert client.get(reverse("admin:auth_user_changelist")).status_code == 403

    def test_who_keeps_the_logins_moves_no_money(self, house: House, login: Any) -> None:  # noqa: F811
        _, approval = asked(house, login("anna", "support"))
        client = login("root", "admin")
        assert client.get(reverse("admin:auth_user_changelist")).status_code == 200
        assert do(client, approval, "approve").status_code == 403

    def test_are_made_again_without_harm_and_stand_in_the_docs(self) -> None:
        assert roles_make() == roles_make() == list(DEEDS)
        assert Group.objects.filter(name__in=DEEDS).count() == len(DEEDS)
