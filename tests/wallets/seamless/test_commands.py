"""The commands of seamless wallets, and what their routes refuse."""

from __future__ import annotations

from io import StringIO
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.signatures import answer_keys
from apps.wallets.seamless import sweep
from apps.wallets.seamless.models import OperatorWallet
from tests.wallets.seamless import remote as remotes
from tests.wallets.seamless.conftest import SeamlessHouse
from tests.wallets.seamless.remote import ANSWER_PUBLIC
from tests.wallets.test_routes import send

pytestmark = pytest.mark.django_db(transaction=True)


class TestOperatorWallet:
    def test_prints_what_the_operators_wallet_has_to_know(self, house: SeamlessHouse) -> None:
        out = StringIO()
        facts = {"url": "https://wallet.example/sealdeck/", "answer_keys": [ANSWER_PUBLIC.hex().upper()]}
        call_command("operator_wallet", house.operator.name, "seamless", stdout=out, **facts)
        wallet = OperatorWallet.objects.get()
        assert (wallet.kind, wallet.url) == ("seamless", "https://wallet.example/sealdeck")
        assert wallet.answer_keys == [ANSWER_PUBLIC.hex()]
        key = answer_keys()[0]
        assert f"Sealdeck-Key {house.operator_id}.{key.kid}\npublic key   {key.public_key.hex()}" in out.getvalue()
        call_command("operator_wallet", house.operator.name, "transfer", stdout=out)
        assert OperatorWallet.objects.get().kind == "transfer"

    @pytest.mark.parametrize(
        ("facts", "match"),
        [({}, "public https address"), ({"url": "https://wallet.example"}, "answer keys")],
    )
    def test_says_what_is_missing(self, house: SeamlessHouse, facts: dict[str, str], match: str) -> None:
        with pytest.raises(CommandError, match=match):
            call_command("operator_wallet", house.operator.name, "seamless", **facts)
        with pytest.raises(CommandError, match="no operator"):
            call_command("operator_wallet", "nobody", "transfer")


class TestStakesRetry:
    def test_sends_again_what_was_refused(self, house: SeamlessHouse, round_id: UUID) -> None:
        stake = house.fetch(house.player(250), round_id)
        house.give_back(round_id)
        house.remote.faults["rollback"] = [remotes.refused("reference_mismatch")]
        sweep.run()
        assert house.stake(stake.pk).state == "rollback_refused"
        out = StringIO()
        call_command("stakes_retry", str(stake.pk), str(round_id), stdout=out)
        assert out.getvalue() == "1 of 2 will be sent again\n"
        assert house.hours_pass() == 1
        assert house.stake(stake.pk).state == "rolled_back"


class TestRoutes:
    def test_a_balance_is_asked_of_the_operator_or_there_is_none(self, house: SeamlessHouse) -> None:
        player = house.player(250)
        path = f"/players/{player}/balance?currency=PTS"
        answer = send(house.key, "GET", path).json()
        assert (answer["posted_minor"], answer["held_minor"], answer["available_minor"]) == (250, 0, 250)
        house.remote.is_down = True
        refusal = send(house.key, "GET", path)
        assert (refusal.status_code, refusal.json()["code"]) == (503, "operator_unavailable")

    @pytest.mark.parametrize("route", ["credits", "debits"])
    def test_money_is_not_moved_here(self, house: SeamlessHouse, round_id: UUID, route: str) -> None:
        player = house.player(250)
        house.fetch(player, round_id)
        body = {"player_id": str(player), "currency": "PTS", "amount_minor": 10, "external_id": f"x-{route}"}
        refusal = send(house.key, "POST", f"/wallet/{route}", body, **{"idempotency-key": f"key-{route}"})
        assert (refusal.status_code, refusal.json()["code"]) == (409, "wallet_is_seamless")
        assert house.available(player) == 100
