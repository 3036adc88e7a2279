"""Django's registration of the accounts app."""

from importlib import import_module

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Operators and players."""

    name = "apps.accounts"
    label = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make the API document know the credentials, and tell core which nonces may be forgotten."""
        from apps.accounts.models import RequestNonce
        from apps.accounts.signatures import NONCE_KEPT_MS
        from apps.core import backlog

        import_module("apps.accounts.api.schema")
        backlog.register(
            backlog.Kind("nonces", RequestNonce.objects.all, "seen_at_ms", alarm_ms=3_600_000, wait_ms=NONCE_KEPT_MS)
        )
