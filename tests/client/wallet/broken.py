"""Wallets that are wrong in one thing each, and the cells that must say so."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from apps.client.wallet.book import Bet, Body, Book, Reply
from apps.client.wallet.server import Answer, Wallet
from apps.client.wallet.signed import Request


class NoTombstone(Book):
    """Forgets a rollback whose bet has not come yet."""

    def rollback_first(self, body: Body) -> Reply:
        return self.move(body, 0)


class RollsBackTwice(Book):
    """Gives a stake back as often as it is asked."""

    def call_find(self, body: Body) -> Reply | None:
        return None if body["transaction_id"].startswith("r-") else super().call_find(body)

    def call_keep(self, body: Body, reply: Reply) -> None:
        if not body["transaction_id"].startswith("r-"):
            super().call_keep(body, reply)

    def rollback_done(self, bet: Bet, body: Body) -> Reply:
        return super().rollback_done(dataclasses.replace(bet, state="taken"), body)


class RollsBackSettled(Book):
    """Takes a bet back that has won already."""

    def rollback(self, body: Body) -> Reply:
        bet = self.bet_find(body["bet_transaction_id"])
        if bet is not None and bet.state == "won":
            return self.move(body, bet.amount)
        return super().rollback(body)


class TakesTwice(Book):
    """Takes the amount of a duplicate again."""

    def bet_again(self, bet: Bet) -> Reply:
        if bet.state == "taken":
            body = {"transaction_id": bet.id, "player_id": bet.player, "currency": bet.currency}
            return self.move({**body, "amount_minor": bet.amount}, -bet.amount)
        return super().bet_again(bet)


class PaysTwice(Book):
    """Pays a win as often as it comes."""

    def win(self, body: Body) -> Reply:
        bet = self.bet_find(body["bet_transaction_id"])
        return self.move(body, body["amount_minor"]) if bet and bet.state == "won" else super().win(body)


class PaysReversed(Book):
    """Pays a win for a bet that was rolled back."""

    def win(self, body: Body) -> Reply:
        bet = self.bet_find(body["bet_transaction_id"])
        return self.move(body, body["amount_minor"]) if bet and bet.state == "reversed" else super().win(body)


class IgnoresMismatch(Book):
    """Rolls back whatever is named, whatever else the call says."""

    def rollback(self, body: Body) -> Reply:
        bet = self.bet_find(body["bet_transaction_id"])
        if bet is not None:
            body = {**body, "amount_minor": bet.amount, "player_id": bet.player, "currency": bet.currency}
        return super().rollback(body)


class GivesRefusedBack(Book):
    """Rolls a refused bet back as if it had taken something."""

    def rollback_done(self, bet: Bet, body: Body) -> Reply:
        if bet.state == "refused":
            return self.move(body, bet.amount)
        return super().rollback_done(bet, body)


class ThinksAgain(Book):
    """Decides a refused bet anew when it comes again."""

    def bet_again(self, bet: Bet) -> Reply:
        if bet.state != "refused":
            return super().bet_again(bet)
        body = {"transaction_id": bet.id, "player_id": bet.player, "currency": bet.currency}
        return self.move({**body, "amount_minor": bet.amount}, -bet.amount)


class HidesReversal(Book):
    """Answers a duplicate of a reversed bet as if it still stood."""

    def bet_again(self, bet: Bet) -> Reply:
        return super().bet_again(dataclasses.replace(bet, state="taken"))


class LooksThenActs(Book):
    """Has no transaction: two calls at once both find that nothing has happened yet."""

    def transaction(self, work: Callable[[], Reply]) -> Reply:
        return work()

    def bet_find(self, bet_id: str) -> Bet | None:
        found = super().bet_find(bet_id)
        time.sleep(0.02)
        return found


class TrustsAnybody(Wallet):
    """Looks at no signature."""

    def is_trusted(self, request: Request, now_s: int) -> bool:
        return True


class Replayable(Wallet):
    """Takes a signed call again and again."""

    def is_trusted(self, request: Request, now_s: int) -> bool:
        return self.operator.request_is_signed(request, now_s)


class SignsNothing(Wallet):
    """Answers without a signature."""

    def answer(self, request: Request) -> Answer | None:
        answer = super().answer(request)
        return answer and (answer[0], {}, answer[2])


BROKEN: dict[str, tuple[type[Book], type[Wallet], set[str]]] = {
    "no tombstone": (NoTombstone, Wallet, {"never_seen.bet", "in_progress.rollback_first"}),
    "rolls back twice": (RollsBackTwice, Wallet, {"never_seen.rollback", "done.rollback_again"}),
    "rolls back what has won": (RollsBackSettled, Wallet, {"win.zero", "settled.rollback", "settled.win"}),
    "takes a duplicate": (TakesTwice, Wallet, {"bet.duplicate", "bet.concurrent"}),
    "pays a duplicate": (PaysTwice, Wallet, {"win.duplicate", "settled.win"}),
    "pays what was reversed": (PaysReversed, Wallet, {"reversed.win"}),
    "ignores a mismatch": (IgnoresMismatch, Wallet, {"mismatch.amount", "mismatch.player", "mismatch.currency"}),
    "gives back what it refused": (GivesRefusedBack, Wallet, {"refused.rollback"}),
    "decides a refusal anew": (ThinksAgain, Wallet, {"refused.bet", "refused.rollback"}),
    "hides a reversal": (HidesReversal, Wallet, {"reversed.bet"}),
    "looks, then acts": (LooksThenActs, Wallet, {"bet.concurrent"}),
    "trusts anybody": (
        Book,
        TrustsAnybody,
        {"signature.missing", "signature.wrong", "signature.other_body", "signature.late", "signature.replayed"},
    ),
    "takes a nonce twice": (Book, Replayable, {"signature.replayed"}),
}
"""What is wrong: the book, the wallet, and the cells that say so; later ones may be wrong as a consequence."""
