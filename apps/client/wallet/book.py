"""The reference wallet's book: what each call does to balances, in SQLite.

This is the receiver's part of the rollback matrix, one method a row.  Everything a call does is one transaction, and
calls happen one after the other.  Source: docs/operators/seamless-wallet.md, section Rollback matrix.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

TABLES = """
CREATE TABLE IF NOT EXISTS player (id TEXT, currency TEXT, balance INTEGER NOT NULL CHECK (balance >= 0),
    PRIMARY KEY (id, currency));
CREATE TABLE IF NOT EXISTS bet (id TEXT PRIMARY KEY, player TEXT, currency TEXT, amount INTEGER, round TEXT,
    state TEXT NOT NULL CHECK (state IN ('taken', 'refused', 'reversed', 'won', 'tombstone')), answer TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS call (id TEXT PRIMARY KEY, body TEXT NOT NULL, answer TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS nonce (nonce TEXT PRIMARY KEY, seen_at_s INTEGER NOT NULL);
"""
Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """A decision: a status and the members of its JSON."""

    status: int
    members: dict[str, Any] = field(default_factory=dict)

    def stored(self) -> str:
        """Return the reply as it is kept, to be given again."""
        return json.dumps([self.status, self.members])


def reply_read(stored: str) -> Reply:
    """Return a reply that was kept."""
    status, members = json.loads(stored)
    return Reply(status, members)


@dataclass(frozen=True, slots=True)
class Bet:
    """A bet as it is known."""

    id: str
    player: str
    currency: str
    amount: int
    round: str
    state: str
    answer: str

    def is_of(self, body: Body) -> bool:
        """Tell whether a body names this bet's player, currency and round."""
        return (self.player, self.currency, self.round) == (body["player_id"], body["currency"], body["round_id"])


class Book:
    """Balances of players, and every bet, win and rollback there ever was."""

    def __init__(self, path: str = ":memory:") -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.executescript(TABLES)
        self._lock = threading.Lock()

    def transaction(self, work: Callable[[], Reply]) -> Reply:
        """Do all of some work or nothing, while nobody else does any."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                reply = work()
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
            return reply

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def deposit(self, player: str, currency: str, amount: int) -> None:
        """Put money on a player's account, which is made if it is not there."""
        with self._lock:
            self._db.execute(
                "INSERT INTO player VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET balance = balance + excluded.balance",
                (player, currency, amount),
            )

    def nonce_use(self, nonce: str, now_s: int, kept_s: int) -> bool:
        """Remember a nonce; False if it was used before."""
        with self._lock:
            self._db.execute("DELETE FROM nonce WHERE seen_at_s < ?", (now_s - kept_s,))
            done = self._db.execute("INSERT INTO nonce VALUES (?, ?) ON CONFLICT DO NOTHING", (nonce, now_s))
            return done.rowcount == 1

    def balance_of(self, player: str, currency: str) -> int | None:
        """Return a balance, or None if there is no such player."""
        row = self._db.execute("SELECT balance FROM player WHERE id = ? AND currency = ?", (player, currency))
        found = row.fetchone()
        return None if found is None else int(found[0])

    def balance(self, body: Body) -> Reply:
        """Tell what a player has."""
        balance = self.balance_of(body["player_id"], body["currency"])
        if balance is None:
            return Reply(404, {"code": "player_not_found"})
        members = {"player_id": body["player_id"], "currency": body["currency"], "balance_minor": balance}
        return Reply(200, members)

    def bet(self, body: Body) -> Reply:
        """Take a stake, once for its id."""
        bet = self.bet_find(body["transaction_id"])
        if bet is None:
            return self.bet_new(body)
        if bet.state == "tombstone":
            return _refusal(409, "rolled_back", body)
        if not bet.is_of(body) or bet.amount != body["amount_minor"]:
            return _refusal(409, "transaction_conflict", body)
        return self.bet_again(bet)

    def bet_new(self, body: Body) -> Reply:
        """Decide a bet that was never seen; a refusal is kept too, so that it stays one when funds arrive."""
        balance = self.balance_of(body["player_id"], body["currency"])
        if balance is None:
            reply, state = _refusal(404, "player_not_found", body), "refused"
        elif balance < body["amount_minor"]:
            reply, state = _refusal(409, "insufficient_funds", body, balance_minor=balance), "refused"
        else:
            reply, state = self.move(body, -body["amount_minor"]), "taken"
        self.bet_keep(body["transaction_id"], body, state, reply)
        return reply

    def bet_again(self, bet: Bet) -> Reply:
        """Answer a duplicate: the original result, with a mark if it was reversed since."""
        original = reply_read(bet.answer)
        if bet.state == "reversed":
            return Reply(original.status, {**original.members, "rolled_back": True})
        return original

    def win(self, body: Body) -> Reply:
        """Pay a stake out, once, 0 included; that settles it."""
        known = self.call_find(body)
        if known is not None:
            return known
        bet = self.bet_find(body["bet_transaction_id"])
        if bet is None or bet.state == "refused":
            return _refusal(404, "reference_unknown", body)
        if bet.state in ("reversed", "tombstone"):
            return _refusal(409, "rolled_back", body)
        if not bet.is_of(body):
            return _refusal(409, "reference_mismatch", body)
        if bet.state == "won":
            return _refusal(409, "round_settled", body)
        reply = self.move(body, body["amount_minor"])
        self.bet_state(bet.id, "won")
        self.call_keep(body, reply)
        return reply

    def rollback(self, body: Body) -> Reply:
        """Take a bet back: whatever it has done so far, and whatever it would do later."""
        known = self.call_find(body)
        if known is not None:
            return known
        bet = self.bet_find(body["bet_transaction_id"])
        if bet is None:
            return self.rollback_first(body)
        if not bet.is_of(body) or bet.amount != body["amount_minor"]:
            return _refusal(409, "reference_mismatch", body)
        if bet.state == "won":
            return _refusal(409, "round_settled", body)
        reply = self.rollback_done(bet, body)
        self.call_keep(body, reply)
        return reply

    def rollback_first(self, body: Body) -> Reply:
        """Remember that a bet which never came must not be taken any more."""
        reply = self.move(body, 0)
        self.bet_keep(body["bet_transaction_id"], body, "tombstone", reply)
        self.call_keep(body, reply)
        return reply

    def rollback_done(self, bet: Bet, body: Body) -> Reply:
        """Give a taken stake back; one that was refused took nothing."""
        if bet.state != "taken":
            return self.move(body, 0)
        self.bet_state(bet.id, "reversed")
        return self.move(body, bet.amount)

    def move(self, body: Body, amount: int) -> Reply:
        """Change a balance and return the answer that says so."""
        self._db.execute(
            "UPDATE player SET balance = balance + ? WHERE id = ? AND currency = ?",
            (amount, body["player_id"], body["currency"]),
        )
        members = {name: body[name] for name in ("transaction_id", "player_id", "currency", "amount_minor")}
        return Reply(200, {**members, "balance_minor": self.balance_of(body["player_id"], body["currency"]) or 0})

    def bet_find(self, bet_id: str) -> Bet | None:
        """Return a bet, or the tombstone in its place."""
        found = self._db.execute("SELECT * FROM bet WHERE id = ?", (bet_id,)).fetchone()
        return None if found is None else Bet(*found)

    def bet_keep(self, bet_id: str, body: Body, state: str, reply: Reply) -> None:
        """Write a bet down."""
        facts = (bet_id, body["player_id"], body["currency"], body["amount_minor"], body["round_id"], state)
        self._db.execute("INSERT INTO bet VALUES (?, ?, ?, ?, ?, ?, ?)", (*facts, reply.stored()))

    def bet_state(self, bet_id: str, state: str) -> None:
        """Note what became of a bet."""
        self._db.execute("UPDATE bet SET state = ? WHERE id = ?", (state, bet_id))

    def call_find(self, body: Body) -> Reply | None:
        """Return the answer that a win or rollback got when it came before."""
        row = self._db.execute("SELECT body, answer FROM call WHERE id = ?", (body["transaction_id"],)).fetchone()
        if row is None:
            return None
        if row[0] != json.dumps(body, sort_keys=True):
            return _refusal(409, "transaction_conflict", body)
        return reply_read(row[1])

    def call_keep(self, body: Body, reply: Reply) -> None:
        """Write a win or rollback down."""
        facts = (body["transaction_id"], json.dumps(body, sort_keys=True), reply.stored())
        self._db.execute("INSERT INTO call VALUES (?, ?, ?)", facts)


def _refusal(status: int, code: str, body: Body, **more: int) -> Reply:
    return Reply(status, {"transaction_id": body["transaction_id"], "code": code, **more})
