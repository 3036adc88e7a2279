"""Tasks of the ledger.  Each is safe to run twice, at once, or late, and calls one function."""

from __future__ import annotations

import structlog
from celery import shared_task
from django.db import transaction

from apps.core.clock import now_ms
from apps.wallets import fsck, metrics, sealing, selectors, services
from apps.wallets.daily import daily_files_make
from apps.wallets.seamless import sweep

ESCROW_AGE_MAX_MS = 24 * 3_600_000
"""Longer than any round or match lies open: an older escrow is one that somebody has to look at."""

SUSPENSE_AGE_MAX_S = 24 * 3_600
"""An amount that lies in suspense longer is told: an operator's wallet does not give a definite answer."""

_log = structlog.get_logger(__name__)


@shared_task(name="wallets.holds_expire", ignore_result=True)
def holds_expire() -> int:
    """Give back what is held by holds whose time is over."""
    return services.holds_expire()


@shared_task(name="wallets.seal", ignore_result=True)
def seal() -> int:
    """Seal what every operator's ledger has that is complete."""
    return sum(sealing.blocks_seal(operator_id=operator_id) for operator_id in sealing.operators_with_news())


@shared_task(name="wallets.daily_files", ignore_result=True)
def daily_files() -> int:
    """Make the daily files of the days that are over."""
    return sum(daily_files_make(operator_id=operator_id) for operator_id in selectors.operators())


@shared_task(name="wallets.seamless", ignore_result=True)
def seamless() -> int:
    """Send rollbacks and wins that are due to seamless operators."""
    return sweep.run()


@shared_task(name="wallets.check", ignore_result=True)
def check() -> int:
    """Check the quick invariants of every operator; what is broken stops that operator's new rounds.

    An escrow or a suspense that has been lying open for too long is told, and stops nothing.
    """
    raised = 0
    broken: set[str] = set()
    oldest_ms = now = now_ms()
    for operator_id in selectors.operators():
        escrow_ms = selectors.escrow_oldest_ms(operator_id=operator_id) or now
        oldest_ms = min(oldest_ms, escrow_ms)
        if now - escrow_ms > ESCROW_AGE_MAX_MS:
            _log.warning("ledger_escrow_old", operator_id=str(operator_id), since_ms=escrow_ms)
        for finding in fsck.check(operator_id=operator_id, is_quick=True):
            if finding.state is not fsck.State.BROKEN:
                continue
            broken.add(finding.id)
            _log.error("ledger_invariant_broken", operator_id=str(operator_id), invariant=finding.id)
            with transaction.atomic():
                raised += services.alarm_raise(
                    operator_id=operator_id, code=finding.id, detail="; ".join(finding.violations)
                )
    for invariant in fsck.quick_ids():
        metrics.INVARIANT_BROKEN.labels(invariant=invariant).set(invariant in broken)
    metrics.ESCROW_OLDEST_S.set((now - oldest_ms) // 1000)
    suspense_s = sweep.ages_measure()
    if suspense_s > SUSPENSE_AGE_MAX_S:
        _log.warning("ledger_suspense_old", age_s=suspense_s)
    return raised
