"""Daily files, block heads and keys over HTTP."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.accounts.services import key_create
from apps.wallets import canonical, daily
from apps.wallets.keys import signature_is_valid
from apps.wallets.models import DailyFile
from tests.older import blocks_seal
from tests.wallets.conftest import House
from tests.wallets.test_routes import send

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def filed(house: House, administrator: Any) -> tuple[House, str]:
    """Return an operator with a file of yesterday and a sealed block, and the day."""
    house.player(100)
    with administrator.transaction():
        administrator.execute("SET LOCAL session_replication_role = replica")
        administrator.execute("UPDATE wallets_tx SET created_at_ms = created_at_ms - %s", [daily.DAY_MS])
        administrator.execute("UPDATE wallets_account SET status_at_ms = status_at_ms - %s", [daily.DAY_MS])
    daily.daily_files_make(operator_id=house.operator_id)
    blocks_seal(operator_id=house.operator_id)
    return house, (datetime.now(tz=UTC) - timedelta(days=1)).date().isoformat()


class TestDailyFile:
    def test_can_be_checked_with_the_published_key_alone(self, filed: tuple[House, str]) -> None:
        house, day = filed
        answer = send(house.key, "GET", f"/reports/daily/{day}?currency=PTS")
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/x-ndjson")
        *body, trailer = answer.content.splitlines(keepends=True)
        claims = json.loads(trailer)
        file_hash = canonical.daily_hash(b"".join(body))
        assert file_hash.hex() == claims["hash"]
        keys = {key["kid"]: bytes.fromhex(key["public_key"]) for key in send("", "GET", "/ledger/keys").json()}
        statement = canonical.daily_statement(house.operator_id, "PTS", day, file_hash)
        assert signature_is_valid(keys[claims["kid"]], bytes.fromhex(claims["signature"]), statement)

    @pytest.mark.parametrize("accept", ["*/*", "application/json", "application/x-ndjson"])
    def test_is_the_same_for_every_accept_header(self, filed: tuple[House, str], accept: str) -> None:
        house, day = filed
        answer = send(house.key, "GET", f"/reports/daily/{day}?currency=PTS", accept=accept)
        assert json.loads(answer.content.splitlines()[0])["day"] == day

    @pytest.mark.parametrize("path", ["2020-01-01?currency=PTS", "soon?currency=PTS", "2025-13-01?currency=PTS"])
    def test_is_not_found_for_a_day_without_one(self, filed: tuple[House, str], path: str) -> None:
        answer = send(filed[0].key, "GET", f"/reports/daily/{path}", accept="application/json")
        assert (answer.status_code, answer.json()["code"]) == (404, "report_not_found")

    def test_is_for_its_operator_with_the_read_scope(self, filed: tuple[House, str], other_house: House) -> None:
        house, day = filed
        path = f"/reports/daily/{day}?currency=PTS"
        _, payer = key_create(operator_id=house.operator_id, scopes=("money",), label="payer")
        assert send(other_house.key, "GET", path).status_code == 404
        assert send(payer, "GET", path).status_code == 403
        assert send(house.key, "GET", f"/reports/daily/{day}").status_code == 400


class TestDaySoFar:
    def today(self) -> str:
        """Return today."""
        return datetime.now(tz=UTC).date().isoformat()

    def test_is_served_in_a_sandbox_chained_to_yesterday_and_kept_nowhere(
        self, filed: tuple[House, str], settings: Any
    ) -> None:
        house, day = filed
        player = house.player(30)
        path = f"/reports/daily/{self.today()}?currency=PTS"
        assert send(house.key, "GET", path, accept="application/json").status_code == 404
        settings.SEALDECK_SANDBOX = True
        yesterday = send(house.key, "GET", f"/reports/daily/{day}?currency=PTS").content.splitlines()
        *body, trailer = send(house.key, "GET", path).content.splitlines(keepends=True)
        header, claims = json.loads(body[0]), json.loads(trailer)
        assert header["prev_hash"] == json.loads(yesterday[-1])["hash"]
        assert header["opening"] == json.loads(yesterday[0])["closing"]
        assert header["closing"]["funding"] == -130
        assert [line["player_id"] for line in json.loads(body[1])["lines"] if "player_id" in line] == [str(player)]
        keys = {key["kid"]: bytes.fromhex(key["public_key"]) for key in send("", "GET", "/ledger/keys").json()}
        file_hash = canonical.daily_hash(b"".join(body))
        statement = canonical.daily_statement(house.operator_id, "PTS", self.today(), file_hash)
        assert signature_is_valid(keys[claims["kid"]], bytes.fromhex(claims["signature"]), statement)
        assert DailyFile.objects.filter(operator_id=house.operator_id).count() == 1

    def test_is_not_served_while_yesterday_has_no_file(self, house: House, administrator: Any, settings: Any) -> None:
        settings.SEALDECK_SANDBOX = True
        house.player(100)
        path = f"/reports/daily/{self.today()}?currency=PTS"
        assert send(house.key, "GET", path).status_code == 200
        assert send(house.key, "GET", path.replace("PTS", "EUR")).status_code == 404
        with administrator.transaction():
            administrator.execute("SET LOCAL session_replication_role = replica")
            administrator.execute("UPDATE wallets_account SET status_at_ms = status_at_ms - %s", [daily.DAY_MS])
        assert send(house.key, "GET", path).status_code == 404


class TestBlocks:
    def test_heads_are_listed_after_a_number(self, filed: tuple[House, str], other_house: House) -> None:
        house, _ = filed
        (head,) = send(house.key, "GET", "/ledger/blocks").json()
        assert (head["seq"], head["entries"], head["sums"]) == (0, 2, {"PTS": 100})
        assert head["prev_hash"] == canonical.GENESIS.hex()
        assert send(house.key, "GET", "/ledger/blocks?after=0").json() == []
        assert send(other_house.key, "GET", "/ledger/blocks").json() == []
        assert send(house.key, "GET", "/ledger/blocks?after=x").status_code == 400
