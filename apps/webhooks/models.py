"""Rows of the outbox, the endpoints of operators, and the deliveries to them.

An event is written in the transaction of the fact that it tells, without a number; numbering gives it the next number
of its operator afterwards, so numbers have no gap and no fact waits for a counter.
Times are Unix milliseconds on the database's clock.  Source: docs/operators/webhooks.md.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import Q

from apps.core.fields import DatabaseMillis
from apps.core.ids import new_id

PAYLOAD_BYTES_MAX = 20_000
TOPIC_PATTERN = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$"


class EndpointState(models.TextChoices):
    """``disabled`` by the operator, by an answer 410, or when a delivery used up its tries."""

    ACTIVE = "active"
    DISABLED = "disabled"


class DeliveryState(models.TextChoices):
    """A delivery is due until it was accepted or given up."""

    DUE = "due"
    DELIVERED = "delivered"
    FAILED = "failed"


class Event(models.Model):
    """One event of the outbox; all but its number is final once written."""

    id = models.BigAutoField(primary_key=True)
    public_id = models.UUIDField(unique=True, editable=False, db_default=RandomUUID())
    operator_id = models.UUIDField()
    topic = models.CharField(max_length=64)
    payload = models.JSONField()
    tx_id = models.UUIDField(null=True, default=None, unique=True)
    """The ledger's transaction that the event tells of, if it tells of one."""
    created_at_ms = models.BigIntegerField(db_default=DatabaseMillis())
    seq = models.BigIntegerField(null=True, default=None)
    """The operator's number of the event, from 1 without a gap; null until it is numbered."""

    class Meta:
        constraints = (
            models.UniqueConstraint(name="webhooks_event_seq", fields=["operator_id", "seq"]),
            models.CheckConstraint(name="webhooks_event_topic", condition=Q(topic__regex=TOPIC_PATTERN)),
            models.CheckConstraint(name="webhooks_event_seq_positive", condition=Q(seq=None) | Q(seq__gte=1)),
        )
        indexes = (models.Index(name="webhooks_event_unnumbered", fields=["operator_id", "id"], condition=Q(seq=None)),)

    def __str__(self) -> str:
        return f"{self.topic} {self.seq}"


class Endpoint(models.Model):
    """Where an operator wants its events; no secret is stored, it is derived from id and version."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    operator = models.ForeignKey("accounts.Operator", on_delete=models.PROTECT, related_name="+")
    url = models.CharField(max_length=400)
    topics = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    """Topics that are sent; empty is all of them."""
    state = models.CharField(max_length=16, choices=EndpointState.choices, default=EndpointState.ACTIVE)
    state_reason = models.CharField(max_length=64, default="", blank=True)
    secret_version = models.PositiveIntegerField(default=1)
    previous_until_ms = models.BigIntegerField(null=True, default=None)
    """Until when the secret before the present one signs too."""
    not_before_ms = models.BigIntegerField(default=0)
    """After a failure the endpoint is left alone until then, whatever else is due."""
    created_at_ms = models.BigIntegerField(db_default=DatabaseMillis())

    class Meta:
        constraints = (
            models.CheckConstraint(
                name="webhooks_endpoint_state", condition=Q(state__in=[str(state) for state in EndpointState])
            ),
        )

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """One event on its way to one endpoint."""

    id = models.BigAutoField(primary_key=True)
    operator_id = models.UUIDField()
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="+", db_index=False)
    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=16, choices=DeliveryState.choices, default=DeliveryState.DUE)
    attempts = models.SmallIntegerField(default=0)
    next_try_at_ms = models.BigIntegerField()
    last_status = models.SmallIntegerField(null=True, default=None)
    last_error = models.CharField(max_length=32, default="", blank=True)
    last_try_at_ms = models.BigIntegerField(null=True, default=None)

    class Meta:
        constraints = (
            models.UniqueConstraint(name="webhooks_delivery_identity", fields=["endpoint", "event"]),
            models.CheckConstraint(
                name="webhooks_delivery_state", condition=Q(state__in=[str(state) for state in DeliveryState])
            ),
        )
        indexes = (
            models.Index(name="webhooks_delivery_due", fields=["endpoint", "next_try_at_ms"], condition=Q(state="due")),
        )

    def __str__(self) -> str:
        return f"{self.event_id} to {self.endpoint_id}: {self.state}"


class Slot(models.Model):
    """A place for one process that delivers; so many deliver at once, whatever the number of workers."""

    number = models.SmallIntegerField(primary_key=True)
    until_ms = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.number)
