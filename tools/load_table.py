"""One table under load: its seats sit, get ready and play as fast as they are answered, round after round.

A seat whose turn it is must know what it may do.  It asks the server (one GET), except in Monko, where it knows as any
client that has the rules: the other seats' answer shows the table, and its own hand is what it was shown before.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.client.errors import ApiError, ClientError
from apps.client.player import AsyncPlayerClient
from apps.games.bots import bot
from apps.games.contract import Seat
from apps.games.monko import actions
from apps.games.monko.cards import INDEX
from apps.games.monko.state import State, Window

LOOK_AGAIN_S = 0.05


@dataclass(slots=True)
class Tally:
    """What all tables have done while it was counted."""

    moves_ms: list[float] = field(default_factory=list)
    reads: int = 0
    rounds: int = 0
    others: int = 0
    """Requests that are neither a move nor a look at a round: getting ready for the next one."""
    errors: Counter[str] = field(default_factory=Counter)
    counting: bool = False
    playing: set[str] = field(default_factory=set)
    """Tables where a first move was made."""


@dataclass(slots=True)
class LoadTable:
    """A table and the clients of its seats."""

    id: str
    game: str
    seats: Sequence[AsyncPlayerClient]
    tally: Tally
    pace_s: float = 0.0
    hands: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    """By seat: the cards it was last shown in its hand."""

    async def play_for_ever(self) -> None:
        """Play until cancelled; whatever goes wrong is counted, and play goes on."""
        while True:
            try:
                await self._round(await self._dealt())
            except (ClientError, OSError) as error:
                self._error(getattr(error, "code", type(error).__name__))
                await asyncio.sleep(LOOK_AGAIN_S)

    def _error(self, code: str) -> None:
        if self.tally.counting:
            self.tally.errors[code] += 1

    async def _dealt(self) -> str:
        """Get everybody ready as soon as that may be, and return the round that is then dealt."""
        while True:
            table = await self.seats[0].table(self.id)
            self.tally.others += self.tally.counting
            round_ = table["round"]
            if round_ and round_["status"] == "running":
                return str(round_["id"])
            waiting = {row["seat"] for row in table["seats"] if not row["ready"]}
            if round_ and round_["status"] == "open" and round_["takes_contributions"] and waiting:
                for number in sorted(waiting):
                    body = {"round_id": round_["id"]}
                    if table["entropy"] == "open":
                        body["entropy"] = secrets.token_hex(32)
                    await self.seats[number].ready(self.id, body)
                    self.tally.others += self.tally.counting
                continue
            await asyncio.sleep(LOOK_AGAIN_S)

    async def _round(self, round_id: str) -> None:
        """Play a round to its end."""
        self.hands.clear()
        known: tuple[int, dict[str, Any], Sequence[dict[str, Any]]] | None = None
        number = 0
        while True:
            if known is None:
                told = await self._look(round_id, number)
                if told["status"] != "running":
                    return
                actors = told["view"]["actors"]
                if not actors:
                    await asyncio.sleep(LOOK_AGAIN_S)
                    continue
                if number not in actors:
                    number = actors[0]
                    continue
                known = told["seq"], told["view"], told["legal"]
            seq, view, legal = known
            action = bot(self.game)(view, legal, secrets.randbelow) if legal else None
            if action is None:
                known = None
                await asyncio.sleep(LOOK_AGAIN_S)
                continue
            if self.pace_s:
                await asyncio.sleep(self.pace_s * (50 + secrets.randbelow(100)) / 100)
            began = time.perf_counter()
            try:
                moved = await self.seats[number].act(round_id, action, seq)
            except ApiError as refusal:
                self._error(refusal.code)
                if refusal.code in ("round_closed", "round_not_running"):
                    return
                known = None
                continue
            self.tally.playing.add(self.id)
            if self.tally.counting:
                self.tally.moves_ms.append(1000 * (time.perf_counter() - began))
            self._shown(moved["view"])
            if moved["view"]["phase"] == "over":
                self.tally.rounds += self.tally.counting
                return
            actors = moved["view"]["actors"]
            number = number if number in actors or not actors else actors[0]
            known = self._foreseen(moved, number)

    async def _look(self, round_id: str, number: int) -> dict[str, Any]:
        told: dict[str, Any] = await self.seats[number].round(round_id)
        self.tally.reads += self.tally.counting
        if told["view"]:
            self._shown(told["view"])
        return told

    def _shown(self, view: dict[str, Any]) -> None:
        row = next((row for row in view["seats"] if row["seat"] == view["viewer"]), None)
        if row is not None and "hand" in row:
            self.hands[view["viewer"]] = row["hand"]

    def _foreseen(
        self, moved: dict[str, Any], number: int
    ) -> tuple[int, dict[str, Any], Sequence[dict[str, Any]]] | None:
        """Return what the next seat knows without asking; None where it must ask."""
        view = moved["view"]
        if self.game != "monko" or number not in view["actors"]:
            return None
        rows = {row["seat"]: row for row in view["seats"]}
        mine = self.hands.get(number)
        if mine is None or places(mine) != places(rows[number]["hand"]):
            return None
        rows[number] = rows[number] | {"hand": mine}
        seen = view | {"viewer": number, "seats": list(rows.values())}
        return moved["seq"], seen, monko_legal(seen)


def places(hand: list[dict[str, Any]]) -> set[tuple[int, int]]:
    """Return where the cards of a hand are from, which everybody sees."""
    return {(card["gen"], card["pos"]) for card in hand}


def monko_legal(view: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """Return what the viewer whose turn it is may do in Monko, by the rules themselves."""
    board, number = view["board"], Seat(view["viewer"])
    hand = next(row["hand"] for row in view["seats"] if row["seat"] == number)
    state = object.__new__(State)
    state.seat = number
    state.hands = {number: tuple(INDEX[card["card"]] for card in hand)}
    state.deck = (0,) * board["deck_count"]
    state.pile = tuple(INDEX[card["card"]] for card in board["pile"])
    state.colour, state.stack, state.plus4 = board["colour"], board["stack"]["size"], board["stack"]["plus4"]
    state.drawn = INDEX[board["drawn"]["card"]] if board["drawn"] else None
    state.windows = tuple(
        Window(row["window"], row["seat"], row["exposed_at"], row["closes_at"], row["exposed"])
        for row in board["windows"]
    )
    return [dict(action) for action in actions.legal(state, number)]
