"""Computer players that play through the public REST API like any client, and check every round as a player should.

``python -m apps.client.bots --config var/demo.json`` seats the bots named there at their tables and prints one line for
every finished round: table, winner, pot, payout, fee, commitment, and whether the round verified.  A bot knows nothing
but what its own token is told.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from apps.client.errors import ApiError, ClientError
from apps.client.logview import LogView, ProofFailed
from apps.client.operator import AsyncOperatorClient
from apps.client.player import AsyncPlayerClient
from apps.client.seat import SeatKey, contribute
from apps.client.streams import follow_async
from apps.client.witness import RoundWitness
from apps.fairness.protocol.trust import Trust, trust_read
from apps.fairness.protocol.verify import verify_bundles
from apps.games.bots import bot

SESSION_S = 3_600
TOP_UP_ROUNDS = 50
"""A bot whose points run out is given so many buy-ins by its operator."""
TRY_AGAIN_S = 0.25
START_OVER_S = 2.0
BUNDLE_WAIT_S = 10.0


@dataclass(frozen=True, slots=True)
class House:
    """Where the bots play, and for whom."""

    base_url: str
    api_key: str
    currency: str
    trust: Trust
    pace_s: float
    say: Callable[[str], None]


@dataclass(slots=True)
class Bot:
    """One computer player at one table."""

    house: House
    http: httpx.AsyncClient
    operator: AsyncOperatorClient
    player_id: str
    name: str
    table_id: str
    reports: bool
    table: dict[str, Any] = field(default_factory=dict)
    witness: RoundWitness | None = None
    ready_for: str = ""
    looked_at: tuple[str, int] = ("", -1)
    """Round and number of the last entry that was there when the bot last looked at a round."""

    async def play_for_ever(self) -> None:
        """Play; whatever goes wrong, start over with a fresh session."""
        while True:
            try:
                await self._play()
            except ProofFailed as proof:
                self.house.say(f"{self.name}: PROOF FAILED, {proof}")
            except (ClientError, httpx.HTTPError) as problem:
                print(f"{self.name}: starts over, {problem}", file=sys.stderr, flush=True)
            await asyncio.sleep(START_OVER_S)

    async def _play(self) -> None:
        session = await self.operator.session_create(self.player_id, SESSION_S)
        me = AsyncPlayerClient(self.house.base_url, session["token"], http=self.http)
        self.witness, self.ready_for, self.looked_at = None, "", ("", -1)
        began = time.monotonic()
        async for message in follow_async(me, self.table_id):
            if message.type == "table":
                self.table = message.data["table"]
                await self._at_table(me)
            else:
                await self._entry(me, message.data)
            if time.monotonic() - began > SESSION_S - 60:
                return

    async def _at_table(self, me: AsyncPlayerClient) -> None:
        if self.table["status"] not in ("open", "draining"):
            return
        if self.table["your_seat"] is None:
            if self.table["status"] == "open":
                await self._sit(me)
            return
        round_ = self.table["round"]
        if not round_ or round_["status"] != "open" or not round_["takes_contributions"]:
            return
        mine = next((seat for seat in self.table["seats"] if seat["seat"] == self.table["your_seat"]), None)
        if mine is None or mine["ready"] or self.ready_for == round_["id"]:
            return
        await self._ready(me, round_)

    async def _sit(self, me: AsyncPlayerClient) -> None:
        try:
            self.table = await me.seat_take(self.table_id)
        except ApiError as refusal:
            if refusal.code not in ("already_seated", "table_full"):
                raise

    async def _ready(self, me: AsyncPlayerClient, round_: dict[str, Any]) -> None:
        log = LogView(self.house.trust)
        log.keys_take(await me.log_keys())
        log.checkpoint_take(await me.checkpoint(), now_s=int(time.time()))
        records = (await me.records(round_["id"]))["records"]
        witness = RoundWitness(log, records[0]["record"])
        proof = await me.inclusion(records[0]["index"], log.size)
        log.inclusion_check(witness.open, records[0]["index"], proof["path"])
        given = contribute(
            mode=self.table["entropy"],
            round_id=round_["id"],
            open_hash=witness.open.hash_hex,
            seat=self.table["your_seat"],
            key=SeatKey.make(),
            cp=log.quoted,
        )
        try:
            await me.ready(self.table_id, given.ready_body())
        except ApiError as refusal:
            if refusal.code == "insufficient_funds":
                await self._top_up()
                await me.ready(self.table_id, given.ready_body())
            elif refusal.code not in ("already_ready", "not_this_round", "round_running"):
                raise
        witness.contributed(given)
        self.witness, self.ready_for = witness, round_["id"]

    async def _top_up(self) -> None:
        await self.operator.credit(
            self.player_id,
            self.house.currency,
            self.table["buy_in_minor"] * TOP_UP_ROUNDS,
            external_id=f"bot-{secrets.token_hex(8)}",
        )

    async def _entry(self, me: AsyncPlayerClient, message: dict[str, Any]) -> None:
        round_id = message["round_id"]
        if self.witness is None or self.witness.round_id != round_id:
            await self._look_at(me, message)
            return
        if self.witness.deck is None:
            records = {row["record"]["type"]: row["record"] for row in (await me.records(round_id))["records"]}
            self.witness.dealt(records["deck"])
        self.witness.entry(message)
        await self._look_at(me, message)

    async def _look_at(self, me: AsyncPlayerClient, message: dict[str, Any]) -> None:
        """Act if there is something to do; when the round is over, verify it and say so."""
        if message["entry"]["events"][-1]["type"] == "round_over":
            if self.reports:
                await self._report(me, message)
            return
        if message["round_id"] == self.looked_at[0] and message["seq"] < self.looked_at[1]:
            return
        view = await me.round(message["round_id"])
        self.looked_at = (message["round_id"], view["seq"])
        if view["your_seat"] is None or not view["legal"] or view["seq"] != message["seq"]:
            return
        action = bot(self.table["game"])(view["view"], view["legal"], secrets.randbelow)
        if action is None:
            return
        await asyncio.sleep(self.house.pace_s * (50 + secrets.randbelow(100)) / 100)
        try:
            await me.act(message["round_id"], action, seen=view["seq"])
        except ApiError as refusal:
            if refusal.status not in (409, 422, 429):
                raise

    async def _report(self, me: AsyncPlayerClient, message: dict[str, Any]) -> None:
        bundle = await self._bundle(me, message["round_id"])
        opened, ended = bundle["records"][0]["body"], bundle["records"][-1]["body"]
        if self.witness is not None and self.witness.round_id == message["round_id"]:
            verdict, how = self.witness.ended(bundle).verdict, "verified"
        else:
            # Joined in the middle: what was shown before cannot be compared, the bundle can be checked all the same.
            verdict, how = verify_bundles([bundle], trust=self.house.trust)[0], "bundle verified"
        verified = how if verdict.status == 0 else f"NOT VERIFIED: {', '.join(verdict.codes) or verdict.verdict}"
        paid = {row["seat"]: row["payout"] for row in ended["payouts"] if row["payout"]}
        pot = sum(row["buy_in"] for row in ended["payouts"])
        winners = " ".join(f"seat {seat} gets {amount}" for seat, amount in paid.items()) or "the match goes on"
        self.house.say(
            f"{self.table['name']} round {opened['index']}: {winners}, pot {pot}, fee {ended['fee']},"
            f" commitment {opened['seed_commit'][:16]}.., {verified}"
        )

    async def _bundle(self, me: AsyncPlayerClient, round_id: str) -> dict[str, Any]:
        """Wait until the end of the round is in the log, and return its bundle."""
        until = time.monotonic() + BUNDLE_WAIT_S
        while True:
            bundle: dict[str, Any] = await me.bundle(round_id)
            if bundle["records"][-1]["type"] in ("reveal", "void") or time.monotonic() > until:
                return bundle
            await asyncio.sleep(TRY_AGAIN_S)


async def run(config: dict[str, Any], *, base_url: str, pace_s: float) -> None:
    """Play with all bots of a configuration until cancelled."""
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=None)) as http:
        operator = AsyncOperatorClient(base_url, config["api_key"], http=http)
        house = House(
            base_url=base_url,
            api_key=config["api_key"],
            currency=config["currency"],
            trust=await _trust(AsyncPlayerClient(base_url, config["api_key"], http=http)),
            pace_s=pace_s,
            say=lambda line: print(line, flush=True),
        )
        reporting: set[str] = set()
        bots = []
        for row in config["bots"]:
            bots.append(
                Bot(
                    house=house,
                    http=http,
                    operator=operator,
                    player_id=row["player_id"],
                    name=row["external_id"],
                    table_id=row["table_id"],
                    reports=row["table_id"] not in reporting,
                )
            )
            reporting.add(row["table_id"])
        await asyncio.gather(*(one.play_for_ever() for one in bots))


async def _trust(anybody: AsyncPlayerClient) -> Trust:
    """Ask the server what to believe of it, however long it takes to answer."""
    while True:
        try:
            return trust_read((await anybody.trust())["trust"])
        except ClientError as problem:
            print(f"bots: wait for the server, {problem}", file=sys.stderr, flush=True)
            await asyncio.sleep(START_OVER_S)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bots of a configuration file until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m apps.client.bots", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="file with api_key, currency and bots")
    parser.add_argument("--url", help="address of the API; by default SEALDECK_API_URL")
    parser.add_argument("--pace", type=float, default=0.6, help="seconds a bot thinks, on average")
    given = parser.parse_args(arguments)
    config = json.loads(given.config.read_text())
    base_url = given.url or os.environ.get("SEALDECK_API_URL")
    if not base_url:
        parser.error("give --url, or set SEALDECK_API_URL")
    try:
        asyncio.run(run(config, base_url=base_url, pace_s=given.pace))
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
