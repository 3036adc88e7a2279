"""Routes of accounts, under /v1/."""

from django.urls import path

from apps.accounts.api import limits, views

urlpatterns = [
    path("players", views.PlayersView.as_view(), name="players"),
    path("players/<uuid:player_id>", views.PlayerView.as_view(), name="player"),
    path("players/<uuid:player_id>/limits", limits.LimitsView.as_view(), name="player-limits"),
    path("players/<uuid:player_id>/exclusion", limits.ExclusionView.as_view(), name="player-exclusion"),
    path("sessions", views.SessionsView.as_view(), name="sessions"),
    path("sessions/<uuid:session_id>", views.SessionView.as_view(), name="session"),
    path("keys", views.KeysView.as_view(), name="keys"),
    path("keys/<uuid:key_id>", views.KeyView.as_view(), name="key"),
    path("answer-keys", views.AnswerKeysView.as_view(), name="answer-keys"),
]
