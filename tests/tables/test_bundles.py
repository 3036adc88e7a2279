"""The bundles of a table as JSON Lines are the bundles of its rounds, canonical, and verify together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.core import clock
from apps.fairness import sequencer, witnesses
from apps.fairness.protocol import canonical
from apps.fairness.protocol.verify import verify_bundles
from apps.history import selectors as history
from tests.fairness.loopback import server
from tests.fairness.test_outside import Steered
from tests.tables.conftest import House

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_lines_of_a_table_are_its_bundles(house: House) -> None:
    place = house.table()
    rounds = []
    for _ in range(2):
        rounds.append(place.deal(0, 1).pk)
        place.play_out()
    sequencer.tick(now_ms=clock.now_ms())
    lines = list(history.bundles(round_ids=rounds))
    assert lines == [history.bundle(round_id=round_id).data + b"\n" for round_id in rounds]
    for line in lines:
        canonical.decode_canonical(line.removesuffix(b"\n"))
    assert [verdict.verdict for verdict in verify_bundles(lines, complete=True)] == ["pass", "pass"]


class TestOverHttp:
    def test_every_route_gives_the_same_bytes_for_ever(self, house: House, client: Client) -> None:
        place = house.table()
        rounds = []
        for _ in range(2):
            rounds.append(place.deal(0, 1).pk)
            place.play_out()
        sequencer.tick(now_ms=clock.now_ms())
        paths = [f"/v1/fairness/rounds/{round_id.hex}/bundle" for round_id in rounds]
        first = [client.get(path) for path in paths]
        lines = b"".join(client.get(f"/v1/fairness/tables/{place.id}/bundles").streaming_content)  # type: ignore[attr-defined]
        assert lines == b"".join(answer.content + b"\n" for answer in first)
        place.deal(0, 1)
        sequencer.tick(now_ms=clock.now_ms())
        assert [client.get(path).content for path in paths] == [answer.content for answer in first], "the log grew"
        for answer in first:
            canonical.decode_canonical(answer.content)
            assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
            assert answer.headers["Content-Type"] == "application/json"

    def test_what_is_known_already_is_not_sent_again(self, house: House, client: Client) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        sequencer.tick(now_ms=clock.now_ms())
        path = f"/v1/fairness/rounds/{round_.pk.hex}/bundle"
        running = client.get(path)
        assert running.headers["Cache-Control"] == "no-cache", "there is more to come"
        again = client.get(path, headers={"If-None-Match": running.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        place.play_out()
        sequencer.tick(now_ms=clock.now_ms())
        ended = client.get(path, headers={"If-None-Match": running.headers["ETag"]})
        assert (ended.status_code, ended.headers["ETag"] != running.headers["ETag"]) == (200, True)

    def test_it_is_final_only_once_every_witness_has_cosigned_it(
        self, house: House, client: Client, settings: Any, tmp_path: Path
    ) -> None:
        witness = Steered(tmp_path, "witness.example/one", 1)
        with server(witness) as url:
            settings.SEALDECK_WITNESSES = [{"vkey": str(witness.key), "url": url}]
            place = house.table()
            round_ = place.deal(0, 1)
            place.play_out()
            sequencer.tick(now_ms=clock.now_ms())
            path = f"/v1/fairness/rounds/{round_.pk.hex}/bundle"
            assert client.get(path).headers["Cache-Control"] == "no-cache"
            witnesses.cosign_newest(now_s=witness.time_s)
            final = client.get(path)
            assert "immutable" in final.headers["Cache-Control"]
            witness.time_s += 30
            assert witnesses.cosign_newest(now_s=witness.time_s) == 1, "seen again, later"
            assert client.get(path).content == final.content
