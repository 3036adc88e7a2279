"""Shapes of holds, corrections, alarms and currencies."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.accounts.api.fields import StrictIntegerField, StrictSerializer, StrictTextField, StrictUuidField
from apps.wallets.api.serializers import CURRENCY, AmountField
from apps.wallets.errors import AmountInvalid
from apps.wallets.models import ApprovalState, HoldState
from apps.wallets.values import AMOUNT_MINOR_MAX

PURPOSE = r"^[a-z][a-z0-9_]{0,31}\Z"
REASON = r"^[^\x00-\x1f]{1,200}\Z"
PAYOUTS_MAX = 255
"""As many seats as a table can have."""
TTL_MS_MIN = 1_000
TTL_MS_MAX = 30 * 24 * 3_600_000


class SignedAmountField(serializers.IntegerField):
    """A JSON integer of minor units, not zero."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=-AMOUNT_MINOR_MAX, max_value=AMOUNT_MINOR_MAX, **options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Return the amount as it is.

        Raises:
            AmountInvalid: with a pointer to the field.
        """
        if data is serializers.empty:
            return super().run_validation(data)
        if type(data) is not int or not 1 <= abs(data) <= AMOUNT_MINOR_MAX:
            raise AmountInvalid(pointer=f"/{self.field_name}")
        return data


class HoldPlaceSerializer(StrictSerializer):
    """The body of POST /v1/wallet/holds."""

    player_id = StrictUuidField()
    currency = StrictTextField(CURRENCY)
    amount_minor = AmountField()
    purpose = StrictTextField(PURPOSE, help_text="What it is for, such as `withdrawal`.")
    reference = StrictUuidField(help_text="Your id of what it is for.")
    ttl_ms = StrictIntegerField(min_value=TTL_MS_MIN, max_value=TTL_MS_MAX, help_text="How long it may be captured.")


class HoldSerializer(serializers.Serializer[Any]):
    """A hold."""

    id = serializers.UUIDField()
    player_id = serializers.UUIDField()
    currency = serializers.CharField()
    amount_minor = serializers.IntegerField()
    purpose = serializers.CharField()
    reference = serializers.UUIDField()
    state = serializers.ChoiceField(choices=HoldState.values)
    expires_at_ms = serializers.IntegerField()
    transaction_id = serializers.UUIDField(allow_null=True, help_text="Of the capture.")


class ReversalRequestSerializer(StrictSerializer):
    """The body of POST /v1/corrections/reversals."""

    transaction_id = StrictUuidField(help_text="`id` of the transaction to reverse.")
    reason = StrictTextField(REASON)


class AdjustmentRequestSerializer(StrictSerializer):
    """The body of POST /v1/corrections/adjustments."""

    player_id = StrictUuidField()
    currency = StrictTextField(CURRENCY)
    amount_minor = SignedAmountField(help_text="Minor units; negative takes away.")
    reason = StrictTextField(REASON)


class PayoutSerializer(StrictSerializer):
    """What one player of a round gets anew."""

    player_id = StrictUuidField()
    amount_minor = AmountField()


class ResettlementRequestSerializer(StrictSerializer):
    """The body of POST /v1/corrections/resettlements."""

    round_id = StrictUuidField(help_text="The round; of a match, its first.")
    payouts = serializers.ListField(
        child=PayoutSerializer(), max_length=PAYOUTS_MAX, help_text="At most one for each player of the round."
    )
    fee_minor = StrictIntegerField(min_value=0, max_value=AMOUNT_MINOR_MAX, help_text="The fee, minor units.")
    reason = StrictTextField(REASON)


class CorrectionLineSerializer(serializers.Serializer[Any]):
    """One line that a correction would write; the lines add up to zero."""

    account = serializers.CharField()
    player_id = serializers.UUIDField(allow_null=True)
    amount_minor = serializers.IntegerField()


class CorrectionSerializer(serializers.Serializer[Any]):
    """A correction: what was asked for, and what became of it."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=["reverse", "adjust", "resettle"])
    state = serializers.ChoiceField(choices=ApprovalState.values)
    reason = serializers.CharField()
    reverses_id = serializers.UUIDField(allow_null=True)
    round_id = serializers.UUIDField(allow_null=True)
    transaction_id = serializers.UUIDField(allow_null=True)
    requested_at_ms = serializers.IntegerField()
    decided_at_ms = serializers.IntegerField(allow_null=True)
    lines = CorrectionLineSerializer(many=True)


class CorrectionPageSerializer(serializers.Serializer[Any]):
    """A part of the list of corrections, newest first."""

    items = CorrectionSerializer(many=True)
    next_cursor = serializers.CharField(allow_blank=True, help_text="Goes on after this part, to older ones.")
    has_more = serializers.BooleanField()


class CorrectionListQuerySerializer(serializers.Serializer[Any]):
    """The query of GET /v1/corrections."""

    cursor = serializers.CharField(required=False, default="", allow_blank=True, max_length=64)
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=200)


class AlarmSerializer(serializers.Serializer[Any]):
    """An open alarm."""

    code = serializers.CharField()
    detail = serializers.CharField()
    raised_at_ms = serializers.IntegerField()


class CurrencySerializer(serializers.Serializer[Any]):
    """A currency."""

    code = serializers.CharField()
    exponent = serializers.IntegerField(help_text="Decimal places of the minor unit; 0 for points.")
    is_money = serializers.BooleanField()
    min_buy_in_minor = serializers.IntegerField()
