"""Periodic work of fairness: the log's writer, the beacon, the witnesses.  Each is safe to run twice or never.

Source: docs/fairness/operations.md, sections Sequencer, Beacon and Witnesses.
"""

from __future__ import annotations

from celery import shared_task

from apps.core.clock import now_ms
from apps.core.ticks import Watch
from apps.fairness import beacons, conf, sequencer, witnesses
from apps.fairness.errors import LogUnavailable


@shared_task(name="fairness.sequence", base=Watch, ignore_result=True, pause_s=0.2)
def sequence() -> int:
    """Merge signed records into the log and sign its tree; return how many were merged."""
    now = now_ms()
    if sequencer.is_idle(now_ms=now):
        return 0
    try:
        merges = sequencer.tick(now_ms=now)
    except LogUnavailable:
        # Said already: in the log's row, in the metric and in the health check.  The next tick asks again.
        return 0
    if merges and conf.witnesses():
        cosign.delay()  # A heap of these drops itself: see apps.core.ticks.
    return sum(merge.merged for merge in merges)


@shared_task(name="fairness.beacon", ignore_result=True)
def beacon() -> int:
    """Fetch the beacons that closed rounds wait for; return how many came."""
    return beacons.fetch_due(now_ms=now_ms()) if conf.beacon_urls() else 0


@shared_task(name="fairness.cosign", ignore_result=True)
def cosign() -> int:
    """Ask the witnesses to cosign the newest checkpoint; return how many did."""
    return witnesses.cosign_newest(now_s=now_ms() // 1000) if conf.witnesses() else 0
