"""Delivering: due rows are claimed, sent outside any transaction, and their outcome is written down.

Source: docs/operators/webhooks.md, section Retries.  Whoever dies between sending and writing leaves the row due again
after its lease; the receiver knows the event by its id.  Never sends while a transaction is open, never follows a
redirect, never reads a secret from the database.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from uuid import UUID

import structlog
from django.db import connection, transaction

from apps.core.egress import Answer, Resolver, post, resolve
from apps.webhooks import metrics, services, signing
from apps.webhooks.events import event_body
from apps.webhooks.models import Delivery, DeliveryState, Endpoint, EndpointState

RETRY_S = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""Seconds until the next try after each failed one: ten tries over a little more than three days."""
TRIES = len(RETRY_S) + 1
JITTER = 10
"""Percent by which a wait is longer or shorter, so that not everything comes back at once."""
QUIET_S = 60
"""An endpoint that failed is left alone this long, or shorter if the failed delivery is due again before."""
LEASE_S = 120
"""Longer than a batch can take; a claimed row is due again afterwards."""
BUDGET_S = 10.0
"""A run takes no new batch after so long."""
ENDPOINTS_AT_ONCE = 8
EVENTS_AT_ONCE = 20
"""Events of one endpoint in a batch; sent one after the other, until one fails."""
BATCH_S = 10.0
"""A batch sends nothing more after so long."""
ALIVE_MS = 3 * 86_400_000
"""An endpoint that took something within this time is not disabled for one event that it does not take."""

_NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_CLAIM = f"""
WITH chosen AS (
    SELECT d.id FROM (
        SELECT e.id FROM webhooks_endpoint e WHERE e.state = 'active' AND e.not_before_ms <= {_NOW} AND EXISTS (
            SELECT 1 FROM webhooks_delivery w WHERE w.endpoint_id = e.id AND w.state = 'due'
                AND w.next_try_at_ms <= {_NOW})
        ORDER BY random() LIMIT {ENDPOINTS_AT_ONCE}
    ) p CROSS JOIN LATERAL (
        SELECT w.id FROM webhooks_delivery w WHERE w.endpoint_id = p.id AND w.state = 'due'
            AND w.next_try_at_ms <= {_NOW} ORDER BY w.next_try_at_ms, w.id LIMIT {EVENTS_AT_ONCE}
            FOR NO KEY UPDATE SKIP LOCKED
    ) d
)
UPDATE webhooks_delivery w SET next_try_at_ms = {_NOW} + {LEASE_S * 1000}, attempts = attempts + 1,
    last_try_at_ms = {_NOW} FROM chosen WHERE w.id = chosen.id RETURNING w.id
"""  # noqa: S608  Constants of this file.

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Parcel:
    """One claimed delivery, with all that sending it needs."""

    delivery_id: int
    endpoint_id: UUID
    url: str
    versions: tuple[int, ...]
    webhook_id: str
    body: bytes
    timestamp_s: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a parcel; ``answer`` is None if it was not sent because one before it failed."""

    delivery_id: int
    answer: Answer | None


def run(*, resolver: Resolver = resolve) -> int:
    """Number new events and deliver what is due; return how many deliveries were accepted.

    Does nothing if as many processes as there are slots are delivering already.
    """
    slot = _slot_take()
    if slot is None:
        return 0
    accepted = 0
    try:
        services.events_number_all()
        ends = time.monotonic() + BUDGET_S
        with ThreadPoolExecutor(ENDPOINTS_AT_ONCE) as pool:
            while time.monotonic() < ends:
                batches = _claim()
                if not batches:
                    break
                for outcomes in pool.map(partial(_send, resolver=resolver), batches):
                    accepted += sum(_record(outcome) for outcome in outcomes)
                _slot_keep(slot)
    finally:
        _slot_give(slot)
    return accepted


def _slot_take() -> int | None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE webhooks_slot SET until_ms = {_NOW} + %s WHERE number = (SELECT number FROM webhooks_slot"  # noqa: S608
            f" WHERE until_ms <= {_NOW} ORDER BY number LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) RETURNING number",
            [LEASE_S * 1000],
        )
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def _slot_keep(slot: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE webhooks_slot SET until_ms = {_NOW} + %s WHERE number = %s",  # noqa: S608
            [LEASE_S * 1000, slot],
        )


def _slot_give(slot: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE webhooks_slot SET until_ms = 0 WHERE number = %s", [slot])


def _claim() -> list[list[Parcel]]:
    """Lease a batch for each of some endpoints; the transaction ends before anything is sent."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_CLAIM)
        claimed = [row[0] for row in cursor.fetchall()]
    rows = (
        Delivery.objects.filter(pk__in=claimed)
        .select_related("event", "endpoint")
        .order_by("endpoint_id", "event__seq")
    )
    parcels = [_parcel(row) for row in rows]
    return [list(batch) for _, batch in groupby(parcels, key=lambda parcel: parcel.endpoint_id)]


def _parcel(row: Delivery) -> Parcel:
    endpoint = row.endpoint
    assert row.last_try_at_ms is not None, "a claim sets the time of the try"
    versions = [endpoint.secret_version]
    if endpoint.previous_until_ms is not None and row.last_try_at_ms < endpoint.previous_until_ms:
        versions.append(endpoint.secret_version - 1)
    return Parcel(
        delivery_id=row.pk,
        endpoint_id=endpoint.pk,
        url=endpoint.url,
        versions=tuple(versions),
        webhook_id=f"evt_{row.event.public_id.hex}",
        body=event_body(row.event),
        timestamp_s=row.last_try_at_ms // 1000,
    )


def _send(parcels: Sequence[Parcel], *, resolver: Resolver) -> list[Outcome]:
    """Send the parcels of one endpoint in order, until one fails or their time is over."""
    outcomes: list[Outcome] = []
    ends = time.monotonic() + BATCH_S
    has_failed = False
    for parcel in parcels:
        if has_failed or time.monotonic() >= ends:
            outcomes.append(Outcome(parcel.delivery_id, None))
            continue
        headers = signing.headers(
            endpoint_id=parcel.endpoint_id,
            versions=parcel.versions,
            webhook_id=parcel.webhook_id,
            timestamp_s=parcel.timestamp_s,
            body=parcel.body,
        )
        answer = post(
            parcel.url, headers={"content-type": "application/json", **headers}, body=parcel.body, resolver=resolver
        )
        has_failed = not _is_accepted(answer)
        outcomes.append(Outcome(parcel.delivery_id, answer))
    return outcomes


def _is_accepted(answer: Answer) -> bool:
    return answer.status is not None and 200 <= answer.status < 300


@transaction.atomic
def _record(outcome: Outcome) -> bool:
    """Write down what became of a delivery; return whether it was accepted."""
    row = Delivery.objects.select_for_update(no_key=True).select_related(None).get(pk=outcome.delivery_id)
    if outcome.answer is None:
        _unsent(row)
        return False
    answer = outcome.answer
    row.last_status, row.last_error = answer.status, answer.error
    is_accepted = _is_accepted(answer)
    metrics.DELIVERIES.labels(outcome="accepted" if is_accepted else "failed").inc()
    if is_accepted:
        row.state = DeliveryState.DELIVERED
    elif answer.status == 410:
        row.state = DeliveryState.FAILED
        _disable(row, "gone")
    elif row.attempts >= TRIES:
        row.state = DeliveryState.FAILED
        _disable_if_dead(row)
    else:
        _later(row, answer)
    row.save(update_fields=["state", "next_try_at_ms", "last_status", "last_error"])
    return is_accepted


def _unsent(row: Delivery) -> None:
    """Give a claimed row back as it was: it was not tried."""
    row.attempts -= 1
    row.next_try_at_ms = row.last_try_at_ms or 0
    row.save(update_fields=["attempts", "next_try_at_ms"])


def _later(row: Delivery, answer: Answer) -> None:
    assert row.last_try_at_ms is not None, "a claim sets the time of the try"
    wait_ms = RETRY_S[row.attempts - 1] * 1000
    wait_ms += wait_ms * random.randint(-JITTER, JITTER) // 100  # noqa: S311  Jitter, not a secret.
    asked_ms = (answer.retry_after_s or 0) * 1000
    row.next_try_at_ms = row.last_try_at_ms + max(wait_ms, asked_ms)
    quiet_ms = max(min(wait_ms, QUIET_S * 1000), asked_ms)
    Endpoint.objects.filter(pk=row.endpoint_id).update(not_before_ms=row.last_try_at_ms + quiet_ms)


def _disable(row: Delivery, reason: str) -> None:
    Endpoint.objects.filter(pk=row.endpoint_id).update(state=EndpointState.DISABLED, state_reason=reason)
    _log.warning(
        "webhook_endpoint_disabled", endpoint=str(row.endpoint_id), operator=str(row.operator_id), reason=reason
    )


def _disable_if_dead(row: Delivery) -> None:
    """Disable an endpoint that has taken nothing for days."""
    assert row.last_try_at_ms is not None, "a claim sets the time of the try"
    is_alive = Delivery.objects.filter(
        endpoint_id=row.endpoint_id, state=DeliveryState.DELIVERED, last_try_at_ms__gt=row.last_try_at_ms - ALIVE_MS
    ).exists()
    if not is_alive:
        _disable(row, "retries_exhausted")
