"""The cells of the rollback matrix, and what stands beside it: one function each, which says what a wallet did wrong.

A cell begins with bets of its own, and leaves the players' balances as they were unless the wallet is wrong.
Source: docs/operators/seamless-wallet.md, section Rollback matrix.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from apps.client.wallet.caller import Bent, Caller, Said, Unfit

AT_ONCE = 8
ROUNDS = 10
"""How often two calls race in the cells about calls in progress."""
OTHER_ROUND = "0" * 32


@dataclass(frozen=True, slots=True)
class Stake:
    """One bet that a cell is about."""

    player: str
    currency: str
    amount: int
    id: str = field(default_factory=lambda: secrets.token_hex(16))

    def bet(self, **more: Any) -> dict[str, Any]:
        """Return the body of its bet."""
        return self._body(f"b-{self.id}") | more

    def win(self, amount: int, **more: Any) -> dict[str, Any]:
        """Return the body of its win."""
        return self._body(f"w-{self.id}") | {"bet_transaction_id": f"b-{self.id}", "amount_minor": amount} | more

    def rollback(self, **more: Any) -> dict[str, Any]:
        """Return the body of its rollback."""
        return self._body(f"r-{self.id}") | {"bet_transaction_id": f"b-{self.id}"} | more

    def _body(self, transaction_id: str) -> dict[str, Any]:
        return {
            "amount_minor": self.amount,
            "currency": self.currency,
            "player_id": self.player,
            "round_id": self.id,
            "table_id": "00000000-0000-4000-8000-000000000001",
            "transaction_id": transaction_id,
        }


@dataclass(frozen=True, slots=True)
class Probe:
    """A wallet with two players to try it with."""

    caller: Caller
    player: str
    other: str
    currency: str
    amount: int

    def stake(self, amount: int | None = None) -> Stake:
        """Return a new stake."""
        return Stake(self.player, self.currency, self.amount if amount is None else amount)

    def balance(self) -> int:
        """Return what the player has."""
        said = self.caller.call("balance", {"player_id": self.player, "currency": self.currency})
        balance = said.members.get("balance_minor")
        if said.status != 200 or type(balance) is not int or balance < 0:
            raise Unfit(f"balance: status {said.status}, balance_minor {balance!r}")
        return balance

    def done(self, what: str, body: Mapping[str, Any]) -> Said:
        """Do a call that must succeed."""
        said = self.caller.call(what, body)
        if said.status != 200:
            raise Unfit(f"{what} must succeed: status {said.status} {said.code}")
        for name in ("player_id", "currency", "amount_minor"):
            if said.members.get(name) != body[name]:
                raise Unfit(f"{what}: the answer's {name} is {said.members.get(name)!r}, the call's {body[name]!r}")
        if type(said.members.get("balance_minor")) is not int:
            raise Unfit(f"{what}: balance_minor is {said.members.get('balance_minor')!r}")
        return said

    def refused(self, what: str, body: Mapping[str, Any], *codes: str) -> Said:
        """Do a call that must be refused, with one of these codes."""
        said = self.caller.call(what, body)
        if said.status not in (403, 404, 409, 422) or said.code not in codes:
            raise Unfit(f"{what} must be refused with {' or '.join(codes)}: status {said.status} {said.code}")
        return said

    def at_once(self, *calls: tuple[str, Mapping[str, Any]]) -> list[Said]:
        """Do calls at the same time."""
        with ThreadPoolExecutor(len(calls)) as pool:
            return list(pool.map(lambda each: self.caller.call(*each), calls))

    def expect(self, balance: int, when: str) -> None:
        """Check what the player has."""
        found = self.balance()
        if found != balance:
            raise Unfit(f"the balance {when} is {found}, not {balance}")


Cell = Callable[[Probe], None]
CELLS: dict[str, tuple[str, Cell]] = {}


def cell(name: str, title: str) -> Callable[[Cell], Cell]:
    """Put a function among the cells."""

    def put(function: Cell) -> Cell:
        CELLS[name] = (title, function)
        return function

    return put


def _same(what: str, answers: list[Said]) -> None:
    if any(answer != answers[0] for answer in answers):
        raise Unfit(f"{what}: duplicates have different answers: {answers}")


@cell("signature.missing", "a call without signature does nothing")
def _signature_missing(probe: Probe) -> None:
    _bent(probe, Bent(signature=""))


@cell("signature.wrong", "a call with a wrong signature does nothing")
def _signature_wrong(probe: Probe) -> None:
    _bent(probe, Bent(signature="ed25519:" + "A" * 86 + "=="))


@cell("signature.other_body", "a call whose body was changed does nothing")
def _signature_other_body(probe: Probe) -> None:
    _bent(probe, Bent(signed_body=b"{}"))


@cell("signature.late", "a call that was signed an hour ago does nothing")
def _signature_late(probe: Probe) -> None:
    _bent(probe, Bent(late_s=3_600))


def _bent(probe: Probe, bent: Bent) -> None:
    before, stake = probe.balance(), probe.stake()
    status = probe.caller.status("bet", stake.bet(), bent)
    if not 400 <= status < 500:
        raise Unfit(f"status {status}, must be 401")
    probe.expect(before, "afterwards")


@cell("signature.replayed", "a nonce works once")
def _signature_replayed(probe: Probe) -> None:
    before, nonce = probe.balance(), secrets.token_urlsafe(18)
    body = {"player_id": probe.player, "currency": probe.currency}
    first = probe.caller.status("balance", body, Bent(nonce=nonce))
    second = probe.caller.status("balance", body, Bent(nonce=nonce))
    if first != 200 or not 400 <= second < 500:
        raise Unfit(f"the first call got {first}, the second with its nonce {second}; must be 200 and 401")
    probe.expect(before, "afterwards")


@cell("bet.once", "a bet takes its amount, a win pays, the answers say the balance")
def _bet_once(probe: Probe) -> None:
    before, stake = probe.balance(), probe.stake()
    taken = probe.done("bet", stake.bet()).members["balance_minor"]
    probe.expect(before - stake.amount, "after the bet")
    paid = probe.done("win", stake.win(stake.amount)).members["balance_minor"]
    probe.expect(before, "after the win")
    if (taken, paid) != (before - stake.amount, before):
        raise Unfit(f"the answers say balances {taken} and {paid}, not {before - stake.amount} and {before}")


@cell("bet.duplicate", "the same bet again gets the first answer and takes nothing")
def _bet_duplicate(probe: Probe) -> None:
    before, stake = probe.balance(), probe.stake()
    _same("bet", [probe.done("bet", stake.bet()) for _ in range(3)])
    probe.expect(before - stake.amount, "after three times the same bet")
    probe.done("rollback", stake.rollback())


@cell("bet.concurrent", "the same bet eight times at once takes its amount once")
def _bet_concurrent(probe: Probe) -> None:
    before, stake = probe.balance(), probe.stake()
    _same("bet", probe.at_once(*[("bet", stake.bet())] * AT_ONCE))
    probe.expect(before - stake.amount, "after eight times the same bet at once")
    probe.done("rollback", stake.rollback())


@cell("bet.lost", "a bet whose answer was lost is the same one when it comes again")
def _bet_lost(probe: Probe) -> None:
    before, stake = probe.balance(), probe.stake()
    probe.caller.lose("bet", stake.bet())
    probe.done("bet", stake.bet())
    probe.expect(before - stake.amount, "after the lost answer and the same bet again")
    probe.done("rollback", stake.rollback())


@cell("bet.conflict", "another bet with a known id is refused: transaction_conflict")
def _bet_conflict(probe: Probe) -> None:
    before, stake = probe.balance(), probe.stake()
    probe.done("bet", stake.bet())
    probe.refused("bet", stake.bet(amount_minor=stake.amount + 1), "transaction_conflict")
    probe.expect(before - stake.amount, "after the conflict")
    probe.done("rollback", stake.rollback())


@cell("win.duplicate", "the same win again, also eight times at once, pays once")
def _win_duplicate(probe: Probe) -> None:
    before, stake = probe.balance(), probe.stake()
    probe.done("bet", stake.bet())
    win = stake.win(stake.amount)
    _same("win", [*probe.at_once(*[("win", win)] * AT_ONCE), probe.done("win", win)])
    probe.expect(before, "after the wins")


@cell("win.zero", "a win of 0 settles the bet")
def _win_zero(probe: Probe) -> None:
    before, lost = probe.balance(), probe.stake()
    probe.done("bet", lost.bet())
    probe.done("win", lost.win(0))
    probe.refused("rollback", lost.rollback(), "round_settled")
    probe.expect(before - lost.amount, "after a bet that won nothing")
    repaid = probe.stake()
    probe.done("bet", repaid.bet())
    probe.done("win", repaid.win(repaid.amount + lost.amount))
    probe.expect(before, "after a win that is larger than its bet")


@cell("win.unknown", "a win for a bet that never came is refused: reference_unknown")
def _win_unknown(probe: Probe) -> None:
    before, stake = probe.balance(), probe.stake()
    probe.refused("win", stake.win(stake.amount), "reference_unknown")
    probe.expect(before, "after the win")


@cell("win.mismatch", "a win that names another player than its bet is refused: reference_mismatch")
def _win_mismatch(probe: Probe) -> None:
    before, stake = probe.balance(), probe.stake()
    probe.done("bet", stake.bet())
    probe.refused("win", stake.win(stake.amount, player_id=probe.other), "reference_mismatch")
    probe.done("rollback", stake.rollback())
    probe.expect(before, "after the rollback")


def _tombstone(probe: Probe) -> tuple[int, Stake]:
    """Roll back a bet that never came."""
    before, stake = probe.balance(), probe.stake()
    for _ in range(2):
        said = probe.caller.call("rollback", stake.rollback())
        if said.status != 200 and said.code != "reference_unknown":
            raise Unfit(f"rollback must succeed or say reference_unknown: status {said.status} {said.code}")
        probe.expect(before, "after a rollback of a bet that never came")
    return before, stake


@cell("never_seen.rollback", "a rollback of a bet that never came changes nothing, also twice")
def _never_seen_rollback(probe: Probe) -> None:
    _tombstone(probe)


@cell("never_seen.bet", "a bet that comes after its rollback is refused: rolled_back")
def _never_seen_bet(probe: Probe) -> None:
    before, stake = _tombstone(probe)
    for _ in range(2):
        probe.refused("bet", stake.bet(), "rolled_back")
    probe.expect(before, "after the bet")


@cell("never_seen.win", "a win after such a rollback is refused")
def _never_seen_win(probe: Probe) -> None:
    before, stake = _tombstone(probe)
    probe.refused("win", stake.win(stake.amount), "rolled_back", "reference_unknown")
    probe.expect(before, "after the win")


@cell("in_progress.bet_first", "bet and rollback at once, the bet first: nothing is taken in the end")
def _in_progress_bet_first(probe: Probe) -> None:
    _race(probe, "bet", "rollback")


@cell("in_progress.rollback_first", "bet and rollback at once, the rollback first: nothing is taken in the end")
def _in_progress_rollback_first(probe: Probe) -> None:
    _race(probe, "rollback", "bet")


def _race(probe: Probe, *order: str) -> None:
    before = probe.balance()
    for _ in range(ROUNDS):
        stake = probe.stake()
        bodies = {"bet": stake.bet(), "rollback": stake.rollback()}
        answers = dict(zip(order, probe.at_once(*((what, bodies[what]) for what in order)), strict=True))
        if answers["rollback"].status != 200 and answers["rollback"].code != "reference_unknown":
            raise Unfit(f"rollback must succeed: status {answers['rollback'].status} {answers['rollback'].code}")
        if answers["bet"].status != 200 and answers["bet"].code != "rolled_back":
            raise Unfit(f"bet must succeed or be refused as rolled_back: {answers['bet']}")
        probe.expect(before, "after bet and rollback at once")


def _reversed(probe: Probe) -> tuple[int, Stake]:
    """Take a bet and roll it back."""
    before, stake = probe.balance(), probe.stake()
    probe.done("bet", stake.bet())
    probe.done("rollback", stake.rollback())
    probe.expect(before, "after the rollback")
    return before, stake


@cell("done.rollback", "a rollback gives a taken stake back")
def _done_rollback(probe: Probe) -> None:
    _reversed(probe)


@cell("done.rollback_again", "the same rollback again, also eight times at once, gets the first answer")
def _done_rollback_again(probe: Probe) -> None:
    before, stake = probe.balance(), probe.stake()
    probe.done("bet", stake.bet())
    rollback = stake.rollback()
    answers = probe.at_once(*[("rollback", rollback)] * AT_ONCE)
    _same("rollback", [*answers, probe.done("rollback", rollback)])
    probe.expect(before, "after the rollbacks")


@cell("reversed.bet", "a duplicate of a reversed bet gets the original result with rolled_back: true")
def _reversed_bet(probe: Probe) -> None:
    before, stake = _reversed(probe)
    said = probe.caller.call("bet", stake.bet())
    if said.status != 200 or said.members.get("rolled_back") is not True:
        raise Unfit(f"bet: status {said.status}, rolled_back {said.members.get('rolled_back')!r}")
    if said.members.get("balance_minor") != before - stake.amount:
        raise Unfit(f"bet: balance_minor {said.members.get('balance_minor')!r} is not the original one")
    probe.expect(before, "after the duplicate")


@cell("reversed.win", "a win for a reversed bet is refused: rolled_back")
def _reversed_win(probe: Probe) -> None:
    before, stake = _reversed(probe)
    probe.refused("win", stake.win(stake.amount), "rolled_back")
    probe.expect(before, "after the win")


def _settled(probe: Probe) -> tuple[int, Stake, Said, Said]:
    before, stake = probe.balance(), probe.stake()
    bet = probe.done("bet", stake.bet())
    return before, stake, bet, probe.done("win", stake.win(stake.amount))


@cell("settled.rollback", "a rollback after the win is refused: round_settled")
def _settled_rollback(probe: Probe) -> None:
    before, stake, _, _ = _settled(probe)
    for _ in range(2):
        probe.refused("rollback", stake.rollback(), "round_settled")
    probe.expect(before, "after the rollback")


@cell("settled.bet", "a duplicate of a settled bet gets the original result")
def _settled_bet(probe: Probe) -> None:
    before, stake, bet, _ = _settled(probe)
    _same("bet", [bet, probe.caller.call("bet", stake.bet())])
    probe.expect(before, "after the duplicate")


@cell("settled.win", "a duplicate of the win gets the original result, after a refused rollback too")
def _settled_win(probe: Probe) -> None:
    before, stake, _, win = _settled(probe)
    probe.refused("rollback", stake.rollback(), "round_settled")
    _same("win", [win, probe.caller.call("win", stake.win(stake.amount))])
    probe.expect(before, "after the duplicate")


def _poor(probe: Probe) -> tuple[int, Stake]:
    """Bet more than there is, then bring the funds: the refusal must stay one."""
    before, held = probe.balance(), probe.stake()
    probe.done("bet", held.bet())
    poor = probe.stake(before - held.amount + 1)
    probe.refused("bet", poor.bet(), "insufficient_funds")
    probe.done("win", held.win(held.amount))
    return before, poor


@cell("refused.bet", "a refused bet is refused again, though the funds have come")
def _refused_bet(probe: Probe) -> None:
    before, poor = _poor(probe)
    probe.refused("bet", poor.bet(), "insufficient_funds")
    probe.expect(before, "after the duplicate")


@cell("refused.rollback", "a rollback of a refused bet succeeds and changes nothing; the bet stays refused")
def _refused_rollback(probe: Probe) -> None:
    before, poor = _poor(probe)
    probe.done("rollback", poor.rollback())
    probe.expect(before, "after the rollback")
    probe.refused("bet", poor.bet(), "insufficient_funds", "rolled_back")
    probe.expect(before, "after the bet")


@cell("refused.win", "a win for a refused bet is refused")
def _refused_win(probe: Probe) -> None:
    before, poor = _poor(probe)
    probe.refused("win", poor.win(poor.amount), "reference_unknown", "rolled_back")
    probe.expect(before, "after the win")


@cell("mismatch.amount", "a rollback of another amount is refused: reference_mismatch")
def _mismatch_amount(probe: Probe) -> None:
    _mismatch(probe, amount_minor=probe.amount + 1)


@cell("mismatch.player", "a rollback for another player is refused: reference_mismatch")
def _mismatch_player(probe: Probe) -> None:
    _mismatch(probe, player_id=probe.other)


@cell("mismatch.currency", "a rollback in another currency is refused: reference_mismatch")
def _mismatch_currency(probe: Probe) -> None:
    _mismatch(probe, currency="XTS")


def _mismatch(probe: Probe, **other: Any) -> None:
    before, stake = probe.balance(), probe.stake()
    probe.done("bet", stake.bet())
    probe.refused("rollback", stake.rollback(**other), "reference_mismatch")
    probe.expect(before - stake.amount, "after the rollback")
    probe.done("rollback", stake.rollback())
    probe.expect(before, "after the right rollback")


@dataclass(frozen=True, slots=True)
class Finding:
    """How a wallet did in one cell; ``problem`` is empty if it did well."""

    name: str
    title: str
    problem: str


def cells_try(probe: Probe) -> Iterator[Finding]:
    """Try every cell on a wallet, one after the other."""
    for name, (title, function) in CELLS.items():
        try:
            function(probe)
        except Unfit as unfit:
            yield Finding(name, title, str(unfit))
        else:
            yield Finding(name, title, "")
