"""kill -9 of what runs, during play: the round goes on, nothing happens twice, the ledger adds up."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from apps.client.bots import run
from apps.client.errors import ApiError
from apps.client.operator import OperatorClient
from apps.client.player import PlayerClient
from tests.system.stack import Stack, pause, until


class Playing:
    """The demo's bots in a thread, playing fast."""

    def __init__(self, stack: Stack) -> None:
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._main, args=(stack,), daemon=True)
        self._thread.start()

    def _main(self, stack: Stack) -> None:
        asyncio.set_event_loop(self._loop)
        self._task = self._loop.create_task(run(stack.demo, base_url=stack.url, pace_s=0.02))
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            return

    def stop(self) -> None:
        """End the bots."""
        if self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(20)


@pytest.fixture
def playing(stack: Stack) -> Iterator[Playing]:
    """Let bots play while the test runs."""
    bots = Playing(stack)
    until("a first round", stack.rounds_ended, timeout_s=180)
    yield bots
    bots.stop()


def two(stack: Stack) -> tuple[OperatorClient, str, list[PlayerClient], str]:
    """Return an operator's client, a table of Monko, two seated and ready players, and the running round."""
    operator = OperatorClient(stack.url, stack.demo["api_key"])
    name = secrets.token_hex(4)
    players = []
    for number in (0, 1):
        player = operator.player_upsert(f"crash-{name}-{number}")
        operator.credit(player["id"], "PTS", 5_000, external_id=f"crash-{name}-{number}")
        players.append(PlayerClient(stack.url, operator.session_create(player["id"])["token"]))
    body = {"game": "monko", "currency": "PTS", "buy_in_minor": 1_000, "seats_max": 2, "pause_ms": 60_000}
    table = operator.table_create(body)["id"]
    for number, client in enumerate(players):
        client.seat_take(table, number)
    opened = until("the commitment", lambda: _open(players[0].table(table)))
    for client in players:
        client.ready(table, {"round_id": opened, "entropy": secrets.token_hex(32)})
    return operator, table, players, opened


def _open(table: dict[str, Any]) -> str | None:
    round_ = table["round"]
    return str(round_["id"]) if round_ and round_["takes_contributions"] else None


def clean(stack: Stack) -> None:
    """Check that the ledger adds up and that every stored round is what its inputs give."""
    sums = stack.ask("SELECT tx_id, currency, sum(amount) FROM wallets_entry GROUP BY 1, 2 HAVING sum(amount) <> 0")
    assert sums == []
    doubled = stack.ask(
        "SELECT round_id FROM wallets_tx WHERE kind IN ('settle', 'void') GROUP BY 1 HAVING count(*) > 1"
    )
    assert doubled == []


class TestCrashes:
    def test_the_worker_dies_and_play_goes_on(self, stack: Stack, playing: Playing) -> None:
        stack.kill("worker")
        before = stack.rounds_ended()
        pause(2)
        stack.start("worker")
        until("more rounds", lambda: stack.rounds_ended() >= before + 2, timeout_s=180)
        clean(stack)

    def test_the_api_dies_and_play_goes_on(self, stack: Stack, playing: Playing) -> None:
        stack.kill("api")
        before = stack.rounds_ended()
        pause(2)
        stack.start("api")
        until("more rounds", lambda: stack.rounds_ended() >= before + 2, timeout_s=180)
        clean(stack)

    def test_the_stream_server_dies_and_play_goes_on(self, stack: Stack, playing: Playing) -> None:
        stack.kill("streams")
        before = stack.rounds_ended()
        stack.start("streams")
        until("more rounds", lambda: stack.rounds_ended() >= before + 2, timeout_s=180)
        clean(stack)


class TestWithoutWorkers:
    def test_a_late_move_never_wins_even_with_all_workers_dead(self, stack: Stack) -> None:
        _, _, players, round_id = two(stack)
        stack.kill("worker", "beat")
        try:
            view = players[0].round(round_id)
            number = view["view"]["turn"]["seat"]
            mover = players[number]
            seen = mover.round(round_id)
            due_ms = seen["view"]["deadline"] + seen["clock_offset_ms"]
            now_ms = stack.ask("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")[0][0]
            pause(max(0.0, (due_ms - now_ms) / 1000) + 0.05)
            with pytest.raises(ApiError) as told:
                mover.act(round_id, seen["legal"][0], seen=seen["seq"])
            assert told.value.code in ("stale_seq", "clock_due")
            entries = httpx.get(f"{stack.url}/v1/rounds/{round_id}", headers={"Authorization": "Bearer x"})
            assert entries.status_code == 401
            kinds = stack.ask(f"SELECT kind FROM history_entry WHERE round_id = '{round_id}' ORDER BY seq")
            assert ("act",) not in kinds
            assert ("wake",) in kinds
        finally:
            stack.start("worker", "beat")
