"""Two workers and two beats do what one does; killed workers lose nothing; a wrong wall clock decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.system.rounds import Duel, duel
from tools.stack import Stack, pause, until

DUELS = 4
TICKS_S = 2.0
"""Long enough for every beat and worker to tick several times."""

NOBODY_PLAYS = [("start", None), *[("wake", None)] * 9, ("leave", 0)]
"""Both seats let nine clocks run out in turn; the fifth of the first one removes it, and the other one wins."""


def have_passed(duels: list[Duel], clocks: int) -> bool:
    """Tell whether so many clocks of every round have run out."""
    return all(len(each.kinds()) > clocks for each in duels)


def play_by_clocks(duels: list[Duel]) -> list[list[tuple[str, int | None]]]:
    """Let every clock of every round run out, one after the other; return the transcripts."""
    for turn in range(1, 10):
        for each in duels:
            each.time_out()
        until(f"clock {turn}", partial(have_passed, duels, turn))
    until("the ends", lambda: all(each.view()["status"] == "finished" for each in duels))
    return [each.kinds() for each in duels]


@pytest.fixture
def doubled(stack: Stack) -> Iterator[None]:
    """Run a second worker and a second beat."""
    stack.start("worker-2", "beat-2")
    until("both workers", lambda: (stack.folder / "worker-2.log").read_text().count("queues"))
    pause(TICKS_S)
    yield
    for name in ("worker-2", "beat-2"):
        stack.children.pop(name).stop()


class TestTwoOfEach:
    def test_one_worker_and_one_beat(self, stack: Stack) -> None:
        assert play_by_clocks([duel(stack) for _ in range(DUELS)]) == [NOBODY_PLAYS] * DUELS

    def test_two_write_the_same_transcripts(self, stack: Stack, doubled: None) -> None:
        assert play_by_clocks([duel(stack) for _ in range(DUELS)]) == [NOBODY_PLAYS] * DUELS
        twice = "SELECT round_id FROM wallets_tx WHERE kind IN ('settle', 'void') GROUP BY 1 HAVING count(*) > 1"
        assert stack.ask(twice) == []


class TestKilledWorkers:
    def test_all_that_became_due_without_them_happens_once_after_their_return(self, stack: Stack) -> None:
        duels = [duel(stack) for _ in range(DUELS)]
        stack.kill("worker")
        try:
            before = [each.kinds() for each in duels]
            for each in duels:
                each.time_out()
            pause(TICKS_S)
            assert [each.kinds() for each in duels] == before
        finally:
            stack.start("worker")
        until("the clocks", lambda: all(len(each.kinds()) > len(was) for each, was in zip(duels, before, strict=True)))
        pause(TICKS_S)
        assert [each.kinds() for each in duels] == [[*was, ("wake", None)] for was in before]


class TestWrongClock:
    def test_a_worker_an_hour_ahead_lets_nothing_happen_early_and_everything_in_time(self, stack: Stack) -> None:
        stack.children.pop("worker").stop()
        stack.start("worker-ahead", PYTHONPATH=str(Path(__file__).parent / "ahead"))
        try:
            each = duel(stack)
            sign = "SELECT beat_at_ms FROM core_heartbeat WHERE role = 'worker'"
            before = int(stack.ask(sign)[0][0])
            until("the worker to take tasks", lambda: int(stack.ask(sign)[0][0]) > before)
            pause(TICKS_S)
            assert each.kinds() == [("start", None)]
            each.time_out()
            until("the clock", lambda: len(each.kinds()) > 1)
            pause(TICKS_S)
            assert each.kinds() == [("start", None), ("wake", None)]
            at_ms, due_ms = stack.ask(
                "SELECT e.at_ms + r.offset_ms, (extract(epoch FROM clock_timestamp()) * 1000)::bigint"
                f" FROM history_entry e JOIN tables_round r ON r.id = e.round_id WHERE r.id = '{each.round_id}'"
                " AND e.seq = 1"
            )[0]
            assert at_ms <= due_ms
        finally:
            stack.children.pop("worker-ahead").stop()
            stack.start("worker")


class TestIdle:
    def test_a_worker_keeps_its_connections(self, stack: Stack) -> None:
        made = "SELECT sessions FROM pg_stat_database WHERE datname = current_database()"
        pause(TICKS_S)
        [[before]] = stack.ask(made)
        pause(3 * TICKS_S)
        [[after]] = stack.ask(made)
        # Connecting for each tick would be six a second; these are those of this question and of a thread's first tick.
        assert after - before < 12
