"""Shapes of requests and answers about events and webhook endpoints."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.accounts.api.fields import StrictChoiceField, StrictIntegerField, StrictSerializer, StrictTextField
from apps.core.egress import URL_LENGTH_MAX
from apps.webhooks import signing
from apps.webhooks.models import Endpoint, EndpointState

TOPIC = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+\Z"
URL = rf"^https?://[!-~]{{1,{URL_LENGTH_MAX - 8}}}\Z"
TOPICS_MAX = 32
NUMBER_MAX = 2**53 - 1


class EndpointCreateSerializer(StrictSerializer):
    """The body of POST /v1/webhooks."""

    url = StrictTextField(URL, help_text="Public https address.")
    topics = serializers.ListField(
        child=StrictTextField(TOPIC), default=list, max_length=TOPICS_MAX, help_text="Empty: all topics."
    )


class EndpointStateSerializer(StrictSerializer):
    """The body of PATCH /v1/webhooks/{id}."""

    state = StrictChoiceField(choices=EndpointState.choices)


class EndpointSerializer(serializers.Serializer[Any]):
    """A webhook endpoint."""

    id = serializers.UUIDField()
    url = serializers.CharField()
    topics = serializers.ListField(child=serializers.CharField())
    state = serializers.ChoiceField(choices=EndpointState.choices)
    state_reason = serializers.CharField(allow_blank=True, help_text="gone, retries_exhausted, operator, or empty.")
    public_key = serializers.SerializerMethodField(help_text="Checks v1a signatures: whpk_ and base64.")
    created_at_ms = serializers.IntegerField()

    def get_public_key(self, endpoint: Endpoint) -> str:
        """Return the key that signs all deliveries."""
        return signing.public_key_text()


class NewEndpointSerializer(EndpointSerializer):
    """A webhook endpoint with its secret."""

    secret = serializers.SerializerMethodField(help_text="Checks v1 signatures: whsec_ and base64. Shown this once.")

    def get_secret(self, endpoint: Endpoint) -> str:
        """Return the present secret."""
        return signing.secret_text(endpoint.pk, endpoint.secret_version)


class ReplaySerializer(StrictSerializer):
    """The body of POST /v1/webhooks/{id}/replay."""

    after = StrictIntegerField(min_value=0, max_value=NUMBER_MAX, help_text="Number of the last event you have.")


class ReplayedSerializer(serializers.Serializer[Any]):
    """How much a replay sends."""

    events = serializers.IntegerField()


class DeliverySerializer(serializers.Serializer[Any]):
    """A delivery and how it went."""

    event_id = serializers.SerializerMethodField()
    seq = serializers.IntegerField(source="event.seq", allow_null=True)
    type = serializers.CharField(source="event.topic")
    state = serializers.ChoiceField(choices=["due", "delivered", "failed"])
    attempts = serializers.IntegerField()
    next_try_at_ms = serializers.IntegerField()
    last_status = serializers.IntegerField(allow_null=True)
    last_error = serializers.CharField(allow_blank=True)
    last_try_at_ms = serializers.IntegerField(allow_null=True)

    def get_event_id(self, delivery: Any) -> str:
        """Return the event's id as it stands in its body."""
        return f"evt_{delivery.event.public_id.hex}"


class EventsQuerySerializer(serializers.Serializer[Any]):
    """The query of GET /v1/events."""

    after = serializers.IntegerField(required=False, default=0, min_value=0, max_value=NUMBER_MAX)
    limit = serializers.IntegerField(required=False, default=100, min_value=1, max_value=200)


class EventSerializer(serializers.Serializer[Any]):
    """An event, as in the body of its deliveries."""

    id = serializers.CharField()
    type = serializers.CharField()
    seq = serializers.IntegerField()
    created_at_ms = serializers.IntegerField()
    data = serializers.DictField()  # type: ignore[assignment]  # DRF takes declared fields off the class.


class EventsSerializer(serializers.Serializer[Any]):
    """Events in the order of their numbers, without a gap."""

    items = EventSerializer(many=True)
    next_after = serializers.IntegerField(help_text="Ask again with this.")
