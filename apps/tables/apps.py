"""Django's entry for the tables app."""

from django.apps import AppConfig


class TablesConfig(AppConfig):
    """Tables, seats, rounds and their clocks."""

    name = "apps.tables"
    label = "tables"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell core what tables do when the service was away, and how late their deadlines are."""
        from apps.core import health, heartbeat
        from apps.tables import sweeper

        heartbeat.on_gap(sweeper.outage_add)
        health.register("deadlines", sweeper.lateness_check)
