"""The transcript: one row per entry of a round, insert-only, the exact bytes that were hashed into the chain.

Source: docs/fairness/protocol.md, section 7.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class Entry(models.Model):
    """One input of a round with the events it caused.

    ``body`` is the canonical JSON of the entry, served as it is; ``head`` the chain hash after it.  ``shown`` maps
    a seat to the places of hidden cards whose faces that seat learned by this entry: who holds which place is
    public, the faces are not here.
    """

    pk = models.CompositePrimaryKey("round_id", "seq")
    round_id = models.UUIDField()
    seq = models.IntegerField()
    at_ms = models.BigIntegerField()
    kind = models.CharField(max_length=10)
    seat = models.SmallIntegerField(null=True)
    body = models.TextField()
    head = models.BinaryField(max_length=32)
    shown = models.JSONField(default=dict)
    request_key = models.CharField(max_length=255, null=True)  # noqa: DJ001 - no key is not an empty key
    request_sha256 = models.BinaryField(max_length=32, null=True)

    class Meta:
        db_table = "history_entry"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["round_id", "seat", "request_key"],
                condition=models.Q(request_key__isnull=False),
                name="history_one_entry_per_request",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["start", "act", "wake", "leave", "connection"]), name="history_kind"
            ),
            models.CheckConstraint(condition=models.Q(seq__gte=0), name="history_seq"),
        ]

    def __str__(self) -> str:
        return f"{self.round_id}:{self.seq}"
