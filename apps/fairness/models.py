"""Tables of the fairness application: rounds, records, generations, keys, the public log and its counters.

Implements the storage of docs/fairness/protocol.md, sections 2, 3, 6, 10 and 11.  What must never change is guarded by
the triggers, grants and size checks of migrations 0002 and 0003, not by this module.  No table here holds money or
personal data, and the columns that end in ``_sealed`` are ciphertext that no reading role may select.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

LOG_ROW_ID = 1
"""The log is one row: a database serves one log for ever."""


class Stage(models.TextChoices):
    """How far a round is: the type of its last record, or ended."""

    OPEN = "open"
    CLOSE = "close"
    DECK = "deck"
    ENDED = "ended"


class RecordType(models.TextChoices):
    """The record types of section 2."""

    OPEN = "open"
    CLOSE = "close"
    DECK = "deck"
    REVEAL = "reveal"
    VOID = "void"
    KEY = "key"


class Entropy(models.TextChoices):
    """Who contributes to the shuffle, section 3."""

    NONE = "none"
    OPEN = "open"
    SEALED = "sealed"


class KeyUse(models.TextChoices):
    """What a signing key may sign, section 2."""

    ROOT = "root"
    RECORDS = "records"
    LOG = "log"


class FairRound(models.Model):
    """One round as the fairness protocol sees it: its commitment, its sealed seed and the hashes of its records.

    Everything public is also in the records; the copies here are what the dealer needs in one read.
    """

    id = models.UUIDField(primary_key=True)
    table_id = models.UUIDField()
    index = models.BigIntegerField()
    game = models.CharField(max_length=32)
    entropy = models.CharField(max_length=6, choices=Entropy.choices)
    stage = models.CharField(max_length=5, choices=Stage.choices, default=Stage.OPEN)
    seed_commit = models.BinaryField()
    seed_sealed = models.BinaryField()
    open_hash = models.BinaryField()
    last_hash = models.BinaryField()
    """Hash of the newest record of the round."""
    close_hash = models.BinaryField(null=True)
    beacon_round = models.BigIntegerField(null=True)
    deck_hash = models.BinaryField(null=True)
    order_hash = models.BinaryField(null=True)
    opener = models.SmallIntegerField(null=True)
    opened_at_ms = models.BigIntegerField()
    closed_at_ms = models.BigIntegerField(null=True)
    dealt_at_ms = models.BigIntegerField(null=True)
    ended_at_ms = models.BigIntegerField(null=True)

    class Meta:
        db_table = "fairness_round"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table_id", "index"], name="fairness_round_index_once"),
            models.UniqueConstraint(
                fields=["table_id"], condition=~Q(stage=Stage.ENDED), name="fairness_round_one_running"
            ),
            models.CheckConstraint(condition=Q(index__gte=0, index__lt=2**32), name="fairness_round_index_u32"),
            models.CheckConstraint(condition=Q(stage__in=Stage.values), name="fairness_round_stage_known"),
            models.CheckConstraint(condition=Q(entropy__in=Entropy.values), name="fairness_round_entropy_known"),
            models.CheckConstraint(
                condition=(Q(stage=Stage.ENDED) & Q(ended_at_ms__isnull=False))
                | (~Q(stage=Stage.ENDED) & Q(ended_at_ms__isnull=True)),
                name="fairness_round_end_timed",
            ),
            models.CheckConstraint(
                condition=Q(deck_hash__isnull=True)
                | Q(
                    order_hash__isnull=False,
                    opener__isnull=False,
                    dealt_at_ms__isnull=False,
                ),
                name="fairness_round_deck_complete",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["beacon_round"], condition=Q(stage=Stage.CLOSE), name="fairness_round_beacon_wait"),
        ]

    def __str__(self) -> str:
        return f"round {self.id} (table {self.table_id}, index {self.index}, {self.stage})"


class Record(models.Model):
    """One signed record: the exact bytes of its log entry, and its place in the log once it is merged."""

    id = models.BigAutoField(primary_key=True)
    """Given at insert; the sequencer merges in this order (docs/fairness/operations.md, section Sequencer)."""
    round = models.ForeignKey(FairRound, null=True, on_delete=models.PROTECT, related_name="records", db_index=False)
    type = models.CharField(max_length=6, choices=RecordType.choices)
    place = models.SmallIntegerField()
    """Position among the records of the round, from 0; 0 for a key record."""
    kid = models.CharField(max_length=16)
    entry = models.BinaryField()
    record_hash = models.BinaryField(unique=True)
    leaf_hash = models.BinaryField()
    """RFC 6962 hash of the entry, taken from the bytes in memory before they were stored."""
    signed_at_ms = models.BigIntegerField()
    log_index = models.BigIntegerField(null=True, unique=True)
    merged_at_ms = models.BigIntegerField(null=True)

    class Meta:
        db_table = "fairness_record"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "type"], name="fairness_record_type_once"),
            models.UniqueConstraint(fields=["round", "place"], name="fairness_record_place_once"),
            models.UniqueConstraint(
                fields=["round"],
                condition=Q(type__in=[RecordType.REVEAL, RecordType.VOID]),
                name="fairness_record_one_terminal",
            ),
            models.CheckConstraint(condition=Q(type__in=RecordType.values), name="fairness_record_type_known"),
            models.CheckConstraint(
                condition=(Q(type=RecordType.KEY) & Q(round__isnull=True))
                | (~Q(type=RecordType.KEY) & Q(round__isnull=False)),
                name="fairness_record_key_or_round",
            ),
            models.CheckConstraint(condition=Q(place__gte=0, place__lte=3), name="fairness_record_place_range"),
            models.CheckConstraint(
                condition=Q(log_index__isnull=True, merged_at_ms__isnull=True)
                | Q(log_index__gte=0, merged_at_ms__isnull=False),
                name="fairness_record_merge_timed",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["id"], condition=Q(log_index__isnull=True), name="fairness_record_pending"),
            models.Index(fields=["log_index"], condition=Q(type=RecordType.KEY), name="fairness_record_keys"),
        ]

    def __str__(self) -> str:
        return f"{self.type} record {bytes(self.record_hash).hex()[:16]}"


class DeckOrder(models.Model):
    """A canonical order of cards, kept under its hash so that any old round can be rebuilt without the rules."""

    order_hash = models.BinaryField(primary_key=True)
    codes = models.JSONField()

    class Meta:
        db_table = "fairness_deck_order"

    def __str__(self) -> str:
        return f"order {bytes(self.order_hash).hex()[:16]}"


class Generation(models.Model):
    """A later re-ordering of a round's draw deck; its source is secret until the round ends, so it is sealed."""

    id = models.BigAutoField(primary_key=True)
    round = models.ForeignKey(FairRound, on_delete=models.PROTECT, related_name="generations", db_index=False)
    gen = models.IntegerField()
    stream = models.CharField(max_length=40)
    n = models.IntegerField()
    root = models.BinaryField()
    source_sealed = models.BinaryField()

    class Meta:
        db_table = "fairness_generation"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "gen"], name="fairness_generation_once"),
            models.UniqueConstraint(fields=["round", "stream"], name="fairness_generation_stream_once"),
            models.CheckConstraint(condition=Q(gen__gte=1, gen__lt=2**16), name="fairness_generation_gen_range"),
            models.CheckConstraint(condition=Q(n__gte=1, n__lt=2**16), name="fairness_generation_n_range"),
        ]

    def __str__(self) -> str:
        return f"generation {self.gen} of {self.round_id}"


class SigningKey(models.Model):
    """A signing key that the log announced; the secret half is sealed, and absent for a root key kept offline."""

    kid = models.CharField(max_length=16, primary_key=True)
    use = models.CharField(max_length=7, choices=KeyUse.choices)
    public_key = models.BinaryField(unique=True)
    secret_sealed = models.BinaryField(null=True)
    added = models.ForeignKey(Record, on_delete=models.PROTECT, related_name="+", db_index=False)
    revoked = models.ForeignKey(Record, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        db_table = "fairness_signing_key"
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(use__in=KeyUse.values), name="fairness_signing_key_use_known"),
        ]

    def __str__(self) -> str:
        return f"{self.use} key {self.kid}"


class Log(models.Model):
    """The public log's one row: its origin, the lease of its writer, and whether it was stopped."""

    id = models.SmallIntegerField(primary_key=True, default=LOG_ROW_ID)
    origin = models.CharField(max_length=128)
    size = models.BigIntegerField(default=0)
    """Number of merged entries; equal to the size of the newest checkpoint."""
    holder = models.CharField(max_length=64, default="")
    epoch = models.BigIntegerField(default=0)
    """Grows by one whenever another process takes over the writing."""
    seen_at_ms = models.BigIntegerField(default=0)
    stopped_reason = models.CharField(max_length=48, default="")
    stopped_detail = models.TextField(default="")
    stopped_at_ms = models.BigIntegerField(null=True)

    class Meta:
        db_table = "fairness_log"
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(id=LOG_ROW_ID), name="fairness_log_one_row"),
        ]

    def __str__(self) -> str:
        return f"log {self.origin}"


class Checkpoint(models.Model):
    """A signed tree head that was published; never changed, never smaller than one before."""

    size = models.BigIntegerField(primary_key=True)
    root = models.BinaryField()
    note = models.TextField()
    """The signed note without cosignatures."""
    signed_at_ms = models.BigIntegerField()

    class Meta:
        db_table = "fairness_checkpoint"
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(size__gte=1), name="fairness_checkpoint_not_empty"),
        ]

    def __str__(self) -> str:
        return f"checkpoint {self.size}"


class Cosignature(models.Model):
    """A witness's signature line under a checkpoint."""

    id = models.BigAutoField(primary_key=True)
    checkpoint = models.ForeignKey(
        Checkpoint, on_delete=models.PROTECT, related_name="cosignatures", db_index=False, db_column="size"
    )
    witness = models.CharField(max_length=160)
    """Name and key id, ``name+hex``."""
    at_s = models.BigIntegerField()
    """The witness's time, Unix seconds."""
    line = models.TextField()

    class Meta:
        db_table = "fairness_cosignature"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["checkpoint", "witness", "at_s"], name="fairness_cosignature_once"),
        ]

    def __str__(self) -> str:
        return f"cosignature of {self.witness}"


class Tile(models.Model):
    """A full tile of 256 hashes and the root over them, which is one hash of the tile level above."""

    id = models.BigAutoField(primary_key=True)
    level = models.SmallIntegerField()
    index = models.BigIntegerField()
    hashes = models.BinaryField()
    root = models.BinaryField()

    class Meta:
        db_table = "fairness_tile"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["level", "index"], name="fairness_tile_once"),
            models.CheckConstraint(condition=Q(level__gte=0, level__lte=7, index__gte=0), name="fairness_tile_range"),
        ]

    def __str__(self) -> str:
        return f"tile {self.level}/{self.index}"


class BeaconValue(models.Model):
    """A verified beacon signature that was fetched for some round."""

    id = models.BigAutoField(primary_key=True)
    chain = models.BinaryField()
    beacon_round = models.BigIntegerField()
    signature = models.BinaryField()
    received_at_ms = models.BigIntegerField()

    class Meta:
        db_table = "fairness_beacon_value"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["chain", "beacon_round"], name="fairness_beacon_value_once"),
        ]

    def __str__(self) -> str:
        return f"beacon round {self.beacon_round}"


class Tally(models.Model):
    """How rounds ended, counted per day and game by the sequencer as it merges their last records."""

    id = models.BigAutoField(primary_key=True)
    day = models.DateField()
    """UTC day of the end."""
    game = models.CharField(max_length=32)
    entropy = models.CharField(max_length=6)
    ending = models.CharField(max_length=6)
    stage = models.CharField(max_length=5)
    reason = models.CharField(max_length=48)
    """Reason of a void; empty for a reveal."""
    fault = models.CharField(max_length=8)
    """none, operator or seat for a void; empty for a reveal."""
    rounds = models.BigIntegerField(default=0)
    delay_sum_ms = models.BigIntegerField(default=0)
    """From the end of the round to the merge of its last record."""
    delay_max_ms = models.BigIntegerField(default=0)
    late = models.BigIntegerField(default=0)
    """Rounds whose last record was merged more than the merge delay after its signing."""

    class Meta:
        db_table = "fairness_tally"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["day", "game", "entropy", "ending", "stage", "reason", "fault"], name="fairness_tally_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.game} {self.ending}"
