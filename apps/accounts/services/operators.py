"""Operators and their API keys: made, rotated, revoked.

Source: docs/operators/keys-and-sessions.md, sections Operators and API keys.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from ipaddress import ip_network
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.db import transaction
from django.db.models import Q

from apps.accounts.changes import SYSTEM, changed_by
from apps.accounts.errors import KeyLimitReached, KeyNotFound, OperatorNameTaken, OperatorNotFound, SignatureKeyInvalid
from apps.accounts.keys import key_make
from apps.accounts.models import KEY_SLOTS, ApiKey, Operator, OperatorStatus
from apps.accounts.principals import SCOPES
from apps.accounts.signatures import Algorithm
from apps.core.clock import now_ms
from apps.core.sandbox import is_sandbox

USED_RESOLUTION_MS = 60_000


@dataclass(frozen=True, slots=True)
class Signing:
    """How requests with a key are signed; ``public_key`` is 32 bytes for Ed25519 and empty for HMAC."""

    algorithm: Algorithm
    public_key: bytes = b""


@transaction.atomic
def operator_create(
    *, name: str, scopes: Collection[str] = SCOPES, signing: Signing | None = None, actor: str = SYSTEM
) -> tuple[Operator, str]:
    """Create an operator with a first key and return it with the key's plaintext, which is kept nowhere.

    Raises:
        OperatorNameTaken: another operator has the name.
        SignatureKeyInvalid: as key_create.
    """
    changed_by(actor)
    operator = Operator(name=name, created_at_ms=now_ms())
    Operator.objects.bulk_create([operator], ignore_conflicts=True)
    if not Operator.objects.filter(pk=operator.pk).exists():
        raise OperatorNameTaken(pointer="/name")
    _key, plaintext = key_create(operator_id=operator.pk, scopes=scopes, signing=signing, actor=actor)
    return operator, plaintext


@transaction.atomic
def operator_status_set(*, operator_id: UUID, status: OperatorStatus, reason: str, actor: str = SYSTEM) -> Operator:
    """Pause, resume or close an operator; a pause stops new rounds, never payouts.

    Raises:
        OperatorNotFound: no such operator.
    """
    changed_by(actor, reason)
    operator = _operator_lock(operator_id)
    operator.status = status
    operator.status_reason = reason
    operator.save(update_fields=["status", "status_reason"])
    return operator


@transaction.atomic
def key_create(
    *,
    operator_id: UUID,
    scopes: Collection[str],
    label: str = "main",
    addresses: Sequence[str] = (),
    signing: Signing | None = None,
    actor: str = SYSTEM,
) -> tuple[ApiKey, str]:
    """Create an API key and return it with its plaintext, which is kept nowhere.

    Args:
        label: what the key is for; two keys of a label may live at a time, so that one can replace the other.
        addresses: networks in CIDR form from which it may be used; empty means from anywhere.
        signing: how its requests are signed; None where they are not.

    Raises:
        SignatureKeyInvalid: the public key does not fit the algorithm.
        OperatorNotFound: no such operator.
        KeyLimitReached: two live keys have the label.
    """
    if signing is not None:
        _signing_check(signing)
    changed_by(actor)
    operator = _operator_lock(operator_id)
    taken = set(
        ApiKey.objects.filter(operator=operator, label=label, revoked_at_ms=None).values_list("slot", flat=True)
    )
    free = sorted(set(range(KEY_SLOTS)) - taken)
    if not free:
        raise KeyLimitReached(pointer="/label")
    made = key_make(is_sandbox=is_sandbox())
    key = ApiKey.objects.create(
        operator=operator,
        label=label,
        slot=free[0],
        prefix=made.prefix,
        secret_sha256=made.secret_sha256,
        scopes=[scope for scope in SCOPES if scope in scopes],
        addresses=[str(ip_network(address)) for address in addresses],
        signature_alg=signing.algorithm if signing else "",
        signature_public_key=signing.public_key if signing else b"",
        created_at_ms=now_ms(),
    )
    return key, made.plaintext


@transaction.atomic
def key_revoke(*, operator_id: UUID, key_id: UUID, actor: str = SYSTEM) -> ApiKey:
    """Revoke an API key at once; revoking it again changes nothing.

    Raises:
        KeyNotFound: the operator has no such key.
    """
    changed_by(actor)
    key = ApiKey.objects.select_for_update(no_key=True).filter(operator_id=operator_id, pk=key_id).first()
    if key is None:
        raise KeyNotFound
    if key.revoked_at_ms is None:
        key.revoked_at_ms = now_ms()
        key.save(update_fields=["revoked_at_ms"])
    return key


def key_used(*, key: ApiKey, now_ms: int) -> None:
    """Remember when a key was last used, to the minute, so that a busy key costs one write a minute."""
    if key.last_used_at_ms is not None and now_ms - key.last_used_at_ms < USED_RESOLUTION_MS:
        return
    stale = Q(last_used_at_ms=None) | Q(last_used_at_ms__lte=now_ms - USED_RESOLUTION_MS)
    ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at_ms=now_ms)


def _signing_check(signing: Signing) -> None:
    if signing.algorithm != Algorithm.ED25519:
        if signing.public_key:
            raise SignatureKeyInvalid("HMAC has no public key.", pointer="/signature/public_key")
        return
    try:
        Ed25519PublicKey.from_public_bytes(signing.public_key)
    except ValueError:
        raise SignatureKeyInvalid("An Ed25519 public key has 32 bytes.", pointer="/signature/public_key") from None


def _operator_lock(operator_id: UUID) -> Operator:
    operator = Operator.objects.select_for_update(no_key=True).filter(pk=operator_id).first()
    if operator is None:
        raise OperatorNotFound
    return operator
