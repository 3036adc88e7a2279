"""What is said to an operator's wallet, and what its answers mean.

Only a signed answer that fits the call is definite; whatever else comes, or does not come, leaves the outcome unknown.
Pure: never reads a clock, the database or the network.  Source: docs/operators/seamless-wallet.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from apps.wallets.seamless.models import Stake
from apps.wallets.values import AMOUNT_MINOR_MAX


class Call(StrEnum):
    """The calls, by the last part of their addresses."""

    BALANCE = "balance"
    BET = "bet"
    WIN = "win"
    ROLLBACK = "rollback"


class Outcome(StrEnum):
    """What an answer says."""

    DONE = "done"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a call: ``code`` says why it was refused, or is unknown."""

    outcome: Outcome
    code: str = ""
    balance_minor: int | None = None
    retry_after_s: int | None = None


DEFINITE = (200, 403, 404, 409, 422)
"""Statuses of an answer that decides; anything else may come from whatever stands before the wallet."""
REFUSALS: Mapping[Call, frozenset[str]] = {
    Call.BALANCE: frozenset({"player_not_found", "currency_mismatch"}),
    Call.BET: frozenset(
        {
            *("insufficient_funds", "limit_exceeded", "player_frozen", "player_excluded", "player_not_found"),
            *("currency_mismatch", "session_expired", "round_closed", "rolled_back"),
        }
    ),
    Call.WIN: frozenset(
        {
            *("rolled_back", "round_settled", "reference_unknown", "reference_mismatch", "transaction_conflict"),
            *("player_not_found", "currency_mismatch"),
        }
    ),
    Call.ROLLBACK: frozenset(
        {"round_settled", "reference_unknown", "reference_mismatch", "transaction_conflict", "player_not_found"}
    ),
}
"""Codes that decide.  A bet's ``transaction_conflict`` is not among them: an earlier bet of this id may have taken."""
ERROR_LENGTH_MAX = 64
_PREFIXES = {Call.BET: "b", Call.WIN: "w", Call.ROLLBACK: "r"}


def transaction_id(call: Call, stake: Stake) -> str:
    """Return the id of a stake's call: the same at every attempt, and in the ledger."""
    return f"{_PREFIXES[call]}-{stake.pk.hex}"


def stake_body(call: Call, stake: Stake) -> bytes:
    """Return the body of a stake's call: the same bytes at every attempt."""
    amount = stake.win_minor if call is Call.WIN else stake.amount_minor
    members: dict[str, Any] = {
        "amount_minor": amount,
        "currency": stake.currency_id,
        "player_id": stake.player_ref,
        "round_id": stake.round_id.hex,
        "table_id": str(stake.table_id),
        "transaction_id": transaction_id(call, stake),
    }
    if call is not Call.BET:
        members["bet_transaction_id"] = transaction_id(Call.BET, stake)
    return canonical(members)


def balance_body(*, player_ref: str, currency: str) -> bytes:
    """Return the body that asks for a balance."""
    return canonical({"currency": currency, "player_id": player_ref})


def canonical(members: Mapping[str, Any]) -> bytes:
    """Return JSON in the one form in which it is sent: sorted, without spaces, ASCII."""
    return json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def verdict(*, call: Call, sent: bytes, status: int, body: bytes) -> Verdict:
    """Return what a signed answer says of the call.

    Args:
        sent: the body of the call.
    """
    if status not in DEFINITE:
        return Verdict(Outcome.UNKNOWN, f"status_{status}")
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return Verdict(Outcome.UNKNOWN, "answer_malformed")
    if not isinstance(said, dict):
        return Verdict(Outcome.UNKNOWN, "answer_malformed")
    asked = json.loads(sent)
    if said.get("transaction_id") != asked.get("transaction_id"):
        return Verdict(Outcome.UNKNOWN, "answer_of_another")
    if status != 200:
        return _refusal(call, said)
    return _done(call, asked, said)


def _refusal(call: Call, said: Mapping[str, Any]) -> Verdict:
    code = said.get("code")
    if not isinstance(code, str):
        return Verdict(Outcome.UNKNOWN, "answer_malformed")
    if code not in REFUSALS[call]:
        return Verdict(Outcome.UNKNOWN, code[:ERROR_LENGTH_MAX])
    balance = said.get("balance_minor")
    return Verdict(Outcome.REFUSED, code, balance if _is_amount(balance) else None)


def _done(call: Call, asked: Mapping[str, Any], said: Mapping[str, Any]) -> Verdict:
    """Return the verdict of an answer that says yes, if it says so of this call and can be true."""
    for name in ("player_id", "currency", "amount_minor"):
        if name in asked and (said.get(name) != asked[name] or type(said.get(name)) is not type(asked[name])):
            return Verdict(Outcome.UNKNOWN, "answer_of_another")
    balance = said.get("balance_minor")
    if not _is_amount(balance) or (call is Call.WIN and balance < asked["amount_minor"]):
        return Verdict(Outcome.UNKNOWN, "balance_implausible")
    if call is Call.BET and said.get("rolled_back", False) is not False:
        return Verdict(Outcome.UNKNOWN, "rolled_back")
    return Verdict(Outcome.DONE, "", balance)


def _is_amount(value: Any) -> bool:
    return type(value) is int and 0 <= value <= AMOUNT_MINOR_MAX
