"""Routes of the transfer wallet.

Source: docs/operators/wallet.md.  Who calls decides whose ledger is looked at; other operators' ids are not found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import selectors as accounts
from apps.accounts.api.permissions import IsOperatorOrPlayer, operator_of, principal_of, scope, scope_check
from apps.accounts.errors import PlayerNotFound
from apps.accounts.principals import PlayerPrincipal
from apps.core.api.document import refuses
from apps.core.api.views import ApiView
from apps.core.idempotency import idempotent
from apps.wallets import listing, selectors, services
from apps.wallets.api import refusals
from apps.wallets.api.serializers import (
    BalanceQuerySerializer,
    BalanceSerializer,
    ListQuerySerializer,
    PageSerializer,
    TransferRequestSerializer,
    TransferSerializer,
)
from apps.wallets.values import Balance, Transaction

EXAMPLE = OpenApiExample(
    "100 points",
    value={
        "player_id": "7d1f6c1e-7f0c-4b0e-9a51-0f8f0f3c0a11",
        "currency": "PTS",
        "amount_minor": 100,
        "external_id": "order-4711",
    },
    request_only=True,
)


def _validated(serializer_class: type[Any], data: Any) -> dict[str, Any]:
    serializer = serializer_class(data=data)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def _transfer(request: Request, move: Callable[..., Transaction]) -> Response:
    body = _validated(TransferRequestSerializer, request.data)
    principal = operator_of(request)
    made = move(operator_id=principal.operator_id, actor=principal.actor, **body)
    return Response(
        TransferSerializer(made).data, status=status.HTTP_200_OK if made.replayed else status.HTTP_201_CREATED
    )


class CreditsView(ApiView):
    """Credits."""

    permission_classes = (scope("money"),)

    @extend_schema(
        operation_id="wallet_credit",
        request=TransferRequestSerializer,
        responses={201: TransferSerializer, 200: TransferSerializer},
        examples=[EXAMPLE],
    )
    @idempotent
    @refuses(*refusals.CREDIT)
    def post(self, request: Request) -> Response:
        """Put an amount on a player's account. 200 instead of 201: your external_id had done this before."""
        return _transfer(request, services.wallet_credit)


class DebitsView(ApiView):
    """Debits."""

    permission_classes = (scope("money"),)

    @extend_schema(
        operation_id="wallet_debit",
        request=TransferRequestSerializer,
        responses={201: TransferSerializer, 200: TransferSerializer},
        examples=[EXAMPLE],
    )
    @idempotent
    @refuses(*refusals.DEBIT)
    def post(self, request: Request) -> Response:
        """Take an amount from a player's account, all of it or nothing. 200: your external_id had done this before."""
        return _transfer(request, services.wallet_debit)


class TransactionsView(ApiView):
    """All transactions of the operator."""

    permission_classes = (scope("read"),)

    @extend_schema(
        operation_id="wallet_transactions", parameters=[ListQuerySerializer], responses={200: PageSerializer}
    )
    @refuses(*refusals.TRANSACTION_LIST)
    def get(self, request: Request) -> Response:
        """List every transaction with its lines, oldest first. What is listed is final; nothing turns up before it."""
        query = _validated(ListQuerySerializer, request.query_params)
        page = listing.movements(operator_id=operator_of(request).operator_id, **query)
        return Response(PageSerializer(page).data)


class TransactionView(ApiView):
    """One credit or debit."""

    permission_classes = (scope("read"),)

    @extend_schema(operation_id="wallet_transaction", responses={200: TransferSerializer})
    @refuses(*refusals.TRANSACTION_GET)
    def get(self, request: Request, external_id: str) -> Response:
        """Return the credit or debit with your own id: how to find out after a lost answer."""
        found = selectors.transaction_by_external_id(
            operator_id=operator_of(request).operator_id, external_id=external_id
        )
        return Response(TransferSerializer(found).data)


def _balance(operator_id: UUID, player_id: UUID, currency: str) -> Balance:
    """Return what the player has, where his money is kept: here, or in his operator's wallet."""
    if services.operator_is_seamless(operator_id=operator_id):
        asked = services.balance_ask(operator_id=operator_id, player_id=player_id, currency=currency)
        return Balance(posted_minor=asked, held_minor=0)
    return selectors.balance(operator_id=operator_id, player_id=player_id, currency=currency)


class BalanceView(ApiView):
    """A player's balance."""

    permission_classes = (IsOperatorOrPlayer,)

    @extend_schema(
        operation_id="player_balance", parameters=[BalanceQuerySerializer], responses={200: BalanceSerializer}
    )
    @refuses(*refusals.BALANCE)
    def get(self, request: Request, player_id: UUID) -> Response:
        """Return a player's balance in one currency; a player sees his own. A seamless wallet is asked for it."""
        principal = principal_of(request)
        if isinstance(principal, PlayerPrincipal):
            if principal.player_id != player_id:
                raise PlayerNotFound
        else:
            scope_check(principal, "read")
        currency = _validated(BalanceQuerySerializer, request.query_params)["currency"]
        accounts.player_get(operator_id=principal.operator_id, player_id=player_id)
        selectors.currency_get(code=currency)
        balance = _balance(principal.operator_id, player_id, currency)
        return Response(
            BalanceSerializer(
                {
                    "player_id": player_id,
                    "currency": currency,
                    "posted_minor": balance.posted_minor,
                    "held_minor": balance.held_minor,
                    "available_minor": balance.available_minor,
                }
            ).data
        )
