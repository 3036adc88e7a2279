"""Tables that belong to no single app: answers kept for retries, and signs of life."""

from __future__ import annotations

from django.db import models


class Idempotency(models.Model):
    """The answer to one keyed request, kept so that a retry gets the same one.

    The row is inserted in the transaction of the effect itself: a second request with the key waits on the primary key
    and then finds the finished row.  Source: docs/developers/idempotency.md.
    """

    pk = models.CompositePrimaryKey("operator_id", "subject_id", "key")
    operator_id = models.UUIDField()
    subject_id = models.UUIDField()
    """Whose key it is: the player, or the operator itself.  Keys of two players never meet."""
    key = models.CharField(max_length=255)
    method = models.CharField(max_length=8)
    route = models.CharField(max_length=255)
    body_sha256 = models.BinaryField(max_length=32)
    """Fingerprint of method, route, path parameters, query and the raw body."""
    state = models.CharField(max_length=8)
    """``running`` or ``done``; others see only ``done``, since the row is committed with the effect."""
    status = models.PositiveSmallIntegerField(null=True)
    content_type = models.CharField(max_length=64, default="")
    body = models.BinaryField(null=True)
    created_at_ms = models.BigIntegerField()

    class Meta:
        indexes = (models.Index(fields=("created_at_ms",), name="idempotency_age"),)
        constraints = (
            models.CheckConstraint(
                name="idempotency_state",
                condition=models.Q(state="running", status=None) | models.Q(state="done", status__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.method} {self.route} {self.key}"


class Heartbeat(models.Model):
    """When a part of the service was last seen alive, on the database's clock."""

    role = models.CharField(primary_key=True, max_length=32)
    beat_at_ms = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.role} at {self.beat_at_ms}"
