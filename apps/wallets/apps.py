"""Django's registration of the wallets app."""

from django.apps import AppConfig


class WalletsConfig(AppConfig):
    """The ledger."""

    name = "apps.wallets"
    label = "wallets"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the system checks."""
        from apps.wallets import checks  # noqa: F401
