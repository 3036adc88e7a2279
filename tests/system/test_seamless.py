"""A seamless operator of the running product: rounds from wallet to wallet, and kill -9 while the wallet is called."""

from __future__ import annotations

import base64
import contextlib
import secrets
import threading
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from apps.client.calls import Retries
from apps.client.errors import ApiError, OutcomeUnknown
from apps.client.operator import OperatorClient
from apps.client.player import PlayerClient
from apps.client.wallet.server import Answer
from apps.client.wallet.signed import Operator, Request
from tests.wallets.seamless.remote import ANSWER_KEY, ANSWER_PUBLIC, Remote, remote_serving, right
from tools.stack import Stack, until

FUNDS = 5_000
BUY_IN = 1_000


class Platform:
    """An operator of the running product whose wallet is served by this test."""

    def __init__(self, stack: Stack, remote: Remote, operator_id: UUID, name: str, api_key: str) -> None:
        self.stack, self.remote = stack, remote
        keys = httpx.get(f"{stack.url}/v1/answer-keys").json()
        trusted = {f"{operator_id}.{key['kid']}": base64.b64decode(key["public_key"]) for key in keys}
        remote.operator = Operator(trusted, ANSWER_KEY)
        stack.manage("operator_wallet", name, "seamless", "--url", remote.url, "--answer-key", ANSWER_PUBLIC.hex())
        self.client = OperatorClient(stack.url, api_key)

    def player(self) -> tuple[str, PlayerClient]:
        """Return a new player with funds in the wallet: the wallet's id of him, and his client, which never retries."""
        ref = f"seamless-{secrets.token_hex(4)}"
        self.remote.book.deposit(ref, "PTS", FUNDS)
        player = self.client.player_upsert(ref)
        token = self.client.session_create(player["id"])["token"]
        return ref, PlayerClient(self.stack.url, token, retries=Retries(attempts_max=1))

    def table(self, *players: PlayerClient) -> tuple[str, str]:
        """Seat players at a new table of Monko; return its id and the open round's."""
        body = {"game": "monko", "currency": "PTS", "buy_in_minor": BUY_IN, "seats_max": 2, "pause_ms": 60_000}
        table = self.client.table_create(body)["id"]
        for number, client in enumerate(players):
            client.seat_take(table, number)
        return table, until("the commitment", lambda: _open(players[0].table(table)))

    def funds(self, *refs: str) -> int:
        """Return what players have in the wallet together."""
        return sum(self.remote.book.balance_of(ref, "PTS") or 0 for ref in refs)

    def stakes(self, round_id: str) -> list[str]:
        """Return the states of a round's stakes."""
        rows = self.stack.ask(f"SELECT state FROM wallets_stake WHERE round_id = '{UUID(round_id)}' ORDER BY 1")
        return [state for (state,) in rows]


def _open(table: dict[str, Any]) -> str | None:
    round_ = table["round"]
    return str(round_["id"]) if round_ and round_["takes_contributions"] else None


def _ready(client: PlayerClient, table: str, round_id: str) -> None:
    client.ready(table, {"round_id": round_id, "entropy": secrets.token_hex(32)})


@pytest.fixture
def platform(stack: Stack) -> Iterator[Platform]:
    """Return a seamless operator."""
    name = f"seamless {secrets.token_hex(4)}"
    printed = dict(line.split(None, 1) for line in stack.manage("operator_create", name).splitlines()[:2])
    operator_id = UUID(printed["operator"])
    with remote_serving(operator_id) as remote:
        yield Platform(stack, remote, operator_id, name, printed["api_key"])


class TestSeamless:
    def test_a_round_from_wallet_to_wallet(self, stack: Stack, platform: Platform) -> None:
        refs, clients = zip(*(platform.player() for _ in range(2)), strict=True)
        table, round_id = platform.table(*clients)
        for client in clients:
            _ready(client, table, round_id)
        assert platform.funds(*refs) == 2 * (FUNDS - BUY_IN)
        assert clients[0].round(round_id)["status"] == "running"

        def over() -> bool:
            for client in clients:
                view = client.round(round_id)
                if view["status"] != "running":
                    return True
                if view["legal"]:
                    with contextlib.suppress(ApiError):  # A clock may run out first.
                        client.act(round_id, view["legal"][0], seen=view["seq"])
            return False

        until("the end of the round", over, timeout_s=180)
        until("the payouts", lambda: platform.stakes(round_id) == ["paid", "paid"])
        fee = 2 * BUY_IN * 500 // 10_000
        assert platform.funds(*refs) == 2 * FUNDS - fee
        assert {call["bet_transaction_id"] for call in platform.remote.calls("win")} == {
            call["transaction_id"] for call in platform.remote.calls("bet")
        }
        player = platform.client.player_upsert(refs[0])["id"]
        balance = platform.client.balance(player, "PTS")
        assert balance["available_minor"] == platform.funds(refs[0])
        stack.manage("fsck_ledger", "--quick")

    def test_the_api_dies_while_the_wallet_is_called(self, stack: Stack, platform: Platform) -> None:
        (ref, client), (_, other) = platform.player(), platform.player()
        table, round_id = platform.table(client, other)
        asked, goes_on = threading.Event(), threading.Event()

        def slow(remote: Remote, request: Request) -> Answer:
            asked.set()
            assert goes_on.wait(60)
            return right(remote, request)

        platform.remote.faults["bet"] = [slow]
        came: list[Exception] = []

        def get_ready() -> None:
            try:
                _ready(client, table, round_id)
            except (OutcomeUnknown, ApiError) as error:
                came.append(error)

        thread = threading.Thread(target=get_ready)
        thread.start()
        assert asked.wait(60)
        stack.kill("api")
        goes_on.set()
        thread.join()
        assert len(came) == 1
        stack.start("api")
        assert platform.stakes(round_id) == ["sent"]
        until("the bet", lambda: platform.funds(ref) == FUNDS - BUY_IN)
        # The lease runs out: the row says when, so the row is moved and nobody waits.
        stack.change("UPDATE wallets_stake SET next_try_at_ms = 0 WHERE state = 'sent'")
        until("the rollback", lambda: platform.stakes(round_id) == ["rolled_back"])
        assert platform.funds(ref) == FUNDS
        _ready(client, table, round_id)
        assert platform.stakes(round_id) == ["confirmed", "rolled_back"]
        stack.manage("fsck_ledger", "--quick")

    def test_the_worker_dies_while_the_wallet_is_called(self, stack: Stack, platform: Platform) -> None:
        (ref, client), (_, other) = platform.player(), platform.player()
        table, round_id = platform.table(client, other)
        _ready(client, table, round_id)
        asked, goes_on = threading.Event(), threading.Event()

        def slow(remote: Remote, request: Request) -> Answer:
            asked.set()
            assert goes_on.wait(60)
            return right(remote, request)

        platform.remote.faults["rollback"] = [slow]
        client.seat_stand_up(table)
        assert asked.wait(60)
        stack.kill("worker")
        goes_on.set()
        until("the rollback's effect", lambda: platform.funds(ref) == FUNDS)
        assert platform.stakes(round_id) == ["rollback_sent"]
        stack.change("UPDATE wallets_stake SET next_try_at_ms = 0 WHERE state = 'rollback_sent'")
        stack.change("UPDATE wallets_operator_wallet SET not_before_ms = 0")
        stack.start("worker")
        until("the rollback", lambda: platform.stakes(round_id) == ["rolled_back"])
        assert platform.funds(ref) == FUNDS
        assert len({str(call) for call in platform.remote.calls("rollback")}) == 1
        stack.manage("fsck_ledger", "--quick")
