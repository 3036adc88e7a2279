"""A house with a started log, tables, and players who sit, get ready and play through the services."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from apps.accounts.services import operator_create, player_upsert, session_create
from apps.core import clock
from apps.fairness import dealer, sequencer, tree
from apps.games import registry
from apps.games.bots import bot
from apps.games.contract import Action, Seat
from apps.tables import selectors
from apps.tables.models import Round, Table
from apps.tables.services import play, seats, tables
from apps.tables.services.seats import Contribution
from apps.wallets import selectors as wallets
from apps.wallets import services as wallets_services

POINTS = 100_000
MERGING = threading.Lock()
"""The log has one writer: of two threads that merge at once, one would go on before its commitment is published."""


class House:
    """One operator with a points currency, whose log is started."""

    def __init__(self) -> None:
        wallets_services.currency_create(code="PTS", exponent=0, is_money=False)
        self.operator, self.key = operator_create(name=f"house {uuid4().hex[:12]}")
        self.operator_id: UUID = self.operator.pk
        self.now_ms = clock.now_ms()

    def player(self, points: int = POINTS, **facts: Any) -> UUID:
        """Return a new player with so many points."""
        player_id = player_upsert(operator_id=self.operator_id, external_id=uuid4().hex, **facts).pk
        if points:
            with transaction.atomic():
                wallets_services.wallet_credit(
                    operator_id=self.operator_id,
                    player_id=player_id,
                    currency="PTS",
                    amount_minor=points,
                    external_id=uuid4().hex,
                    actor="test",
                )
        return player_id

    def points(self, player_id: UUID) -> int:
        """Return what the player may spend."""
        return wallets.balance(operator_id=self.operator_id, player_id=player_id, currency="PTS").available_minor

    def token(self, player_id: UUID) -> str:
        """Return a fresh session token."""
        return session_create(player_id=player_id, ttl_s=600).token

    def table(self, game: str = "monko", **settings: Any) -> Place:
        """Return a new table without pauses."""
        facts: dict[str, Any] = {"buy_in_minor": 1_000, "start_after_ms": 60_000, "pause_ms": 0} | settings
        table = tables.table_create(operator_id=self.operator_id, game=game, currency="PTS", **facts)
        return Place(self, table.pk)


class Place:
    """A table and those who sit at it."""

    def __init__(self, house: House, table_id: UUID) -> None:
        self.house = house
        self.id = table_id
        self.players: dict[int, UUID] = {}

    @property
    def now(self) -> int:
        """The house's time, which tests move by hand."""
        return self.house.now_ms

    @property
    def table(self) -> Table:
        """The table as it is now."""
        return Table.objects.select_related("round").get(pk=self.id)

    @property
    def round(self) -> Round:
        """The table's round as it is now."""
        found = self.table.round
        assert found is not None
        return Round.objects.select_related("table").get(pk=found.pk)

    def sit(self, number: int, player_id: UUID | None = None) -> UUID:
        """Sit a player down."""
        player_id = player_id or self.house.player()
        seats.seat_take(
            table_id=self.id,
            operator_id=self.house.operator_id,
            player_id=player_id,
            number=number,
            now_ms=self.now,
        )
        self.players[number] = player_id
        return player_id

    def ready(self, number: int, round_id: UUID | None = None) -> None:
        """Get a seat ready with fresh entropy, once the commitment is published."""
        with MERGING:
            sequencer.tick(now_ms=clock.now_ms())
        value = "" if self.table.entropy == "none" else secrets.token_hex(32)
        seats.seat_ready(
            table_id=self.id,
            player_id=self.players[number],
            round_id=round_id or self.round.pk,
            contribution=Contribution(value=value),
            now_ms=self.now,
        )

    def deal(self, *numbers: int) -> Round:
        """Seat players where nobody sits, and get everybody ready: the round starts."""
        for number in numbers:
            if number not in self.players:
                self.sit(number)
        for number in numbers:
            self.ready(number)
        round_ = self.round
        assert round_.status == Round.Status.RUNNING
        return round_

    def state(self) -> tuple[Any, Any]:
        """Return the rules and the engine's state."""
        return selectors.state_of(self.round)

    def turn(self) -> int:
        """Return the seat whose turn it is."""
        game, state = self.state()
        return int(min(game.actors(state)))

    def legal(self, number: int) -> tuple[Action, ...]:
        """Return what a seat may do."""
        game, state = self.state()
        round_ = self.round
        return tuple(game.legal(state, Seat(number), max(self.now - round_.offset_ms, round_.last_at_ms)))

    def act(self, number: int, action: Action, **more: Any) -> play.Moved:
        """Play one action of a seat."""
        facts: dict[str, Any] = {"session_id": None, "now_ms": self.now} | more
        if "seen" not in facts:
            facts["seen"] = self.round.seq
        return play.round_act(
            round_id=facts.pop("round_id", None) or self.round.pk,
            player_id=self.players[number],
            action=json.loads(json.dumps(action)),  # As it comes over HTTP.
            **facts,
        )

    def play_out(self, moves_max: int = 5_000) -> Round:
        """Let the game's bot play every seat until the round has ended, or for so many moves; return the round."""
        round_ = self.round
        choose, game = bot(round_.game), registry.game(round_.game)
        for _ in range(moves_max):
            round_.refresh_from_db(fields=["status", "seq", "head", "state"])
            if round_.status != Round.Status.RUNNING:
                break
            _, state = selectors.state_of(round_)
            number = min(game.actors(state), default=None)
            if number is None or (game.wake_at(state) or 0) <= self.now:
                self.house.now_ms = max(self.now, game.wake_at(state) or 0)
                self.wake(round_.pk)
                continue
            legal = game.legal(state, number, self.now)
            legal = tuple(a for a in legal if a["type"] not in game.spec.unsequenced)
            action = choose(game.view(state, number), legal, secrets.randbelow)
            assert action is not None
            self.act(number, action, round_id=round_.pk, seen=round_.seq)
            self.house.now_ms += 10
        round_.refresh_from_db()
        return round_

    def wake(self, round_id: UUID | None = None) -> bool:
        """Let what is due at the house's time happen."""
        return play.round_wake(round_id=round_id or self.round.pk, now_ms=self.now)


@pytest.fixture
def house(transactional_db: None) -> Iterator[House]:
    """Return an operator in a house of its own; no test sees what an earlier one left in this process."""
    dealer.forget_all()
    tree.forget_all()
    yield House()
    dealer.forget_all()
    tree.forget_all()
