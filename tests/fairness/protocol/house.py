"""An operator for tests: it keeps a log, signs records and plays rounds, honestly or as it is told to cheat.

Everything comes from labels, so that a failing test fails again.  The bundles are complete: keys, records, proofs,
checkpoints with a cosignature, transcript, generations and openings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from apps.fairness.protocol import beacon as beacons
from apps.fairness.protocol import contributions, notes, records, signatures, transcript
from apps.fairness.protocol.cards import CardTree, order_hash
from apps.fairness.protocol.log import MemoryTree, consistency_path, inclusion_path, leaf_hash, stored_root
from apps.fairness.protocol.records import Signed
from apps.fairness.protocol.settlement import settle
from apps.fairness.protocol.streams import CARD_SALT, KeySchedule, opener
from apps.fairness.protocol.trust import Trust
from apps.games import registry
from tests.fairness.protocol.scripts import game_script, sample_script
from tests.fairness.protocol.toy import DECK, Toy

Body = dict[str, Any]
Edit = Callable[[Any], Any]

START_MS = 1776190000000
BEACON_ROUND = 27798178
BEACON_CLOSED_MS = 1776197891250
BEACON_SIGNATURE = "b18fa6dc92304844fc4e868d708953e6b628b3f88d4381249d32264df1bfe5bc20aa0905e57fe54063010881767fd56d"
"""A real signature of quicknet, round 27798178."""


def secret(label: str) -> bytes:
    """Return 32 bytes that only look random."""
    return sha256(f"test {label}".encode()).digest()


def nothing(value: Any) -> None:
    """Leave a value as it is."""


@dataclass(slots=True)
class Plan:
    """How a round is to go; ``edits`` change a body, the entries or the finished bundle, by name."""

    table: str = secret("table")[:16].hex()
    index: int = 0
    prev: str = ""
    last_opener: int | None = None
    mode: str = "open"
    seats: Sequence[int] = (0, 2, 3)
    keyed: Sequence[int] = (0, 3)
    beacon: bool = False
    margin: int = 2
    game: str = "sample"
    options: Body = field(default_factory=dict)
    order: Sequence[str] = DECK
    buy_in: int = 1000
    fee_bp: int = 500
    shares: dict[str, int] = field(default_factory=lambda: {"0": 2, "3": 1})
    ranking: list[list[int]] | None = None
    stop: str | None = None
    """Type of the last record of a round that still runs, or that ends in ``void``."""
    ended: bool = False
    """Whether the transcript of a round that stops after ``deck`` goes to its end all the same."""
    void: Body | None = None
    quote: bool = True
    """Whether seats with a key quote a checkpoint."""
    opener: int | None = None
    """Who opens a later round of a match."""
    match_opener: int | None = None
    """Who opened its first round."""
    carry: Any = None
    """What the round before in the same match handed on."""
    opened: int = 3
    """How many openings, from the top, a player was given."""
    label: str = "play"
    """What the choices of the seats are drawn from."""
    edits: dict[str, Edit] = field(default_factory=dict)

    def edit(self, name: str, value: Any) -> Any:
        """Change a value as planned; an edit changes it in place or returns another one."""
        edit: Edit = self.edits.get(name, nothing)
        changed = edit(value)
        return value if changed is None else changed


@dataclass(slots=True)
class Played:
    """A round as it went."""

    records: list[Signed]
    bundle: Body
    seed: bytes
    opener: int | None

    @property
    def terminal(self) -> str:
        """Hash of the last record."""
        return self.records[-1].hash_hex


class House:
    """An operator with its keys, its log and one witness."""

    def __init__(self, label: str = "house", *, first_ms: int = START_MS) -> None:
        self.origin = f"log.sealdeck.example/{label}"
        self.root, self.log, self.signer = (secret(f"{label} {use}") for use in ("root", "log", "records"))
        self.witness = secret(f"{label} witness")
        self.witness_name = "witness.sealdeck.example/t"
        self.tree = MemoryTree()
        self.entries: list[bytes] = []
        self.keys: list[tuple[int, Signed]] = []
        for use, key in (("root", self.root), ("log", self.log), ("records", self.signer)):
            self.key_add(use, signatures.public_key(key), first_ms)

    @property
    def trust(self) -> Trust:
        """What a verifier of this house believes."""
        log = notes.VerifierKey(self.origin, notes.TYPE_ED25519, signatures.public_key(self.log))
        witness = notes.VerifierKey(self.witness_name, notes.TYPE_COSIGNATURE, signatures.public_key(self.witness))
        return Trust(log, signatures.public_key(self.root), (witness,), 1)

    def key_add(
        self, use: str, public_key: bytes, at_ms: int = START_MS, *, op: str = "add", by: bytes | None = None
    ) -> int:
        """Log a key record and return its index."""
        body = {"v": "sealdeck/1", "op": op, "use": use, "pk": public_key.hex(), "reason": "test", "at_ms": at_ms}
        return self.merge(records.record_sign(by or self.root, "key", body))

    def merge(self, record: Signed) -> int:
        """Put a record into the log and return its index."""
        index = len(self.entries)
        self.entries.append(record.entry)
        self.tree.append(leaf_hash(record.entry))
        if record.type == "key":
            self.keys.append((index, record))
        return index

    @property
    def size(self) -> int:
        """Number of log entries."""
        return len(self.entries)

    def checkpoint(self, size: int | None = None, *, time_s: int = START_MS // 1000, cosign: bool = True) -> str:
        """Return a signed and cosigned checkpoint."""
        size = self.size if size is None else size
        note = notes.checkpoint_sign(self.log, self.origin, size, stored_root(self.tree, size))
        if cosign:
            body = notes.checkpoint_read(note).body
            note += notes.cosign(self.witness, self.witness_name, body, time_s)
        return note

    def quoted(self) -> Body:
        """Return the newest checkpoint as a seat quotes it."""
        return {"size": self.size, "root": stored_root(self.tree, self.size).hex()}

    def play(self, plan: Plan | None = None, **members: Any) -> Played:
        """Play one round and return it with its bundle."""
        return _Play(self, plan or Plan(**members)).run()


class _Play:
    def __init__(self, house: House, plan: Plan) -> None:
        self.house = house
        self.plan = plan
        self.now = BEACON_CLOSED_MS - 4000 if plan.beacon else START_MS
        self.records: list[Signed] = []
        self.indexes: list[int] = []
        self.table = bytes.fromhex(plan.table)
        self.round = records.round_id(self.table, plan.index)
        self.seed = secret(f"seed {plan.table} {plan.index}")
        self.entropy = {seat: secret(f"entropy {seat} {plan.index}") for seat in plan.seats}
        self.seat_keys = {seat: secret(f"seat {seat}") for seat in plan.keyed}
        self.close_checkpoint: str | None = None
        self.close_size = 0
        self.entries: list[Body] = []
        self.generations: list[Body] = []
        self.openings: list[Body] = []
        self.opener: int | None = None
        plan.edit("play", self)

    def sign(self, type_: str, body: Body) -> Signed:
        body = self.plan.edit(type_, {"v": "sealdeck/1", "round": self.round.hex(), **body})
        record = records.record_sign(self.house.signer, type_, body)
        self.records.append(record)
        self.indexes.append(self.house.merge(record))
        return record

    def last(self) -> str:
        return self.records[-1].hash_hex

    def run(self) -> Played:
        plan = self.plan
        self.open()
        if plan.stop == "open":
            return self.finish()
        if plan.mode == "sealed" or plan.beacon:
            self.close()
            if plan.stop == "close":
                return self.finish()
        self.deck()
        if plan.stop == "deck":
            self.entries = self.entries if plan.ended else self.entries[:-1]
            self.openings = []
            return self.finish()
        self.reveal()
        return self.finish()

    def open(self) -> None:
        plan = self.plan
        order = plan.edit("order", list(plan.order))
        self.order = order
        self.sign(
            "open",
            {
                "table": plan.table,
                "index": plan.index,
                "prev": plan.prev,
                "seed_commit": records.seed_commitment(self.table, plan.index, self.seed).hex(),
                "game": plan.game,
                "rules": f"{plan.game}/1",
                "options": plan.options,
                "entropy": plan.mode,
                "beacon": {"chain": beacons.QUICKNET.hex(), "margin": plan.margin} if plan.beacon else None,
                "stake": {"currency": "EUR", "buy_in": plan.buy_in, "fee_bp": plan.fee_bp},
                "decks": [{"seats_min": 2, "seats_max": 4, "n": len(order), "order_hash": order_hash(order).hex()}],
                "last_opener": plan.last_opener,
                "opened_ms": self.now,
            },
        )
        self.now += 4000
        plan.edit("opened", self)

    def pk(self, seat: int) -> str:
        key = self.seat_keys.get(seat) if self.plan.mode != "none" else None
        return signatures.public_key(key).hex() if key else ""

    def view(self, seat: int) -> Body | None:
        if not self.plan.quote or not self.pk(seat):
            return None
        view: Body = self.plan.edit("view", self.house.quoted())
        return view

    def seat_sign(self, seat: int, kind: contributions.Kind, body: Body) -> str:
        return contributions.seat_sign(self.seat_keys[seat], kind, body).hex() if self.pk(seat) else ""

    def commit_row(self, seat: int) -> Body:
        pk = self.pk(seat)
        commit = ""
        if self.plan.mode != "none":
            commit = contributions.commitment(
                round_=self.round,
                open_hash=self.records[0].hash,
                seat=seat,
                public_key=bytes.fromhex(pk),
                entropy=self.entropy[seat],
            ).hex()
        if self.plan.mode != "sealed":
            return {"seat": seat, "pk": pk, "commit": commit, "cp": None, "sig": ""}
        cp = self.view(seat)
        body = contributions.commit_body(
            round_=self.round.hex(), open_=self.records[0].hash_hex, seat=seat, pk=pk, commit=commit, cp=cp
        )
        return {"seat": seat, "pk": pk, "commit": commit, "cp": cp, "sig": self.seat_sign(seat, "commit", body)}

    def entropy_row(self, seat: int) -> Body:
        pk, id_ = self.pk(seat), self.round.hex()
        if self.plan.mode == "none":
            return {"seat": seat, "pk": "", "entropy": "", "cp": None, "sig": ""}
        entropy, cp = self.entropy[seat].hex(), self.view(seat)
        if self.plan.mode == "sealed":
            kind: contributions.Kind = "reveal"
            body = contributions.reveal_body(
                round_=id_, close=self.records[1].hash_hex, seat=seat, entropy=entropy, cp=cp
            )
        else:
            kind = "entropy"
            body = contributions.entropy_body(
                round_=id_, open_=self.records[0].hash_hex, seat=seat, pk=pk, entropy=entropy, cp=cp
            )
        return {"seat": seat, "pk": pk, "entropy": entropy, "cp": cp, "sig": self.seat_sign(seat, kind, body)}

    def close(self) -> None:
        if self.plan.beacon:
            self.now = BEACON_CLOSED_MS
        body = {
            "open": self.last(),
            "roster": [self.commit_row(seat) for seat in self.plan.seats],
            "beacon_round": beacons.round_for(self.now, self.plan.margin) if self.plan.beacon else None,
            "closed_ms": self.now,
        }
        self.sign("close", body)
        self.plan.edit("closed", self)
        if self.plan.beacon:
            time_s = self.plan.edit("close_time_s", self.now // 1000 + 2)
            self.close_checkpoint = self.house.checkpoint(time_s=time_s)
            self.close_size = self.house.size
            self.now = beacons.round_time_s(BEACON_ROUND) * 1000 + 1000
        else:
            self.now += 5000

    def deck(self) -> None:
        plan, closed = self.plan, len(self.records) > 1
        # In an open round the seats sign what they saw when they got ready, before a close record.
        rows = plan.edit("rows", [self.entropy_row(seat) for seat in plan.seats])
        beacon = b""
        if plan.beacon:
            number = self.records[1].body["beacon_round"] or BEACON_ROUND
            chain = bytes.fromhex(self.records[0].body["beacon"]["chain"])
            beacon = beacons.beacon_bytes(chain, number, bytes.fromhex(BEACON_SIGNATURE))
        self.schedule = KeySchedule.derive(
            seed=self.seed,
            rows=[(row["seat"], bytes.fromhex(row["pk"]), bytes.fromhex(row["entropy"])) for row in rows],
            round_=self.round,
            open_hash=self.records[0].hash,
            close_hash=self.records[1].hash if closed else b"",
            beacon=beacon,
        )
        self.opener = plan.opener
        if self.opener is None:
            self.opener = opener([row["seat"] for row in rows], plan.last_opener, self.schedule.chance())
        cards = plan.edit("cards", list(self.schedule.chance().shuffle("deck", self.order)))
        self.cards = cards
        self.first = self.tree(0, cards)
        self.deck_record = self.sign(
            "deck",
            {
                "open": self.records[0].hash_hex,
                "close": self.records[1].hash_hex if closed else "",
                "roster": rows,
                "beacon": BEACON_SIGNATURE if plan.beacon else "",
                "opener": self.opener,
                "n": len(cards),
                "order_hash": order_hash(self.order).hex(),
                "root": self.first.root.hex(),
                "dealt_ms": self.now,
            },
        )
        if plan.game == "sample":
            sample_script(self)
        else:
            game_script(self, Toy() if plan.game == "toy" else registry.game(plan.game))
        self.entries = plan.edit("entries", self.entries)
        self.generations = plan.edit("generations", self.generations)

    def tree(self, gen: int, cards: Sequence[str]) -> CardTree:
        return CardTree(round_=self.round, gen=gen, cards=cards, salt_key=self.schedule.key(CARD_SALT))

    def entry(self, kind: str, seat: int | None, input_: Body, *events: Body) -> None:
        self.entries.append(
            transcript.entry(
                seq=len(self.entries), at=self.now, kind=kind, seat=seat, input_=input_, events=deepcopy(events)
            )
        )
        self.now += 900

    def started(self) -> Body:
        opened = self.records[0].body
        return {
            "type": "round_started",
            "game": opened["game"],
            "rules": opened["rules"],
            "seats": [row["seat"] for row in self.deck_record.body["roster"]],
            "opener": self.deck_record.body["opener"],
            "options": opened["options"],
            "carry": self.plan.carry,
        }

    def head(self) -> str:
        data = [transcript.entry_bytes(entry) for entry in self.entries]
        return list(transcript.heads(self.deck_record.hash, data))[-1].hex()

    def reveal(self) -> None:
        plan = self.plan
        events = [event for entry in self.entries for event in entry["events"] if isinstance(event, dict)]
        over = next((event for event in events[::-1] if event.get("type") == "round_over"), {})
        unknown: Body = {"reason": "none", "shares": {}, "ranking": []}
        outcome: Body = {name: over.get(name, default) for name, default in unknown.items()}
        shares = {int(seat): weight for seat, weight in outcome["shares"].items() if int(seat) in plan.seats}
        goes_on = over.get("final") is False
        settled = settle(
            seats=plan.seats,
            buy_in_minor=plan.buy_in,
            fee_bp=plan.fee_bp,
            shares=shares or {plan.seats[0]: 1},
            opener=plan.match_opener if plan.match_opener is not None else self.deck_record.body["opener"],
        )
        self.sign(
            "reveal",
            {
                "deck": self.last(),
                "entries": len(self.entries),
                "head": self.head(),
                "seed": self.seed.hex(),
                "outcome": outcome,
                "payouts": [
                    {"seat": seat, "buy_in": plan.buy_in, "payout": amount}
                    for seat, amount in settled.payouts_minor.items()
                    if not goes_on
                ],
                "fee": 0 if goes_on else settled.fee_minor,
                "ended_ms": self.now,
            },
        )

    def finish(self) -> Played:
        plan, house = self.plan, self.house
        if plan.void is not None:
            dealt = self.records[-1].type == "deck"
            body = {
                "last": self.last(),
                "stage": self.records[-1].type,
                "entropies": [],
                "entries": len(self.entries) if dealt else 0,
                "head": self.head() if dealt else "",
                "seed": self.seed.hex(),
                "voided_ms": self.now,
                **plan.void,
            }
            if callable(body["entropies"]):
                body["entropies"] = body["entropies"](self)
            self.sign("void", body)
        plan.edit("before_bundle", house)
        bundle = plan.edit("bundle", self.bundle())
        return Played(self.records, bundle, self.seed, self.opener)

    def bundle(self) -> Body:
        house, size = self.house, self.house.size
        dealt = any(record.type == "deck" for record in self.records)
        ended = self.records[-1].type in ("reveal", "void")
        indexes = [index for index, _ in house.keys] + self.indexes
        quoted = sorted(
            {
                row["cp"]["size"]
                for record in self.records
                for row in (*record.body.get("roster", ()), *record.body.get("entropies", ()))
                if row["cp"] is not None
            }
        )
        close = None
        if self.close_checkpoint is not None:
            close = {
                "checkpoint": self.close_checkpoint,
                "proof": _hexes(inclusion_path(house.tree, self.indexes[1], self.close_size)),
                "consistency": _hexes(consistency_path(house.tree, self.close_size, size)),
            }
        return {
            "format": "sealdeck-round/1",
            "records": [records.log_object(record) for record in self.records],
            "keys": [records.log_object(record) for _, record in house.keys],
            "order": list(self.order) if dealt else [],
            "generations": self.generations if ended else [],
            "transcript": self.entries,
            "openings": self.openings,
            "log": {
                "origin": house.origin,
                "checkpoint": house.checkpoint(time_s=self.now // 1000 + 1),
                "indexes": indexes,
                "proofs": [_hexes(inclusion_path(house.tree, index, size)) for index in indexes],
                "views": [
                    {"size": old, "proof": _hexes(consistency_path(house.tree, old, size)) if old <= size else []}
                    for old in quoted
                ],
                "close": close,
            },
        }


def _hexes(path: Sequence[bytes]) -> list[str]:
    return [node.hex() for node in path]
