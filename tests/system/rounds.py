"""Rounds of two on the running product, made over REST, whose time the tests let pass by hand."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any

import psycopg

from apps.client.operator import OperatorClient
from apps.client.player import PlayerClient
from tools.stack import Stack, until


@dataclass(slots=True)
class Duel:
    """A running round of Monko with two players."""

    stack: Stack
    table: str
    players: list[PlayerClient]
    round_id: str

    def view(self) -> dict[str, Any]:
        """Return what the first player sees of the round."""
        seen: dict[str, Any] = self.players[0].round(self.round_id)
        return seen

    def kinds(self) -> list[tuple[str, int | None]]:
        """Return kind and seat of each entry, seats counted from the one with the first turn: a start card may skip."""
        rows = self.stack.ask(
            f"SELECT seq, kind, seat, body FROM history_entry WHERE round_id = '{self.round_id}' ORDER BY 1"
        )
        assert [row[0] for row in rows] == list(range(len(rows)))
        events = json.loads(rows[0][3])["events"]
        first = next(event["seat"] for event in events if event["type"] == "turn_started")
        return [(row[1], None if row[2] is None else (row[2] - first) % 2) for row in rows]

    def time_out(self) -> None:
        """Let the running clock run out now: engine time jumps to its deadline."""
        change(
            self.stack,
            "UPDATE tables_round r SET offset_ms = offset_ms - left_ms, wake_at_ms = wake_at_ms - left_ms FROM"
            " (SELECT id, wake_at_ms - (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS left_ms"
            f" FROM tables_round WHERE id = '{self.round_id}' AND status = 'running') t WHERE t.id = r.id",
        )


def change(stack: Stack, statement: str) -> None:
    """Run a statement that changes something, as the application."""
    with psycopg.connect(stack.env["DATABASE_URL"]) as connection:
        connection.execute(statement.encode())


def duel(stack: Stack) -> Duel:
    """Seat two players at a table of their own and deal."""
    operator = OperatorClient(stack.url, stack.demo["api_key"])
    name = secrets.token_hex(4)
    players = []
    for number in (0, 1):
        player = operator.player_upsert(f"duel-{name}-{number}")
        operator.credit(player["id"], "PTS", 5_000, external_id=f"duel-{name}-{number}")
        players.append(PlayerClient(stack.url, operator.session_create(player["id"])["token"]))
    body = {"game": "monko", "currency": "PTS", "buy_in_minor": 1_000, "seats_max": 2, "pause_ms": 60_000}
    table = operator.table_create(body)["id"]
    for number, client in enumerate(players):
        client.seat_take(table, number)
    opened = until("the commitment", lambda: _open(players[0].table(table)))
    for client in players:
        client.ready(table, {"round_id": opened, "entropy": secrets.token_hex(32)})
    return Duel(stack, table, players, opened)


def _open(table: dict[str, Any]) -> str | None:
    round_ = table["round"]
    return str(round_["id"]) if round_ and round_["takes_contributions"] else None
