"""A house whose operator has a seamless wallet, with players who have money there and none here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from apps.accounts import selectors as accounts
from apps.wallets import fsck, selectors, services
from apps.wallets.seamless import sweep
from apps.wallets.seamless.models import OperatorWallet, Stake, WalletKind
from tests.wallets.conftest import House
from tests.wallets.seamless.remote import ANSWER_PUBLIC, Remote, remote_serving

TABLE_ID = UUID(int=7)


class SeamlessHouse(House):
    """One operator with points; what its players have is with ``remote``."""

    remote: Remote

    def player(self, amount_minor: int = 0, **facts: Any) -> UUID:
        """Return a new player with so many points in the operator's wallet."""
        player_id = super().player(**facts)
        self.remote.book.deposit(self.ref(player_id), self.currency, amount_minor)
        return player_id

    def ref(self, player_id: UUID) -> str:
        """Return the operator's id of a player."""
        return accounts.player_get(operator_id=self.operator_id, player_id=player_id).external_id

    def remote_balance(self, player_id: UUID) -> int:
        """Return what a player has in the operator's wallet."""
        return self.remote.book.balance_of(self.ref(player_id), self.currency) or 0

    def plan(self, player_id: UUID, round_id: UUID, amount_minor: int = 100) -> UUID:
        """Plan a stake and commit it."""
        with transaction.atomic():
            stake_id = services.stake_plan(
                operator_id=self.operator_id,
                player_id=player_id,
                currency=self.currency,
                amount_minor=amount_minor,
                table_id=TABLE_ID,
                round_id=round_id,
            )
        assert stake_id is not None
        return stake_id

    def fetch(self, player_id: UUID, round_id: UUID, amount_minor: int = 100) -> Stake:
        """Fetch a stake as a player who gets ready does."""
        stake_id = self.plan(player_id, round_id, amount_minor)
        services.stake_send(stake_id=stake_id)
        with transaction.atomic():
            assert services.stake_confirm(stake_id=stake_id)
        return self.stake(stake_id)

    def stake(self, stake_id: UUID) -> Stake:
        """Return a stake as it is now."""
        return Stake.objects.get(pk=stake_id)

    def give_back(self, round_id: UUID, *players: UUID) -> None:
        """Give confirmed stakes back."""
        with transaction.atomic():
            services.stakes_return(round_id=round_id, player_ids=players or None)

    def suspense(self) -> int:
        """Return what lies in suspense."""
        return selectors.house_balances(operator_id=self.operator_id, currency=self.currency).get("suspense", 0)

    def hours_pass(self) -> int:
        """Let everything that waits be due, and sweep; return how many got a definite answer."""
        Stake.objects.filter(next_try_at_ms__isnull=False).update(next_try_at_ms=0)
        OperatorWallet.objects.update(not_before_ms=0)
        return sweep.run()

    def broken(self) -> set[str]:
        """Return the invariants that do not hold."""
        found = fsck.check(operator_id=self.operator_id)
        return {finding.id for finding in found if finding.state is fsck.State.BROKEN}


@pytest.fixture
def house(transactional_db: None, settings: Any) -> Iterator[SeamlessHouse]:
    """Return a seamless operator whose wallet is served on loopback; its books add up at the end."""
    settings.SEALDECK_ROUND_AUDIT = ""
    settings.SEALDECK_WEBHOOK_NETWORKS = ["127.0.0.1/32"]
    services.currency_create(code="PTS", exponent=0, is_money=False)
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
    assert made.broken() == set()


@pytest.fixture
def round_id() -> UUID:
    """Return the id of a round."""
    return uuid4()
