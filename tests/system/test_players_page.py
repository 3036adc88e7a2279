"""The players' page, pasted into a shell block by block, follows and plays a round with curl alone."""

from __future__ import annotations

import json
import secrets
import subprocess
import threading
from pathlib import Path
from uuid import uuid4

from apps.client.errors import ApiError
from apps.client.operator import OperatorClient
from apps.client.player import PlayerClient
from tests.system.pasted import assert_verifies, blocks, without_first_line
from tools.stack import Stack

FASTER = {"stale_seq", "round_closed", "round_over", "round_not_running", "not_in_round"}
"""Codes that say no more than that the table has moved on since the look."""


def session() -> str:
    """Return the shell blocks of the page in order, without the line of the address and the key."""
    first, *others = blocks("docs/players/README.md")
    return "\n".join([without_first_line(first), *others])


MOVES = 6
"""Moves of the opponent, who then leaves, so that the round is short."""


class Opponent(threading.Thread):
    """Somebody who sits at the same table, gets ready for one round, and takes whatever is allowed first."""

    def __init__(self, client: PlayerClient, table_id: str) -> None:
        super().__init__(daemon=True)
        self.client, self.table_id = client, table_id
        self.over = threading.Event()

    def run(self) -> None:
        """Play until told that it is over."""
        ready_for, moves = "", 0
        while not self.over.wait(0.2):
            round_ = self.client.table(self.table_id)["round"]
            try:
                if round_["status"] == "open" and round_["takes_contributions"] and not ready_for:
                    self.client.ready(self.table_id, {"round_id": round_["id"], "entropy": secrets.token_hex(32)})
                    ready_for = round_["id"]
                elif round_["status"] == "running" and moves == MOVES:
                    self.client.leave(round_["id"])
                elif round_["status"] == "running":
                    told = self.client.round(round_["id"])
                    if told["legal"]:
                        self.client.act(round_["id"], told["legal"][0], told["seq"])
                        moves += 1
            except ApiError as refusal:
                if refusal.code not in FASTER:
                    raise


class TestPlayersPage:
    def test_follows_plays_and_keeps_a_round_that_the_verifier_passes(self, stack: Stack, tmp_path: Path) -> None:
        name = uuid4().hex
        with OperatorClient(stack.url, stack.demo["api_key"]) as operator:
            body = {"game": "monko", "currency": "PTS", "buy_in_minor": 1_000, "seats_max": 2}
            table_id = operator.table_create(body)["id"]
            player = operator.player_upsert(name)
            operator.credit(player["id"], "PTS", 5_000, name)
            opponent = Opponent(PlayerClient(stack.url, operator.session_create(player["id"])["token"]), table_id)
            opponent.client.seat_take(table_id)
            opponent.start()
            try:
                done = subprocess.run(
                    ["/bin/sh", "-eu", "-c", session()],
                    cwd=tmp_path,
                    env={"BASE": stack.url, "KEY": stack.demo["api_key"], "PATH": "/usr/local/bin:/usr/bin:/bin"},
                    capture_output=True,
                    text=True,
                    timeout=300,
                    check=False,
                )
            finally:
                opponent.over.set()
                opponent.join(30)
                opponent.client.close()
            assert done.returncode == 0, done.stdout + done.stderr
            assert "Sealdeck round " in done.stdout
            [told] = operator.rounds(table_id=table_id, status="finished")["rounds"]
        followed = (tmp_path / "table.log").read_text()
        assert '"type":"entry"' in followed.replace(" ", ""), "the stream brought the round"
        assert "round_over" in followed
        bundle = json.loads((tmp_path / "round.json").read_text())
        assert bundle["records"][-1]["body"]["round"] == told["id"]
        assert_verifies(tmp_path)
