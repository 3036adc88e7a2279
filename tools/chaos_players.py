"""Who plays during ``make chaos``: the product's own bots at tables made over REST, of every game and kind of round.

The bots are a process of their own, which is killed like everything else: their streams end, clocks run out, and they
come back to the same seats.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from typing import Any

from apps.client.operator import OperatorClient
from apps.games import registry
from tools.processes import Child, ToolError
from tools.services import ROOT
from tools.stack import Stack

BOTS_PER_TABLE = 3
BUY_IN = 1_000
POINTS = 50_000
KINDS: tuple[dict[str, Any], ...] = (
    *({"game": slug} for slug in registry.slugs()),
    {"game": "monko", "entropy": "none"},
    # The bots commit and never open: every such round must be given up in time and refunded.
    {"game": "monko", "entropy": "sealed"},
)


class Players:
    """The bots with their tables."""

    def __init__(self, stack: Stack, *, pace_s: float, games: Collection[str]) -> None:
        """Make tables of these games with their players, and give the players their money."""
        self.stack = stack
        self.tables: list[str] = []
        self.child: Child | None = None
        self.log = stack.folder / "bots.log"
        bots = []
        with OperatorClient(stack.url, stack.demo["api_key"]) as operator:
            for number, kind in enumerate(kind for kind in KINDS if kind["game"] in games):
                table = self._table(operator, kind)
                self.tables.append(table["id"])
                for place in range(BOTS_PER_TABLE):
                    name = f"chaos-{number}-{place}"
                    player = operator.player_upsert(name, is_bot=True)
                    operator.credit(player["id"], "PTS", POINTS, external_id=name)
                    bots.append({"table_id": table["id"], "player_id": player["id"], "external_id": name})
        config = {"api_key": stack.demo["api_key"], "currency": "PTS", "bots": bots}
        self._config = stack.folder / "bots.json"
        self._config.write_text(json.dumps(config))
        self._pace_s = pace_s

    def _table(self, operator: OperatorClient, kind: dict[str, Any]) -> dict[str, Any]:
        body = {
            "name": f"{kind['game']} {kind.get('entropy', 'open')}",
            "currency": "PTS",
            "buy_in_minor": BUY_IN,
            "start_after_ms": 1_000,
            "pause_ms": 200,
            "bots_allowed": True,
            **kind,
        }
        made: dict[str, Any] = operator.table_create(body)
        return made

    def start(self) -> None:
        """Let the bots play."""
        command = [sys.executable, "-m", "apps.client.bots", "--config", str(self._config), "--url", self.stack.url]
        command += ["--pace", str(self._pace_s)]
        self.child = Child("bots", command, log=self.log, env=self.stack.env, cwd=ROOT)

    def kill(self) -> None:
        """End the bots in the middle of whatever they do."""
        if self.child is not None:
            self.child.kill()
            self.child = None

    def stop(self) -> None:
        """End the bots."""
        if self.child is not None:
            self.child.stop()

    def check(self) -> None:
        """Look whether the bots play.

        Raises:
            ToolError: they ended, though a client should outlive every outage.
        """
        if self.child is not None and not self.child.running():
            raise ToolError(f"The bots ended by themselves: {self.child.tail()}")

    def said(self) -> str:
        """Return everything that the bots have printed."""
        return self.log.read_text(errors="replace")

    def verified(self) -> int:
        """Return how many rounds the bots have found to be right."""
        return self.said().count("verified\n")
