"""Django's registration of the wallets app."""

from django.apps import AppConfig


class WalletsConfig(AppConfig):
    """The ledger."""

    name = "apps.wallets"
    label = "wallets"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the system checks, and tell core which holds are due."""
        from apps.core import backlog
        from apps.wallets import checks  # noqa: F401
        from apps.wallets.models import Hold, HoldState

        backlog.register(
            backlog.Kind("holds", lambda: Hold.objects.filter(state=HoldState.ACTIVE), "expires_at_ms", alarm_ms=60_000)
        )
