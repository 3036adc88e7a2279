"""What staff may do about money in the admin: ask for a correction, decide one, release a hold, clear an alarm.

Source: docs/support/roles.md.  Who asks for a correction never decides it; the database refuses it too.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms

from apps.accounts.changes import changed_by
from apps.core.deeds import Deed, ReasonForm
from apps.wallets import services
from apps.wallets.models import (
    Account,
    AccountKind,
    Alarm,
    Approval,
    ApprovalState,
    Hold,
    HoldState,
    LedgerTransaction,
    TxKind,
)
from apps.wallets.values import AMOUNT_MINOR_MAX

REQUEST = "wallets.request_correction"
DECIDE = "wallets.decide_correction"
AMOUNT_DIGITS_MAX = len(str(AMOUNT_MINOR_MAX))


class AdjustForm(ReasonForm):
    """By how much, and why."""

    amount_minor = forms.IntegerField(
        min_value=-AMOUNT_MINOR_MAX, max_value=AMOUNT_MINOR_MAX, help_text="Minor units; negative takes away."
    )
    field_order = ("amount_minor", "reason")


def _adjust(actor: str, account: Account, data: dict[str, Any]) -> str:
    changed_by(actor, data["reason"])
    approval_id = services.adjustment_request(
        operator_id=account.operator_id,
        player_id=account.owner_ref,
        currency=account.currency_id,
        amount_minor=data["amount_minor"],
        reason=data["reason"],
        requested_by=actor,
    )
    return f"Correction {approval_id} waits for another person."


def _reverse(actor: str, tx: LedgerTransaction, data: dict[str, Any]) -> str:
    changed_by(actor, data["reason"])
    approval_id = services.reversal_request(
        operator_id=tx.operator_id, tx_id=tx.pk, reason=data["reason"], requested_by=actor
    )
    return f"Correction {approval_id} waits for another person."


class PayAnewForm(ReasonForm):
    """Who gets what, the fee, and why."""

    payouts = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 4, "cols": 60}),
        required=False,
        help_text="A line for each player who gets something: the player's id, a space, minor units.",
    )
    fee_minor = forms.IntegerField(min_value=0, max_value=AMOUNT_MINOR_MAX, help_text="Minor units; 0 is none.")
    field_order = ("payouts", "fee_minor", "reason")

    def clean_payouts(self) -> list[tuple[UUID, int]]:
        """Return pairs of player and amount.

        Raises:
            ValidationError: a line is not an id and a number.
        """
        pairs: list[tuple[UUID, int]] = []
        for line in self.cleaned_data["payouts"].splitlines():
            match line.split():
                case [player, amount] if amount.isascii() and amount.isdigit() and len(amount) <= AMOUNT_DIGITS_MAX:
                    try:
                        pairs.append((UUID(player), int(amount)))
                    except ValueError:
                        raise forms.ValidationError(f"{player} is no player's id.") from None
                case []:
                    continue
                case _:
                    raise forms.ValidationError(f"{line!r} is not an id and a number.")
        return pairs


def _pay_anew(actor: str, tx: LedgerTransaction, data: dict[str, Any]) -> str:
    changed_by(actor, data["reason"])
    assert tx.reverses is not None, "only a reversal has this deed"
    assert tx.reverses.round_id is not None, "only that of a round's end"
    approval_id = services.resettlement_request(
        operator_id=tx.operator_id,
        round_id=tx.reverses.round_id,
        payouts=data["payouts"],
        fee_minor=data["fee_minor"],
        reason=data["reason"],
        requested_by=actor,
    )
    return f"Correction {approval_id} waits for another person."


def _approve(actor: str, approval: Approval, data: dict[str, Any]) -> str:
    changed_by(actor, data["reason"])
    tx_id = services.correction_decide(
        operator_id=approval.operator_id, approval_id=approval.pk, approve=True, decided_by=actor
    )
    return f"Done: transaction {tx_id}."


def _reject(actor: str, approval: Approval, data: dict[str, Any]) -> str:
    changed_by(actor, data["reason"])
    services.correction_decide(
        operator_id=approval.operator_id, approval_id=approval.pk, approve=False, decided_by=actor
    )
    return "Rejected; no money moved."


def _release(actor: str, hold: Hold, data: dict[str, Any]) -> str:
    changed_by(actor, data["reason"])
    services.hold_release(operator_id=hold.operator_id, hold_id=hold.pk)
    return "Released."


def _clear(actor: str, alarm: Alarm, data: dict[str, Any]) -> str:
    changed_by(actor, data["reason"])
    cleared = services.alarm_clear(
        operator_id=alarm.operator_id, code=alarm.code, cleared_by=actor, reason=data["reason"]
    )
    return "Cleared: new rounds may start." if cleared else "Somebody was faster."


def _is_requested(approval: Approval) -> bool:
    return approval.state == ApprovalState.REQUESTED


ADJUST = Deed(
    "adjust",
    "Ask for a correction",
    REQUEST,
    _adjust,
    is_open=lambda account: account.kind == AccountKind.PLAYER,
    form=AdjustForm,
    warning="Nothing moves until another person approves it.",
)
REVERSE = Deed(
    "reverse", "Ask for its reversal", REQUEST, _reverse, warning="Nothing moves until another person approves it."
)
PAY_ANEW = Deed(
    "pay-anew",
    "Ask for new payouts",
    REQUEST,
    _pay_anew,
    is_open=lambda tx: tx.reverses is not None and tx.reverses.kind in (TxKind.SETTLE, TxKind.VOID),
    form=PayAnewForm,
    warning="Nothing moves until another person approves it.",
)
APPROVE = Deed("approve", "Approve and do it", DECIDE, _approve, is_open=_is_requested, warning="Money moves at once.")
REJECT = Deed("reject", "Reject", DECIDE, _reject, is_open=_is_requested)
RELEASE = Deed(
    "release", "Release", "wallets.release_hold", _release, is_open=lambda hold: hold.state == HoldState.ACTIVE
)
CLEAR = Deed(
    "clear",
    "Clear",
    "wallets.clear_alarm",
    _clear,
    is_open=lambda alarm: alarm.cleared_at_ms is None,
    warning="New rounds of the operator start again.",
)
