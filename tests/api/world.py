"""An operator with one of everything: players, a table in play, an endpoint, transactions, keys, sealed blocks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from apps.accounts.services import key_create, session_create
from apps.core import clock
from apps.fairness import sequencer
from apps.wallets import daily, sealing
from apps.wallets.models import LedgerTransaction
from apps.webhooks.services import endpoint_create, events_number
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
        sealing.blocks_seal(operator_id=house.operator_id)
        events_number(operator_id=house.operator_id)
        yesterday = datetime.now(UTC).date() - timedelta(days=1)
        daily.daily_file_make(operator_id=house.operator_id, currency="PTS", day=yesterday)
        endpoint = endpoint_create(operator_id=house.operator_id, url="https://hooks.example/sealdeck", topics=())
        victim, _ = key_create(operator_id=house.operator_id, scopes=("read",), label="victim")
        session = session_create(player_id=place.players[1], ttl_s=600)
        self.known: dict[str, list[Any]] = {
            "player_id": [str(self.player_id)],
            "table_id": [str(self.table_id)],
            "round_id": [self.round.pk.hex],
            "key_id": [str(victim.pk)],
            "session_id": [str(session.session_id)],
            "endpoint_id": [str(endpoint.pk)],
            "external_id": list(LedgerTransaction.objects.filter(kind="credit").values_list("external_id", flat=True)),
            "tx_id": [str(pk) for pk in LedgerTransaction.objects.values_list("pk", flat=True)],
            "currency": ["PTS"],
            "slug": ["monko"],
            "game": ["monko"],
            "tile": ["0/000.p/1", "entries/000.p/1"],
            "day": [yesterday.isoformat()],
        }
