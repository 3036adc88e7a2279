"""Operators, keys, players and sessions in the admin; no secret and no token is on any page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin

from apps.accounts.models import ApiKey, Change, Operator, Player, PlayerSession, PlayerStatus
from apps.accounts.services import player_status_set
from apps.core.admin import LookOnly
from apps.core.deeds import Deed, Deeds, ReasonForm


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


class StatusForm(ReasonForm):
    """Which status, and why."""

    status = forms.ChoiceField(choices=PlayerStatus.choices)
    field_order = ("status", "reason")


def _status_set(actor: str, player: Player, data: dict[str, Any]) -> str:
    player_status_set(player_id=player.pk, status=PlayerStatus(data["status"]), actor=actor, reason=data["reason"])
    return f"The player is {data['status']}."


@admin.register(Change)
class ChangeAdmin(LookOnly):
    """The history, which the database writes: who changed what, from what, and why."""

    fields = ("id", "operator_id", "subject", "subject_id", "old", "new", "actor", "reason", "login", "changed_at_ms")
    list_display = ("id", "subject", "subject_id", "actor", "reason", "changed_at_ms")
    list_filter = ("subject",)
    search_fields = ("subject_id", "actor")
    ordering = ("-id",)


@admin.register(Player)
class PlayerAdmin(Deeds):
    """Players, whom support may freeze, thaw and close."""

    deeds = (Deed("status", "Change the status", "accounts.set_player_status", _status_set, form=StatusForm),)

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
