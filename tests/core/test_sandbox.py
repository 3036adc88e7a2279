"""A sandbox: failures to order, keys that say what they are, no money; and nothing of it elsewhere."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import override_settings

from apps.accounts.services import operator_create
from apps.core.sandbox import HEADER
from apps.wallets.checks import sandbox_has_no_money
from apps.wallets.errors import SandboxMoney
from apps.wallets.services import currency_create
from tests.accounts.conftest import Caller
from tests.wallets.conftest import House, house  # noqa: F401 - the fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
def sandbox(settings: Any) -> None:
    """Make this installation a sandbox."""
    settings.SEALDECK_SANDBOX = True


def credit(house: House, player: Any, wish: str, **headers: str) -> Any:  # noqa: F811
    """Credit 50 points; always the same request for one player."""
    body = {"player_id": str(player), "currency": "PTS", "amount_minor": 50, "external_id": f"x-{player}"}
    wishes = {HEADER: wish} if wish else {}
    return Caller(house.key)("POST", "/wallet/credits", body, **{"Idempotency-Key": f"k-{player}"}, **wishes, **headers)


class TestWishes:
    def test_a_lost_answer_has_its_effect_and_the_retry_tells(self, sandbox: None, house: House) -> None:  # noqa: F811
        player = house.player()
        lost = credit(house, player, "lost")
        assert (lost.status_code, lost.content, house.available(player)) == (504, b"", 50)
        again = credit(house, player, "")
        assert (again.status_code, again.headers["Idempotency-Replayed"]) == (201, "true")
        assert house.available(player) == 50

    @pytest.mark.parametrize(
        ("code", "status"),
        [("insufficient_funds", 409), ("rate_limited", 429), ("database_busy", 503), ("player_frozen", 403)],
    )
    def test_a_refusal_does_nothing_and_is_not_stored(
        self,
        sandbox: None,
        house: House,  # noqa: F811
        code: str,
        status: int,
    ) -> None:
        player = house.player()
        answer = credit(house, player, f"refuse={code}")
        assert (answer.status_code, answer.json()["code"], house.available(player)) == (status, code, 0)
        assert credit(house, player, "").status_code == 201

    def test_a_delay_passes(self, sandbox: None, house: House) -> None:  # noqa: F811
        player = house.player()
        assert credit(house, player, "delay=1").status_code == 201

    @pytest.mark.parametrize("wish", ["", " ", "lose", "delay=10001", "delay=-1", "refuse=no_such_code", "lost, lost"])
    def test_an_unknown_wish_is_refused(self, sandbox: None, house: House, wish: str) -> None:  # noqa: F811
        player = house.player()
        answer = credit(house, player, "", **{HEADER: wish})
        assert (answer.status_code, answer.json()["code"]) == (400, "sandbox_wish_invalid")
        assert house.available(player) == 0

    @pytest.mark.parametrize("wish", ["lost", "refuse=insufficient_funds", "nonsense"])
    def test_mean_nothing_elsewhere(self, house: House, wish: str) -> None:  # noqa: F811
        player = house.player()
        assert credit(house, player, wish).status_code == 201
        assert house.available(player) == 50


class TestKeys:
    def test_of_a_sandbox_work_nowhere_else(self) -> None:
        with override_settings(SEALDECK_SANDBOX=True):
            _, key = operator_create(name=uuid4().hex)
            assert Caller(key)("GET", "/currencies").status_code == 200
        assert key.startswith("sk_test_")
        answer = Caller(key)("GET", "/currencies")
        assert (answer.status_code, answer.json()["code"]) == (401, "key_invalid")


class TestMoney:
    def test_cannot_be_made_in_a_sandbox(self, sandbox: None) -> None:
        with pytest.raises(SandboxMoney):
            currency_create(code="EUR", exponent=2, is_money=True)
        assert currency_create(code="TEUR", exponent=2, is_money=False).exponent == 2

    def test_and_a_sandbox_do_not_start_on_one_database(self) -> None:
        currency_create(code="EUR", exponent=2, is_money=True)
        assert sandbox_has_no_money(None, databases=["default"]) == []
        with override_settings(SEALDECK_SANDBOX=True):
            (told,) = sandbox_has_no_money(None, databases=["default"])
        assert told.id == "wallets.E001"
        assert "EUR" in told.msg
