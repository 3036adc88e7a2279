"""Tables, seats and rounds: what the play service reads and writes.

Hidden cards are never here in the clear: a round's snapshot is sealed (apps.fairness.dealer).  The transcript is in
apps.history, the records and seeds in apps.fairness, the money in apps.wallets.
"""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from apps.core.fields import DatabaseMillis
from apps.core.ids import new_id
from apps.wallets.fields import CurrentXid, Xid8Field


class Table(models.Model):
    """A place where rounds of one game are played, one after the other.

    ``auto_ready_rounds`` is for how many rounds in a row a player may ask in advance to be made ready; 0 is never.
    """

    class Status(models.TextChoices):
        """``paused`` starts nothing new; ``draining`` lets the match end and then closes; ``retired`` never again."""

        OPEN = "open"
        PAUSED = "paused"
        DRAINING = "draining"
        CLOSED = "closed"
        RETIRED = "retired"

    id = models.UUIDField(primary_key=True, default=new_id)
    operator = models.ForeignKey("accounts.Operator", on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=80, blank=True, default="")
    game = models.CharField(max_length=32)
    rules = models.CharField(max_length=40)
    options = models.JSONField(default=dict)
    currency = models.CharField(max_length=8)
    buy_in_minor = models.BigIntegerField()
    fee_bp = models.IntegerField()
    seats_min = models.SmallIntegerField()
    seats_max = models.SmallIntegerField()
    entropy = models.CharField(max_length=6, default="open")
    beacon_margin = models.SmallIntegerField(null=True)
    start_after_ms = models.IntegerField(default=10_000)
    pause_ms = models.IntegerField(default=3_000)
    is_private = models.BooleanField(default=False)
    code = models.CharField(max_length=16, blank=True, default="")
    random_seating = models.BooleanField(default=False)
    spectators_allowed = models.BooleanField(default=True)
    spectator_delay_ms = models.IntegerField(default=0)
    bots_allowed = models.BooleanField(default=False)
    auto_ready_rounds = models.SmallIntegerField(default=0)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.OPEN)
    next_index = models.BigIntegerField(default=0)
    last_opener = models.SmallIntegerField(null=True)
    round = models.ForeignKey("tables.Round", null=True, on_delete=models.PROTECT, related_name="+")
    version = models.BigIntegerField(default=0)
    start_at_ms = models.BigIntegerField(null=True)
    not_before_ms = models.BigIntegerField(default=0)
    wake_at_ms = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(buy_in_minor__gte=0), name="tables_buy_in"),
            models.CheckConstraint(condition=Q(fee_bp__gte=0, fee_bp__lte=10_000), name="tables_fee_bp"),
            models.CheckConstraint(
                condition=Q(seats_min__gte=2, seats_max__lte=255, seats_min__lte=F("seats_max")), name="tables_seats"
            ),
            models.CheckConstraint(condition=Q(entropy__in=["none", "open", "sealed"]), name="tables_entropy"),
            models.UniqueConstraint(fields=["operator", "code"], condition=~Q(code=""), name="tables_one_code"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["operator", "created_at", "id"], name="tables_by_operator"),
            models.Index(fields=["wake_at_ms"], condition=Q(wake_at_ms__isnull=False), name="tables_due"),
        ]

    def __str__(self) -> str:
        return self.name or str(self.id)


class Seat(models.Model):
    """One player's place at a table, from sitting down to standing up.

    A contribution (``entropy`` or ``commit`` with ``pk``, ``cp``, ``sig``) belongs to the round the seat is ready
    for. ``seen_until_ms`` is how long the player counts as connected without another sign of life; null while the
    client uses neither the stream nor polling, which counts as connected.  ``auto_ready_left`` counts the rounds for
    which the player asked in advance to be made ready.  ``active_ms`` is when the player last sat down, got ready,
    played, sat out or came back: a seat that is idle for too long is given away.
    """

    id = models.UUIDField(primary_key=True, default=new_id)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="seats")
    number = models.SmallIntegerField()
    player = models.ForeignKey("accounts.Player", on_delete=models.PROTECT, related_name="+")
    person_key = models.CharField(max_length=200, blank=True, default="")
    is_ready = models.BooleanField(default=False)
    is_away = models.BooleanField(default=False)
    stands_up = models.BooleanField(default=False)
    auto_ready_left = models.SmallIntegerField(default=0)
    in_match = models.BooleanField(default=False)
    seat_pk = models.CharField(max_length=64, blank=True, default="")
    entropy = models.CharField(max_length=64, blank=True, default="")
    commit = models.CharField(max_length=64, blank=True, default="")
    cp = models.JSONField(null=True)
    sig = models.CharField(max_length=128, blank=True, default="")
    opening_cp = models.JSONField(null=True)
    opening_sig = models.CharField(max_length=128, blank=True, default="")
    timeouts_row = models.SmallIntegerField(default=0)
    rounds_missed = models.SmallIntegerField(default=0)
    connected = models.BooleanField(default=True)
    seen_until_ms = models.BigIntegerField(null=True)
    sat_at_ms = models.BigIntegerField()
    active_ms = models.BigIntegerField(db_default=DatabaseMillis())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "number"], name="tables_one_player_per_seat"),
            models.UniqueConstraint(fields=["table", "player"], name="tables_one_seat_per_player"),
            models.UniqueConstraint(
                fields=["table", "person_key"], condition=~Q(person_key=""), name="tables_one_seat_per_person"
            ),
            models.CheckConstraint(condition=Q(number__gte=0, number__lte=254), name="tables_seat_number"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["seen_until_ms"], condition=Q(connected=True, seen_until_ms__isnull=False), name="tables_unseen"
            ),
            models.Index(fields=["active_ms"], condition=Q(is_ready=False, in_match=False), name="tables_idle"),
        ]

    def __str__(self) -> str:
        return f"seat {self.number}"


class Round(models.Model):
    """One index of a table's chain: from its open record to its terminal record.

    ``id`` is the round of the fairness protocol.  ``state`` is the engine's snapshot after entry ``seq``, sealed;
    it can be rebuilt from the transcript.  Engine time is the database's clock less ``offset_ms``, which grows when
    the service was away, so that an outage costs no seat a turn; ``wake_at_ms`` is on the database's clock.
    ``desk`` holds what the table keeps beside the engine: counted time-outs in a row, times of lost connections,
    and who left why; ``numbers`` are the seats dealt in.
    """

    class Status(models.TextChoices):
        """``open`` takes contributions, ``closing`` waits for openings or a beacon, then ``running`` to an end."""

        OPEN = "open"
        CLOSING = "closing"
        RUNNING = "running"
        FINISHED = "finished"
        VOID = "void"

    id = models.UUIDField(primary_key=True)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="rounds", db_index=False)
    operator = models.ForeignKey("accounts.Operator", on_delete=models.PROTECT, related_name="+", db_index=False)
    index = models.BigIntegerField()
    game = models.CharField(max_length=32)
    rules = models.CharField(max_length=40)
    numbers = ArrayField(models.SmallIntegerField(), default=list)
    match_id = models.UUIDField()
    match_opener = models.SmallIntegerField(null=True)
    carry = models.JSONField(null=True)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.OPEN)
    seq = models.IntegerField(default=-1)
    head = models.BinaryField(default=b"")
    state = models.BinaryField(null=True)
    desk = models.JSONField(default=dict)
    last_at_ms = models.BigIntegerField(default=0)
    offset_ms = models.BigIntegerField(default=0)
    wake_at_ms = models.BigIntegerField(null=True)
    advanced = models.BooleanField(default=False)
    opener = models.SmallIntegerField(null=True)
    beacon_round = models.BigIntegerField(null=True)
    pot_minor = models.BigIntegerField(default=0)
    fee_minor = models.BigIntegerField(default=0)
    outcome = models.JSONField(null=True)
    opened_ms = models.BigIntegerField()
    closed_ms = models.BigIntegerField(null=True)
    dealt_ms = models.BigIntegerField(null=True)
    ended_ms = models.BigIntegerField(null=True)
    xid = Xid8Field(db_default=CurrentXid())

    UNDER_WAY: ClassVar = ("open", "closing", "running")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "index"], name="tables_one_round_per_index"),
            models.UniqueConstraint(
                fields=["table"],
                condition=Q(status__in=["open", "closing", "running"]),
                name="tables_one_round_at_a_time",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["wake_at_ms"], condition=Q(status="running"), name="tables_round_due"),
            models.Index(
                fields=["ended_ms"],
                condition=Q(advanced=False, status__in=["finished", "void"]),
                name="tables_to_advance",
            ),
            models.Index(fields=["operator", "-ended_ms"], name="tables_rounds_of_operator"),
            models.Index(fields=["operator", "xid", "id"], name="tables_rounds_in_order"),
            models.Index(fields=["table", "xid", "id"], name="tables_rounds_of_table"),
        ]

    def __str__(self) -> str:
        return self.id.hex


class RoundSeat(models.Model):
    """One seat dealt into a round: who sat there, what was paid, what came back.

    ``xid``, here and of rounds, orders lists: below the oldest database transaction that still runs they are complete.
    """

    pk = models.CompositePrimaryKey("round_id", "number")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="seats")
    number = models.SmallIntegerField()
    player = models.ForeignKey("accounts.Player", on_delete=models.PROTECT, related_name="+")
    buy_in_minor = models.BigIntegerField()
    payout_minor = models.BigIntegerField(default=0)
    balance_before_minor = models.BigIntegerField(null=True)
    left_reason = models.CharField(max_length=10, blank=True, default="")
    xid = Xid8Field(db_default=CurrentXid())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "player"], name="tables_player_dealt_once"),
        ]
        indexes: ClassVar = [models.Index(fields=["player", "xid", "round"], name="tables_rounds_of_player")]

    def __str__(self) -> str:
        return f"{self.round_id}:{self.number}"
