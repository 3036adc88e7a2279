"""Buy-ins, payouts and refunds of rounds; for a match the round is the match's first.

Rules L6, L7 and L15, invariants I6 and I7: docs/auditors/ledger.md.  Who gets what is decided elsewhere
(docs/fairness/protocol.md, section 8); here it must add up to the escrow exactly, or nothing moves.  What was fetched
from a seamless operator's wallet for a round goes back there with the round's outcome, by the same transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from apps.accounts.errors import GamingDisabled
from apps.wallets.errors import AccountFrozen, InsufficientFunds, RoundSettled
from apps.wallets.seamless import stakes
from apps.wallets.services.calls import fingerprint, in_transaction, row
from apps.wallets.values import AMOUNT_MINOR_MAX

ACTOR = "tables"
REASON_LENGTH_MAX = 200


def buy_ins_take(*, operator_id: UUID, round_id: UUID, currency: str, buy_ins: Sequence[tuple[UUID, int]]) -> UUID:
    """Move every player's buy-in into the round's escrow, all of them or none; return the transaction's id.

    The same call again returns the same id and moves nothing.

    Args:
        buy_ins: one pair of player and amount in minor units for each seat that is dealt in.

    Raises:
        InsufficientFunds: ``player_ids`` lists who cannot pay.
        AccountFrozen: ``player_ids`` lists whose account takes no buy-in.
        GamingDisabled: an alarm is open in the operator's ledger.
    """
    in_transaction()
    players, amounts = _columns(buy_ins)
    assert players, "a round without buy-ins has no escrow"
    assert all(amount > 0 for amount in amounts), "a buy-in is positive"
    stakes.stakes_play(operator_id=operator_id, round_id=round_id, buy_ins=buy_ins)
    outcome, tx_id, player_ids = row(
        "SELECT outcome, tx_id, players FROM wallets_buy_ins_take(%s, %s, %s, %s, %s, %s, %s)",
        [
            operator_id,
            round_id,
            currency,
            players,
            amounts,
            fingerprint("buy_in", round_id, currency, _sorted(buy_ins)),
            ACTOR,
        ],
    )
    match outcome:
        case "done":
            return UUID(str(tx_id))
        case "insufficient_funds":
            raise InsufficientFunds(player_ids=list(player_ids))
        case "account_frozen":
            raise AccountFrozen(player_ids=list(player_ids))
        case "gaming_disabled":
            raise GamingDisabled
    raise AssertionError(f"buy-ins of round {round_id}: {outcome}")


def round_settle(
    *, operator_id: UUID, round_id: UUID, currency: str, payouts: Sequence[tuple[UUID, int]], fee_minor: int
) -> UUID:
    """Empty the round's escrow into payouts and fee; return the transaction's id.

    The same call again returns the same id and moves nothing.

    Args:
        payouts: pairs of player and amount in minor units; payouts and fee add up to the escrow exactly.
        fee_minor: the operator's fee in minor units, 0 or more.

    Raises:
        RoundSettled: the round was refunded, or settled with other payouts.
    """
    in_transaction()
    players, amounts = _columns(payouts)
    assert fee_minor >= 0, "a fee is never negative"
    assert all(amount >= 0 for amount in amounts), "a payout is never negative"
    played = stakes.stakes_played_lock(round_id=round_id)
    outcome, tx_id, pot = row(
        "SELECT outcome, tx_id, pot FROM wallets_round_settle(%s, %s, %s, %s, %s, %s, %s, %s)",
        [
            operator_id,
            round_id,
            currency,
            players,
            amounts,
            fee_minor,
            fingerprint("settle", round_id, currency, _sorted(payouts), fee_minor),
            ACTOR,
        ],
    )
    match outcome:
        case "done":
            stakes.stakes_win(played=played, payouts=dict(payouts))
            return UUID(str(tx_id))
        case "settled":
            raise RoundSettled
    raise AssertionError(
        f"settlement of round {round_id}: {outcome}, escrow {pot}, payouts {sum(amounts)}, fee {fee_minor}"
    )


def round_refund(*, operator_id: UUID, round_id: UUID, currency: str, reason: str) -> UUID | None:
    """Give every buy-in of the round back, without a fee; return the transaction's id, or None if none was taken.

    The same call again returns the same id and moves nothing.

    Raises:
        RoundSettled: the round was settled.
    """
    in_transaction()
    played = stakes.stakes_played_lock(round_id=round_id)
    outcome, tx_id = row(
        "SELECT outcome, tx_id FROM wallets_round_refund(%s, %s, %s, %s, %s, %s)",
        [
            operator_id,
            round_id,
            currency,
            reason[:REASON_LENGTH_MAX],
            fingerprint("void", round_id, currency),
            ACTOR,
        ],
    )
    match outcome:
        case "done":
            stakes.stakes_refund(played=played)
            return UUID(str(tx_id))
        case "nothing":
            return None
        case "settled":
            raise RoundSettled
    raise AssertionError(f"refund of round {round_id}: {outcome}")


def _columns(rows: Sequence[tuple[UUID, int]]) -> tuple[list[UUID], list[int]]:
    players = [player for player, _ in rows]
    amounts = [amount for _, amount in rows]
    assert len(set(players)) == len(players), "one player has one seat in a round"
    assert all(type(amount) is int and amount <= AMOUNT_MINOR_MAX for amount in amounts), "amounts are minor units"
    return players, amounts


def _sorted(rows: Sequence[tuple[UUID, int]]) -> list[tuple[str, int]]:
    return sorted((str(player), amount) for player, amount in rows)
