"""Django's entry for the tables app."""

from django.apps import AppConfig


class TablesConfig(AppConfig):
    """Tables, seats, rounds and their clocks."""

    name = "apps.tables"
    label = "tables"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell core what tables do when the service was away, and what the sweeper has to do."""
        from apps.core import backlog, heartbeat
        from apps.tables import sweeper

        heartbeat.on_gap(sweeper.outage_add)
        backlog.register(*(each.kind for each in sweeper.SWEEPS))
