"""Rounds that wait for a beacon, at a table: dealt with it, void without it or where no witness saw them in time.

Protocol: docs/fairness/protocol.md, sections 4 and 9.  The beacons are recorded ones, so the house's clock is set back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.core import clock
from apps.fairness import beacons, selectors, sequencer, witnesses
from apps.fairness.protocol.trust import trust_read
from apps.fairness.protocol.verify import verify_bundles
from apps.history import selectors as history
from apps.tables.models import Round
from apps.tables.services import advance
from apps.tables.services.starting import OPENINGS_MAX_MS
from tests.fairness.loopback import server
from tests.fairness.test_outside import Steered, relay
from tests.fairness.test_rounds import BEACON_CLOSED_MS, BEACON_MS
from tests.tables.conftest import POINTS, House, Place

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def place(house: House, settings: Any) -> Iterator[Place]:
    """Return a table whose round is closed and waits for its beacon."""
    house.now_ms = BEACON_CLOSED_MS - 1_000
    with server(relay) as address:
        settings.SEALDECK_BEACON_URLS = [address]
        made = house.table(entropy="open", beacon_margin=2)
        for number in (0, 1):
            made.sit(number)
        yield made


@pytest.fixture
def witness(settings: Any, tmp_path: Path) -> Iterator[Steered]:
    """Return the one witness whom the log needs."""
    made = Steered(tmp_path, "witness.example/one", 1)
    with server(made) as url:
        settings.SEALDECK_WITNESSES = [{"vkey": str(made.key), "url": url}]
        settings.SEALDECK_WITNESS_QUORUM = 1
        yield made


def closed(place: Place, witness: Steered | None = None) -> Round:
    """Get both seats ready, so that the roster is closed."""
    sequencer.tick(now_ms=clock.now_ms())
    if witness is not None:
        witnesses.cosign_newest(now_s=witness.time_s)
    place.ready(0)
    place.house.now_ms = BEACON_CLOSED_MS
    place.ready(1)
    round_ = place.round
    assert (round_.status, round_.beacon_round) == (Round.Status.CLOSING, 27798178)
    sequencer.tick(now_ms=clock.now_ms())
    return round_


def at(place: Place, now_ms: int, round_: Round) -> Round:
    """Let the table do what is due at a time."""
    place.house.now_ms = now_ms
    beacons.fetch_due(now_ms=now_ms)
    advance.table_tick(table_id=place.id, now_ms=now_ms)
    round_.refresh_from_db()
    return round_


def verdict_of(round_: Round) -> tuple[str | None, dict[str, Any]]:
    """Return the verdict on the round's bundle, and its last record's body."""
    sequencer.tick(now_ms=clock.now_ms())
    data = history.bundle(round_id=round_.pk).data
    [verdict] = verify_bundles([data], trust_read(selectors.trust()))
    return verdict.verdict, json.loads(data)["records"][-1]["body"]


def test_a_round_is_dealt_once_its_beacon_is_there(place: Place) -> None:
    round_ = closed(place)
    assert at(place, BEACON_MS - 1, round_).status == Round.Status.CLOSING
    assert at(place, BEACON_MS, round_).status == Round.Status.RUNNING
    place.play_out()
    assert verdict_of(round_)[0] == "pass"


def test_a_round_without_its_beacon_is_void(place: Place, settings: Any) -> None:
    settings.SEALDECK_BEACON_URLS = []
    round_ = closed(place)
    assert at(place, BEACON_MS + OPENINGS_MAX_MS - 1, round_).status == Round.Status.CLOSING
    assert at(place, BEACON_MS + OPENINGS_MAX_MS, round_).status == Round.Status.VOID
    verdict, void = verdict_of(round_)
    assert (verdict, void["reason"], void["fault"]) == ("pass", "beacon_missing", "none")
    assert [place.house.points(player) for player in place.players.values()] == [POINTS] * 2


def test_a_round_that_a_witness_saw_closed_in_time_is_dealt(place: Place, witness: Steered) -> None:
    round_ = closed(place, witness)
    assert witnesses.cosign_newest(now_s=witness.time_s) == 1
    assert at(place, BEACON_MS, round_).status == Round.Status.RUNNING
    place.play_out()
    sequencer.tick(now_ms=clock.now_ms())
    witness.time_s = BEACON_MS // 1000 + 60
    witnesses.cosign_newest(now_s=witness.time_s)
    assert verdict_of(round_)[0] == "pass"


@pytest.mark.parametrize("seen", ["late", "never"])
def test_a_round_that_no_witness_saw_closed_in_time_is_void(place: Place, witness: Steered, seen: str) -> None:
    """Dealt, it would look as if the house had waited for the beacon before it chose who plays."""
    round_ = closed(place, witness)
    witness.time_s = BEACON_MS // 1000
    if seen == "late":
        assert witnesses.cosign_newest(now_s=witness.time_s) == 1
    assert at(place, BEACON_MS, round_).status == Round.Status.VOID
    sequencer.tick(now_ms=clock.now_ms())
    witnesses.cosign_newest(now_s=witness.time_s)
    verdict, void = verdict_of(round_)
    assert (verdict, void["reason"], void["fault"]) == ("pass", "operator_fault", "operator")
    assert [place.house.points(player) for player in place.players.values()] == [POINTS] * 2
