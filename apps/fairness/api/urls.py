"""Routes of fairness, under /v1/."""

from __future__ import annotations

from uuid import UUID

from django.urls import path, register_converter

from apps.fairness.api import views


class FairRoundConverter:
    """A round of the protocol in an address: 32 hex digits, lowercase."""

    regex = "[0-9a-f]{32}"

    def to_python(self, value: str) -> UUID:
        """Return the round's id."""
        return UUID(hex=value)

    def to_url(self, value: UUID) -> str:
        """Return the id as it stands in an address."""
        return value.hex


register_converter(FairRoundConverter, "fair_round")

urlpatterns = [
    path("fairness/keys", views.KeysView.as_view(), name="fairness-keys"),
    path("fairness/trust", views.TrustView.as_view(), name="fairness-trust"),
    path("fairness/trust.json", views.TrustFileView.as_view(), name="fairness-trust-file"),
    path("fairness/sealdeck-verify.pyz", views.VerifierView.as_view(), name="fairness-verifier"),
    path("fairness/sealdeck-verify.pyz.sha256", views.VerifierDigestView.as_view(), name="fairness-verifier-digest"),
    path("fairness/checkpoint", views.CheckpointView.as_view(), name="fairness-checkpoint"),
    path("fairness/tile/<path:tile>", views.TileView.as_view(), name="fairness-tile"),
    path("fairness/proofs/inclusion", views.InclusionView.as_view(), name="fairness-inclusion"),
    path("fairness/proofs/consistency", views.ConsistencyView.as_view(), name="fairness-consistency"),
    path("fairness/rounds/<fair_round:round_id>", views.RoundView.as_view(), name="fairness-round"),
    path("fairness/statistics", views.StatisticsView.as_view(), name="fairness-statistics"),
]
