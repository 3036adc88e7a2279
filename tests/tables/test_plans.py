"""A move and a tick of the sweeper touch as much with many stored rounds as with few: their plans look up by index.

Counts the pages that PostgreSQL touches, which no load of the machine changes.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection, transaction

from apps.fairness import dealer
from apps.tables import locks, sweeper
from apps.tables.models import Round
from apps.tables.services import rounds
from tests.tables.conftest import House, Place
from tools.stored import rounds_store

pytestmark = pytest.mark.django_db(transaction=True)

FEW, MANY = 500, 20_000
SLACK = 6
"""Pages by which an index may have grown deeper, over all look-ups of one statement."""
GROWING = {"tables_round", "tables_roundseat", "history_entry"}


def plan(sql: str, parameters: tuple[Any, ...]) -> dict[str, Any]:
    """Return the plan of a statement with ``$1`` and so on, as it ran; what it wrote is undone."""
    named = re.sub(r"\$(\d+)", r"%(p\1)s", sql)
    given = {f"p{number + 1}": value for number, value in enumerate(parameters)}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {named}", given)
        told = cursor.fetchone()[0]
        transaction.set_rollback(True)
    whole: dict[str, Any] = (json.loads(told) if isinstance(told, str) else told)[0]["Plan"]
    return whole


def numbered(sql: str) -> str:
    """Return Django's SQL with ``$1`` and so on for its parameters."""
    numbers = itertools.count(1)
    return re.sub("%s", lambda _: f"${next(numbers)}", sql)


def scans(node: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (kind, table) of every scan in a plan."""
    found = [(node["Node Type"], node["Relation Name"])] if "Relation Name" in node else []
    return found + [scan for inner in node.get("Plans", []) for scan in scans(inner)]


def pages(node: dict[str, Any]) -> int:
    """Return how many pages a plan touched."""
    return int(node["Shared Hit Blocks"] + node["Shared Read Blocks"])


def statements(place: Place) -> dict[str, tuple[str, tuple[Any, ...]]]:
    """Return the statements that run again and again while rounds are played."""
    round_ = place.round
    player = place.players[0]
    head, sealed = b"h" * 32, dealer.state_seal(round_id=round_.pk, seq=1, data=b"{}")
    entry = (round_.pk, 1, place.now, "act", 0, "{}", head, "{}", "key", b"s" * 32)
    written = (*entry, 1, head, sealed, "{}", place.now, place.now + 1, round_.pk)
    due = Round.objects.filter(status=Round.Status.RUNNING, wake_at_ms__lte=place.now).order_by("wake_at_ms")[:500]
    due_sql, due_parameters = due.values_list("id").query.sql_with_params()
    look_sql, look_parameters = sweeper._oldest_statement()
    return {
        "lock": (locks._LOCK, (round_.pk, player, uuid4(), "key")),
        "write": (rounds._commit_sql(1), written),
        "due": (numbered(due_sql), tuple(due_parameters)),
        "look": (numbered(look_sql), look_parameters),
        "entries": ("SELECT body FROM history_entry WHERE round_id = $1 AND seq > $2 ORDER BY seq", (round_.pk, -1)),
    }


def measured(place: Place, administrator: psycopg.Connection) -> dict[str, dict[str, Any]]:
    """Return the plans with fresh statistics."""
    administrator.execute("VACUUM ANALYZE")  # Rows that other tests deleted are no part of it.
    return {name: plan(*statement) for name, statement in statements(place).items()}


class TestStoredRounds:
    def test_do_not_make_a_move_dearer(self, house: House, administrator: psycopg.Connection) -> None:
        place = house.table()
        place.deal(0, 1)
        player: UUID = place.players[0]
        rounds_store(table_id=place.id, player_id=player, count=FEW)
        few = measured(place, administrator)
        rounds_store(table_id=place.id, player_id=player, count=MANY)
        many = measured(place, administrator)
        for name, whole in many.items():
            whole_tables = {table for kind, table in scans(whole) if kind == "Seq Scan"} & GROWING
            assert not whole_tables, f"{name} reads a whole table: {whole_tables}"
            assert pages(whole) <= pages(few[name]) + SLACK, name
