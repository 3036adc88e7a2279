"""Routes of the tables, under /v1/."""

from uuid import UUID

from django.urls import path, register_converter

from apps.tables.api import evidence, games, hands, moves, sandbox, views


class RoundIdConverter:
    """A round of the protocol in an address: 32 hex digits, lowercase."""

    regex = "[0-9a-f]{32}"

    def to_python(self, value: str) -> UUID:
        """Return the round's id."""
        return UUID(hex=value)

    def to_url(self, value: UUID) -> str:
        """Return the id as it stands in an address."""
        return value.hex


register_converter(RoundIdConverter, "round")

urlpatterns = [
    # First: addresses are tried in order, and this is the one that is asked for most.
    path("rounds/<round:round_id>/actions", moves.ActionsView.as_view(), name="actions"),
    path("tables", views.TablesView.as_view(), name="tables"),
    path("tables/<uuid:table_id>", views.TableView.as_view(), name="table"),
    path("tables/<uuid:table_id>/seats", views.SeatsView.as_view(), name="seats"),
    path("tables/<uuid:table_id>/seats/me", views.MySeatView.as_view(), name="my-seat"),
    path("tables/<uuid:table_id>/ready", views.ReadyView.as_view(), name="ready"),
    path("tables/<uuid:table_id>/auto-ready", views.AutoReadyView.as_view(), name="auto-ready"),
    path("tables/<uuid:table_id>/opening", views.OpeningView.as_view(), name="opening"),
    path("tables/<uuid:table_id>/sit-out", views.AwayView.as_view(away=True), name="sit-out"),
    path("tables/<uuid:table_id>/come-back", views.AwayView.as_view(away=False), name="come-back"),
    path("tables/<uuid:table_id>/stream", views.FollowView.as_view(route="stream"), name="stream"),
    path("tables/<uuid:table_id>/events", views.FollowView.as_view(route="events"), name="events"),
    path("rounds", hands.HandsView.as_view(), name="rounds"),
    path("rounds.jsonl", hands.HandsExportView.as_view(), name="rounds-jsonl"),
    path("rounds.txt", hands.HandsTextExportView.as_view(), name="rounds-txt"),
    path("rounds/<round:round_id>", views.RoundView.as_view(), name="round"),
    path("rounds/<round:round_id>/leave", views.LeaveView.as_view(), name="leave"),
    path("rounds/<round:round_id>/openings", views.RoundOpeningsView.as_view(), name="openings"),
    path("rounds/<round:round_id>/history", hands.HandView.as_view(), name="history"),
    path("rounds/<round:round_id>/history.txt", hands.HandTextView.as_view(), name="history-text"),
    path("rounds/<round:round_id>/proof", evidence.ProofView.as_view(), name="proof"),
    path("fairness/rounds/<round:round_id>/bundle", evidence.BundleView.as_view(), name="bundle"),
    path("fairness/tables/<uuid:table_id>/bundles", evidence.BundlesView.as_view(), name="bundles"),
    path("sandbox/tables/<uuid:table_id>/clock", sandbox.ClockView.as_view(), name="sandbox-clock"),
    path("games", games.GamesView.as_view(), name="games"),
    path("games/<slug:slug>", games.GameView.as_view(), name="game"),
]
