"""Tables, seats and rounds in the admin; no snapshot and no contribution is on any page."""

from __future__ import annotations

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html

from apps.core.admin import LookOnly, moment
from apps.tables.models import Round, Seat, Table


@admin.register(Table)
class TableAdmin(LookOnly):
    """Tables."""

    fields = (
        *("id", "name", "operator", "game", "rules", "options", "currency", "buy_in_minor", "fee_bp", "entropy"),
        *("seats_min", "seats_max", "start_after_ms", "pause_ms", "status", "next_index", "last_opener", "round"),
        *("spectators_allowed", "spectator_delay_ms", "bots_allowed", "is_private", "created_at"),
    )
    list_display = ("name", "operator", "game", "currency", "buy_in_minor", "status", "next_index")
    list_filter = ("game", "status")
    list_select_related = ("operator",)
    search_fields = ("name", "id")


@admin.register(Seat)
class SeatAdmin(LookOnly):
    """Seats taken now."""

    fields = (
        *("id", "table", "number", "player", "is_ready", "is_away", "in_match", "connected", "timeouts_row"),
        *("rounds_missed", "stands_up", "sat_at_ms", "seen_until_ms"),
    )
    list_display = ("table", "number", "player", "is_ready", "is_away", "connected", "timeouts_row")
    list_select_related = ("table", "player")
    search_fields = ("player__external_id", "table__name")


@admin.register(Round)
class RoundAdmin(LookOnly):
    """Rounds: where each stands, who left why, what was paid, and the way to its public evidence."""

    fields = (
        *("id", "table", "operator", "index", "game", "rules", "numbers", "opener", "match_id", "status", "seq"),
        *("desk", "outcome", "pot_minor", "fee_minor", "offset_ms", "opened_ms", "dealt_ms", "ended_ms"),
    )
    list_display = ("id", "table", "index", "status", "seq", "pot_minor", "fee_minor", "dealt", "ended", "evidence")
    list_filter = ("status", "game")
    list_select_related = ("table",)
    search_fields = ("id", "table__name")
    ordering = ("-opened_ms",)

    @admin.display(description="dealt")
    def dealt(self, round_: Round) -> str:
        """Return when the round was dealt."""
        return moment(round_.dealt_ms)

    @admin.display(description="ended")
    def ended(self, round_: Round) -> str:
        """Return when the round ended."""
        return moment(round_.ended_ms)

    @admin.display(description="evidence")
    def evidence(self, round_: Round) -> str:
        """Return a link to the round's bundle, which is public."""
        return format_html('<a href="{}">bundle</a>', reverse("bundle", kwargs={"round_id": round_.pk}))
