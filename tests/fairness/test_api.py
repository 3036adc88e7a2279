"""The public fairness API: what anybody reads, how long it may be kept, and what is refused."""

from __future__ import annotations

import base64
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from apps.fairness import selectors
from apps.fairness.models import Record
from apps.fairness.protocol import log as log_rules
from apps.fairness.protocol import notes, tiles
from apps.fairness.protocol.trust import trust_read
from tests.fairness.table import FairTable

pytestmark = pytest.mark.django_db

FOREVER = "public, max-age=31536000, immutable"


@pytest.fixture
def ended() -> FairTable:
    """Return a table with a round that ended and is merged."""
    table = FairTable(entropy="open")
    table.unplayed_round(0, 1)
    return table


def get(client: Client, path: str) -> Any:
    answer = client.get(f"/v1/fairness/{path}")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "Set-Cookie" not in answer.headers
    return answer


class TestLog:
    def test_gives_the_checkpoint_anew_each_time(self, client: Client, ended: FairTable) -> None:
        answer = get(client, "checkpoint")
        assert answer.headers["Cache-Control"] == "no-cache"
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        checkpoint = notes.checkpoint_read(answer.content.decode())
        notes.checkpoint_verify(checkpoint, trust_read(selectors.trust()).log)
        assert checkpoint.size == 6

    def test_gives_tiles_from_which_the_root_is_rebuilt(self, client: Client, ended: FairTable) -> None:
        root = notes.checkpoint_read(get(client, "checkpoint").content.decode()).root
        tile = get(client, "tile/0/000.p/6")
        assert tile.headers["Cache-Control"] == FOREVER
        assert tile.headers["Content-Type"] == "application/octet-stream"
        leaves = tiles.tile_decode(tile.content, 6)
        assert log_rules.tree_root(leaves) == root
        entries = tiles.bundle_decode(get(client, "tile/entries/000.p/6").content)
        assert [log_rules.leaf_hash(entry) for entry in entries] == leaves

    @pytest.mark.parametrize(
        "path", ["0/000", "0/000.p/7", "1/000.p/1", "entries/000.p/7", "0/001.p/1", "0/0", "x", "0/000.p/0", "64/000"]
    )
    def test_has_no_other_tiles(self, client: Client, ended: FairTable, path: str) -> None:
        answer = get(client, f"tile/{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "tile_unknown")
        assert answer.headers["Cache-Control"] == "no-store"

    def test_proves_inclusion(self, client: Client, ended: FairTable) -> None:
        answer = get(client, "proofs/inclusion?index=4&size=6")
        proof = answer.json()
        leaf = log_rules.leaf_hash(bytes(Record.objects.get(log_index=4).entry))
        assert answer.headers["Cache-Control"] == FOREVER
        path = [bytes.fromhex(node) for node in proof["path"]]
        assert proof["leaf"] == leaf.hex()
        assert log_rules.inclusion_verify(bytes.fromhex(proof["root"]), 6, 4, leaf, path)

    def test_proves_consistency(self, client: Client, ended: FairTable) -> None:
        old = get(client, "proofs/inclusion?index=0&size=4").json()["root"]
        new = get(client, "proofs/inclusion?index=0&size=6").json()["root"]
        proof = get(client, "proofs/consistency?from=4&to=6").json()
        path = [bytes.fromhex(node) for node in proof["path"]]
        assert log_rules.consistency_verify(4, 6, bytes.fromhex(old), bytes.fromhex(new), path)

    def test_keeps_no_proof_of_the_newest_size(self, client: Client, ended: FairTable) -> None:
        assert get(client, "proofs/inclusion?index=4").headers["Cache-Control"] == "no-cache"
        assert get(client, "proofs/consistency?from=4").headers["Cache-Control"] == "no-cache"

    @pytest.mark.parametrize(
        ("path", "status"),
        [
            ("proofs/inclusion?index=6&size=6", 422),
            ("proofs/inclusion?index=0&size=7", 422),
            ("proofs/inclusion?index=0&size=0", 422),
            ("proofs/consistency?from=5&to=4", 422),
            ("proofs/consistency?from=0&to=99", 422),
            ("proofs/inclusion", 400),
            ("proofs/inclusion?index=-1", 400),
            ("proofs/inclusion?index=a", 400),
            ("proofs/inclusion?index=99999999999999999999", 400),
            ("proofs/consistency?to=4", 400),
        ],
    )
    def test_refuses_what_is_not_in_range(self, client: Client, ended: FairTable, path: str, status: int) -> None:
        answer = get(client, path)
        assert answer.status_code == status
        assert answer.headers["Content-Type"] == "application/problem+json"


class TestKeys:
    def test_lists_the_key_entries_as_they_are_in_the_log(self, client: Client, ended: FairTable) -> None:
        answer = get(client, "keys").json()
        assert answer["origin"] == "test.sealdeck.example/log"
        assert [(row["index"], row["record"]["body"]["use"]) for row in answer["keys"]] == [
            (0, "root"),
            (1, "log"),
            (2, "records"),
        ]

    def test_gives_a_trust_file_and_says_not_to_rely_on_it(self, client: Client, ended: FairTable) -> None:
        answer = get(client, "trust").json()
        assert "server that it judges" in answer["warning"]
        assert trust_read(answer["trust"]).quorum == 0

    def test_gives_the_trust_file_alone(self, client: Client, ended: FairTable) -> None:
        answer = get(client, "trust.json")
        assert trust_read(answer.content) == trust_read(selectors.trust())
        assert "server that it judges" in answer.headers["Sealdeck-Warning"]

    def test_shows_no_secret(self, client: Client, ended: FairTable) -> None:
        for path in ("keys", "trust", "checkpoint", f"rounds/{ended.round_id.hex}", "statistics"):
            text = get(client, path).content
            assert bytes(range(32)).hex().encode() not in text
            assert base64.b64encode(bytes(range(32))) not in text


class TestRounds:
    def test_shows_the_records_of_a_round_that_runs(self, client: Client) -> None:
        table = FairTable(entropy="open")
        table.open()
        answer = get(client, f"rounds/{table.round_id.hex}")
        [record] = answer.json()["records"]
        assert (record["record"]["type"], record["index"]) == ("open", None)
        assert answer.headers["Cache-Control"] == "no-cache"
        assert "seed" not in record["record"]["body"]

    def test_keeps_the_records_of_a_round_that_ended_for_ever(self, client: Client, ended: FairTable) -> None:
        answer = get(client, f"rounds/{ended.round_id.hex}")
        assert [row["index"] for row in answer.json()["records"]] == [3, 4, 5]
        assert answer.headers["Cache-Control"] == FOREVER

    def test_knows_no_other_round(self, client: Client, ended: FairTable) -> None:
        answer = get(client, f"rounds/{uuid4().hex}")
        assert (answer.status_code, answer.json()["code"]) == (404, "round_unknown")

    def test_counts_how_rounds_ended(self, client: Client, ended: FairTable) -> None:
        ended.open()
        ended.void(stage="open", reason="not_started", fault="none")
        ended.merge()
        endings = get(client, "statistics").json()["endings"]
        assert [(row["ending"], row["reason"], row["rounds"], row["share_ppm"]) for row in endings] == [
            ("reveal", "", 1, 500_000),
            ("void", "not_started", 1, 500_000),
        ]
        assert get(client, "statistics?since=2999-01-01").json()["endings"] == []


@pytest.mark.parametrize(
    "path", ["checkpoint", "keys", "trust", "proofs/inclusion?index=0", "statistics", "tile/0/000"]
)
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_takes_nothing(client: Client, path: str, method: str) -> None:
    assert getattr(client, method)(f"/v1/fairness/{path}").status_code == 405
