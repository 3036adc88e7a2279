"""An operator's setting ``wallet``: transfer or seamless; and the breaker that watches a seamless one.

The breaker opens after ``FAILURES_MAX`` calls in a row without a definite answer.  While it is open no new stake is
fetched; wins and rollbacks go on, and the first of them that is answered closes it.  Else one bet each ``OPEN_MS`` may
try.  Source: docs/operators/seamless-wallet.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import connection
from django.db.models import F

from apps.core import egress
from apps.wallets.errors import OperatorUnavailable, WalletInUse, WalletIsSeamless, WalletKeyInvalid, WalletUrlRefused
from apps.wallets.models import AccountBalance, AccountKind
from apps.wallets.seamless.models import FINAL, OperatorWallet, Stake, WalletKind
from apps.wallets.seamless.wire import Target
from apps.wallets.services.calls import in_transaction

FAILURES_MAX = 5
OPEN_MS = 30_000
KEYS_MAX = 2
KEY_BYTES = 32


def operator_wallet_set(*, operator_id: UUID, kind: WalletKind, url: str = "", answer_keys: Sequence[str] = ()) -> None:
    """Choose an operator's wallet, or change where a seamless one is.

    Args:
        url: of a seamless wallet; ``/balance``, ``/bet``, ``/win`` and ``/rollback`` are added to it.
        answer_keys: public Ed25519 keys that sign its answers, hex.

    Raises:
        WalletUrlRefused: the address is not one that is called.
        WalletKeyInvalid: the keys are not one or two keys.
        WalletInUse: the kind changes while players have balances, or stakes are under way.
    """
    in_transaction()
    if kind is WalletKind.SEAMLESS:
        _checked(url, answer_keys)
    wallet, _ = OperatorWallet.objects.select_for_update(no_key=True).get_or_create(
        operator_id=operator_id, defaults={"kind": WalletKind.TRANSFER}
    )
    if wallet.kind != kind and _is_in_use(operator_id):
        raise WalletInUse
    wallet.kind = kind
    wallet.url, wallet.answer_keys = url.rstrip("/"), [key.lower() for key in answer_keys]
    wallet.failures = wallet.open_until_ms = wallet.not_before_ms = 0
    wallet.save(update_fields=["kind", "url", "answer_keys", "failures", "open_until_ms", "not_before_ms"])


def _checked(url: str, answer_keys: Sequence[str]) -> None:
    try:
        egress.literal_check(url)
    except egress.TargetRefused:
        raise WalletUrlRefused(pointer="/url") from None
    if "?" in url:
        raise WalletUrlRefused(pointer="/url")
    try:
        are_keys = all(len(bytes.fromhex(key)) == KEY_BYTES and len(key) == 2 * KEY_BYTES for key in answer_keys)
    except ValueError:
        are_keys = False
    if not are_keys or not 1 <= len(answer_keys) <= KEYS_MAX:
        raise WalletKeyInvalid(pointer="/answer_keys")


def _is_in_use(operator_id: UUID) -> bool:
    kinds = [AccountKind.PLAYER, AccountKind.ESCROW]
    has_money = AccountBalance.objects.filter(operator_id=operator_id, account__kind__in=kinds).exclude(posted=0)
    return has_money.exists() or Stake.objects.filter(operator_id=operator_id).exclude(state__in=FINAL).exists()


def operator_is_seamless(*, operator_id: UUID) -> bool:
    """Tell whether an operator's players have their money with the operator."""
    return OperatorWallet.objects.filter(pk=operator_id, kind=WalletKind.SEAMLESS).exists()


def transfer_check(*, operator_id: UUID) -> None:
    """Return if players' money may be put in, held and taken out here.

    Raises:
        WalletIsSeamless: it is with the operator.
    """
    if operator_is_seamless(operator_id=operator_id):
        raise WalletIsSeamless


def target(wallet: OperatorWallet) -> Target:
    """Return what calling a wallet needs."""
    return Target(wallet.operator_id, wallet.url, tuple(bytes.fromhex(key) for key in wallet.answer_keys))


def breaker_pass(*, operator_id: UUID, now_ms: int) -> Target:
    """Return the target of a new call that a player waits for, if the breaker lets it through.

    Raises:
        OperatorUnavailable: it does not.
    """
    wallet = OperatorWallet.objects.get(pk=operator_id)
    if wallet.failures >= FAILURES_MAX:
        tries = OperatorWallet.objects.filter(pk=operator_id, open_until_ms__lte=now_ms)
        if not tries.update(open_until_ms=now_ms + OPEN_MS):
            raise OperatorUnavailable(retry_after_s=max(1, (wallet.open_until_ms - now_ms) // 1000))
    return target(wallet)


def breaker_note(*, operator_id: UUID, is_definite: bool, now_ms: int) -> None:
    """Note whether a call was answered."""
    assert not connection.in_atomic_block, "every operator's row is written alone, so that nothing waits for it"
    wallet = OperatorWallet.objects.filter(pk=operator_id)
    if is_definite:
        wallet.filter(failures__gt=0).update(failures=0, open_until_ms=0)
        return
    wallet.update(failures=F("failures") + 1)
    wallet.filter(failures__gte=FAILURES_MAX).update(open_until_ms=now_ms + OPEN_MS)
