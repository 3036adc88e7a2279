"""Signed records and checkpoints in the admin: what is public anyway, and no sealed column."""

from __future__ import annotations

from django.contrib import admin

from apps.core.admin import LookOnly
from apps.fairness.models import Checkpoint, Record


@admin.register(Record)
class RecordAdmin(LookOnly):
    """Records of the public log."""

    fields = ("id", "round", "type", "place", "kid", "signed_at_ms", "log_index", "merged_at_ms")
    list_display = ("log_index", "type", "round_id", "signed_at_ms", "merged_at_ms")
    list_filter = ("type",)
    search_fields = ("round__id",)
    ordering = ("-id",)


@admin.register(Checkpoint)
class CheckpointAdmin(LookOnly):
    """Published checkpoints."""

    fields = ("size", "note")
    list_display = ("size",)
    ordering = ("-size",)
