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
from apps.accounts.limits import LIMIT_KINDS
from apps.accounts.models import PlayerStatus
from apps.accounts.principals import SCOPES
from apps.accounts.selectors import TTL_S_MAX
from apps.accounts.services.sessions import TTL_S_MIN
from apps.accounts.signatures import Algorithm

EXTERNAL_ID = r"^[A-Za-z0-9._:~-]{1,128}\Z"
"""The operator's own id of a player or person: no ``@`` and no spaces, so that it holds no address and no name."""
CURRENCY = r"^[A-Z][A-Z0-9]{2,7}\Z"
PLAYER_STATUSES = ("active", "frozen", "excluded", "closed")
VALUE_MAX = 2**53 - 1
WISHES_MAX = 50
REASON = r"^[^\x00-\x1f\x7f]{0,200}\Z"
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
    status = serializers.ChoiceField(choices=PLAYER_STATUSES)
    is_test = serializers.BooleanField()
    is_bot = serializers.BooleanField()


class PlayerStatusSerializer(StrictSerializer):
    """The body of PATCH /v1/players/{id}."""

    status = StrictChoiceField(choices=PlayerStatus.choices)
    reason = StrictTextField(REASON, default="", help_text="For your own history; no personal data.")


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
    reality_check_minutes = serializers.IntegerField(
        allow_null=True, help_text="Remind the player of the time this often, counted from `sitting_at_ms`."
    )


class SigningSerializer(StrictSerializer):
    """How requests with a key are signed."""

    algorithm = StrictChoiceField(choices=[str(algorithm) for algorithm in Algorithm])
    public_key = StrictTextField(
        r"^[A-Za-z0-9+/]{43}=\Z", required=False, help_text="Ed25519: the 32 bytes of your public key, in base64."
    )


class KeyCreateSerializer(StrictSerializer):
    """The body of POST /v1/keys."""

    # A member of the API; rest_framework's Field happens to have an attribute of this name.
    label = StrictTextField(  # type: ignore[assignment]
        LABEL, default="main", help_text="What the key is for; two of a label may live at a time."
    )
    scopes = serializers.ListField(child=StrictChoiceField(choices=SCOPES), min_length=1, max_length=len(SCOPES))
    addresses = serializers.ListField(
        child=serializers.CharField(max_length=43),
        default=list,
        max_length=ADDRESSES_MAX,
        help_text="Networks in CIDR form from which the key may be used; empty means from anywhere.",
    )
    signature = SigningSerializer(required=False, help_text="Left out: requests with the key are not signed.")

    def validate_addresses(self, value: list[str]) -> list[str]:
        """Refuse what is not a network."""
        for index, address in enumerate(value):
            try:
                ip_network(address)
            except ValueError:
                raise serializers.ValidationError({str(index): ["Must be a network in CIDR form."]}) from None
        return value


class KeySerializer(serializers.Serializer[Any]):
    """An API key without its secret."""

    id = serializers.UUIDField()
    label = serializers.CharField()  # type: ignore[assignment]  # As in KeyCreateSerializer.
    prefix = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES))
    addresses = serializers.ListField(child=serializers.CharField())
    signature_algorithm = serializers.CharField(source="signature_alg", help_text="Empty: requests are not signed.")
    created_at_ms = serializers.IntegerField()
    last_used_at_ms = serializers.IntegerField(allow_null=True)
    revoked_at_ms = serializers.IntegerField(allow_null=True)


class NewKeySerializer(KeySerializer):
    """An API key that was just made."""

    api_key = serializers.CharField(help_text="The key itself. Shown this once.")
    hmac_secret = serializers.CharField(
        allow_null=True,
        help_text="For signing with HMAC: the secret, 32 bytes in base64. Shown this once.",
    )


class AnswerKeySerializer(serializers.Serializer[Any]):
    """A key that signs the server's answers."""

    kid = serializers.CharField()
    algorithm = serializers.ChoiceField(choices=["ed25519"])
    public_key = serializers.CharField(help_text="32 bytes in base64.")


class LimitSerializer(serializers.Serializer[Any]):
    """A limit as it holds now, and what is coming."""

    kind = serializers.ChoiceField(choices=LIMIT_KINDS)
    currency = serializers.CharField(allow_null=True, help_text="Null for limits in minutes.")
    value = serializers.IntegerField(allow_null=True, help_text="Minor units or minutes; null is no limit.")
    is_loosening = serializers.BooleanField(help_text="Whether a change that was asked for is still waiting.")
    next_value = serializers.IntegerField(allow_null=True, help_text="The value that is waiting; null is no limit.")
    next_at_ms = serializers.IntegerField(allow_null=True, help_text="When it begins to hold.")


class LimitChangeSerializer(serializers.Serializer[Any]):
    """A change of a limit, as it was asked for."""

    kind = serializers.ChoiceField(choices=LIMIT_KINDS)
    currency = serializers.CharField(allow_null=True)
    value = serializers.IntegerField(allow_null=True)
    actor = serializers.CharField()
    created_at_ms = serializers.IntegerField()
    effective_at_ms = serializers.IntegerField()


class LimitsSerializer(serializers.Serializer[Any]):
    """The limits of a player, and how they came about."""

    limits = LimitSerializer(many=True)
    changes = LimitChangeSerializer(many=True, help_text="The newest changes, newest first.")


class LimitWishSerializer(StrictSerializer):
    """A limit as somebody wants it."""

    kind = StrictChoiceField(choices=LIMIT_KINDS)
    currency = StrictTextField(CURRENCY, required=False, help_text="For limits in a currency, and only for those.")
    value = StrictIntegerField(
        min_value=0, max_value=VALUE_MAX, allow_null=True, help_text="Minor units or minutes; null is no limit."
    )


class LimitsSetSerializer(StrictSerializer):
    """The body of PATCH /v1/players/{id}/limits."""

    limits = serializers.ListField(child=LimitWishSerializer(), min_length=1, max_length=WISHES_MAX)


class ExclusionCreateSerializer(StrictSerializer):
    """The body of POST /v1/players/{id}/exclusion."""

    until_ms = StrictIntegerField(
        min_value=1,
        max_value=VALUE_MAX,
        allow_null=True,
        help_text="Unix milliseconds, at least a day from now; null is for ever.",
    )


class ExclusionSerializer(serializers.Serializer[Any]):
    """Whether a player is excluded, by himself or as the same person under another account."""

    is_excluded = serializers.BooleanField()
    until_ms = serializers.IntegerField(allow_null=True, help_text="Null: for ever, or not excluded.")
