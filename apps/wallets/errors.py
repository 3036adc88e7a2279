"""What the ledger refuses, one class per code.

A refusal writes nothing and moves no money.  Source: docs/operators/wallet.md, section Errors.
"""

from __future__ import annotations

from apps.core.errors import ApplicationError


class AmountInvalid(ApplicationError):
    """The amount is not an integer of minor units within the allowed range."""

    code = "amount_invalid"
    status = 422
    title = "An amount is a JSON integer of minor units, at least 1 and at most 9007199254740991."


class CurrencyUnknown(ApplicationError):
    """There is no currency of this code."""

    code = "currency_unknown"
    status = 422
    title = "There is no currency of this code."


class CurrencyTaken(ApplicationError):
    """A currency of this code exists with other facts, which never change."""

    code = "currency_taken"
    status = 409
    title = "A currency of this code exists with other facts."


class SandboxMoney(ApplicationError):
    """A sandbox has points only."""

    code = "sandbox_money"
    status = 409
    title = "A sandbox knows no money; make the currency without it."


class TestPlayerMoney(ApplicationError):
    """A test player holds points, never money."""

    __test__ = False
    code = "test_player_money"
    status = 409
    title = "A test player cannot hold a currency that is money."


class InsufficientFunds(ApplicationError):
    """The available balance is less than the amount; ``player_ids`` names whose, where several were asked."""

    code = "insufficient_funds"
    status = 409
    title = "The available balance is less than the amount."


class BalanceTooLarge(ApplicationError):
    """The balance would pass the largest integer that JSON readers keep exact."""

    code = "balance_too_large"
    status = 409
    title = "The balance would become larger than 9007199254740991 minor units."


class AccountFrozen(ApplicationError):
    """The account in the ledger is frozen or closed for this kind of movement."""

    code = "account_frozen"
    status = 403
    title = "The player's account takes no such movement now."


class TransactionConflict(ApplicationError):
    """The operator's transaction id was used before for something else; ``field`` names the first difference."""

    code = "transaction_conflict"
    status = 409
    title = "This external_id was used before with another content."


class TransactionNotFound(ApplicationError):
    """The operator has no transaction of this id."""

    code = "transaction_not_found"
    status = 404
    title = "There is no such transaction."


class RoundSettled(ApplicationError):
    """The round has its one outcome already."""

    code = "round_settled"
    status = 409
    title = "The round is settled or refunded already."


class HoldNotActive(ApplicationError):
    """The hold was captured, released, or its time is over."""

    code = "hold_not_active"
    status = 409
    title = "The hold is not active any more."


class HoldNotFound(ApplicationError):
    """The operator has no hold of this id."""

    code = "hold_not_found"
    status = 404
    title = "There is no such hold."


class ApprovalNotFound(ApplicationError):
    """The operator has no correction of this id."""

    code = "approval_not_found"
    status = 404
    title = "There is no such correction."


class ApprovalDecided(ApplicationError):
    """Somebody has approved or rejected the correction already."""

    code = "approval_decided"
    status = 409
    title = "The correction was decided already."


class SamePerson(ApplicationError):
    """A correction needs two people."""

    code = "same_person"
    status = 403
    title = "Who requested a correction cannot approve it."


class AlreadyReversed(ApplicationError):
    """A transaction is reversed at most once, and a reversal never."""

    code = "already_reversed"
    status = 409
    title = "The transaction was reversed before, or is a reversal itself."


class RoundNotReversed(ApplicationError):
    """New payouts need the stakes back in the round's escrow: the settlement was not reversed, or paid anew already."""

    code = "round_not_reversed"
    status = 409
    title = "The round's stakes are not in its escrow: its settlement has to be reversed, and is paid anew once."


class PayoutsInvalid(ApplicationError):
    """New payouts of a round go to its own players, each once, and with the fee they are what was staked."""

    code = "payouts_invalid"
    status = 422
    title = "New payouts go to players of the round, each once, and add up with the fee to what was staked."


class ReportNotFound(ApplicationError):
    """There is no daily file for this day and currency yet."""

    code = "report_not_found"
    status = 404
    title = "There is no file for this day and currency."


class CursorInvalid(ApplicationError):
    """The cursor was not made by this server."""

    code = "cursor_invalid"
    status = 422
    title = "The cursor is not one that this API handed out."


class WalletIsSeamless(ApplicationError):
    """The operator's players have their money with the operator; it is not put in or taken out here."""

    code = "wallet_is_seamless"
    status = 409
    title = "This operator has a seamless wallet: players' money is not kept here."


class WalletInUse(ApplicationError):
    """Players' money is still under way under the present setting."""

    code = "wallet_in_use"
    status = 409
    title = "The wallet changes only while no player has a balance or a stake here."


class WalletUrlRefused(ApplicationError):
    """The address is not one that this server calls."""

    code = "wallet_url_refused"
    status = 422
    title = "An operator's wallet is at a public https address, without credentials or query."


class WalletKeyInvalid(ApplicationError):
    """An answer key is not one."""

    code = "wallet_key_invalid"
    status = 422
    title = "One or two answer keys are needed, each a public Ed25519 key of 32 bytes in hex."


class BuyInRefused(ApplicationError):
    """The operator's wallet refused the buy-in; ``reason`` is its code."""

    code = "buy_in_refused"
    status = 409
    title = "The operator's wallet refused the buy-in."


class BuyInPending(ApplicationError):
    """An earlier request is fetching this buy-in."""

    code = "buy_in_pending"
    status = 409
    title = "The buy-in is being fetched; try again in a moment."
    retry = True
    same_key = True


class BuyInUnknown(ApplicationError):
    """Nobody knows whether the operator's wallet took the buy-in; it is given back, and the seat is not ready."""

    code = "buy_in_unknown"
    status = 503
    title = "The operator's wallet gave no definite answer. What it may have taken is given back; try again later."
    money_moved = "unknown"
    retry = True
    same_key = True


class OperatorUnavailable(ApplicationError):
    """The operator's wallet does not answer, or has too many calls open; nothing was asked of it."""

    code = "operator_unavailable"
    status = 503
    title = "The operator's wallet cannot be asked now; try again later."
    retry = True
    same_key = True
