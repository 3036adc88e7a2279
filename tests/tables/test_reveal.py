"""Nothing makes an open round reveal itself: every address and every service is tried before its end (hazard F9).

A server once opened its seed when the seed was rotated while a round ran.  Here a round ends by its rules, by a void of
the table's own, or by the players who leave it, and by nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.db import transaction
from rest_framework.test import APIClient

from apps.core import clock
from apps.fairness import dealer, sealing, sequencer
from apps.fairness import services as fairness
from apps.fairness.errors import RoundStage
from apps.fairness.models import FairRound, Record
from apps.tables.models import Round
from tests.tables.conftest import House, Place

pytestmark = pytest.mark.django_db(transaction=True)

PATHS = yaml.safe_load((Path(__file__).parents[2] / "docs" / "api" / "openapi.yaml").read_text())["paths"]
METHODS = ("get", "post", "put", "patch", "delete")
PLAY = {"/v1/rounds/{round_id}/leave", "/v1/tables/{table_id}/seats/me"}
"""By these a player leaves, which may end a round by its rules."""


def secrets_of(place: Place) -> list[str]:
    """Return the seed, and what is derived from it, of the table's running round."""
    row = FairRound.objects.get(pk=place.round.pk)
    seed = sealing.seed_open(
        bytes(row.seed_sealed), table=place.id.bytes, index=row.index, seed_commit=bytes(row.seed_commit)
    )
    schedule = dealer._schedule(place.round.pk)
    hidden = [(0, pos) for pos in range(60, len(dealer.opening_deck(place.round.pk)))]
    salts = [opening["salt"] for opening in dealer.openings(place.round.pk, hidden)]
    return [seed.hex(), schedule.prk.hex(), schedule.key("deck").hex(), schedule.key("card-salt").hex(), *salts]


def addresses(place: Place) -> list[tuple[str, str]]:
    """Return every method of every address of the API, with the ids of this table, and those nobody documented."""
    given = {
        "round_id": place.round.pk,
        "table_id": place.id,
        "player_id": place.players[0],
        "slug": "monko",
        "tile": "entries/000.p/3",
        "day": "2026-01-01",
    }
    filled = [path.format_map(_Ids(given)) for path in PATHS if path not in PLAY]
    more = [f"/v1/{kind}/{id_}/{verb}" for verb in ("reveal", "seed", "void", "end") for kind, id_ in _things(place)]
    return [(method, path) for path in (*filled, *more) for method in METHODS]


def _things(place: Place) -> list[tuple[str, str]]:
    return [("rounds", place.round.pk.hex), ("fairness/rounds", place.round.pk.hex), ("tables", place.id.hex)]


class _Ids(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return "00000000-0000-4000-8000-000000000000"


def test_no_address_reveals_or_ends_a_running_round(house: House) -> None:
    place = house.table()
    round_ = place.deal(0, 1, 2)
    sequencer.tick(now_ms=clock.now_ms())
    hidden = secrets_of(place)
    callers = {"operator": house.key, "seat": house.token(place.players[0]), "nobody": ""}
    tried = addresses(place)
    assert len(tried) > 200
    for name, token in callers.items():
        client = APIClient(headers={"authorization": f"Bearer {token}"} if token else {})
        for method, path in tried:
            answer = getattr(client, method)(path, {} if method == "get" else None, format=None)
            assert answer.status_code != 500, (name, method, path)
            content = b"".join(answer.streaming_content) if answer.streaming else answer.content
            text = content.decode(errors="replace") + content.hex() + str(dict(answer.headers))
            assert not [secret for secret in hidden if secret in text], (name, method, path)
        assert Round.objects.get(pk=round_.pk).status == Round.Status.RUNNING, name
    assert not Record.objects.filter(round_id=round_.pk, type__in=["reveal", "void"]).exists()


@pytest.mark.parametrize("status", ["draining", "paused"])
def test_a_table_that_stops_plays_its_round_to_the_end_first(house: House, status: str) -> None:
    place = house.table()
    round_ = place.deal(0, 1)
    client = APIClient(headers={"authorization": f"Bearer {house.key}"})
    assert client.patch(f"/v1/tables/{place.id}", {"status": status}, format="json").status_code == 200
    assert Round.objects.get(pk=round_.pk).status == Round.Status.RUNNING
    assert not Record.objects.filter(round_id=round_.pk, type__in=["reveal", "void"]).exists()


def _reveal(round_: Round) -> None:
    fairness.round_reveal(
        round_id=round_.pk,
        entries=0,
        head="ab" * 32,
        outcome={"reason": "out", "shares": {}, "ranking": []},
        payouts=[],
        fee=0,
        ended_ms=clock.now_ms(),
    )


def _void(stage: str) -> Callable[[Round], None]:
    def void(round_: Round) -> None:
        fairness.round_void(
            round_id=round_.pk,
            stage=stage,
            reason="operator_fault",
            fault="operator",
            entropies=[],
            entries=0,
            head="ab" * 32 if stage == "deck" else "",
            now_ms=clock.now_ms(),
        )

    return void


@pytest.mark.parametrize(
    ("dealt", "end"),
    [(False, _reveal), (False, _void("close")), (False, _void("deck")), (True, _void("open")), (True, _void("close"))],
    ids=["reveal undealt", "void unclosed", "void undealt", "void dealt as open", "void dealt as closed"],
)
def test_no_service_reveals_at_another_stage(house: House, dealt: bool, end: Callable[[Round], None]) -> None:
    place = house.table()
    for number in (0, 1):
        place.sit(number)
    if dealt:
        place.deal(0, 1)
    round_ = place.round
    with pytest.raises(RoundStage) as refused, transaction.atomic():
        end(round_)
    assert refused.value.status == 409
    assert not Record.objects.filter(round_id=round_.pk, type__in=["reveal", "void"]).exists()
