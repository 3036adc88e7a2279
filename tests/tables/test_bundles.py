"""The bundles of a table as JSON Lines are the bundles of its rounds, canonical, and verify together."""

from __future__ import annotations

import json

import pytest

from apps.core import clock
from apps.fairness import sequencer
from apps.fairness.protocol import canonical
from apps.fairness.protocol.verify import verify_bundles
from apps.history import selectors as history
from tests.tables.conftest import House

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_lines_of_a_table_are_its_bundles(house: House) -> None:
    place = house.table()
    rounds = []
    for _ in range(2):
        rounds.append(place.deal(0, 1).pk)
        place.play_out()
    sequencer.tick(now_ms=clock.now_ms())
    lines = [line.encode() for line in history.bundles(round_ids=rounds)]
    assert [json.loads(line) for line in lines] == [history.bundle(round_id=round_id) for round_id in rounds]
    for line in lines:
        canonical.decode_canonical(line.removesuffix(b"\n"))
    assert [verdict.verdict for verdict in verify_bundles(lines, complete=True)] == ["pass", "pass"]
