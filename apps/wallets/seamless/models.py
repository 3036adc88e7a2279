"""Rows of the seamless wallet: where an operator's wallet is, and the stakes fetched from it.

The state of a stake changes only along its path, and money moves with it: a trigger of migration 0009 posts what
belongs to each change, so no state can say another thing than the ledger.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.core.fields import DatabaseMillis
from apps.core.ids import new_id


class WalletKind(models.TextChoices):
    """Whose books hold the players' money between rounds: ours, or the operator's."""

    TRANSFER = "transfer"
    SEAMLESS = "seamless"


class StakeState(models.TextChoices):
    """How far a stake is; ``..._sent`` is committed before its call, ``..._refused`` waits for a person."""

    PLANNED = "planned"
    SENT = "sent"
    CONFIRMED = "confirmed"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    PLAYED = "played"
    ROLLBACK_PLANNED = "rollback_planned"
    ROLLBACK_SENT = "rollback_sent"
    ROLLBACK_UNKNOWN = "rollback_unknown"
    ROLLBACK_REFUSED = "rollback_refused"
    ROLLED_BACK = "rolled_back"
    WIN_PLANNED = "win_planned"
    WIN_SENT = "win_sent"
    WIN_UNKNOWN = "win_unknown"
    WIN_REFUSED = "win_refused"
    PAID = "paid"


FINAL = (StakeState.REFUSED, StakeState.ROLLED_BACK, StakeState.PAID)
"""Nothing more happens."""
REFUSED_BY_OPERATOR = (StakeState.ROLLBACK_REFUSED, StakeState.WIN_REFUSED)
"""The operator's wallet has said a definite no to what it must accept: a person has to look."""
TO_ROLL_BACK = (
    StakeState.UNKNOWN,
    StakeState.ROLLBACK_PLANNED,
    StakeState.ROLLBACK_SENT,
    StakeState.ROLLBACK_UNKNOWN,
    StakeState.ROLLBACK_REFUSED,
)
TO_PAY = (StakeState.WIN_PLANNED, StakeState.WIN_SENT, StakeState.WIN_UNKNOWN, StakeState.WIN_REFUSED)


class OperatorWallet(models.Model):
    """An operator's setting; one without a row has the transfer wallet."""

    operator = models.OneToOneField("accounts.Operator", primary_key=True, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8, choices=WalletKind.choices)
    url = models.CharField(max_length=400, default="", blank=True)
    """Where the operator's wallet is; ``/bet`` and the others are added to it."""
    answer_keys = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    """Ed25519 public keys that sign its answers, hex; two while one takes over from the other."""
    failures = models.IntegerField(default=0)
    """Calls in a row without a definite answer."""
    open_until_ms = models.BigIntegerField(default=0)
    """No stake is fetched until then, because of those."""
    not_before_ms = models.BigIntegerField(default=0)
    """Until then nobody sends what is due: somebody does already, or the wallet has just failed."""

    class Meta:
        db_table = "wallets_operator_wallet"
        constraints = (
            models.CheckConstraint(
                name="wallets_operator_wallet_kind",
                condition=Q(kind="transfer") | (Q(kind="seamless", answer_keys__len__gt=0) & ~Q(url="")),
            ),
        )

    def __str__(self) -> str:
        return f"{self.operator_id} {self.kind}"


class Stake(models.Model):
    """One buy-in of one player, from the plan to fetch it to the definite answer that it went back or was paid."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    operator = models.ForeignKey("accounts.Operator", on_delete=models.PROTECT, related_name="+", db_index=False)
    player = models.ForeignKey("accounts.Player", on_delete=models.PROTECT, related_name="+")
    player_ref = models.CharField(max_length=128)
    """The operator's own id of the player."""
    currency = models.ForeignKey("wallets.Currency", on_delete=models.PROTECT, related_name="+", db_index=False)
    amount_minor = models.BigIntegerField()
    table_id = models.UUIDField()
    round_id = models.UUIDField()
    """The round that the stake is for; of a match, its first."""
    state = models.CharField(max_length=16, choices=StakeState.choices, default=StakeState.PLANNED)
    win_minor = models.BigIntegerField(null=True, default=None)
    """What the operator has to pay the player; 0 if he lost.  Null unless the round was settled."""
    attempts = models.IntegerField(default=0)
    """Calls of the present kind."""
    next_try_at_ms = models.BigIntegerField(null=True, default=None)
    """When somebody has to look at it again; null if nothing is due by itself."""
    last_error = models.CharField(max_length=64, default="", blank=True)
    created_at_ms = models.BigIntegerField(db_default=DatabaseMillis())
    confirmed_at_ms = models.BigIntegerField(null=True, default=None)
    """When it came into the ledger; null if the operator never confirmed it in time."""
    state_at_ms = models.BigIntegerField(db_default=DatabaseMillis())

    class Meta:
        constraints = (
            models.UniqueConstraint(
                name="wallets_stake_one", fields=["round_id", "player"], condition=~Q(state__in=[str(s) for s in FINAL])
            ),
            models.CheckConstraint(name="wallets_stake_amount", condition=Q(amount_minor__gt=0)),
            models.CheckConstraint(
                name="wallets_stake_state", condition=Q(state__in=[str(state) for state in StakeState])
            ),
            models.CheckConstraint(
                name="wallets_stake_win",
                condition=Q(state__in=[*(str(s) for s in TO_PAY), "paid"], win_minor__gte=0)
                | (~Q(state__in=[*(str(s) for s in TO_PAY), "paid"]) & Q(win_minor=None)),
            ),
        )
        indexes = (
            models.Index(
                name="wallets_stake_due",
                fields=["operator", "next_try_at_ms"],
                condition=Q(next_try_at_ms__isnull=False),
            ),
            models.Index(
                name="wallets_stake_open",
                fields=["operator", "state"],
                condition=~Q(state__in=[str(s) for s in FINAL]),
            ),
        )

    def __str__(self) -> str:
        return f"{self.amount_minor} {self.currency_id} {self.state}"
