"""Rows of the outbox, the endpoints of operators, and the deliveries to them.

An event is written in the transaction of the fact that it tells, without a number; numbering gives it the next number
of its operator afterwards, so numbers have no gap and no fact waits for a counter.
Times are Unix milliseconds on the database's clock.  Source: docs/operators/webhooks.md.
"""

from __future__ import annotations

from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import Q

from apps.core.fields import DatabaseMillis

PAYLOAD_BYTES_MAX = 20_000
TOPIC_PATTERN = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$"


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
