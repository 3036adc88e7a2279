"""What may be read of events and endpoints.

Every selector takes the caller's operator and finds nothing of another's.
"""

from __future__ import annotations

from uuid import UUID

from apps.webhooks import services
from apps.webhooks.errors import EndpointNotFound
from apps.webhooks.models import Delivery, Endpoint, Event

LIMIT_MAX = 200


def events(*, operator_id: UUID, after: int, limit: int) -> list[Event]:
    """Return the operator's events numbered above ``after``, in order; new ones get their numbers now."""
    assert 1 <= limit <= LIMIT_MAX, "the edge bounds a page"
    if Event.objects.filter(operator_id=operator_id, seq=None).exists():
        services.events_number(operator_id=operator_id)
    return list(Event.objects.filter(operator_id=operator_id, seq__gt=after).order_by("seq")[:limit])


def endpoints(*, operator_id: UUID) -> list[Endpoint]:
    """Return the operator's endpoints, oldest first."""
    seen = Endpoint.objects.filter(operator_id=operator_id).exclude(state_reason=services.DELETED)
    return list(seen.order_by("created_at_ms", "pk"))


def endpoint_get(*, operator_id: UUID, endpoint_id: UUID) -> Endpoint:
    """Return one endpoint.

    Raises:
        EndpointNotFound: the operator has no such endpoint.
    """
    seen = Endpoint.objects.filter(operator_id=operator_id, pk=endpoint_id).exclude(state_reason=services.DELETED)
    endpoint = seen.first()
    if endpoint is None:
        raise EndpointNotFound
    return endpoint


def deliveries(*, operator_id: UUID, endpoint_id: UUID, limit: int) -> list[Delivery]:
    """Return the newest deliveries to an endpoint, newest first.

    Raises:
        EndpointNotFound: the operator has no such endpoint.
    """
    endpoint_get(operator_id=operator_id, endpoint_id=endpoint_id)
    rows = Delivery.objects.filter(endpoint_id=endpoint_id).select_related("event").order_by("-event_id")
    return list(rows[:limit])
