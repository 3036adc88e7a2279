"""A table for tests: rounds of Monko from commitment to reveal through the fairness services, played at random.

Does what the table service does around them, with times of its own, so that recorded beacons fit.
"""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.db import connections, transaction

from apps.fairness import dealer, selectors, sequencer, services
from apps.fairness.models import FairRound
from apps.fairness.protocol import contributions, settlement, signatures, transcript
from apps.fairness.protocol.beacon import QUICKNET
from apps.fairness.services import Deal, OpenedRound, RecordRef, RosterRow
from apps.games import registry
from apps.games.contract import Event, Seat, Setup

START_MS = 1_776_197_880_000
STAKE = {"currency": "PTS", "buy_in": 100, "fee_bp": 500}
OPTIONS: dict[str, Any] = {}


@dataclass
class SeatHands:
    """One player's client: its key, its entropy and what it has seen of the log."""

    number: int
    keyed: bool = True
    secret: bytes = field(default_factory=lambda: uuid4().bytes * 2)
    entropy: str = field(default_factory=lambda: (uuid4().bytes * 2).hex())
    cp: dict[str, Any] | None = None
    sig: str = ""

    @property
    def pk(self) -> str:
        """The seat's key, empty for a seat without one."""
        return signatures.public_key(self.secret).hex() if self.keyed else ""

    def sign(self, kind: contributions.Kind, body: dict[str, Any]) -> str:
        """Return the seat's signature, empty for a seat without a key."""
        return contributions.seat_sign(self.secret, kind, body).hex() if self.keyed else ""


@dataclass
class Played:
    """A transcript that ended."""

    entries: list[dict[str, Any]]
    head: str
    outcome: dict[str, Any]
    shares: dict[int, int]
    ended_ms: int


class FairTable:
    """One table."""

    def __init__(self, *, entropy: str = "open", margin: int | None = None, slug: str = "monko") -> None:
        self.id = uuid4()
        self.entropy = entropy
        self.margin = margin
        self.game = registry.game(slug)
        self.options = {option.name: option.default for option in self.game.spec.options}
        self.index = 0
        self.last_opener: int | None = None
        self.now_ms = START_MS
        self.opened: OpenedRound
        self.deal: Deal
        self.transcripts: dict[UUID, list[dict[str, Any]]] = {}

    def open(self) -> OpenedRound:
        """Open the next round."""
        with transaction.atomic():
            self.opened = services.round_open(
                table_id=self.id,
                index=self.index,
                game=self.game.spec.slug,
                rules=self.game.spec.rules,
                options=self.options,
                entropy=self.entropy,
                beacon=None if self.margin is None else {"chain": QUICKNET.hex(), "margin": self.margin},
                stake=STAKE,
                decks=services.deck_rows(self.game, self.options),
                last_opener=self.last_opener,
                now_ms=self.now_ms,
            )
        self.index += 1
        return self.opened

    @property
    def round_id(self) -> UUID:
        """The round that was opened last."""
        return self.opened.round_id

    def merge(self) -> int:
        """Let the log's writer work; return the size of the log."""
        merges = sequencer.tick(now_ms=self.now_ms, name="test")
        assert merges, "something was pending"
        return merges[-1].size

    def seats(self, *numbers: int, keyless: Sequence[int] = ()) -> list[SeatHands]:
        """Return clients that saw the open record published and get ready, in the table's mode."""
        hands = [SeatHands(number, keyed=number not in keyless) for number in numbers]
        if self.entropy == "none":
            return hands
        for hand in hands:
            hand.cp = self.view("open") if hand.keyed else None
            hand.sig = hand.sign(*self.ready_message(hand))
            services.contribution_check(
                round_id=self.round_id,
                mode=self.entropy,
                seat=hand.number,
                pk=hand.pk,
                entropy_or_commit=self.value(hand),
                cp=hand.cp,
                sig=hand.sig,
            )
        return hands

    def view(self, which: str) -> dict[str, Any]:
        """Return the checkpoint a client quotes after it saw the open or close record."""
        published = getattr(selectors, f"{which}_published")(self.round_id)
        assert published is not None
        return {"size": published["size"], "root": published["root"]}

    def value(self, hand: SeatHands) -> str:
        """Return what the seat sends with its ready call."""
        if self.entropy == "open":
            return hand.entropy
        return contributions.commitment(
            round_=self.round_id.bytes,
            open_hash=bytes.fromhex(self.opened.open_hash),
            seat=hand.number,
            public_key=bytes.fromhex(hand.pk),
            entropy=bytes.fromhex(hand.entropy),
        ).hex()

    def ready_message(self, hand: SeatHands) -> tuple[contributions.Kind, dict[str, Any]]:
        """Return what the seat signs with its ready call."""
        facts: dict[str, Any] = {
            "round_": self.round_id.hex,
            "open_": self.opened.open_hash,
            "seat": hand.number,
            "pk": hand.pk,
            "cp": hand.cp,
        }
        if self.entropy == "open":
            return "entropy", contributions.entropy_body(entropy=hand.entropy, **facts)
        return "commit", contributions.commit_body(commit=self.value(hand), **facts)

    def close(self, hands: Sequence[SeatHands]) -> RecordRef:
        """Close the roster."""
        member = "commit" if self.entropy == "sealed" else "entropy"
        roster = [
            {"seat": hand.number}
            if self.entropy == "none"
            else {"seat": hand.number, "pk": hand.pk, member: self.value(hand), "cp": hand.cp, "sig": hand.sig}
            for hand in hands
        ]
        with transaction.atomic():
            return services.round_close(round_id=self.round_id, roster=roster, now_ms=self.now_ms)

    def open_seats(self, hands: Sequence[SeatHands]) -> list[RosterRow]:
        """Let seats open their commitments."""
        close = bytes(FairRound.objects.get(pk=self.round_id).close_hash or b"").hex()
        rows = []
        for hand in hands:
            hand.cp = self.view("close") if hand.keyed else None
            body = contributions.reveal_body(
                round_=self.round_id.hex, close=close, seat=hand.number, entropy=hand.entropy, cp=hand.cp
            )
            hand.sig = hand.sign("reveal", body)
            rows.append(
                services.opening_check(
                    round_id=self.round_id,
                    seat=hand.number,
                    entropy=hand.entropy,
                    cp=hand.cp,
                    sig=hand.sig,
                    now_ms=self.now_ms,
                )
            )
        return rows

    def roster(self, hands: Sequence[SeatHands]) -> list[RosterRow]:
        """Return the rows of the deck record, where nothing was sealed."""
        if self.entropy == "none":
            return [RosterRow(seat=hand.number) for hand in hands]
        return [RosterRow(hand.number, hand.pk, hand.entropy, hand.cp, hand.sig) for hand in hands]

    def dealt(self, roster: Sequence[RosterRow], *, beacon: bytes | None = None) -> Deal:
        """Deal."""
        with transaction.atomic():
            self.deal = services.round_deal(
                round_id=self.round_id,
                roster=roster,
                beacon_signature=beacon,
                order=self.game.deck(self.options, len(roster)),
                opener=None,
                now_ms=self.now_ms,
            )
        self.last_opener = self.deal.opener
        return self.deal

    def play(self, seats: Sequence[int], *, entries_max: int | None = None, seed: int = 1) -> Played:
        """Play the round at random, to its end or to a number of entries."""
        choice = random.Random(seed)
        head = transcript.head_first(bytes.fromhex(self.deal.deck_hash))
        entries: list[dict[str, Any]] = []
        now = self.deal.dealt_ms
        chance = dealer.chance(self.round_id)
        setup = Setup(tuple(Seat(seat) for seat in seats), self.deal.deck, self.options, now, Seat(self.deal.opener))
        step = self.game.start(setup, chance)
        kind: str = "start"
        seat: int | None = None
        given: dict[str, Any] = {}
        while True:
            with transaction.atomic():
                events = self._events(step)
            entry = transcript.entry(seq=len(entries), at=now, kind=kind, seat=seat, input_=given, events=events)
            data = transcript.entry_bytes(entry)
            head = transcript.head_next(head, data)
            entries.append(json.loads(data))
            state = step.state
            outcome = self.game.outcome(state)
            if outcome is not None or len(entries) == entries_max:
                break
            now += choice.randrange(1, 900)
            actors = sorted(self.game.actors(state))
            wake_at = self.game.wake_at(state)
            chance = dealer.chance(self.round_id)
            if wake_at is not None and (not actors or choice.random() < 0.05 or now >= wake_at):
                now = max(now, wake_at)
                kind, seat, given = "wake", None, {}
                step = self.game.wake(state, now, chance)
            else:
                actor = choice.choice(actors)
                action = choice.choice(self.game.legal(state, actor, now))
                kind, seat, given = "act", actor, action
                step = self.game.act(state, actor, action, now, chance)
        self.transcripts[self.round_id] = entries
        self.now_ms = max(self.now_ms, now)
        told = {
            "reason": outcome.reason if outcome else "",
            "shares": {str(s): w for s, w in sorted(outcome.shares.items())} if outcome else {},
            "ranking": [list(group) for group in outcome.ranking] if outcome else [],
        }
        return Played(entries, head.hex(), told, {int(s): w for s, w in outcome.shares.items()} if outcome else {}, now)

    def _events(self, step: Any) -> list[Event]:
        made = {generation.gen: dealer.generation_added(self.round_id, generation) for generation in step.generations}
        return [
            {**event, **made[event["gen"]]} if "gen" in event and "pos" not in event else event for event in step.events
        ]

    def reveal(self, seats: Sequence[int], played: Played) -> RecordRef:
        """End the round."""
        settled = settlement.settle(
            seats=seats, buy_in_minor=100, fee_bp=500, shares=played.shares, opener=self.deal.opener
        )
        with transaction.atomic():
            return services.round_reveal(
                round_id=self.round_id,
                entries=len(played.entries),
                head=played.head,
                outcome=played.outcome,
                payouts=[
                    {"seat": seat, "buy_in": 100, "payout": amount} for seat, amount in settled.payouts_minor.items()
                ],
                fee=settled.fee_minor,
                ended_ms=played.ended_ms,
            )

    def void(self, **facts: Any) -> RecordRef:
        """Void the round."""
        usual: dict[str, Any] = {"entropies": [], "entries": 0, "head": "", "now_ms": self.now_ms}
        with transaction.atomic():
            return services.round_void(round_id=self.round_id, **{**usual, **facts})

    def whole_round(self, *numbers: int, **hands: Any) -> None:
        """Play one round of mode none or open from commitment to reveal, and merge all of it."""
        self.open()
        self.merge()
        seats = self.seats(*numbers, **hands)
        self.dealt(self.roster(seats))
        self.reveal(numbers, self.play(numbers))
        self.merge()

    def unplayed_round(self, *numbers: int) -> None:
        """Take one round from commitment to reveal with a made-up transcript, for tests that need only its records."""
        self.open()
        self.merge()
        self.dealt(self.roster(self.seats(*numbers)))
        outcome = {"reason": "out", "shares": {str(numbers[0]): 1}, "ranking": [[number] for number in numbers]}
        self.reveal(numbers, Played([], "ab" * 32, outcome, {numbers[0]: 1}, self.now_ms))
        self.merge()

    def bundle(self, round_id: UUID | None = None) -> dict[str, Any]:
        """Return the audit bundle of a round."""
        round_id = round_id or self.round_id
        evidence = selectors.round_evidence(round_id)
        dealt = any(record["type"] == "deck" for record in evidence["records"])
        entries = self.transcripts.get(round_id, []) if dealt else []
        return {"format": "sealdeck-round/1", "transcript": entries, **evidence}


def in_threads(work: Callable[[int], None], count: int) -> None:
    """Run the same work in threads with database connections of their own; raise the first error."""
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as problem:
            errors.append(problem)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if errors:
        raise errors[0]
