"""kill -9 of what runs, during play: the round goes on, nothing happens twice, the ledger adds up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import httpx
import pytest

from apps.client.bots import run
from apps.client.errors import ApiError
from tests.system.rounds import duel
from tools.stack import Stack, pause, until

TABLES = 2
"""Of the demo's tables, those at which bots play: their rounds are short."""


class Playing:
    """The demo's bots in a thread, playing fast."""

    def __init__(self, stack: Stack) -> None:
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._main, args=(stack,), daemon=True)
        self._thread.start()

    def _main(self, stack: Stack) -> None:
        asyncio.set_event_loop(self._loop)
        tables = list(dict.fromkeys(row["table_id"] for row in stack.demo["bots"]))[:TABLES]
        config = stack.demo | {"bots": [row for row in stack.demo["bots"] if row["table_id"] in tables]}
        self._task = self._loop.create_task(run(config, base_url=stack.url, pace_s=0.1))
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


def clean(stack: Stack) -> None:
    """Check that the ledger adds up and that every stored round is what its inputs give."""
    sums = stack.ask("SELECT tx_id, currency, sum(amount) FROM wallets_entry GROUP BY 1, 2 HAVING sum(amount) <> 0")
    assert sums == []
    doubled = stack.ask(
        "SELECT round_id FROM wallets_tx WHERE kind IN ('settle', 'void') GROUP BY 1 HAVING count(*) > 1"
    )
    assert doubled == []


class TestBots:
    def test_move_in_round_after_round(self, stack: Stack, playing: Playing) -> None:
        later = "FROM tables_round WHERE index >= 1 AND status = 'finished'"
        until("rounds after the first", lambda: stack.ask(f"SELECT count(*) {later}")[0][0] >= 2, timeout_s=180)
        [[acts, timeouts]] = stack.ask(
            "SELECT count(*) FILTER (WHERE kind = 'act'), count(*) FILTER (WHERE body LIKE '%\"timed_out\"%')"
            f" FROM history_entry WHERE round_id IN (SELECT id {later})"
        )
        assert acts > 10 * timeouts


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
        made = duel(stack)
        players, round_id = made.players, made.round_id
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
