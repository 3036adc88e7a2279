"""Shapes of requests and answers about players, sessions and keys."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

from rest_framework import serializers

from apps.accounts.api.fields import (
    StrictBooleanField,
    StrictChoiceField,
    StrictIntegerField,
    StrictSerializer,
    StrictTextField,
    StrictUuidField,
)
from apps.accounts.models import PlayerStatus
from apps.accounts.principals import SCOPES
from apps.accounts.services.sessions import TTL_S_MAX, TTL_S_MIN

EXTERNAL_ID = r"^[A-Za-z0-9._:~-]{1,128}\Z"
"""The operator's own id of a player or person: no ``@`` and no spaces, so that it holds no address and no name."""
LABEL = r"^[a-z0-9_-]{1,32}\Z"
ADDRESSES_MAX = 32


class PlayerUpsertSerializer(StrictSerializer):
    """The body of POST /v1/players."""

    external_id = StrictTextField(EXTERNAL_ID, help_text="Your own id of the player.")
    is_test = StrictBooleanField(required=False, help_text="Never plays with real money. Fixed on creation.")
    is_bot = StrictBooleanField(required=False, help_text="A program plays. Fixed on creation.")
    person_key = StrictTextField(
        EXTERNAL_ID,
        required=False,
        help_text="Your opaque mark of one human: two players with the same mark never sit at one table, and an "
        "exclusion of one holds for the other. May be added later, never changed.",
    )


class PlayerSerializer(serializers.Serializer[Any]):
    """A player."""

    id = serializers.UUIDField()
    external_id = serializers.CharField()
    status = serializers.ChoiceField(choices=["active", "frozen", "excluded", "closed"])
    is_test = serializers.BooleanField()
    is_bot = serializers.BooleanField()


class PlayerStatusSerializer(StrictSerializer):
    """The body of PATCH /v1/players/{id}."""

    status = StrictChoiceField(choices=PlayerStatus.choices)


class SessionCreateSerializer(StrictSerializer):
    """The body of POST /v1/sessions."""

    player_id = StrictUuidField()
    ttl_s = StrictIntegerField(min_value=TTL_S_MIN, max_value=TTL_S_MAX, default=3600, help_text="Seconds to live.")


class SessionSerializer(serializers.Serializer[Any]):
    """A session that was just made."""

    id = serializers.UUIDField(source="session_id")
    player_id = serializers.UUIDField()
    token = serializers.CharField(help_text="Shown this once.")
    sitting_at_ms = serializers.IntegerField(help_text="When the player's unbroken sitting began.")
    expires_at_ms = serializers.IntegerField()


class KeyCreateSerializer(StrictSerializer):
    """The body of POST /v1/keys."""

    label = StrictTextField(LABEL, default="main", help_text="What the key is for; two of a label may live at a time.")
    scopes = serializers.ListField(child=StrictChoiceField(choices=SCOPES), min_length=1, max_length=len(SCOPES))
    addresses = serializers.ListField(
        child=serializers.CharField(max_length=43),
        default=list,
        max_length=ADDRESSES_MAX,
        help_text="Networks in CIDR form from which the key may be used; empty means from anywhere.",
    )

    def validate_addresses(self, value: list[str]) -> list[str]:
        """Refuse what is not a network."""
        for index, address in enumerate(value):
            try:
                ip_network(address)
            except ValueError:
                raise serializers.ValidationError({index: ["Must be a network in CIDR form."]}) from None
        return value


class KeySerializer(serializers.Serializer[Any]):
    """An API key without its secret."""

    id = serializers.UUIDField()
    label = serializers.CharField()
    prefix = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES))
    addresses = serializers.ListField(child=serializers.CharField())
    created_at_ms = serializers.IntegerField()
    last_used_at_ms = serializers.IntegerField(allow_null=True)
    revoked_at_ms = serializers.IntegerField(allow_null=True)


class NewKeySerializer(KeySerializer):
    """An API key that was just made."""

    api_key = serializers.CharField(help_text="The key itself. Shown this once.")
