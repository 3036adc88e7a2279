"""Events told to operators, in the admin."""

from __future__ import annotations

from django.contrib import admin

from apps.core.admin import LookOnly
from apps.webhooks.models import Event


@admin.register(Event)
class EventAdmin(LookOnly):
    """Events, with what they said."""

    fields = ("id", "public_id", "operator_id", "topic", "payload", "seq", "created_at_ms")
    list_display = ("id", "operator_id", "topic", "seq", "created_at_ms")
    list_filter = ("topic",)
    ordering = ("-id",)
