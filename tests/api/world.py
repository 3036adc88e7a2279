"""An operator with one of everything: players, a table in play, an endpoint, transactions, keys, sealed blocks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from django.db import transaction

from apps.accounts.services import key_create, session_create
from apps.core import clock
from apps.fairness import sequencer
from apps.wallets import daily
from apps.wallets.models import LedgerTransaction
from apps.wallets.services import adjustment_request, hold_place
from apps.webhooks.services import endpoint_create, events_number
from tests.older import blocks_seal
from tests.tables.conftest import House


class World:
    """What a caller may ask for, and the ids of it by the names that the API gives them."""

    def __init__(self, house: House) -> None:
        self.house = house
        place = house.table()
        self.table_id = place.id
        self.round = place.deal(0, 1)
        self.player_id = place.players[0]
        self.token = house.token(self.player_id)
        self.key = house.key
        sequencer.tick(now_ms=clock.now_ms())
        blocks_seal(operator_id=house.operator_id)
        events_number(operator_id=house.operator_id)
        yesterday = datetime.now(UTC).date() - timedelta(days=1)
        daily.daily_file_make(operator_id=house.operator_id, currency="PTS", day=yesterday)
        endpoint = endpoint_create(operator_id=house.operator_id, url="https://hooks.example/sealdeck", topics=())
        victim, _ = key_create(operator_id=house.operator_id, scopes=("read",), label="victim")
        with transaction.atomic():
            hold_id = hold_place(
                operator_id=house.operator_id,
                player_id=self.player_id,
                currency="PTS",
                amount_minor=10,
                purpose="test",
                reference=uuid4(),
                ttl_ms=600_000,
            )
            correction_id = adjustment_request(
                operator_id=house.operator_id,
                player_id=self.player_id,
                currency="PTS",
                amount_minor=10,
                reason="test",
                requested_by="staff:1",
            )
        session = session_create(player_id=place.players[1], ttl_s=600)
        credits = LedgerTransaction.objects.filter(kind="credit")
        self.known: dict[str, list[Any]] = {
            "player_id": [str(self.player_id)],
            "table_id": [str(self.table_id)],
            "round_id": [self.round.pk.hex],
            "key_id": [str(victim.pk)],
            "session_id": [str(session.session_id)],
            "endpoint_id": [str(endpoint.pk)],
            "external_id": list(credits.values_list("external_id", flat=True)),
            "transaction_id": [str(pk) for pk in credits.values_list("pk", flat=True)],
            "hold_id": [str(hold_id)],
            "correction_id": [str(correction_id)],
            "currency": ["PTS"],
            "slug": ["monko"],
            "game": ["monko"],
            "tile": ["0/000.p/1", "entries/000.p/1"],
            "day": [yesterday.isoformat()],
        }
