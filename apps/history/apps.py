"""Django's entry for the history app."""

from django.apps import AppConfig


class HistoryConfig(AppConfig):
    """Transcripts and audit bundles."""

    name = "apps.history"
    label = "history"
    default_auto_field = "django.db.models.BigAutoField"
