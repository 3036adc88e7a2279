"""The real ledger beside a ledger in plain Python: any sequence of calls leaves both with the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from hypothesis import HealthCheck
from hypothesis import settings as profile
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from apps.core.errors import ApplicationError
from apps.fairness.protocol.settlement import fee, split
from apps.wallets import fsck, selectors, services
from apps.wallets.models import AccountStatus
from tests.wallets.conftest import House
from tests.wallets.model import Ledger

PLAYERS = 4
AMOUNTS = st.integers(1, 60)
PLAYER = st.integers(0, PLAYERS - 1)
EXAMPLES = 12
STEPS = 30


class Machine(RuleBasedStateMachine):
    """Calls the services and the model alike."""

    @initialize()
    def begin(self) -> None:
        """Open a ledger of its own."""
        services.currency_create(code="PTS", exponent=0, is_money=False)
        self.house = House()
        self.model = Ledger()
        self.players = [self.house.player() for _ in range(PLAYERS)]
        for number in range(PLAYERS):
            self.model.join(number)
        self.round_ids: list[UUID] = []
        self.holds: list[tuple[UUID, int, int]] = []

    def _answer(self, call: Callable[[], Any]) -> tuple[str, Any]:
        """Make a call in a transaction of its own; return the code of its refusal, or '', and its answer."""
        try:
            with transaction.atomic():
                return "", call()
        except ApplicationError as error:
            return error.code, None

    @rule(player=PLAYER, amount=AMOUNTS, kind=st.sampled_from(["credit", "debit"]), place=st.integers(0, 200))
    def transfer(self, player: int, amount: int, kind: str, place: int) -> None:
        """Credit or debit, now and then with an id that was used."""
        move = services.wallet_credit if kind == "credit" else services.wallet_debit
        code, made = self._answer(
            lambda: move(
                operator_id=self.house.operator_id,
                player_id=self.players[player],
                currency="PTS",
                amount_minor=amount,
                external_id=f"t-{place}",
                actor="model",
            )
        )
        is_new = f"t-{place}" not in self.model.known
        assert code == self.model.transfer(kind, player, amount, f"t-{place}")
        if made is not None and is_new:
            assert made.balance_after_minor == self.model.posted[player]

    @rule(players=st.lists(PLAYER, min_size=1, max_size=PLAYERS, unique=True), amount=AMOUNTS)
    def buy_in(self, players: list[int], amount: int) -> None:
        """Begin a round."""
        round_id = uuid4()
        who = [self.players[number] for number in players]
        code, _ = self._answer(lambda: self.house.buy_in(round_id, *who, amount_minor=amount))
        assert code == self.model.buy_in(players, amount)
        if not code:
            self.round_ids.append(round_id)

    @precondition(lambda self: self.round_ids)
    @rule(data=st.data(), fee_bp=st.sampled_from([0, 500, 10_000]))
    def settle(self, data: st.DataObject, fee_bp: int) -> None:
        """End a round, or try to end it again."""
        number = data.draw(st.integers(0, len(self.round_ids) - 1))
        paid = self.model.rounds[number].buy_ins
        winners = data.draw(st.lists(st.sampled_from(sorted(paid)), min_size=1, unique=True))
        pot = sum(paid.values())
        taken = fee(pot, fee_bp)
        payouts = {seat: amount for seat, amount in split(pot - taken, dict.fromkeys(winners, 1), 0).items() if amount}
        lines = [(self.players[seat], amount) for seat, amount in payouts.items()]
        code, _ = self._answer(lambda: self.house.settle(self.round_ids[number], *lines, fee_minor=taken))
        assert code == self.model.settle(number, payouts, taken)

    @precondition(lambda self: self.round_ids)
    @rule(data=st.data())
    def refund(self, data: st.DataObject) -> None:
        """Void a round, or try to."""
        number = data.draw(st.integers(0, len(self.round_ids) - 1))
        code, _ = self._answer(lambda: self.house.refund(self.round_ids[number]))
        assert code == self.model.refund(number)

    @rule(player=PLAYER, amount=AMOUNTS)
    def hold(self, player: int, amount: int) -> None:
        """Hold a part of a balance."""
        code, hold_id = self._answer(
            lambda: services.hold_place(
                operator_id=self.house.operator_id,
                player_id=self.players[player],
                currency="PTS",
                amount_minor=amount,
                purpose="model",
                reference=uuid4(),
                ttl_ms=3_600_000,
            )
        )
        assert code == self.model.hold(player, amount)
        if hold_id is not None:
            self.holds.append((hold_id, player, amount))

    @precondition(lambda self: self.holds)
    @rule(data=st.data(), captures=st.booleans())
    def resolve(self, data: st.DataObject, captures: bool) -> None:
        """Capture or release a hold."""
        place = data.draw(st.integers(0, len(self.holds) - 1))
        hold_id, player, amount = self.holds[place]
        if captures:
            code, _ = self._answer(
                lambda: services.hold_capture(operator_id=self.house.operator_id, hold_id=hold_id, actor="model")
            )
            assert code == self.model.capture(player, amount)
            if code:
                return
        else:
            assert (
                self._answer(lambda: services.hold_release(operator_id=self.house.operator_id, hold_id=hold_id))[0]
                == ""
            )
            self.model.release(player, amount)
        self.holds.pop(place)

    @rule(player=PLAYER, status=st.sampled_from(["open", "open", "frozen", "closed"]))
    def state(self, player: int, status: str) -> None:
        """Freeze, close or reopen an account."""
        self.house.status(self.players[player], AccountStatus(status))
        self.model.status[player] = status

    @invariant()
    def both_have_the_same_numbers(self) -> None:
        """Compare every balance."""
        if not hasattr(self, "model"):
            return
        for number, player in enumerate(self.players):
            real = selectors.balance(operator_id=self.house.operator_id, player_id=player, currency="PTS")
            assert (real.posted_minor, real.held_minor) == (self.model.posted[number], self.model.held[number])
        houses = selectors.house_balances(operator_id=self.house.operator_id, currency="PTS")
        assert (houses.get("funding", 0), houses.get("rake", 0)) == (self.model.funding, self.model.rake)
        assert sum(self.model.posted.values()) + self.model.escrow() + self.model.rake + self.model.funding == 0

    def teardown(self) -> None:
        """Check every invariant of the real ledger."""
        if hasattr(self, "house"):
            found = [f for f in fsck.check(operator_id=self.house.operator_id) if f.state is fsck.State.BROKEN]
            assert found == []


@pytest.mark.django_db(transaction=True)
def test_the_ledger_does_what_the_model_does(settings: Any) -> None:
    settings.SEALDECK_ROUND_AUDIT = ""
    run_state_machine_as_test(
        Machine,
        settings=profile(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
