"""A house with an operator, a points currency and as many players as a test asks for."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from apps.accounts.services import operator_create, player_upsert
from apps.wallets import selectors, services
from apps.wallets.models import AccountStatus


class House:
    """One operator with points and players."""

    def __init__(self, currency: str = "PTS") -> None:
        self.currency = currency
        self.operator, self.key = operator_create(name=f"house {uuid4().hex[:12]}")
        self.operator_id: UUID = self.operator.pk

    def currency_make(self, code: str) -> None:
        """Create another points currency."""
        services.currency_create(code=code, exponent=0, is_money=False)

    def player(self, amount_minor: int = 0, **facts: Any) -> UUID:
        """Return a new player with so many points."""
        player_id = player_upsert(operator_id=self.operator_id, external_id=uuid4().hex, **facts).pk
        if amount_minor:
            self.credit(player_id, amount_minor)
        return player_id

    def credit(self, player_id: UUID, amount_minor: int, external_id: str | None = None) -> None:
        """Put points on a player's account."""
        with transaction.atomic():
            services.wallet_credit(
                operator_id=self.operator_id,
                player_id=player_id,
                currency=self.currency,
                amount_minor=amount_minor,
                external_id=external_id or uuid4().hex,
                actor="test",
            )

    def buy_in(self, round_id: UUID, *players: UUID, amount_minor: int = 100) -> UUID:
        """Take the same buy-in of every player."""
        with transaction.atomic():
            return services.buy_ins_take(
                operator_id=self.operator_id,
                round_id=round_id,
                currency=self.currency,
                buy_ins=[(player, amount_minor) for player in players],
            )

    def settle(self, round_id: UUID, *payouts: tuple[UUID, int], fee_minor: int = 0) -> UUID:
        """Pay a round out."""
        with transaction.atomic():
            return services.round_settle(
                operator_id=self.operator_id,
                round_id=round_id,
                currency=self.currency,
                payouts=payouts,
                fee_minor=fee_minor,
            )

    def refund(self, round_id: UUID) -> UUID | None:
        """Give a round's buy-ins back."""
        with transaction.atomic():
            return services.round_refund(
                operator_id=self.operator_id, round_id=round_id, currency=self.currency, reason="operator_fault"
            )

    def status(self, player_id: UUID, status: AccountStatus) -> None:
        """Freeze, close or reopen a player's account."""
        with transaction.atomic():
            services.account_status_set(
                operator_id=self.operator_id,
                player_id=player_id,
                currency=self.currency,
                status=status,
                actor="test",
                reason="test",
            )

    def available(self, player_id: UUID) -> int:
        """Return what the player may spend."""
        return selectors.balance(
            operator_id=self.operator_id, player_id=player_id, currency=self.currency
        ).available_minor


@pytest.fixture
def house(settings: Any) -> House:
    """Return a fresh operator with the points currency PTS; its rounds are the ledger's only, no table played them."""
    settings.SEALDECK_ROUND_AUDIT = ""
    services.currency_create(code="PTS", exponent=0, is_money=False)
    return House()


@pytest.fixture
def other_house(house: House) -> House:
    """Return another operator with the same currency."""
    return House()
