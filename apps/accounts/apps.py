"""Django's registration of the accounts app."""

from importlib import import_module

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Operators and players."""

    name = "apps.accounts"
    label = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make the API document know the credentials."""
        import_module("apps.accounts.api.schema")
