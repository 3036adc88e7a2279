"""Serializer fields that take exactly one JSON type, and a serializer that refuses members it does not know.

Where Django REST framework turns ``7`` into ``"7"`` and ``"true"`` into true, these refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

TEXT_TYPE = "Must be a string."
BOOLEAN_TYPE = "Must be true or false."
INTEGER_TYPE = "Must be an integer."
UNKNOWN_MEMBER = "There is no such member."


class StrictTextField(serializers.RegexField):
    """A JSON string that matches a pattern as a whole."""

    def to_internal_value(self, data: Any) -> str:
        """Return the text as it is."""
        if not isinstance(data, str):
            raise serializers.ValidationError(TEXT_TYPE, code="wrong_type")
        return data

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Refuse the empty text by the pattern rather than by a rule of its own."""
        return super(serializers.CharField, self).run_validation(data)


class StrictBooleanField(serializers.BooleanField):
    """A JSON boolean."""

    def to_internal_value(self, data: Any) -> bool:
        """Return the boolean as it is."""
        if not isinstance(data, bool):
            raise serializers.ValidationError(BOOLEAN_TYPE, code="wrong_type")
        return data


class StrictIntegerField(serializers.IntegerField):
    """A JSON integer."""

    def to_internal_value(self, data: Any) -> int:
        """Return the integer as it is."""
        if isinstance(data, bool) or not isinstance(data, int):
            raise serializers.ValidationError(INTEGER_TYPE, code="wrong_type")
        return data


class StrictChoiceField(serializers.ChoiceField):
    """A JSON string out of a fixed set."""

    def to_internal_value(self, data: Any) -> str:
        """Return the text as it is."""
        if not isinstance(data, str):
            raise serializers.ValidationError(TEXT_TYPE, code="wrong_type")
        return str(super().to_internal_value(data))


class StrictUuidField(serializers.UUIDField):
    """A UUID written as text."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the UUID."""
        if not isinstance(data, str):
            raise serializers.ValidationError(TEXT_TYPE, code="wrong_type")
        return super().to_internal_value(data)


class StrictSerializer(serializers.Serializer[Any]):
    """A JSON object with no members but its own."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the validated members.

        Raises:
            ValidationError: naming every member that is unknown, or whatever is wrong with the known ones.
        """
        if isinstance(data, Mapping):
            unknown = sorted(set(data) - set(self.fields))
            if unknown:
                raise serializers.ValidationError({name: [UNKNOWN_MEMBER] for name in unknown}, code="unknown_member")
        return super().to_internal_value(data)
