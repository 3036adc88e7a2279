"""Routes of holds, corrections, alarms and currencies.

Corrections are asked for here and decided by the house's own staff: who holds a key could make himself a second one,
and two keys are not two people.

Source: docs/operators/wallet.md, sections Holds, Corrections and Alarms.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api.permissions import IsOperatorOrPlayer, operator_of, scope
from apps.accounts.changes import changed_by
from apps.core.api.document import refuses
from apps.core.api.views import ApiView
from apps.core.idempotency import idempotent
from apps.wallets import selectors, services
from apps.wallets.api import refusals
from apps.wallets.api.desk_forms import (
    AdjustmentRequestSerializer,
    AlarmSerializer,
    CorrectionListQuerySerializer,
    CorrectionPageSerializer,
    CorrectionSerializer,
    CurrencySerializer,
    HoldPlaceSerializer,
    HoldSerializer,
    ResettlementRequestSerializer,
    ReversalRequestSerializer,
)


def _validated(serializer_class: type[Any], data: Any) -> dict[str, Any]:
    serializer = serializer_class(data=data)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


class HoldsView(ApiView):
    """Holds."""

    permission_classes = (scope("money"),)

    @extend_schema(operation_id="hold_place", request=HoldPlaceSerializer, responses={201: HoldSerializer})
    @refuses(*refusals.HOLD_PLACE)
    @idempotent
    def post(self, request: Request) -> Response:
        """Reserve a part of a player's balance for a time. The same purpose and reference: the same hold."""
        body = _validated(HoldPlaceSerializer, request.data)
        operator_id = operator_of(request).operator_id
        selectors.player_may_have(operator_id=operator_id, player_id=body["player_id"], currency=body["currency"])
        hold_id = services.hold_place(operator_id=operator_id, **body)
        found = selectors.hold_get(operator_id=operator_id, hold_id=hold_id)
        return Response(HoldSerializer(found).data, status=status.HTTP_201_CREATED)


class HoldView(ApiView):
    """One hold."""

    permission_classes = (scope("read"),)

    @extend_schema(operation_id="hold_get", responses={200: HoldSerializer})
    @refuses(*refusals.HOLD_GET)
    def get(self, request: Request, hold_id: UUID) -> Response:
        """Return a hold."""
        found = selectors.hold_get(operator_id=operator_of(request).operator_id, hold_id=hold_id)
        return Response(HoldSerializer(found).data)


class HoldCaptureView(ApiView):
    """The end of a hold: taken."""

    permission_classes = (scope("money"),)

    @extend_schema(operation_id="hold_capture", request=None, responses={200: HoldSerializer})
    @refuses(*refusals.HOLD_CAPTURE)
    @idempotent(required=False)
    def post(self, request: Request, hold_id: UUID) -> Response:
        """Take what is held out of the player's balance, like a debit. Again: nothing more happens."""
        principal = operator_of(request)
        changed_by(principal.actor)
        services.hold_capture(operator_id=principal.operator_id, hold_id=hold_id, actor=principal.actor)
        found = selectors.hold_get(operator_id=principal.operator_id, hold_id=hold_id)
        return Response(HoldSerializer(found).data)


class HoldReleaseView(ApiView):
    """The end of a hold: given back."""

    permission_classes = (scope("money"),)

    @extend_schema(operation_id="hold_release", request=None, responses={200: HoldSerializer})
    @refuses(*refusals.HOLD_RELEASE)
    @idempotent(required=False)
    def post(self, request: Request, hold_id: UUID) -> Response:
        """Give what is held back to what the player may spend. Again, or after its time: nothing more happens."""
        principal = operator_of(request)
        changed_by(principal.actor)
        services.hold_release(operator_id=principal.operator_id, hold_id=hold_id)
        found = selectors.hold_get(operator_id=principal.operator_id, hold_id=hold_id)
        return Response(HoldSerializer(found).data)


class CorrectionsView(ApiView):
    """Corrections."""

    permission_classes = (scope("read"),)

    @extend_schema(
        operation_id="correction_list",
        parameters=[CorrectionListQuerySerializer],
        responses={200: CorrectionPageSerializer},
    )
    @refuses(*refusals.CORRECTION_LIST)
    def get(self, request: Request) -> Response:
        """List the corrections, newest first: asked for, rejected and done."""
        query = _validated(CorrectionListQuerySerializer, request.query_params)
        page = selectors.corrections(operator_id=operator_of(request).operator_id, **query)
        return Response(CorrectionPageSerializer(page).data)


class CorrectionView(ApiView):
    """One correction."""

    permission_classes = (scope("read"),)

    @extend_schema(operation_id="correction_get", responses={200: CorrectionSerializer})
    @refuses(*refusals.CORRECTION_GET)
    def get(self, request: Request, correction_id: UUID) -> Response:
        """Return a correction; `transaction_id` is there once it is done."""
        found = selectors.correction_get(operator_id=operator_of(request).operator_id, correction_id=correction_id)
        return Response(CorrectionSerializer(found).data)


def _asked_for(operator_id: UUID, correction_id: UUID) -> Response:
    """Answer that a correction waits for a person of the house."""
    found = selectors.correction_get(operator_id=operator_id, correction_id=correction_id)
    return Response(CorrectionSerializer(found).data, status=status.HTTP_202_ACCEPTED)


class ReversalsView(ApiView):
    """Reversals."""

    permission_classes = (scope("money"),)

    @extend_schema(
        operation_id="reversal_request", request=ReversalRequestSerializer, responses={202: CorrectionSerializer}
    )
    @refuses(*refusals.REVERSAL_REQUEST)
    @idempotent
    def post(self, request: Request) -> Response:
        """Ask that a transaction be reversed. Nothing moves until a person of the house has approved it."""
        body = _validated(ReversalRequestSerializer, request.data)
        principal = operator_of(request)
        changed_by(principal.actor, body["reason"])
        made = services.reversal_request(
            operator_id=principal.operator_id,
            tx_id=body["transaction_id"],
            reason=body["reason"],
            requested_by=principal.actor,
        )
        return _asked_for(principal.operator_id, made)


class AdjustmentsView(ApiView):
    """Adjustments."""

    permission_classes = (scope("money"),)

    @extend_schema(
        operation_id="adjustment_request", request=AdjustmentRequestSerializer, responses={202: CorrectionSerializer}
    )
    @refuses(*refusals.ADJUSTMENT_REQUEST)
    @idempotent
    def post(self, request: Request) -> Response:
        """Ask that a balance be corrected. Nothing moves until a person of the house has approved it."""
        body = _validated(AdjustmentRequestSerializer, request.data)
        principal = operator_of(request)
        selectors.player_may_have(
            operator_id=principal.operator_id, player_id=body["player_id"], currency=body["currency"]
        )
        changed_by(principal.actor, body["reason"])
        made = services.adjustment_request(operator_id=principal.operator_id, requested_by=principal.actor, **body)
        return _asked_for(principal.operator_id, made)


class ResettlementsView(ApiView):
    """Resettlements."""

    permission_classes = (scope("money"),)

    @extend_schema(
        operation_id="resettlement_request",
        request=ResettlementRequestSerializer,
        responses={202: CorrectionSerializer},
    )
    @refuses(*refusals.RESETTLEMENT_REQUEST)
    @idempotent
    def post(self, request: Request) -> Response:
        """Ask that a round whose end was reversed be paid anew. Nothing moves until the house has approved it."""
        body = _validated(ResettlementRequestSerializer, request.data)
        principal = operator_of(request)
        changed_by(principal.actor, body["reason"])
        made = services.resettlement_request(
            operator_id=principal.operator_id,
            round_id=body["round_id"],
            payouts=[(payout["player_id"], payout["amount_minor"]) for payout in body["payouts"]],
            fee_minor=body["fee_minor"],
            reason=body["reason"],
            requested_by=principal.actor,
        )
        return _asked_for(principal.operator_id, made)


class AlarmsView(ApiView):
    """Alarms."""

    permission_classes = (scope("read"),)

    @extend_schema(operation_id="alarm_list", responses={200: AlarmSerializer(many=True)})
    def get(self, request: Request) -> Response:
        """Return open alarms of your ledger. While there is one, no new round starts; payouts and withdrawals go on."""
        found = selectors.alarms_open(operator_id=operator_of(request).operator_id)
        return Response(AlarmSerializer(found, many=True).data)


class CurrenciesView(ApiView):
    """Currencies."""

    permission_classes = (IsOperatorOrPlayer,)

    @extend_schema(operation_id="currency_list", responses={200: CurrencySerializer(many=True)})
    def get(self, request: Request) -> Response:
        """Return the currencies of the installation: decimal places, whether it is money, the least stake."""
        return Response(CurrencySerializer(selectors.currencies(), many=True).data)
