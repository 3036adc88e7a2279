"""What every page of the admin has in common: it shows, and changes nothing.

Staff correct things through services that ask for a second person, never by editing rows.  A field that could tell a
hidden card, a seed or a credential is not named by any page, and not read from the database either.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest


def moment(ms: int | None) -> str:
    """Return a time in UTC for a person to read."""
    return "" if ms is None else datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


class LookOnly(admin.ModelAdmin[Any]):
    """A model to look at; ``fields`` names all that is shown, and nothing else is fetched."""

    show_full_result_count = False
    list_per_page = 50
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Fetch the columns that the page shows, and no others."""
        named = {str(name) for name in (*(self.fields or ()), *self.list_display)}
        columns = [field.attname for field in self.model._meta.concrete_fields if field.name in named]
        return super().get_queryset(request).only(self.model._meta.pk.attname, *columns)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        """Show every field as text."""
        return tuple(str(name) for name in (self.fields or ()))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Add nothing here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Change nothing here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Delete nothing here."""
        return False
