"""Tables, seats and rounds in the admin; no snapshot and no contribution is on any page."""

from __future__ import annotations

import contextlib
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from apps.core.admin import LookOnly, moment
from apps.tables import hand_text, hands
from apps.tables.hands import Reader
from apps.tables.models import Round, RoundSeat, Seat, Table

FOUND_MAX = 500
"""Rounds that a search finds of a player or a table, the newest."""


@admin.register(Table)
class TableAdmin(LookOnly):
    """Tables."""

    fields = (
        *("id", "name", "operator", "game", "rules", "options", "currency", "buy_in_minor", "fee_bp", "entropy"),
        *("seats_min", "seats_max", "start_after_ms", "pause_ms", "status", "next_index", "last_opener", "round"),
        *("spectators_allowed", "spectator_delay_ms", "bots_allowed", "is_private", "auto_ready_rounds", "created_at"),
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
        *("rounds_missed", "stands_up", "auto_ready_left", "sat_at_ms", "seen_until_ms"),
    )
    list_display = ("table", "number", "player", "is_ready", "is_away", "connected", "timeouts_row")
    list_select_related = ("table", "player")
    search_fields = ("player__external_id", "table__name")


@admin.register(Round)
class RoundAdmin(LookOnly):
    """Rounds: where each stands, who left why, what was paid, and the way to its public evidence."""

    fields = (
        *("id", "table", "operator", "index", "game", "rules", "numbers", "opener", "match_id", "status", "seq"),
        *("desk", "outcome", "pot_minor", "fee_minor", "offset_ms", "opened_ms", "dealt_ms", "ended_ms", "history"),
    )
    list_display = ("id", "table", "index", "status", "seq", "pot_minor", "fee_minor", "dealt", "ended", "evidence")
    list_filter = ("status", "game")
    list_select_related = ("table",)
    search_fields = ("id",)
    search_help_text = "The id of a round, a table or a player, the operator's own id of a player, or a table's name."
    ordering = ("-opened_ms",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Round], search_term: str
    ) -> tuple[QuerySet[Round], bool]:
        """Find the newest rounds by what a player can name, ids with or without hyphens; by indexes, not patterns."""
        term = search_term.strip()
        if not term:
            return queryset, False
        of_player, of_table = Q(player__external_id=term), Q(table__name=term)
        with contextlib.suppress(ValueError):
            named = UUID(term)
            of_player, of_table = of_player | Q(player_id=named), of_table | Q(pk=named) | Q(table_id=named)
        played = RoundSeat.objects.filter(of_player).order_by("-xid").values_list("round_id", flat=True)
        others = Round.objects.filter(of_table).order_by("-xid").values_list("pk", flat=True)
        return queryset.filter(pk__in={*played[:FOUND_MAX], *others[:FOUND_MAX]}), False

    @admin.display(description="history")
    def history(self, round_: Round) -> str:
        """Return the round as its operator reads it: while it runs without any hidden card."""
        told = hands.hand(reader=Reader(round_.operator_id), round_id=round_.pk)
        return format_html("<pre>{}</pre>", hand_text.text(told))

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
