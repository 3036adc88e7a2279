"""What comes from outside, relays of the beacon and witnesses, counts only where it verifies."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from apps.fairness import beacons, selectors, sequencer, tasks
from apps.fairness import witnesses as witness_rules
from apps.fairness.models import BeaconValue, Cosignature
from apps.fairness.protocol import log as log_rules
from apps.fairness.protocol import notes
from apps.fairness.protocol.beacon import QUICKNET
from apps.fairness.protocol.trust import trust_read
from apps.fairness.protocol.verify import verify_bundles
from apps.fairness.witness.memory import Held, Memory
from apps.fairness.witness.witness import Witness
from tests.fairness.loopback import Answer, server
from tests.fairness.table import START_MS, FairTable
from tests.fairness.test_rounds import BEACON_CLOSED_MS, BEACON_MS, BEACON_SIGNATURE

pytestmark = pytest.mark.django_db(transaction=True)


def relay(path: str, body: bytes) -> Answer:
    assert path == f"/{QUICKNET.hex()}/public/27798178"
    return 200, json.dumps({"round": 27798178, "signature": BEACON_SIGNATURE.hex()}).encode()


class TestBeacon:
    @pytest.fixture
    def waiting(self) -> FairTable:
        """Return a table whose round waits for a beacon."""
        table = FairTable(entropy="open", margin=2)
        table.open()
        table.merge()
        self.hands = table.seats(0, 1)
        table.now_ms = BEACON_CLOSED_MS
        table.close(self.hands)
        table.merge()
        return table

    def test_is_fetched_once_its_time_has_come(self, waiting: FairTable, settings: Any) -> None:
        with server(relay) as address:
            settings.SEALDECK_BEACON_URLS = [address]
            assert beacons.fetch_due(now_ms=BEACON_MS - 1) == 0
            assert selectors.beacon_signature(waiting.round_id) is None
            assert beacons.fetch_due(now_ms=BEACON_MS) == 1
            assert beacons.fetch_due(now_ms=BEACON_MS) == 0
        assert selectors.beacon_signature(waiting.round_id) == BEACON_SIGNATURE
        waiting.now_ms = BEACON_MS
        waiting.dealt(waiting.roster(self.hands), beacon=selectors.beacon_signature(waiting.round_id))

    @pytest.mark.parametrize(
        "answer",
        [
            (404, b""),
            (200, b"not json"),
            (200, b"[]"),
            (200, b'{"signature": 5}'),
            (200, b'{"signature": "zz"}'),
            (200, b'{"signature": "' + b"ab" * 48 + b'"}'),
            (200, b'{"signature": "' + b"00" * 100_000 + b'"}'),
            (302, BEACON_SIGNATURE.hex().encode()),
        ],
    )
    def test_is_taken_from_the_next_relay_where_one_lies(
        self, waiting: FairTable, settings: Any, answer: Answer
    ) -> None:
        with server(lambda path, body: answer) as bad, server(relay) as good:
            settings.SEALDECK_BEACON_URLS = [bad]
            assert beacons.fetch_due(now_ms=BEACON_MS) == 0
            assert not BeaconValue.objects.exists()
            settings.SEALDECK_BEACON_URLS = [bad, good]
            assert beacons.fetch_due(now_ms=BEACON_MS) == 1

    def test_is_not_asked_for_where_no_relay_is_named(self, waiting: FairTable) -> None:
        assert tasks.beacon.run() == 0

    def test_does_not_come_from_a_relay_that_is_away(self, waiting: FairTable, settings: Any) -> None:
        settings.SEALDECK_BEACON_URLS = ["http://127.0.0.1:9"]
        assert beacons.fetch_due(now_ms=BEACON_MS) == 0


def _always(answer: Answer, path: str, body: bytes) -> Answer:
    return answer


class Steered:
    """The witness of ``sealdeck-witness``, with a clock and, if a test asks, a signature of the test's own."""

    def __init__(self, folder: Path, name: str, number: int) -> None:
        self.memory = Memory.new(folder / str(number), name=name, secret_key=bytes([number]) * 32)
        self.key = self.memory.identity.vkey
        self.time_s = BEACON_CLOSED_MS // 1000
        self.lies = False

    def __call__(self, path: str, body: bytes) -> Answer:
        assert path == "/add-checkpoint"
        log = trust_read({**selectors.trust(), "witnesses": [], "quorum": 0}).log
        answer = Witness(self.memory, [log]).add_checkpoint(body, now_s=self.time_s)
        if answer.status == 200 and self.lies:
            return 200, notes.cosign(bytes(32), self.key.name, self.seen().encode(), self.time_s).encode()
        return answer.status, answer.body.encode()

    def seen(self) -> str:
        """Return the checkpoint it cosigned last."""
        return self.memory.logs()[0].note

    @property
    def size(self) -> int:
        """The size it cosigned last."""
        return next((held.size for held in self.memory.logs()), 0)

    def holds(self, size: int) -> None:
        """Let it have cosigned a tree of so many entries."""
        with self.memory.turn() as turn:
            turn.hold(Held(selectors.log_origin(), size, log_rules.EMPTY_ROOT if not size else bytes(32), "", 0))


class TestWitnesses:
    @pytest.fixture
    def witnesses(self, settings: Any, tmp_path: Path) -> Iterator[list[Steered]]:
        """Return two witnesses of whom one is enough."""
        both = [Steered(tmp_path, "witness.example/one", 1), Steered(tmp_path, "witness.example/two", 2)]
        with server(both[0]) as first, server(both[1]) as second:
            settings.SEALDECK_WITNESSES = [
                {"vkey": str(witness.key), "url": url} for witness, url in zip(both, (first, second), strict=True)
            ]
            settings.SEALDECK_WITNESS_QUORUM = 1
            yield both

    def cosign(self, witness: Steered) -> int:
        return witness_rules.cosign_newest(now_s=witness.time_s)

    def test_make_a_checkpoint_count(self, witnesses: list[Steered]) -> None:
        sequencer.tick(now_ms=START_MS)
        assert selectors.published() is None
        assert self.cosign(witnesses[0]) == 2
        published = selectors.published()
        assert published is not None
        checkpoint = notes.checkpoint_read(published.note)
        assert len(notes.cosignatures(checkpoint, [witness.key for witness in witnesses])) == 2

    def test_are_asked_from_where_they_are(self, witnesses: list[Steered]) -> None:
        sequencer.tick(now_ms=START_MS)
        self.cosign(witnesses[0])
        table = FairTable(entropy="none")
        table.open()
        table.merge()
        witnesses[1].holds(0)
        assert self.cosign(witnesses[0]) == 2
        assert [witness.size for witness in witnesses] == [4, 4]

    def test_do_not_count_where_their_line_does_not_verify(self, witnesses: list[Steered]) -> None:
        for witness in witnesses:
            witness.lies = True
        sequencer.tick(now_ms=START_MS)
        assert self.cosign(witnesses[0]) == 0
        assert not Cosignature.objects.exists()
        assert selectors.published() is None

    def test_that_have_seen_more_are_not_overruled(self, witnesses: list[Steered]) -> None:
        witnesses[0].holds(99)
        sequencer.tick(now_ms=START_MS)
        assert self.cosign(witnesses[0]) == 1
        assert witnesses[0].size == 99

    def test_are_asked_again_only_after_a_while(self, witnesses: list[Steered]) -> None:
        sequencer.tick(now_ms=START_MS)
        assert self.cosign(witnesses[0]) == 2
        assert self.cosign(witnesses[0]) == 0
        for witness in witnesses:
            witness.time_s += 21
        assert self.cosign(witnesses[0]) == 2
        published = selectors.published()
        assert published is not None
        assert published.note.count("witness.example/one") == 1, "one line of each witness: its latest"
        found = notes.cosignatures(notes.checkpoint_read(published.note), [witnesses[0].key])
        assert found[0].time_s == witnesses[0].time_s

    def test_that_saw_the_close_record_in_time_are_in_the_bundle(self, witnesses: list[Steered]) -> None:
        table = FairTable(entropy="open", margin=2)
        table.open()
        table.merge()
        self.cosign(witnesses[0])
        hands = table.seats(0, 1)
        table.now_ms = BEACON_CLOSED_MS
        table.close(hands)
        table.merge()
        self.cosign(witnesses[0])
        table.now_ms = BEACON_MS
        table.dealt(table.roster(hands), beacon=BEACON_SIGNATURE)
        table.reveal([0, 1], table.play([0, 1]))
        table.merge()
        for witness in witnesses:
            witness.time_s = BEACON_MS // 1000 + 60
        self.cosign(witnesses[0])
        trust = trust_read(selectors.trust())
        assert trust.quorum == 1
        bundle = table.bundle()
        assert bundle["log"]["close"] is not None
        [verdict] = verify_bundles([json.dumps(bundle)], trust)
        assert (verdict.verdict, list(verdict.codes)) == ("pass", [])

    def test_that_saw_it_too_late_fail_the_bundle(self, witnesses: list[Steered]) -> None:
        table = FairTable(entropy="open", margin=2)
        table.open()
        table.merge()
        self.cosign(witnesses[0])
        hands = table.seats(0, 1)
        table.now_ms = BEACON_CLOSED_MS
        table.close(hands)
        table.merge()
        for witness in witnesses:
            witness.time_s = BEACON_MS // 1000
        self.cosign(witnesses[0])
        table.now_ms = BEACON_MS
        table.dealt(table.roster(hands), beacon=BEACON_SIGNATURE)
        table.reveal([0, 1], table.play([0, 1]))
        table.merge()
        self.cosign(witnesses[0])
        [verdict] = verify_bundles([json.dumps(table.bundle())], trust_read(selectors.trust()))
        assert verdict.verdict == "close_late"

    def test_say_whether_a_closed_round_may_be_dealt(self, witnesses: list[Steered]) -> None:
        for seen_s, in_time in ((BEACON_MS // 1000 - 1, True), (BEACON_MS // 1000, False)):
            table = FairTable(entropy="none", margin=2)
            table.open()
            table.now_ms = BEACON_CLOSED_MS
            table.close(table.seats(0, 1))
            table.merge()
            assert not selectors.close_in_time(table.round_id)
            for witness in witnesses:
                witness.time_s = seen_s
            self.cosign(witnesses[0])
            assert selectors.close_in_time(table.round_id) is in_time

    def test_that_answer_something_else_count_for_nothing(self, settings: Any, witnesses: list[Steered]) -> None:
        """Whatever a witness sends, the other one's line is kept, and nothing is raised."""
        first, second = settings.SEALDECK_WITNESSES
        answers: tuple[Answer, ...] = (
            (200, b""),
            (200, b"\xff"),
            (200, b"a" * 100_000),
            (200, b"\n\n\n"),
            (204, b""),
            (302, b""),
            (409, b""),
            (409, b"-1\n"),
            (409, "\u0663\n".encode()),
            (409, b"9" * 30),
            (409, b"0\n"),
            (500, b""),
        )
        for answer in answers:
            sequencer.tick(now_ms=START_MS)
            with server(partial(_always, answer)) as odd:
                settings.SEALDECK_WITNESSES = [{**first, "url": odd}, second]
                witnesses[1].time_s += 30
                assert witness_rules.cosign_newest(now_s=witnesses[1].time_s) == 1, answer
        assert {row.witness.split("+")[0] for row in Cosignature.objects.all()} == {"witness.example/two"}

    def test_that_are_away_or_slow_hold_up_nobody(self, settings: Any, witnesses: list[Steered]) -> None:
        """A witness that never answers costs one time-out, however many others there are."""
        sequencer.tick(now_ms=START_MS)
        first, second = settings.SEALDECK_WITNESSES
        with socket.create_server(("127.0.0.1", 0)) as mute:
            silent = f"http://127.0.0.1:{mute.getsockname()[1]}"
            settings.SEALDECK_WITNESSES = [{**first, "url": silent}, second]
            assert self.cosign(witnesses[1]) == 1
        settings.SEALDECK_WITNESSES = [{**first, "url": "http://127.0.0.1:9"}, second]
        witnesses[1].time_s += 30
        assert self.cosign(witnesses[1]) == 1

    def test_that_are_named_no_more_make_no_quorum(self, settings: Any, witnesses: list[Steered]) -> None:
        sequencer.tick(now_ms=START_MS)
        self.cosign(witnesses[0])
        assert selectors.published() is not None
        settings.SEALDECK_WITNESSES = [
            {"vkey": str(notes.VerifierKey("w3", notes.TYPE_COSIGNATURE, bytes(32))), "url": "http://127.0.0.1:9"}
        ]
        assert selectors.published() is None
