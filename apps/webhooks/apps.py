"""Django's registration of the webhooks app."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Outbox and deliveries."""

    name = "apps.webhooks"
    label = "webhooks"
    default_auto_field = "django.db.models.BigAutoField"
