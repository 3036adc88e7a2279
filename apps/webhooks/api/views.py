"""Routes of events and webhook endpoints.

Source: docs/operators/webhooks.md.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api.permissions import operator_of, scope
from apps.core.api.document import refuses
from apps.core.api.views import ApiView
from apps.webhooks import selectors, services
from apps.webhooks.api.serializers import (
    DeliverySerializer,
    EndpointCreateSerializer,
    EndpointSerializer,
    EndpointStateSerializer,
    EventsQuerySerializer,
    EventsSerializer,
    NewEndpointSerializer,
    ReplayedSerializer,
    ReplaySerializer,
)
from apps.webhooks.errors import EndpointDisabled, EndpointLimitReached, EndpointNotFound, TargetRefused
from apps.webhooks.events import event_data
from apps.webhooks.models import EndpointState

DELIVERIES_SHOWN = 100


def _validated(serializer_class: type[Any], data: Any) -> dict[str, Any]:
    serializer = serializer_class(data=data)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


class EventsView(ApiView):
    """The operator's events."""

    permission_classes = (scope("read"),)

    @extend_schema(operation_id="events", parameters=[EventsQuerySerializer], responses={200: EventsSerializer})
    def get(self, request: Request) -> Response:
        """Return events after a number: the same that webhooks bring, in order and without a gap."""
        query = _validated(EventsQuerySerializer, request.query_params)
        found = selectors.events(operator_id=operator_of(request).operator_id, **query)
        last = found[-1].seq if found else query["after"]
        return Response({"items": [event_data(event) for event in found], "next_after": last})


class EndpointsView(ApiView):
    """The operator's webhook endpoints."""

    permission_classes = (scope("admin"),)

    @extend_schema(operation_id="webhook_list", responses={200: EndpointSerializer(many=True)})
    def get(self, request: Request) -> Response:
        """Return the endpoints, without their secrets."""
        found = selectors.endpoints(operator_id=operator_of(request).operator_id)
        return Response(EndpointSerializer(found, many=True).data)

    @extend_schema(
        operation_id="webhook_create", request=EndpointCreateSerializer, responses={201: NewEndpointSerializer}
    )
    @refuses(EndpointLimitReached, TargetRefused)
    def post(self, request: Request) -> Response:
        """Add an endpoint. The answer holds its secret, this once."""
        body = _validated(EndpointCreateSerializer, request.data)
        made = services.endpoint_create(operator_id=operator_of(request).operator_id, **body)
        return Response(NewEndpointSerializer(made).data, status=status.HTTP_201_CREATED)


class EndpointView(ApiView):
    """One webhook endpoint."""

    permission_classes = (scope("admin"),)

    @extend_schema(operation_id="webhook_get", responses={200: EndpointSerializer})
    @refuses(EndpointNotFound)
    def get(self, request: Request, endpoint_id: UUID) -> Response:
        """Return an endpoint."""
        found = selectors.endpoint_get(operator_id=operator_of(request).operator_id, endpoint_id=endpoint_id)
        return Response(EndpointSerializer(found).data)

    @extend_schema(
        operation_id="webhook_state_set", request=EndpointStateSerializer, responses={200: EndpointSerializer}
    )
    @refuses(EndpointNotFound)
    def patch(self, request: Request, endpoint_id: UUID) -> Response:
        """Disable an endpoint, or activate it again; what it missed comes by a replay."""
        state = EndpointState(_validated(EndpointStateSerializer, request.data)["state"])
        endpoint = services.endpoint_state_set(
            operator_id=operator_of(request).operator_id,
            endpoint_id=endpoint_id,
            state=state,
            reason="operator" if state is EndpointState.DISABLED else "",
        )
        return Response(EndpointSerializer(endpoint).data)

    @extend_schema(operation_id="webhook_delete", request=None, responses={204: None})
    @refuses(EndpointNotFound)
    def delete(self, request: Request, endpoint_id: UUID) -> Response:
        """Remove an endpoint."""
        services.endpoint_delete(operator_id=operator_of(request).operator_id, endpoint_id=endpoint_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RotateView(ApiView):
    """A new secret."""

    permission_classes = (scope("admin"),)

    @extend_schema(operation_id="webhook_rotate", request=None, responses={200: NewEndpointSerializer})
    @refuses(EndpointNotFound, EndpointDisabled)
    def post(self, request: Request, endpoint_id: UUID) -> Response:
        """Give an endpoint a new secret, shown this once. The old one signs beside it for 24 hours."""
        endpoint = services.endpoint_rotate(operator_id=operator_of(request).operator_id, endpoint_id=endpoint_id)
        return Response(NewEndpointSerializer(endpoint).data)


class TestView(ApiView):
    """A test event."""

    permission_classes = (scope("admin"),)

    @extend_schema(operation_id="webhook_test", request=None, responses={202: None})
    @refuses(EndpointNotFound, EndpointDisabled)
    def post(self, request: Request, endpoint_id: UUID) -> Response:
        """Send a test event to an endpoint."""
        services.endpoint_test(operator_id=operator_of(request).operator_id, endpoint_id=endpoint_id)
        return Response(status=status.HTTP_202_ACCEPTED)


class ReplayView(ApiView):
    """Events once more."""

    permission_classes = (scope("admin"),)

    @extend_schema(operation_id="webhook_replay", request=ReplaySerializer, responses={202: ReplayedSerializer})
    @refuses(EndpointNotFound, EndpointDisabled)
    def post(self, request: Request, endpoint_id: UUID) -> Response:
        """Send the events after a number again, at most 1000 of them."""
        body = _validated(ReplaySerializer, request.data)
        count = services.endpoint_replay(
            operator_id=operator_of(request).operator_id, endpoint_id=endpoint_id, after=body["after"]
        )
        return Response(ReplayedSerializer({"events": count}).data, status=status.HTTP_202_ACCEPTED)


class DeliveriesView(ApiView):
    """Deliveries to an endpoint."""

    permission_classes = (scope("admin"),)

    @extend_schema(operation_id="webhook_deliveries", responses={200: DeliverySerializer(many=True)})
    @refuses(EndpointNotFound)
    def get(self, request: Request, endpoint_id: UUID) -> Response:
        """Return the newest hundred deliveries to an endpoint and how they went."""
        found = selectors.deliveries(
            operator_id=operator_of(request).operator_id, endpoint_id=endpoint_id, limit=DELIVERIES_SHOWN
        )
        return Response(DeliverySerializer(found, many=True).data)
