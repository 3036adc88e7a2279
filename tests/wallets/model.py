"""A ledger in plain Python: what the real one should do, without a database.

Knows nothing of entries, triggers or locks: balances, holds and rounds as numbers in dictionaries.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class RoundModel:
    """A round: who paid what, and how it ended."""

    buy_ins: dict[int, int]
    outcome: str = ""
    payouts: dict[int, int] = field(default_factory=dict)
    fee: int = 0


@dataclass(slots=True)
class Ledger:
    """The whole ledger of one operator; a player is his number."""

    posted: dict[int, int] = field(default_factory=dict)
    held: dict[int, int] = field(default_factory=dict)
    status: dict[int, str] = field(default_factory=dict)
    known: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    rounds: list[RoundModel] = field(default_factory=list)
    funding: int = 0
    rake: int = 0

    def join(self, player: int) -> None:
        """Add a player."""
        self.posted[player], self.held[player], self.status[player] = 0, 0, "open"

    def available(self, player: int) -> int:
        """Return what a player may spend."""
        return self.posted[player] - self.held[player]

    def transfer(self, kind: str, player: int, amount: int, external_id: str) -> str:
        """Credit or debit, and return the code of the refusal, or ''."""
        if external_id in self.known:
            return "" if self.known[external_id] == (kind, player, amount) else "transaction_conflict"
        if self.status[player] == "closed" or (self.status[player] == "frozen" and kind == "debit"):
            return "account_frozen"
        if kind == "debit" and self.available(player) < amount:
            return "insufficient_funds"
        signed = amount if kind == "credit" else -amount
        self.posted[player] += signed
        self.funding -= signed
        self.known[external_id] = (kind, player, amount)
        return ""

    def buy_in(self, players: list[int], amount: int) -> str:
        """Take the buy-ins of a new round."""
        if any(self.status[player] != "open" for player in players):
            return "account_frozen"
        if any(self.available(player) < amount for player in players):
            return "insufficient_funds"
        for player in players:
            self.posted[player] -= amount
        self.rounds.append(RoundModel(dict.fromkeys(players, amount)))
        return ""

    def settle(self, number: int, payouts: dict[int, int], fee: int) -> str:
        """Pay a round out."""
        round_ = self.rounds[number]
        if round_.outcome:
            same = (round_.outcome, round_.payouts, round_.fee) == ("settle", payouts, fee)
            return "" if same else "round_settled"
        for player, amount in payouts.items():
            self.posted[player] += amount
        self.rake += fee
        round_.outcome, round_.payouts, round_.fee = "settle", payouts, fee
        return ""

    def refund(self, number: int) -> str:
        """Give a round's buy-ins back."""
        round_ = self.rounds[number]
        if round_.outcome:
            return "" if round_.outcome == "void" else "round_settled"
        for player, amount in round_.buy_ins.items():
            self.posted[player] += amount
        round_.outcome = "void"
        return ""

    def hold(self, player: int, amount: int) -> str:
        """Hold a part of a balance."""
        if self.status[player] != "open":
            return "account_frozen"
        if self.available(player) < amount:
            return "insufficient_funds"
        self.held[player] += amount
        return ""

    def capture(self, player: int, amount: int) -> str:
        """Take what is held."""
        if self.status[player] != "open":
            return "account_frozen"
        self.held[player] -= amount
        self.posted[player] -= amount
        self.funding += amount
        return ""

    def release(self, player: int, amount: int) -> None:
        """Give what is held back."""
        self.held[player] -= amount

    def escrow(self) -> int:
        """Return what open rounds hold."""
        return sum(sum(round_.buy_ins.values()) for round_ in self.rounds if not round_.outcome)
