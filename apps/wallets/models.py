"""Rows of the ledger.

What must hold is a constraint here, or a trigger or a grant in the migrations that follow the first one; Python only
asks.  Rules L1 to L15 and invariants I1 to I19: docs/auditors/ledger.md.  No row here is ever written through these
classes: the application's role may not, the functions of migration 0003 do it.  Amounts are integers in minor units,
times Unix milliseconds on the database's clock.
"""

from __future__ import annotations

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F, Q

from apps.core.fields import DatabaseMillis
from apps.core.ids import new_id
from apps.wallets.fields import CurrentXid, Xid8Field

CURRENCY_CODE_PATTERN = r"^[A-Z][A-Z0-9]{2,7}$"
EXTERNAL_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._:~-]{0,127}$"
"""Safe in a URL and free of the separator of the canonical ledger lines."""
EXPONENT_MAX = 8


class AccountKind(models.TextChoices):
    """The chart of accounts; only ``player`` and ``escrow`` have a floor and a balance row."""

    PLAYER = "player"
    ESCROW = "escrow"
    RAKE = "rake"
    FUNDING = "funding"
    SUSPENSE = "suspense"
    ADJUSTMENT = "adjustment"
    PROMO = "promo"


class AccountStatus(models.TextChoices):
    """``frozen`` and ``closed`` stop what the holder starts, never a payout, a refund or an approved correction."""

    OPEN = "open"
    FROZEN = "frozen"
    CLOSED = "closed"


class TxKind(models.TextChoices):
    """Why money moved."""

    CREDIT = "credit"
    DEBIT = "debit"
    BUY_IN = "buy_in"
    SETTLE = "settle"
    VOID = "void"
    CAPTURE = "capture"
    REVERSE = "reverse"
    RESETTLE = "resettle"
    ADJUST = "adjust"
    PROMO = "promo"
    SUSPEND = "suspend"
    RESOLVE = "resolve"


class HoldState(models.TextChoices):
    """A hold is active until exactly one of the others happens to it."""

    ACTIVE = "active"
    CAPTURED = "captured"
    RELEASED = "released"
    EXPIRED = "expired"


class ApprovalState(models.TextChoices):
    """A correction is requested by one person and decided by another."""

    REQUESTED = "requested"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXECUTED = "executed"


def _in(field: str, choices: type[models.TextChoices]) -> Q:
    return Q(**{f"{field}__in": [str(choice) for choice in choices]})


class Currency(models.Model):
    """A unit of account; points are a currency with ``is_money`` false."""

    code = models.CharField(primary_key=True, max_length=8)
    exponent = models.SmallIntegerField()
    is_money = models.BooleanField()
    min_buy_in_minor = models.BigIntegerField(default=1)
    rake_rule = models.CharField(max_length=32, default="floor_bp/1")
    """The published rule by which a fee is computed from a pot: floor(pot * basis points / 10000)."""
    created_at_ms = models.BigIntegerField(db_default=DatabaseMillis())

    class Meta:
        verbose_name_plural = "currencies"
        constraints = (
            models.CheckConstraint(name="wallets_currency_code", condition=Q(code__regex=CURRENCY_CODE_PATTERN)),
            models.CheckConstraint(
                name="wallets_currency_exponent", condition=Q(exponent__gte=0, exponent__lte=EXPONENT_MAX)
            ),
            models.CheckConstraint(name="wallets_currency_min_buy_in", condition=Q(min_buy_in_minor__gte=1)),
            models.CheckConstraint(name="wallets_currency_rake_rule", condition=Q(rake_rule="floor_bp/1")),
        )

    def __str__(self) -> str:
        return self.code


class Account(models.Model):
    """One account of the chart; ``owner_ref`` is the player, the round, or for house accounts the operator."""

    id = models.BigAutoField(primary_key=True)
    operator = models.ForeignKey("accounts.Operator", on_delete=models.PROTECT, related_name="+", db_index=False)
    kind = models.CharField(max_length=16, choices=AccountKind.choices)
    owner_ref = models.UUIDField()
    currency = models.ForeignKey(Currency, on_delete=models.PROTECT, related_name="+", db_index=False)
    shard = models.SmallIntegerField(default=0)
    status = models.CharField(max_length=8, choices=AccountStatus.choices, default=AccountStatus.OPEN)
    status_at_ms = models.BigIntegerField(db_default=DatabaseMillis())

    class Meta:
        constraints = (
            models.UniqueConstraint(
                name="wallets_account_identity", fields=["operator", "kind", "owner_ref", "currency", "shard"]
            ),
            models.CheckConstraint(name="wallets_account_kind", condition=_in("kind", AccountKind)),
            models.CheckConstraint(name="wallets_account_status", condition=_in("status", AccountStatus)),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.owner_ref} {self.currency_id}"


class AccountStatusChange(models.Model):
    """History of account states; insert-only, written by the function that changes the state."""

    id = models.BigAutoField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    operator_id = models.UUIDField()
    old_status = models.CharField(max_length=8, choices=AccountStatus.choices)
    new_status = models.CharField(max_length=8, choices=AccountStatus.choices)
    actor = models.CharField(max_length=128)
    reason = models.CharField(max_length=200)
    after_entry_id = models.BigIntegerField()
    """The account's last entry when the state changed; later ones obey the new state (I17)."""
    at_ms = models.BigIntegerField(db_default=DatabaseMillis())

    class Meta:
        db_table = "wallets_account_status_change"

    def __str__(self) -> str:
        return f"{self.account_id}: {self.old_status} to {self.new_status}"


class AccountBalance(models.Model):
    """The locked row of an account with a floor; only triggers change it (L4)."""

    account = models.OneToOneField(Account, primary_key=True, on_delete=models.PROTECT, related_name="balance")
    operator_id = models.UUIDField()
    posted = models.BigIntegerField(default=0)
    held = models.BigIntegerField(default=0)
    floor = models.BigIntegerField(null=True, default=0)
    seq = models.BigIntegerField(default=0)
    lock_only = models.SmallIntegerField(default=0)
    """Exists so that the application's role may lock the row without being able to change it."""

    class Meta:
        db_table = "wallets_balance"
        constraints = (
            models.CheckConstraint(name="wallets_balance_held", condition=Q(held__gte=0)),
            models.CheckConstraint(
                name="wallets_balance_floor", condition=Q(floor=None) | Q(posted__gte=F("floor") + F("held"))
            ),
        )

    def __str__(self) -> str:
        return f"{self.account_id}: {self.posted}"


class Approval(models.Model):
    """A correction that two different people must want; its lines are exactly the entries it allows."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    operator_id = models.UUIDField()
    kind = models.CharField(max_length=16, choices=TxKind.choices)
    target_tx_id = models.UUIDField(null=True, default=None)
    round_id = models.UUIDField(null=True, default=None)
    reason = models.CharField(max_length=200)
    requested_by = models.CharField(max_length=128)
    requested_at_ms = models.BigIntegerField(db_default=DatabaseMillis())
    xid = Xid8Field(db_default=CurrentXid())
    state = models.CharField(max_length=16, choices=ApprovalState.choices, default=ApprovalState.REQUESTED)
    decided_by = models.CharField(max_length=128, null=True, default=None)  # noqa: DJ001  NULL is "nobody yet".
    decided_at_ms = models.BigIntegerField(null=True, default=None)

    class Meta:
        permissions = (
            ("request_correction", "Can ask for a correction"),
            ("decide_correction", "Can decide the correction of another person"),
        )
        constraints = (
            models.CheckConstraint(
                name="wallets_approval_kind",
                condition=Q(kind__in=[str(TxKind.REVERSE), str(TxKind.RESETTLE), str(TxKind.ADJUST)]),
            ),
            models.CheckConstraint(name="wallets_approval_state", condition=_in("state", ApprovalState)),
            models.CheckConstraint(
                name="wallets_approval_two_people",
                condition=Q(state="requested", decided_by=None) | (Q(decided_by__isnull=False) & ~Q(decided_by="")),
            ),
            models.CheckConstraint(name="wallets_approval_other_person", condition=~Q(decided_by=F("requested_by"))),
            models.CheckConstraint(name="wallets_approval_reason", condition=~Q(reason="") & ~Q(requested_by="")),
            models.CheckConstraint(
                name="wallets_approval_target",
                condition=Q(kind="reverse", target_tx_id__isnull=False)
                | (~Q(kind="reverse") & Q(target_tx_id__isnull=True)),
            ),
        )
        indexes = (models.Index(name="wallets_approval_open", fields=["operator_id", "state", "requested_at_ms"]),)

    def __str__(self) -> str:
        return f"{self.kind} {self.state}"


class ApprovalLine(models.Model):
    """One entry that an approval allows; insert-only, together with its approval."""

    id = models.BigAutoField(primary_key=True)
    approval = models.ForeignKey(Approval, on_delete=models.PROTECT, related_name="lines")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    amount = models.BigIntegerField()

    class Meta:
        db_table = "wallets_approval_line"
        constraints = (
            models.UniqueConstraint(name="wallets_approval_line_account", fields=["approval", "account"]),
            models.CheckConstraint(name="wallets_approval_line_amount", condition=~Q(amount=0)),
        )

    def __str__(self) -> str:
        return f"{self.account_id}: {self.amount}"


class LedgerTransaction(models.Model):
    """One balanced movement; insert-only.  Its operator is that of every account it touches (trigger)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    operator_id = models.UUIDField()
    kind = models.CharField(max_length=16, choices=TxKind.choices)
    external_id = models.CharField(max_length=128)
    request_sha256 = models.BinaryField(max_length=32)
    round_id = models.UUIDField(null=True, default=None)
    reverses = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="+")
    actor = models.CharField(max_length=128)
    reason = models.CharField(max_length=200, default="", blank=True)
    approval = models.OneToOneField(Approval, null=True, on_delete=models.PROTECT, related_name="+")
    created_at_ms = models.BigIntegerField(db_default=DatabaseMillis())
    xid = Xid8Field(db_default=CurrentXid())
    """Orders transactions for readers: everything below the oldest running one is complete."""

    class Meta:
        db_table = "wallets_tx"
        constraints = (
            models.UniqueConstraint(name="wallets_tx_natural_key", fields=["operator_id", "kind", "external_id"]),
            models.UniqueConstraint(
                name="wallets_tx_operator_external_id",
                fields=["operator_id", "external_id"],
                condition=Q(kind__in=["credit", "debit"]),
            ),
            models.UniqueConstraint(
                name="wallets_tx_one_outcome", fields=["round_id"], condition=Q(kind__in=["settle", "void"])
            ),
            models.UniqueConstraint(name="wallets_tx_one_buy_in", fields=["round_id"], condition=Q(kind="buy_in")),
            models.CheckConstraint(name="wallets_tx_kind", condition=_in("kind", TxKind)),
            models.CheckConstraint(name="wallets_tx_external_id", condition=Q(external_id__regex=EXTERNAL_ID_PATTERN)),
            models.CheckConstraint(
                name="wallets_tx_round",
                condition=Q(kind__in=["buy_in", "settle", "void", "resettle"], round_id__isnull=False)
                | Q(kind__in=["reverse", "capture", "suspend", "resolve"])
                | Q(kind__in=["credit", "debit", "adjust", "promo"], round_id__isnull=True),
            ),
            models.CheckConstraint(
                name="wallets_tx_reverses",
                condition=Q(kind="reverse", reverses__isnull=False) | (~Q(kind="reverse") & Q(reverses__isnull=True)),
            ),
            models.CheckConstraint(
                name="wallets_tx_approval",
                condition=Q(kind__in=["reverse", "resettle", "adjust"], approval__isnull=False)
                | (~Q(kind__in=["reverse", "resettle", "adjust"]) & Q(approval__isnull=True)),
            ),
        )
        indexes = (
            models.Index(name="wallets_tx_order", fields=["operator_id", "xid", "id"]),
            BrinIndex(name="wallets_tx_day", fields=["created_at_ms"]),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.external_id}"


class Entry(models.Model):
    """One line of a transaction; insert-only."""

    id = models.BigAutoField(primary_key=True)
    tx = models.ForeignKey(LedgerTransaction, on_delete=models.PROTECT, related_name="entries")
    operator_id = models.UUIDField()
    round_id = models.UUIDField(null=True, default=None)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    currency = models.CharField(max_length=8)
    amount = models.BigIntegerField()
    account_seq = models.BigIntegerField(null=True, default=None)
    balance_after = models.BigIntegerField(null=True, default=None)

    class Meta:
        constraints = (
            models.CheckConstraint(name="wallets_entry_amount", condition=~Q(amount=0)),
            models.UniqueConstraint(name="wallets_entry_account_seq", fields=["account", "account_seq"]),
        )
        verbose_name_plural = "entries"

    def __str__(self) -> str:
        return f"{self.account_id}: {self.amount}"


class Hold(models.Model):
    """A reserved part of a balance; captured before its time is over, released, or expired (L12)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    operator_id = models.UUIDField()
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    amount = models.BigIntegerField()
    purpose = models.CharField(max_length=32)
    reference = models.UUIDField()
    """What the hold is for: the round, or another thing's id; one hold per account, purpose and reference."""
    state = models.CharField(max_length=16, choices=HoldState.choices, default=HoldState.ACTIVE)
    expires_at_ms = models.BigIntegerField()
    resolved_tx = models.ForeignKey(LedgerTransaction, null=True, on_delete=models.PROTECT, related_name="+")
    created_at_ms = models.BigIntegerField(db_default=DatabaseMillis())

    class Meta:
        permissions = (("release_hold", "Can release a hold"),)
        constraints = (
            models.CheckConstraint(name="wallets_hold_amount", condition=Q(amount__gt=0)),
            models.CheckConstraint(name="wallets_hold_state", condition=_in("state", HoldState)),
            models.CheckConstraint(
                name="wallets_hold_resolved",
                condition=Q(state="captured", resolved_tx__isnull=False)
                | (~Q(state="captured") & Q(resolved_tx__isnull=True)),
            ),
            models.UniqueConstraint(name="wallets_hold_identity", fields=["reference", "account", "purpose"]),
        )
        indexes = (
            models.Index(name="wallets_hold_due", fields=["expires_at_ms"], condition=Q(state="active")),
            models.Index(name="wallets_hold_account", fields=["account"], condition=Q(state="active")),
        )

    def __str__(self) -> str:
        return f"{self.purpose} {self.amount} {self.state}"


class BalanceSnapshot(models.Model):
    """The sum of an account's entries up to one entry; insert-only, a cache that fsck recomputes (I12)."""

    id = models.BigAutoField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    operator_id = models.UUIDField()
    upto_xid = Xid8Field()
    """Entries of transactions below this number are in the sum, no others."""
    posted = models.BigIntegerField()
    taken_at_ms = models.BigIntegerField(db_default=DatabaseMillis())

    class Meta:
        db_table = "wallets_snapshot"
        constraints = (models.UniqueConstraint(name="wallets_snapshot_identity", fields=["account", "upto_xid"]),)

    def __str__(self) -> str:
        return f"{self.account_id}: {self.posted}"


class LedgerKey(models.Model):
    """A public key that signs blocks and daily files; insert-only."""

    kid = models.CharField(primary_key=True, max_length=16)
    public_key = models.BinaryField(max_length=32)
    created_at_ms = models.BigIntegerField(db_default=DatabaseMillis())

    class Meta:
        db_table = "wallets_key"

    def __str__(self) -> str:
        return self.kid


class LedgerBlock(models.Model):
    """A sealed and signed run of one operator's transactions; insert-only (I13)."""

    id = models.BigAutoField(primary_key=True)
    operator_id = models.UUIDField()
    seq = models.BigIntegerField()
    form = models.SmallIntegerField()
    """Version of the canonical form of the lines."""
    from_xid = Xid8Field()
    upto_xid = Xid8Field()
    """The block holds the entries of every transaction with from_xid <= xid < upto_xid."""
    first_entry = models.BigIntegerField()
    last_entry = models.BigIntegerField()
    n = models.IntegerField()
    sums = models.JSONField()
    prev_hash = models.BinaryField(max_length=32)
    hash = models.BinaryField(max_length=32)
    kid = models.ForeignKey(LedgerKey, on_delete=models.PROTECT, related_name="+", db_index=False, db_column="kid")
    signature = models.BinaryField(max_length=64)
    sealed_at_ms = models.BigIntegerField()

    class Meta:
        db_table = "wallets_block"
        constraints = (
            models.UniqueConstraint(name="wallets_block_identity", fields=["operator_id", "seq"]),
            models.CheckConstraint(
                name="wallets_block_range", condition=Q(from_xid__lt=F("upto_xid"), n__gt=0, seq__gte=0)
            ),
        )

    def __str__(self) -> str:
        return f"{self.operator_id} {self.seq}"


class DailyFile(models.Model):
    """The signed reconciliation file of one operator, currency and UTC day; insert-only."""

    id = models.BigAutoField(primary_key=True)
    operator_id = models.UUIDField()
    currency = models.CharField(max_length=8)
    day = models.DateField()
    form = models.SmallIntegerField()
    body = models.BinaryField()
    """The exact bytes, as served and as hashed."""
    prev_hash = models.BinaryField(max_length=32)
    hash = models.BinaryField(max_length=32)
    kid = models.ForeignKey(LedgerKey, on_delete=models.PROTECT, related_name="+", db_index=False, db_column="kid")
    signature = models.BinaryField(max_length=64)
    made_at_ms = models.BigIntegerField(db_default=DatabaseMillis())

    class Meta:
        db_table = "wallets_daily_file"
        constraints = (
            models.UniqueConstraint(name="wallets_daily_file_identity", fields=["operator_id", "currency", "day"]),
        )

    def __str__(self) -> str:
        return f"{self.operator_id} {self.currency} {self.day}"


class Alarm(models.Model):
    """Something in an operator's ledger that must be looked at; while it is open no new round starts there."""

    id = models.BigAutoField(primary_key=True)
    operator_id = models.UUIDField()
    code = models.CharField(max_length=32)
    detail = models.CharField(max_length=400)
    raised_at_ms = models.BigIntegerField(db_default=DatabaseMillis())
    cleared_at_ms = models.BigIntegerField(null=True, default=None)
    cleared_by = models.CharField(max_length=128, db_default="", blank=True)
    reason = models.CharField(max_length=200, db_default="", blank=True)

    class Meta:
        permissions = (("clear_alarm", "Can clear an alarm"),)
        constraints = (
            models.UniqueConstraint(
                name="wallets_alarm_open", fields=["operator_id", "code"], condition=Q(cleared_at_ms=None)
            ),
            models.CheckConstraint(
                name="wallets_alarm_cleared",
                condition=Q(cleared_at_ms=None, cleared_by="") | (Q(cleared_at_ms__isnull=False) & ~Q(cleared_by="")),
            ),
        )

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"


# Django looks for models in this module.
from apps.wallets.seamless.models import OperatorWallet as OperatorWallet  # noqa: E402
from apps.wallets.seamless.models import Stake as Stake  # noqa: E402
