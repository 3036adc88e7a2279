"""Shapes of requests and answers about money."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.accounts.api.fields import StrictSerializer, StrictTextField, StrictUuidField
from apps.wallets.errors import AmountInvalid
from apps.wallets.values import AMOUNT_MINOR_MAX

CURRENCY = r"^[A-Z][A-Z0-9]{2,7}\Z"
EXTERNAL_ID = r"^[A-Za-z0-9][A-Za-z0-9._:~-]{0,127}\Z"


class AmountField(serializers.IntegerField):
    """A JSON integer of minor units; text, booleans, fractions and exponents are not amounts."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=AMOUNT_MINOR_MAX, **options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Return the amount as it is.

        Raises:
            AmountInvalid: with a pointer to the field.
        """
        if data is serializers.empty:
            return super().run_validation(data)
        if type(data) is not int or not 1 <= data <= AMOUNT_MINOR_MAX:
            raise AmountInvalid(pointer=f"/{self.field_name}")
        return data


class TransferRequestSerializer(StrictSerializer):
    """The body of POST /v1/wallet/credits and /v1/wallet/debits."""

    player_id = StrictUuidField()
    currency = StrictTextField(CURRENCY, help_text="Code of the currency.")
    amount_minor = AmountField(help_text="Integer of minor units.")
    external_id = StrictTextField(
        EXTERNAL_ID, help_text="Your own id of this transaction, of all your credits and debits. Decides for ever."
    )


class TransferSerializer(serializers.Serializer[Any]):
    """A credit or a debit."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=["credit", "debit"])
    external_id = serializers.CharField()
    player_id = serializers.UUIDField()
    currency = serializers.CharField()
    amount_minor = serializers.IntegerField(min_value=1)
    balance_after_minor = serializers.IntegerField(help_text="The player's balance right after this transaction.")
    created_at_ms = serializers.IntegerField()


class LineSerializer(serializers.Serializer[Any]):
    """One line of a transaction; the lines add up to zero."""

    account = serializers.ChoiceField(
        choices=["player", "escrow", "rake", "funding", "suspense", "adjustment", "promo"]
    )
    player_id = serializers.UUIDField(allow_null=True)
    amount_minor = serializers.IntegerField()
    balance_after_minor = serializers.IntegerField(allow_null=True)


class MovementSerializer(serializers.Serializer[Any]):
    """A transaction of the ledger."""

    id = serializers.UUIDField()
    kind = serializers.CharField(help_text="credit, debit, buy_in, settle, void, ...; more may come.")
    external_id = serializers.CharField()
    round_id = serializers.UUIDField(allow_null=True)
    reverses_id = serializers.UUIDField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    currency = serializers.CharField()
    created_at_ms = serializers.IntegerField()
    lines = LineSerializer(many=True)


class PageSerializer(serializers.Serializer[Any]):
    """A part of the list of transactions, oldest first."""

    items = MovementSerializer(many=True)
    next_cursor = serializers.CharField(
        allow_blank=True, help_text="Goes on after this part. At the end, keep it and ask again later."
    )
    has_more = serializers.BooleanField()


class BalanceSerializer(serializers.Serializer[Any]):
    """What a player has, and how much of it is held."""

    player_id = serializers.UUIDField()
    currency = serializers.CharField()
    posted_minor = serializers.IntegerField()
    held_minor = serializers.IntegerField()
    available_minor = serializers.IntegerField(help_text="posted less held")


class ListQuerySerializer(serializers.Serializer[Any]):
    """The query of GET /v1/wallet/transactions."""

    cursor = serializers.CharField(required=False, default="", allow_blank=True, max_length=64)
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=200)
    player_id = serializers.UUIDField(required=False, default=None)


class BalanceQuerySerializer(serializers.Serializer[Any]):
    """The query of GET /v1/players/{player_id}/balance."""

    currency = serializers.RegexField(CURRENCY)


class DailyQuerySerializer(serializers.Serializer[Any]):
    """The query of GET /v1/reports/daily/{day}."""

    currency = serializers.RegexField(CURRENCY)


class BlocksQuerySerializer(serializers.Serializer[Any]):
    """The query of GET /v1/ledger/blocks."""

    after = serializers.IntegerField(required=False, default=-1, min_value=-1, max_value=2**63 - 1)
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=200)


class HexField(serializers.CharField):
    """Bytes, shown as hex."""

    def to_representation(self, value: Any) -> str:
        """Return the hex."""
        return bytes(value).hex()


class BlockSerializer(serializers.Serializer[Any]):
    """The head of a sealed block."""

    seq = serializers.IntegerField()
    form = serializers.IntegerField(help_text="Version of the canonical form.")
    first_entry = serializers.IntegerField()
    last_entry = serializers.IntegerField()
    entries = serializers.IntegerField(source="n")
    sums = serializers.DictField(child=serializers.IntegerField(), help_text="What moved, by currency.")
    prev_hash = HexField()
    hash = HexField()
    kid = serializers.CharField(source="kid_id")
    signature = HexField()
    sealed_at_ms = serializers.IntegerField()


class LedgerKeySerializer(serializers.Serializer[Any]):
    """A public key of the ledger, Ed25519."""

    kid = serializers.CharField()
    public_key = HexField()
    created_at_ms = serializers.IntegerField()
