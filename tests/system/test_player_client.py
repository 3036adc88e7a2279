"""Two players' clients at a table of the running product: contributions, streams, checks on the way, bundle."""

from __future__ import annotations

import threading
import time
from typing import Any
from uuid import uuid4

import pytest

from apps.client.errors import ApiError
from apps.client.logview import LogView
from apps.client.operator import OperatorClient
from apps.client.player import PlayerClient
from apps.client.seat import Contribution, SeatKey, contribute
from apps.client.streams import Message, follow, poll
from apps.client.witness import Report, RoundWitness
from apps.fairness.protocol.trust import trust_read
from tools.stack import Stack, until

LATE = {"stale_seq", "not_your_turn", "round_over", "round_closed", "round_not_running"}
"""Codes that tell a player only that somebody else was faster."""


class Sitting(threading.Thread):
    """One player's client: sits, contributes, plays and checks until its round has ended."""

    def __init__(self, client: PlayerClient, table_id: str, seat: int, mode: str, via: str) -> None:
        super().__init__(daemon=True)
        self.client, self.table_id, self.seat, self.mode, self.via = client, table_id, seat, mode, via
        self.key = SeatKey.make()
        self.log = LogView(trust_read(client.trust()["trust"]))
        self.witness: RoundWitness | None = None
        self.mine: Contribution | None = None
        self.report: Report | None = None
        self.failed: Exception | None = None
        self.bundle: dict[str, Any] = {}

    def run(self) -> None:
        """Follow the table until the round is over."""
        try:
            told = follow(self.client, self.table_id) if self.via == "stream" else poll(self.client, self.table_id)
            for message in told:
                self._take(message)
                if self.report is not None:
                    return
        except Exception as error:
            self.failed = error

    def _take(self, message: Message) -> None:
        table = self.client.table(self.table_id)
        round_ = table["round"]
        if round_ and round_["status"] == "open" and round_["takes_contributions"] and self.mine is None:
            self._get_ready(round_["id"])
        elif round_ and round_["status"] == "closing" and self.mine and self.witness and self.witness.close is None:
            self._open()
        if message.type == "entry" and self.witness is not None:
            self._see(message.data)
        if self.mine is not None and self.report is None:
            self._play()

    def _get_ready(self, round_id: str) -> None:
        self.log.keys_take(self.client.log_keys())
        self._checkpoint()
        first = self.client.records(round_id)["records"][0]
        self.witness = RoundWitness(self.log, first["record"])
        path = self.client.inclusion(first["index"], self.log.size)["path"]
        self.log.inclusion_check(self.witness.open, first["index"], path)
        self.mine = contribute(
            mode=self.mode,
            round_id=round_id,
            open_hash=self.witness.open.hash_hex,
            seat=self.seat,
            key=self.key,
            cp=self.log.quoted,
        )
        self.witness.contributed(self.mine)
        self.client.ready(self.table_id, self.mine.ready_body())

    def _checkpoint(self) -> None:
        note, before = self.client.checkpoint(), self.log.size
        size = int(note.split("\n")[1])
        path = self.client.consistency(before, size)["path"] if 0 < before < size else []
        self.log.checkpoint_take(note, path, now_s=int(time.time()))

    def _open(self) -> None:
        assert self.mine is not None
        assert self.witness is not None
        self._checkpoint()
        close = self.client.records(self.mine.round_id)["records"][1]
        if close["index"] is None or close["index"] >= self.log.size:
            return  # Not published yet; the table will say so again.
        signed = self.witness.closed(close["record"])
        path = self.client.inclusion(close["index"], self.log.size)["path"]
        self.log.inclusion_check(signed, close["index"], path)
        body = self.mine.opening_body(close_hash=signed.hash_hex, cp=self.log.quoted)
        self.client.opening(self.table_id, body)

    def _see(self, message: dict[str, Any]) -> None:
        assert self.witness is not None
        if self.witness.deck is None:
            records = self.client.records(message["round_id"])["records"]
            self.witness.dealt(next(one["record"] for one in records if one["record"]["type"] == "deck"))
        self.witness.entry(message)
        if any(event["type"] == "round_over" for event in message["entry"]["events"]):
            self.bundle = self._bundle(message["round_id"])
            self.report = self.witness.ended(self.bundle)

    def _bundle(self, round_id: str) -> dict[str, Any]:
        def is_published() -> bool:
            last = self.client.records(round_id)["records"][-1]
            return last["record"]["type"] == "reveal" and last["index"] is not None

        until("the reveal record in the log", is_published)
        bundle: dict[str, Any] = self.client.bundle(round_id)
        return bundle

    def _play(self) -> None:
        assert self.mine is not None
        view = self.client.round(self.mine.round_id)
        if view["status"] != "running" or not view["legal"]:
            return
        wanted = [action for action in view["legal"] if action["type"] == "play"] or view["legal"]
        try:
            self.client.act(self.mine.round_id, wanted[0], view["seq"])
        except ApiError as error:
            if error.code not in LATE:
                raise


class TestRound:
    @pytest.mark.parametrize(("mode", "via"), [("open", "stream"), ("sealed", "poll")])
    def test_is_played_and_proven_to_both_players(self, stack: Stack, mode: str, via: str) -> None:
        run = uuid4().hex
        with OperatorClient(stack.url, stack.demo["api_key"]) as operator:
            body = {"game": "monko", "currency": "PTS", "buy_in_minor": 100, "seats_max": 2, "entropy": mode}
            table = operator.table_create(body)
            sittings = []
            for seat in (0, 1):
                player = operator.player_upsert(f"{run}-{seat}")
                operator.credit(player["id"], "PTS", 1_000, f"{run}-{seat}")
                client = PlayerClient(stack.url, operator.session_create(player["id"])["token"])
                client.seat_take(table["id"], seat)
                sittings.append(Sitting(client, table["id"], seat, mode, via))
            for sitting in sittings:
                sitting.start()
            for sitting in sittings:
                sitting.join(240)
            assert [sitting.failed for sitting in sittings] == [None, None]
            reports = [sitting.report for sitting in sittings]
            assert [report and report.verdict.verdict for report in reports] == ["pass", "pass"]
            assert sorted(report.payout or 0 for report in reports if report) == [0, 190]
            assert sittings[0].bundle["transcript"] == sittings[1].bundle["transcript"]
            for sitting in sittings:
                assert sitting.witness is not None
                assert sitting.witness.entries == len(sitting.bundle["transcript"])
                assert sitting.witness.openings
                assert sitting.bundle["log"]["views"], "the seats quoted the checkpoints they saw"
                sitting.client.close()
