"""Shapes of requests and answers about tables, seats and rounds."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.accounts.api.fields import (
    StrictBooleanField,
    StrictChoiceField,
    StrictIntegerField,
    StrictSerializer,
    StrictTextField,
)
from apps.games import registry

ROUND_ID = r"^[0-9a-f]{32}\Z"
HEX_32 = r"^([0-9a-f]{64})?\Z"
HEX_64 = r"^([0-9a-f]{128})?\Z"
CODE = r"^[A-Za-z0-9_-]{0,16}\Z"
CURRENCY = r"^[A-Z][A-Z0-9]{2,7}\Z"
NAME = r"^[^\x00-\x1f]{0,80}\Z"

MINOR_MAX = 2**53 - 1
SEQ_MAX = 2**31 - 1


class TableCreateSerializer(StrictSerializer):
    """The body of POST /v1/tables."""

    game = StrictTextField(r"^[a-z0-9_-]{1,32}\Z", help_text=f"One of {', '.join(registry.slugs())}.")
    name = StrictTextField(NAME, default="")
    options = serializers.DictField(default=dict, help_text="Options of the game; missing ones take their defaults.")
    currency = StrictTextField(CURRENCY)
    buy_in_minor = StrictIntegerField(min_value=0, max_value=MINOR_MAX, help_text="Stake per round, minor units.")
    fee_bp = StrictIntegerField(min_value=0, max_value=10_000, default=500, help_text="Fee on the pot, basis points.")
    seats_min = StrictIntegerField(min_value=2, max_value=255, required=False)
    seats_max = StrictIntegerField(min_value=2, max_value=255, required=False)
    entropy = StrictChoiceField(choices=["none", "open", "sealed"], default="open")
    beacon_margin = StrictIntegerField(min_value=1, max_value=1000, required=False)
    start_after_ms = StrictIntegerField(min_value=0, max_value=600_000, default=10_000)
    pause_ms = StrictIntegerField(min_value=0, max_value=600_000, default=3_000)
    code = StrictTextField(CODE, default="", help_text="Makes the table private.")
    random_seating = StrictBooleanField(default=False)
    spectators_allowed = StrictBooleanField(default=True)
    spectator_delay_ms = StrictIntegerField(min_value=0, max_value=3_600_000, default=0)
    bots_allowed = StrictBooleanField(default=False)
    auto_ready_rounds = StrictIntegerField(
        min_value=0,
        max_value=100,
        default=0,
        help_text="For how many rounds in a row a player may ask in advance to be made ready; 0 is never.",
    )


class TableStatusSerializer(StrictSerializer):
    """The body of PATCH /v1/tables/{id}."""

    status = StrictChoiceField(choices=["open", "paused", "draining", "closed"])


class LobbyQuerySerializer(StrictSerializer):
    """The query of GET /v1/tables; a name that is no filter is refused."""

    game = serializers.RegexField(r"^[a-z0-9_-]{1,32}\Z", required=False, default=None)
    currency = serializers.RegexField(CURRENCY, required=False, default=None)
    entropy = serializers.ChoiceField(choices=["none", "open", "sealed"], required=False, default=None)
    status = serializers.ChoiceField(choices=["open", "paused", "draining"], required=False, default=None)
    bots_allowed = serializers.BooleanField(required=False, default=None, allow_null=True)
    has_free_seat = serializers.BooleanField(required=False, default=None, allow_null=True)
    buy_in_from_minor = serializers.IntegerField(min_value=0, max_value=MINOR_MAX, required=False, default=None)
    buy_in_to_minor = serializers.IntegerField(min_value=0, max_value=MINOR_MAX, required=False, default=None)
    code = serializers.RegexField(CODE, required=False, default="", help_text="Finds the private table with this code.")
    cursor = serializers.CharField(required=False, default="", max_length=128, help_text="`next` of the page before.")
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=200)


class AutoReadySerializer(StrictSerializer):
    """The body of POST /v1/tables/{id}/auto-ready."""

    rounds = StrictIntegerField(min_value=0, max_value=100, help_text="How many rounds from now on; 0 is no more.")


class SeatTakeSerializer(StrictSerializer):
    """The body of POST /v1/tables/{id}/seats."""

    seat = StrictIntegerField(
        min_value=0,
        max_value=254,
        required=False,
        allow_null=True,
        default=None,
        help_text="Leave out to be given one.",
    )
    code = StrictTextField(CODE, default="")


class CheckpointSerializer(StrictSerializer):
    """The checkpoint a client saw when it contributed."""

    size = StrictIntegerField(min_value=1, max_value=MINOR_MAX)
    root = StrictTextField(r"^[0-9a-f]{64}\Z")  # type: ignore[assignment]  # hides nothing: a declared field


class ReadySerializer(StrictSerializer):
    """The body of POST /v1/tables/{id}/ready: a contribution as docs/fairness/protocol.md, section 3, signs it."""

    round_id = StrictTextField(ROUND_ID)
    entropy = StrictTextField(HEX_32, default="", help_text="32 bytes of your own, hex (mode open).")
    commit = StrictTextField(HEX_32, default="", help_text="Commitment to 32 bytes of your own, hex (mode sealed).")
    pk = StrictTextField(HEX_32, default="", help_text="Your Ed25519 key for this sitting, hex; '' for none.")
    cp = CheckpointSerializer(required=False, allow_null=True, default=None)
    sig = StrictTextField(HEX_64, default="")


class OpeningSerializer(StrictSerializer):
    """The body of POST /v1/tables/{id}/opening (mode sealed)."""

    round_id = StrictTextField(ROUND_ID)
    entropy = StrictTextField(r"^[0-9a-f]{64}\Z")
    cp = CheckpointSerializer(required=False, allow_null=True, default=None)
    sig = StrictTextField(HEX_64, default="")


class ActionSerializer(StrictSerializer):
    """The body of POST /v1/rounds/{id}/actions."""

    action = serializers.DictField(help_text='`{"type": ...}`, by the grammar of the game.')
    seen = StrictIntegerField(min_value=-1, max_value=SEQ_MAX, help_text="seq of the last entry you saw.")


class SeatSerializer(serializers.Serializer[Any]):
    """One seat of a table; the player's ids are shown to the operator only."""

    seat = serializers.IntegerField()
    ready = serializers.BooleanField()
    away = serializers.BooleanField()
    connected = serializers.BooleanField()
    in_match = serializers.BooleanField()
    leaving = serializers.BooleanField()
    player_id = serializers.UUIDField(required=False)
    external_id = serializers.CharField(required=False)
    is_bot = serializers.BooleanField(required=False)


class RoundSummarySerializer(serializers.Serializer[Any]):
    """Where a round stands."""

    id = serializers.CharField()
    index = serializers.IntegerField()
    match_id = serializers.CharField()
    status = serializers.ChoiceField(choices=["open", "closing", "running", "finished", "void"])
    seq = serializers.IntegerField(help_text="Number of the last transcript entry; -1 before the deal.")
    seats = serializers.ListField(child=serializers.IntegerField())
    opener = serializers.IntegerField(allow_null=True)
    takes_contributions = serializers.BooleanField(help_text="True once the commitment is in a published checkpoint.")
    checkpoint = serializers.DictField(allow_null=True)
    beacon_round = serializers.IntegerField(allow_null=True)
    opened_ms = serializers.IntegerField()
    dealt_ms = serializers.IntegerField(allow_null=True)
    ended_ms = serializers.IntegerField(allow_null=True)
    pot_minor = serializers.IntegerField()
    fee_minor = serializers.IntegerField()
    outcome = serializers.DictField(allow_null=True)


class TableSerializer(serializers.Serializer[Any]):
    """A table as it is now."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    game = serializers.CharField()
    rules = serializers.CharField()
    options = serializers.DictField()
    currency = serializers.CharField()
    buy_in_minor = serializers.IntegerField()
    fee_bp = serializers.IntegerField()
    seats_min = serializers.IntegerField()
    seats_max = serializers.IntegerField()
    entropy = serializers.ChoiceField(choices=["none", "open", "sealed"])
    beacon_margin = serializers.IntegerField(allow_null=True)
    start_after_ms = serializers.IntegerField()
    pause_ms = serializers.IntegerField()
    is_private = serializers.BooleanField()
    random_seating = serializers.BooleanField()
    bots_allowed = serializers.BooleanField()
    auto_ready_rounds = serializers.IntegerField()
    spectators_allowed = serializers.BooleanField()
    spectator_delay_ms = serializers.IntegerField()
    status = serializers.ChoiceField(choices=["open", "paused", "draining", "closed", "retired"])
    version = serializers.IntegerField()
    start_at_ms = serializers.IntegerField(allow_null=True)
    not_before_ms = serializers.IntegerField()
    seats_taken = serializers.IntegerField()
    seats_ready = serializers.IntegerField()
    seats = SeatSerializer(many=True)
    your_seat = serializers.IntegerField(allow_null=True)
    your_auto_ready_rounds = serializers.IntegerField(help_text="For how many more rounds you are made ready.")
    round = RoundSummarySerializer(allow_null=True)
    code = serializers.CharField(required=False)


class TablePageSerializer(serializers.Serializer[Any]):
    """A page of tables."""

    tables = TableSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Cursor of the next page; null on the last.")


class RoundViewSerializer(RoundSummarySerializer):
    """A round as one viewer may see it."""

    your_seat = serializers.IntegerField(allow_null=True)
    view = serializers.DictField(allow_null=True, help_text="By the game's page; times in it are engine time.")
    legal = serializers.ListField(child=serializers.DictField(), help_text="What you may do now, in order.")
    head = serializers.CharField(help_text="Head of the transcript chain after entry `seq`.")
    clock_offset_ms = serializers.IntegerField(
        help_text="Add to engine times to get the server's clock; grows when the service was away."
    )


class EntryMessageSerializer(serializers.Serializer[Any]):
    """A transcript entry with what belongs to its reader."""

    type = serializers.CharField()
    round_id = serializers.CharField()
    index = serializers.IntegerField()
    seq = serializers.IntegerField()
    entry = serializers.DictField()
    head = serializers.CharField()
    openings = serializers.ListField(child=serializers.DictField())


class MovedSerializer(EntryMessageSerializer):
    """The answer to an action: its entry, and your view after it."""

    view = serializers.DictField()


class LeftSerializer(serializers.Serializer[Any]):
    """The answer to leaving or standing up."""

    seat_free = serializers.BooleanField(help_text="False while the seat waits for the end of the round.")


class OpeningsSerializer(serializers.Serializer[Any]):
    """Openings of the cards your view shows."""

    openings = serializers.ListField(child=serializers.DictField())
