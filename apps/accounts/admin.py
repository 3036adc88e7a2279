"""Operators, keys, players and sessions in the admin; no secret and no token is on any page."""

from __future__ import annotations

from django.contrib import admin

from apps.accounts.models import ApiKey, Operator, Player, PlayerSession
from apps.core.admin import LookOnly


@admin.register(Operator)
class OperatorAdmin(LookOnly):
    """Operators."""

    fields = ("id", "name", "status", "status_reason", "created_at_ms")
    list_display = ("name", "status", "id")
    search_fields = ("name", "id")


@admin.register(ApiKey)
class ApiKeyAdmin(LookOnly):
    """Keys of operators, without what makes them keys."""

    fields = ("id", "operator", "label", "prefix", "scopes", "created_at_ms", "last_used_at_ms", "revoked_at_ms")
    list_display = ("prefix", "operator", "label", "revoked_at_ms")
    list_select_related = ("operator",)
    search_fields = ("prefix",)


@admin.register(Player)
class PlayerAdmin(LookOnly):
    """Players."""

    fields = ("id", "operator", "external_id", "status", "is_test", "is_bot", "created_at_ms")
    list_display = ("external_id", "operator", "status", "is_test", "is_bot")
    list_filter = ("status", "is_test", "is_bot")
    list_select_related = ("operator",)
    search_fields = ("external_id", "id")


@admin.register(PlayerSession)
class PlayerSessionAdmin(LookOnly):
    """Sessions of players, without their tokens."""

    fields = ("id", "operator", "player", "created_at_ms", "expires_at_ms", "revoked_at_ms")
    list_display = ("id", "player", "expires_at_ms", "revoked_at_ms")
    list_select_related = ("player",)
    search_fields = ("id", "player__external_id")
