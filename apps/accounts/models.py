"""Rows of operators, API keys, players and player sessions.

What must hold is a constraint here or in the migrations.  Times are Unix milliseconds on the database's clock.

Source: docs/operators/keys-and-sessions.md.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from apps.accounts.limits import MINUTE_KINDS, LimitKind
from apps.accounts.principals import SCOPES
from apps.core.ids import new_id

EXTERNAL_ID_LENGTH_MAX = 128
KEY_SLOTS = 2
"""Live keys with one label: the old and the new one of a rotation."""


class OperatorStatus(models.TextChoices):
    """Whether an operator's players may play; ``paused`` stops new rounds only, ``closed`` refuses the keys."""

    ACTIVE = "active"
    PAUSED = "paused"
    CLOSED = "closed"


class PlayerStatus(models.TextChoices):
    """What an operator decided about a player; exclusion is not stored here, it follows from the exclusions."""

    ACTIVE = "active"
    FROZEN = "frozen"
    CLOSED = "closed"


class Operator(models.Model):
    """A platform that brings players; everything else belongs to one."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=64, unique=True)
    status = models.CharField(max_length=16, choices=OperatorStatus.choices, default=OperatorStatus.ACTIVE)
    status_reason = models.CharField(max_length=200, default="", blank=True)
    created_at_ms = models.BigIntegerField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                name="accounts_operator_status", condition=Q(status__in=[str(s) for s in OperatorStatus])
            ),
            models.CheckConstraint(name="accounts_operator_name", condition=~Q(name="")),
        )

    def __str__(self) -> str:
        return self.name


class ApiKey(models.Model):
    """One API key: its digest, what it may do and from where."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    operator = models.ForeignKey(Operator, on_delete=models.PROTECT, related_name="+")
    label = models.CharField(max_length=32, default="main")
    slot = models.PositiveSmallIntegerField(default=0)
    prefix = models.CharField(max_length=12, unique=True)
    secret_sha256 = models.BinaryField(max_length=32)
    scopes = ArrayField(models.CharField(max_length=16))
    signature_alg = models.CharField(max_length=16, default="", blank=True)
    """How requests with the key are signed: ``ed25519``, ``hmac-sha256``, or empty where they are not."""
    signature_public_key = models.BinaryField(max_length=32, default=b"", blank=True)
    """The operator's public key where the signature is Ed25519.  An HMAC secret is derived, not kept."""
    addresses = ArrayField(models.CharField(max_length=43), default=list, blank=True)
    """Networks in CIDR form from which the key may be used; empty means from anywhere."""
    created_at_ms = models.BigIntegerField()
    last_used_at_ms = models.BigIntegerField(null=True, default=None)
    revoked_at_ms = models.BigIntegerField(null=True, default=None)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                name="accounts_apikey_live", fields=["operator", "label", "slot"], condition=Q(revoked_at_ms=None)
            ),
            models.CheckConstraint(name="accounts_apikey_slot", condition=Q(slot__lt=KEY_SLOTS)),
            models.CheckConstraint(
                name="accounts_apikey_scopes", condition=Q(scopes__contained_by=list(SCOPES), scopes__len__gt=0)
            ),
            models.CheckConstraint(
                name="accounts_apikey_signature",
                condition=(~Q(signature_public_key=b"") & Q(signature_alg="ed25519"))
                | Q(signature_public_key=b"", signature_alg__in=["", "hmac-sha256"]),
            ),
        )

    def __str__(self) -> str:
        return f"{self.label} {self.prefix}"


class Player(models.Model):
    """A player under the operator's own id; no personal data."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    operator = models.ForeignKey(Operator, on_delete=models.PROTECT, related_name="+")
    external_id = models.CharField(max_length=EXTERNAL_ID_LENGTH_MAX)
    status = models.CharField(max_length=16, choices=PlayerStatus.choices, default=PlayerStatus.ACTIVE)
    is_test = models.BooleanField(default=False)
    is_bot = models.BooleanField(default=False)
    person_key = models.CharField(max_length=EXTERNAL_ID_LENGTH_MAX, default="", blank=True)
    """The operator's opaque mark of one human; players with the same mark are the same person.  Empty: not known."""
    token_version = models.PositiveIntegerField(default=1)
    """Tokens with another version are dead; every revocation counts it up."""
    created_at_ms = models.BigIntegerField()

    class Meta:
        permissions = (("set_player_status", "Can freeze, thaw and close a player"),)
        constraints = (
            models.UniqueConstraint(name="accounts_player_external_id", fields=["operator", "external_id"]),
            models.CheckConstraint(
                name="accounts_player_status", condition=Q(status__in=[str(s) for s in PlayerStatus])
            ),
        )
        indexes = (
            models.Index(name="accounts_player_person", fields=["operator", "person_key"], condition=~Q(person_key="")),
        )

    def __str__(self) -> str:
        return self.external_id


class PlayerSession(models.Model):
    """One launch of a player's client."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    operator = models.ForeignKey(Operator, on_delete=models.PROTECT, related_name="+")
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+")
    token_version = models.PositiveIntegerField()
    sitting_at_ms = models.BigIntegerField()
    """When the player's unbroken sitting began: that of an earlier session if this one follows it without a rest."""
    created_at_ms = models.BigIntegerField()
    expires_at_ms = models.BigIntegerField()
    revoked_at_ms = models.BigIntegerField(null=True, default=None)

    class Meta:
        constraints = (
            models.CheckConstraint(
                name="accounts_session_times",
                condition=Q(sitting_at_ms__lte=F("created_at_ms"), created_at_ms__lt=F("expires_at_ms")),
            ),
        )
        indexes = (models.Index(name="accounts_session_player", fields=["player", "-created_at_ms"]),)

    def __str__(self) -> str:
        return str(self.id)


class LimitChange(models.Model):
    """A change of one limit of a player; never altered, never deleted."""

    id = models.BigAutoField(primary_key=True)
    operator = models.ForeignKey(Operator, on_delete=models.PROTECT, related_name="+")
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=32, choices=[(str(kind), str(kind)) for kind in LimitKind])
    currency = models.CharField(max_length=8, default="", blank=True)
    """Empty exactly for limits in minutes."""
    value = models.BigIntegerField(null=True)
    """Minor units or minutes; null is no limit."""
    actor = models.CharField(max_length=64)
    created_at_ms = models.BigIntegerField()
    effective_at_ms = models.BigIntegerField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                name="accounts_limit_kind", condition=Q(kind__in=sorted(str(kind) for kind in LimitKind))
            ),
            models.CheckConstraint(
                name="accounts_limit_currency",
                condition=Q(kind__in=sorted(MINUTE_KINDS), currency="")
                | (~Q(kind__in=sorted(MINUTE_KINDS)) & ~Q(currency="")),
            ),
            models.CheckConstraint(name="accounts_limit_value", condition=Q(value=None) | Q(value__gte=0)),
            models.CheckConstraint(name="accounts_limit_times", condition=Q(effective_at_ms__gte=F("created_at_ms"))),
        )
        indexes = (models.Index(name="accounts_limit_player", fields=["player", "kind", "currency", "id"]),)

    def __str__(self) -> str:
        return f"{self.kind} {self.currency} {self.value}"


class Exclusion(models.Model):
    """A player's word that he does not want to play for a time or for ever; never altered, never deleted.

    It holds for every player of the operator that is the same person.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    operator = models.ForeignKey(Operator, on_delete=models.PROTECT, related_name="+")
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+")
    until_ms = models.BigIntegerField(null=True)
    """When it ends (equal is over); null is never."""
    actor = models.CharField(max_length=64)
    created_at_ms = models.BigIntegerField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                name="accounts_exclusion_times", condition=Q(until_ms=None) | Q(until_ms__gt=F("created_at_ms"))
            ),
        )
        indexes = (models.Index(name="accounts_exclusion_player", fields=["player"]),)

    def __str__(self) -> str:
        return f"{self.player_id} until {self.until_ms}"


class RequestNonce(models.Model):
    """A nonce of a signed request, kept as long as its timestamp could pass."""

    id = models.BigAutoField(primary_key=True)
    key = models.ForeignKey(ApiKey, on_delete=models.PROTECT, related_name="+")
    nonce = models.CharField(max_length=64)
    seen_at_ms = models.BigIntegerField(db_index=True)

    class Meta:
        constraints = (models.UniqueConstraint(name="accounts_nonce_once", fields=["key", "nonce"]),)

    def __str__(self) -> str:
        return self.nonce


class Change(models.Model):
    """What changed in an operator, a key or a player, and by whom: written by a trigger, whoever changes it and how."""

    id = models.BigAutoField(primary_key=True)
    operator_id = models.UUIDField()
    subject = models.CharField(max_length=16)
    """``operator``, ``key`` or ``player``."""
    subject_id = models.UUIDField()
    old = models.JSONField(null=True)
    """The members that changed, as they were; null for a new row."""
    new = models.JSONField()
    actor = models.CharField(max_length=64)
    """``key:...``, ``player:...``, ``staff:...``; empty where somebody changed it by hand."""
    reason = models.CharField(max_length=200)
    login = models.CharField(max_length=64)
    """The database's login that did it."""
    changed_at_ms = models.BigIntegerField()

    class Meta:
        indexes = (models.Index(name="accounts_change_subject", fields=["operator_id", "subject_id", "id"]),)

    def __str__(self) -> str:
        return f"{self.subject} {self.subject_id} by {self.actor or self.login}"
