"""What staff may do about money in the admin: ask for a correction, decide one, release a hold, clear an alarm.

Source: docs/support/roles.md.  Who asks for a correction never decides it; the database refuses it too.
"""

from __future__ import annotations

from typing import Any

from django import forms

from apps.accounts.changes import changed_by
from apps.core.deeds import Deed, ReasonForm
from apps.wallets import services
from apps.wallets.models import Account, AccountKind, Alarm, Approval, ApprovalState, Hold, HoldState, LedgerTransaction
from apps.wallets.values import AMOUNT_MINOR_MAX

REQUEST = "wallets.request_correction"
DECIDE = "wallets.decide_correction"


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
