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
