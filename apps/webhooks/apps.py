"""Django's registration of the webhooks app."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Outbox and deliveries."""

    name = "apps.webhooks"
    label = "webhooks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell core which deliveries are due."""
        from apps.core import backlog
        from apps.webhooks.models import Delivery, DeliveryState, EndpointState

        backlog.register(
            backlog.Kind(
                "webhooks",
                lambda: Delivery.objects.filter(state=DeliveryState.DUE, endpoint__state=EndpointState.ACTIVE),
                "next_try_at_ms",
                alarm_ms=300_000,
            )
        )
