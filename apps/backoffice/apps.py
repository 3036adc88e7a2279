"""Django's entry for the back office."""

from django.apps import AppConfig


class BackofficeConfig(AppConfig):
    """Names the admin site."""

    name = "apps.backoffice"
    label = "backoffice"

    def ready(self) -> None:
        """Say whose site it is, and what it is for."""
        from django.contrib import admin

        admin.site.site_header = "Sealdeck back office"
        admin.site.site_title = "Sealdeck"
        admin.site.index_title = "To look at; what may be done has its own button, and no live card is shown"
