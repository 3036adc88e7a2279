"""A log and its keys made for tests, and the vectors' rounds as a stream would have told them.

The hash of a record does not depend on who signed it, so the rounds of the protocol's vectors, signed again with keys
that the tests hold, are the same rounds; and a test can sign what an honest server never would.
"""

from __future__ import annotations

import copy
import json
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from apps.client.logview import LogView
from apps.fairness.protocol import log, notes, records, signatures, transcript
from apps.fairness.protocol.cards import CardTree
from apps.fairness.protocol.streams import KeySchedule
from apps.fairness.protocol.trust import Trust, trust_read

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "vectors.json").read_bytes())
ORIGIN = "log.example/test"
NOW_S = 1_776_190_300


def secret(name: str) -> bytes:
    """Return a secret key made from a name."""
    return sha256(name.encode()).digest()


def vkey(name: str, type_: int, public_key: bytes) -> str:
    """Return a verifier key as a trust file has it."""
    return f"{name}+{notes.key_id(name, type_, public_key).hex()}+{b64encode(bytes((type_,)) + public_key).decode()}"


class World:
    """A log with a root key and a records key, and one witness."""

    def __init__(self) -> None:
        self.entries: list[bytes] = []
        self.tree = log.MemoryTree()
        self.keys = [self._key("root"), self._key("records")]

    def _key(self, use: str) -> dict[str, Any]:
        body = {
            "v": records.VERSION,
            "op": "add",
            "use": use,
            "pk": signatures.public_key(secret(use)).hex(),
            "reason": "first_key",
            "at_ms": 1_776_190_000_000,
        }
        signed = records.record_sign(secret("root"), "key", body)
        return {"index": self.append(signed), "record": records.log_object(signed)}

    def append(self, signed: records.Signed) -> int:
        """Put a record into the log and return its index."""
        self.entries.append(signed.entry)
        self.tree.append(log.leaf_hash(signed.entry))
        return len(self.entries) - 1

    def sign(self, type_: str, body: dict[str, Any], key: str = "records") -> dict[str, Any]:
        """Return a signed record as the API gives it."""
        return records.log_object(records.record_sign(secret(key), type_, body))

    def trust(self, quorum: int = 0) -> Trust:
        """Return what a client of this log believes."""
        witness = vkey("w1.example", notes.TYPE_COSIGNATURE, signatures.public_key(secret("witness")))
        return trust_read(
            {
                "log": vkey(ORIGIN, notes.TYPE_ED25519, signatures.public_key(secret("log"))),
                "root": signatures.public_key(secret("root")).hex(),
                "witnesses": [witness],
                "quorum": quorum,
            }
        )

    def checkpoint(self, size: int | None = None, *, cosigned_s: int | None = None, key: str = "log") -> str:
        """Return a signed checkpoint of the log."""
        size = len(self.entries) if size is None else size
        note = notes.checkpoint_sign(secret(key), ORIGIN, size, log.stored_root(self.tree, size))
        if cosigned_s is not None:
            note += notes.cosign(secret("witness"), "w1.example", notes.checkpoint_read(note).body, cosigned_s)
        return note

    def inclusion(self, index: int) -> list[str]:
        """Return the proof that an entry is in the whole log."""
        return [node.hex() for node in log.inclusion_path(self.tree, index, len(self.entries))]

    def consistency(self, old: int, new: int) -> list[str]:
        """Return the proof that the log of one size extends another."""
        return [node.hex() for node in log.consistency_path(self.tree, old, new)]

    def view(self) -> LogView:
        """Return a client's view that has seen the keys and the newest checkpoint."""
        view = LogView(self.trust())
        view.keys_take({"origin": ORIGIN, "keys": self.keys})
        view.checkpoint_take(self.checkpoint(), now_s=NOW_S)
        return view

    def bundle(self, name: str) -> dict[str, Any]:
        """Return a round of the vectors as this log holds it, appending its records."""
        told = vector(name)["bundle"]
        signed = [records.record_sign(secret("records"), row["type"], row["body"]) for row in told["records"]]
        indexes = [*(key["index"] for key in self.keys), *(self.append(one) for one in signed)]
        return {
            **copy.deepcopy({k: v for k, v in told.items() if k != "openings"}),
            "records": [records.log_object(one) for one in signed],
            "keys": [key["record"] for key in self.keys],
            "log": {
                "origin": ORIGIN,
                "checkpoint": self.checkpoint(),
                "indexes": indexes,
                "proofs": [self.inclusion(index) for index in indexes],
                "views": [],
                "close": None,
            },
        }


def vector(name: str) -> dict[str, Any]:
    """Return a round of the protocol's vectors."""
    found: dict[str, Any] = next(one for one in VECTORS["rounds"] if one["name"] == name)
    return found


def trees(name: str) -> dict[int, CardTree]:
    """Return the cards of every generation of a round of the vectors."""
    told = vector(name)
    bodies = {row["type"]: row["body"] for row in told["bundle"]["records"]}
    deck = bodies["deck"]
    round_ = bytes.fromhex(deck["round"])
    schedule = KeySchedule.derive(
        seed=bytes.fromhex(bodies["reveal"]["seed"]),
        rows=[(row["seat"], bytes.fromhex(row["pk"]), bytes.fromhex(row["entropy"])) for row in deck["roster"]],
        round_=round_,
        open_hash=bytes.fromhex(deck["open"]),
        close_hash=bytes.fromhex(deck["close"]),
    )
    orders = {0: schedule.chance().shuffle("deck", told["bundle"]["order"])}
    orders |= {int(gen): tuple(order) for gen, order in told["intermediate"].get("generations", {}).items()}
    key = schedule.key("card-salt")
    return {gen: CardTree(round_=round_, gen=gen, cards=order, salt_key=key) for gen, order in orders.items()}


def messages(name: str) -> Iterator[dict[str, Any]]:
    """Give the messages of a round of the vectors, with the openings of the cards that it shows."""
    told = vector(name)
    deck = next(row for row in told["bundle"]["records"] if row["type"] == "deck")
    head = transcript.head_first(records.record_hash("deck", deck["body"]))
    shown = trees(name)
    for entry in copy.deepcopy(told["bundle"]["transcript"]):
        head = transcript.head_next(head, transcript.entry_bytes(entry))
        places = [(one["gen"], one["pos"]) for one in _cards(entry["events"]) if "card" in one]
        yield {
            "type": "entry",
            "round_id": deck["body"]["round"],
            "seq": entry["seq"],
            "entry": entry,
            "head": head.hex(),
            "openings": [shown[gen].opening(pos) for gen, pos in places],
        }


def _cards(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict) and {"gen", "pos"} <= value.keys():
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _cards(inner)
