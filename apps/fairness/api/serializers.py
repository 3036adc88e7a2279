"""Shapes of the public fairness API, for its schema and for the parameters it takes."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

INTEGER_MAX = 2**53 - 1


class EntrySerializer(serializers.Serializer[Any]):
    """A log entry as an object; its canonical JSON is the exact bytes of the log (protocol, section 2)."""

    body = serializers.DictField(help_text="The record's body, members as its type has them.")
    kid = serializers.CharField(help_text="Id of the key that signed.")
    sig = serializers.CharField(help_text="Ed25519 signature, hex.")
    type = serializers.ChoiceField(choices=["open", "close", "deck", "reveal", "void", "key"])


class KeyEntrySerializer(serializers.Serializer[Any]):
    """A key entry and its place in the log."""

    index = serializers.IntegerField()
    record = EntrySerializer()


class KeysSerializer(serializers.Serializer[Any]):
    """All keys the log announced."""

    origin = serializers.CharField(help_text="Name of the log.")
    keys = KeyEntrySerializer(many=True)


class TrustFileSerializer(serializers.Serializer[Any]):
    """What a verifier believes (protocol, section 11)."""

    log = serializers.CharField(help_text="Verifier key of the log.")
    # DRF takes declared fields off the class, so that its own property of this name stays.
    root = serializers.CharField(help_text="Root key, hex.")  # type: ignore[assignment]
    witnesses = serializers.ListField(child=serializers.CharField(), help_text="Verifier keys of the witnesses.")
    quorum = serializers.IntegerField(help_text="How many of them must have cosigned.")


class TrustSerializer(serializers.Serializer[Any]):
    """The trust file of this server, and why not to take it from here alone."""

    trust = TrustFileSerializer()
    warning = serializers.CharField()


class RoundRecordSerializer(serializers.Serializer[Any]):
    """One record of a round."""

    record = EntrySerializer()
    hash = serializers.CharField(help_text="Record hash, hex.")
    index = serializers.IntegerField(allow_null=True, help_text="Place in the log; null until it is merged.")
    signed_ms = serializers.IntegerField()
    merged_ms = serializers.IntegerField(allow_null=True)


class RoundRecordsSerializer(serializers.Serializer[Any]):
    """The records of a round so far."""

    round = serializers.CharField()
    records = RoundRecordSerializer(many=True)


class InclusionSerializer(serializers.Serializer[Any]):
    """An inclusion proof (RFC 9162)."""

    index = serializers.IntegerField()
    size = serializers.IntegerField()
    leaf = serializers.CharField(help_text="Leaf hash, hex.")
    root = serializers.CharField(help_text="Root of the tree of this size, hex.")  # type: ignore[assignment]
    path = serializers.ListField(child=serializers.CharField())


class ConsistencySerializer(serializers.Serializer[Any]):
    """A consistency proof (RFC 9162)."""

    to = serializers.IntegerField()
    path = serializers.ListField(child=serializers.CharField())

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add the member whose name is a word of the language."""
        return {"from": serializers.IntegerField(), **super().get_fields()}


class StatisticSerializer(serializers.Serializer[Any]):
    """How many rounds of one game and mode ended one way."""

    game = serializers.CharField()
    entropy = serializers.ChoiceField(choices=["none", "open", "sealed"])
    ending = serializers.ChoiceField(choices=["reveal", "void"])
    stage = serializers.ChoiceField(choices=["open", "close", "deck"], help_text="Last record before the end.")
    reason = serializers.CharField(allow_blank=True, help_text="Reason of a void.")
    fault = serializers.CharField(allow_blank=True, help_text="none, operator or seat, for a void.")
    rounds = serializers.IntegerField()
    share_ppm = serializers.IntegerField(help_text="Of all rounds of this game and mode, in millionths.")
    delay_mean_ms = serializers.IntegerField(help_text="From signing the last record to its checkpoint, mean.")
    delay_max_ms = serializers.IntegerField()
    late = serializers.IntegerField(help_text="Rounds for which that took longer than a second.")


class StatisticsSerializer(serializers.Serializer[Any]):
    """How rounds ended."""

    since = serializers.DateField(allow_null=True)
    endings = StatisticSerializer(many=True)


def _natural(help_text: str, *, required: bool) -> serializers.IntegerField:
    return serializers.IntegerField(min_value=0, max_value=INTEGER_MAX, required=required, help_text=help_text)


class InclusionQuery(serializers.Serializer[Any]):
    """Parameters of an inclusion proof."""

    index = _natural("Place of the entry in the log.", required=True)
    size = _natural("Size of the tree; the newest published one where it is left out.", required=False)


class ConsistencyQuery(serializers.Serializer[Any]):
    """Parameters of a consistency proof."""

    to = _natural("The larger size; the newest published one where it is left out.", required=False)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add the parameter whose name is a word of the language."""
        return {"from": _natural("The smaller size.", required=True), **super().get_fields()}


class StatisticsQuery(serializers.Serializer[Any]):
    """Parameters of the statistics."""

    since = serializers.DateField(required=False, help_text="First day counted, UTC.")
