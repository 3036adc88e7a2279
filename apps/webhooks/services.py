"""The outbox, where an event is written with its fact and numbered afterwards; and the endpoints of operators.

Source: docs/operators/webhooks.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from apps.core import egress
from apps.core.clock import now_ms
from apps.webhooks.errors import EndpointDisabled, EndpointLimitReached, EndpointNotFound, TargetRefused
from apps.webhooks.models import PAYLOAD_BYTES_MAX, Delivery, DeliveryState, Endpoint, EndpointState, Event

NUMBERED_AT_ONCE_MAX = 1_000
"""Events that one numbering takes on; the rest waits for the next one."""
ENDPOINTS_MAX = 10
"""Endpoints that one operator may have."""
OVERLAP_MS = 24 * 3_600_000
"""So long the secret before a rotation signs beside the new one."""
REPLAY_MAX = 1_000
TEST_TOPIC = "webhook.test"
DELETED = "deleted"
"""The reason that an endpoint has which its operator does not see any more."""


def outbox_add(*, operator_id: UUID, topic: str, payload: Mapping[str, Any]) -> None:
    """Write an event in the caller's transaction, so that it is told exactly if the fact stays.

    Args:
        topic: what happened, such as ``round.settled``.
        payload: plain JSON, thin: ids and what cannot be asked for later; less than 20 kB.
    """
    assert connection.in_atomic_block, "an event belongs to the transaction of its fact"
    text = json.dumps(payload, separators=(",", ":"), default=str)
    assert len(text.encode()) <= PAYLOAD_BYTES_MAX, "an event is thin"
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO webhooks_event (operator_id, topic, payload) VALUES (%s, %s, %s::jsonb)",
            [operator_id, topic, text],
        )


@transaction.atomic
def events_number(*, operator_id: UUID) -> int:
    """Give the operator's unnumbered events their numbers; return how many got one.

    At most ``NUMBERED_AT_ONCE_MAX`` get one, in the order in which they were written.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT webhooks_events_number(%s, %s)", [operator_id, NUMBERED_AT_ONCE_MAX])
        (numbered,) = cursor.fetchone()
    return int(numbered)


def events_number_all() -> None:
    """Give every operator's unnumbered events their numbers, one batch each."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT operator_id FROM webhooks_event WHERE seq IS NULL ORDER BY operator_id")
        waiting = [row[0] for row in cursor.fetchall()]
    for operator_id in waiting:
        events_number(operator_id=operator_id)


@transaction.atomic
def endpoint_create(*, operator_id: UUID, url: str, topics: Sequence[str]) -> Endpoint:
    """Add an endpoint; events from now on go there.

    Raises:
        TargetRefused: the address is not one that is delivered to.
        EndpointLimitReached: the operator has ENDPOINTS_MAX.
    """
    try:
        egress.literal_check(url)
    except egress.TargetRefused:
        raise TargetRefused(pointer="/url") from None
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"webhooks endpoints {operator_id}"])
    if Endpoint.objects.filter(operator_id=operator_id).exclude(state_reason=DELETED).count() >= ENDPOINTS_MAX:
        raise EndpointLimitReached
    return Endpoint.objects.create(operator_id=operator_id, url=url, topics=list(topics), created_at_ms=now_ms())


@transaction.atomic
def endpoint_state_set(*, operator_id: UUID, endpoint_id: UUID, state: EndpointState, reason: str) -> Endpoint:
    """Disable an endpoint or activate it again; what it missed meanwhile comes by a replay.

    Raises:
        EndpointNotFound: the operator has no such endpoint.
    """
    endpoint = endpoint_lock(operator_id, endpoint_id)
    endpoint.state, endpoint.state_reason, endpoint.not_before_ms = state, reason, 0
    endpoint.save(update_fields=["state", "state_reason", "not_before_ms"])
    return endpoint


def endpoint_delete(*, operator_id: UUID, endpoint_id: UUID) -> None:
    """Remove an endpoint from sight; its deliveries stay as history.

    Raises:
        EndpointNotFound: the operator has no such endpoint.
    """
    endpoint_state_set(operator_id=operator_id, endpoint_id=endpoint_id, state=EndpointState.DISABLED, reason=DELETED)


@transaction.atomic
def endpoint_rotate(*, operator_id: UUID, endpoint_id: UUID) -> Endpoint:
    """Give an endpoint a new secret; the old one signs beside it for OVERLAP_MS.

    Raises:
        EndpointNotFound: the operator has no such endpoint.
    """
    endpoint = endpoint_lock(operator_id, endpoint_id)
    endpoint.secret_version += 1
    endpoint.previous_until_ms = now_ms() + OVERLAP_MS
    endpoint.save(update_fields=["secret_version", "previous_until_ms"])
    return endpoint


@transaction.atomic
def endpoint_test(*, operator_id: UUID, endpoint_id: UUID) -> None:
    """Send a test event to one endpoint, whatever topics it wants.

    Raises:
        EndpointNotFound: the operator has no such endpoint.
        EndpointDisabled: nothing is sent there.
    """
    endpoint = _active(operator_id, endpoint_id)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO webhooks_event (operator_id, topic, payload) VALUES (%s, %s, %s::jsonb) RETURNING id",
            [operator_id, TEST_TOPIC, json.dumps({"webhook_id": str(endpoint.pk)})],
        )
        (event_id,) = cursor.fetchone()
    Delivery.objects.create(operator_id=operator_id, endpoint=endpoint, event_id=event_id, next_try_at_ms=now_ms())


@transaction.atomic
def endpoint_replay(*, operator_id: UUID, endpoint_id: UUID, after: int) -> int:
    """Send again what is numbered above ``after`` and of the endpoint's topics; return how many, at most REPLAY_MAX.

    Raises:
        EndpointNotFound: the operator has no such endpoint.
        EndpointDisabled: nothing is sent there.
    """
    endpoint = _active(operator_id, endpoint_id)
    events = Event.objects.filter(operator_id=operator_id, seq__gt=after).exclude(topic=TEST_TOPIC).order_by("seq")
    if endpoint.topics:
        events = events.filter(topic__in=endpoint.topics)
    wanted = list(events.values_list("pk", flat=True)[:REPLAY_MAX])
    now = now_ms()
    Delivery.objects.filter(endpoint=endpoint, event_id__in=wanted).update(
        state=DeliveryState.DUE, attempts=0, next_try_at_ms=now
    )
    Delivery.objects.bulk_create(
        [
            Delivery(operator_id=operator_id, endpoint=endpoint, event_id=event_id, next_try_at_ms=now)
            for event_id in wanted
        ],
        ignore_conflicts=True,
    )
    return len(wanted)


def endpoint_lock(operator_id: UUID, endpoint_id: UUID) -> Endpoint:
    """Lock an endpoint's row until the transaction ends and return it.

    Raises:
        EndpointNotFound: the operator has no such endpoint.
    """
    found = (
        Endpoint.objects.select_for_update(no_key=True)
        .filter(operator_id=operator_id, pk=endpoint_id)
        .exclude(state_reason=DELETED)
        .first()
    )
    if found is None:
        raise EndpointNotFound
    return found


def _active(operator_id: UUID, endpoint_id: UUID) -> Endpoint:
    endpoint = endpoint_lock(operator_id, endpoint_id)
    if endpoint.state != EndpointState.ACTIVE:
        raise EndpointDisabled
    return endpoint
