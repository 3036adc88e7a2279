"""kill -9 at ten points of a settlement and of a time-out, and Redis emptied: all of it happens, or nothing, and later
once.

A child process (a fork with a connection of its own) does the work and kills itself before its n-th statement; the
sweeper of this process then finds what is due.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
import redis
from django.conf import settings
from django.db import connection, connections

from apps.core import clock
from apps.core.redis import client, one_way
from apps.fairness.models import Record
from apps.history.models import Entry
from apps.history.selectors import transcript
from apps.tables import feed, sweeper
from apps.tables.models import Round
from apps.tables.services import play
from apps.tables.streams import reading
from apps.wallets.models import LedgerTransaction
from tests.tables.conftest import POINTS, House, Place
from tools.processes import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

POINTS_OF_DEATH = 10
ROUNDS = 5
"""Rounds whose clocks run out in one tick: enough for as many statements."""


def in_child(work: Callable[[], object]) -> int:
    """Do the work in a process of its own; return the signal that ended it, 0 if it came to its end."""
    sys.stdout.flush()
    clock.now_ms()  # Measured anew here, so that the child takes the same statements every time.
    pid = os.fork()
    if pid == 0:
        try:
            for each in connections.all(initialized_only=True):
                each.connection = None  # The parent's: left alone, never closed.
            client.cache_clear()
            one_way.cache_clear()
            work()
        finally:
            os._exit(0 if sys.exc_info()[0] is None else 1)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the child failed"
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


class Statements:
    """Counts statements, and kills its process before one of them."""

    def __init__(self, last: int | None = None) -> None:
        self.count, self.last = 0, last

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        """Stand between Django and the database."""
        if self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.count += 1
        return execute(sql, params, many, context)


def count_statements(work: Callable[[], object]) -> int:
    """Return how many statements the work takes; a child tells it by its exit, so that nothing here is changed."""
    reader, writer = os.pipe()

    def counted() -> None:
        statements = Statements()
        with connection.execute_wrapper(statements):
            work()
        os.write(writer, str(statements.count).encode())

    assert in_child(counted) == 0
    os.close(writer)
    with os.fdopen(reader) as told:
        return int(told.read())


def die_before(last: int, work: Callable[[], object]) -> None:
    """Do the work in a child that is killed before this statement."""

    def work_and_die() -> None:
        with connection.execute_wrapper(Statements(last)):
            work()

    assert in_child(work_and_die) == signal.SIGKILL


def chosen(statements: int) -> list[int]:
    """Return ten places among so many statements, or all there are, the first and the last among them."""
    return sorted({round(n * (statements - 1) / (POINTS_OF_DEATH - 1)) for n in range(POINTS_OF_DEATH)})


def sound(place: Place, round_: Round) -> None:
    """Check that nothing of a round is missing, and nothing is there twice."""
    round_.refresh_from_db()
    assert [entry.seq for entry in transcript(round_id=round_.pk)] == list(range(round_.seq + 1))
    assert Record.objects.filter(round_id=round_.pk, type__in=("reveal", "void")).count() == 1
    assert LedgerTransaction.objects.filter(round_id=round_.pk, kind__in=("settle", "void")).count() == 1
    total = sum(place.house.points(player) for player in place.players.values())
    assert total == len(place.players) * POINTS - round_.fee_minor


def swept(round_: Round) -> bool:
    """Sweep; tell whether the round's table has moved on.  The server may hold a killed child's locks for a moment."""
    sweeper.sweep()
    round_.refresh_from_db()
    return round_.advanced


class TestSettlement:
    def test_killed_at_ten_points_it_happens_once(self, house: House, redis_client: redis.Redis) -> None:
        def ready_to_end() -> tuple[Place, Round, Callable[[], object]]:
            place = house.table()
            round_ = place.deal(0, 1)

            def leave() -> object:
                return play.round_leave(
                    round_id=round_.pk, player_id=place.players[0], session_id=None, now_ms=place.now
                )

            return place, round_, leave

        place, round_, leave = ready_to_end()
        statements = count_statements(leave)
        sound(place, round_)
        settled = []
        for last in chosen(statements):
            place, round_, leave = ready_to_end()
            die_before(last, leave)
            redis_client.flushall()
            round_.refresh_from_db()
            settled.append(round_.status == Round.Status.FINISHED)
            if not settled[-1]:
                assert round_.status == Round.Status.RUNNING
                assert round_.seq == 0
                leave()
            wait_for("the table to move on", partial(swept, round_))
            assert place.round.index == 1
            sound(place, round_)
        assert len(settled) == len(chosen(statements))
        assert {False, True} == set(settled), "some deaths came before the commit and some after it"
        assert settled == sorted(settled)


class TestTimeOut:
    def test_killed_at_ten_points_it_happens_once(self, house: House, redis_client: redis.Redis) -> None:
        def due() -> list[Round]:
            """Return some rounds whose clocks have run out."""
            rounds = [house.table().deal(0, 1) for _ in range(ROUNDS)]
            due_ms = house.now_ms - 1
            Round.objects.filter(pk__in=[one.pk for one in rounds]).update(offset_ms=-120_000, wake_at_ms=due_ms)
            return rounds

        def kinds(round_: Round) -> list[str]:
            return [entry.kind for entry in transcript(round_id=round_.pk)]

        rounds = due()
        statements = count_statements(sweeper.sweep)
        assert [kinds(one) for one in rounds] == [["start", "wake"]] * ROUNDS
        for last in chosen(statements):
            rounds = due()
            die_before(last, sweeper.sweep)
            redis_client.flushall()
            wait_for("the clocks", lambda rounds=rounds: sweeper.sweep()["clocks"] == 0)  # type: ignore[misc]
            assert [kinds(one) for one in rounds] == [["start", "wake"]] * ROUNDS, last


class TestMove:
    def test_killed_at_any_statement_the_same_request_again_is_one_move(self, house: House) -> None:
        place = house.table()
        place.deal(0, 1)

        def request() -> Callable[[], play.Moved]:
            number, key, seen = place.turn(), uuid4().hex, place.round.seq
            legal = {action["type"]: action for action in place.legal(number)}
            move = legal.get("take") or legal.get("pass") or legal["draw"]
            return lambda: place.act(number, move, seen=seen, request_key=key, request_sha256=key.encode()[:32])

        statements = count_statements(request())
        for last in range(statements):
            before = place.round.seq
            move = request()
            die_before(last, move)
            moved = move()
            assert moved.seq == place.round.seq == before + 1, last
            assert move().seq == moved.seq


class TestBetweenCommitAndPublish:
    def test_what_was_not_published_is_read_from_the_database_once(self, house: House) -> None:
        place = house.table()
        round_ = place.deal(0, 1)
        number = place.turn()
        move = {"type": "take"} if {"type": "take"} in place.legal(number) else {"type": "draw"}
        at = feed.Cursor(place.table.version, round_.index, round_.seq)
        with socket.create_server(("127.0.0.1", 0)) as redis_away:
            port = redis_away.getsockname()[1]
            parent, child = os.pipe()

            def bury() -> None:
                """Kill whoever calls, before it is answered."""
                redis_away.accept()
                os.kill(int(os.read(parent, 20)), signal.SIGKILL)

            undertaker = threading.Thread(target=bury)
            undertaker.start()

            def work() -> None:
                settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
                client.cache_clear()
                os.write(child, str(os.getpid()).encode())
                place.act(number, move)
                time.sleep(20)  # Never reached in good health: publishing waits for the address that kills.

            assert in_child(work) == signal.SIGKILL
            undertaker.join()
        stored = Entry.objects.filter(round_id=round_.pk, seq__gt=round_.seq)
        assert [entry.kind for entry in stored] == ["act"], "it was committed"
        read = reading.entries_after(place.id, at)
        assert [(one.entry.seq, one.entry.kind) for one in read] == [(1, "act")]
        assert json.loads(read[0].entry.body)["input"] == move
        seen = feed.Cursor(at.version, read[0].index, read[0].entry.seq)
        assert reading.entries_after(place.id, seen) == []
