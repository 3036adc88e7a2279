"""The sweep: rollbacks and wins are sent until the operator's wallet gives a definite answer, for days if need be.

Due rows are columns on the database's clock.  Each call is committed as sent before it is made and has the same id and
the same bytes at every attempt, so whoever dies in between leaves a row that is due again after its lease.  One sweep
at a time serves an operator, several operators are served at once; one whose wallet fails is left alone for a while.

Source: docs/operators/seamless-wallet.md, section Retries.
"""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import structlog
from django.db import connection, transaction
from django.db.models import Count, Min

from apps.core.clock import now_ms
from apps.wallets.seamless import metrics, settings
from apps.wallets.seamless.models import (
    FINAL,
    REFUSED_BY_OPERATOR,
    TO_PAY,
    TO_ROLL_BACK,
    OperatorWallet,
    Stake,
    StakeState,
)
from apps.wallets.seamless.protocol import ERROR_LENGTH_MAX, Call, Outcome, Verdict, stake_body, transaction_id
from apps.wallets.seamless.stakes import LEASE_MS, note, stake_doubt
from apps.wallets.seamless.wire import call

RETRY_MIN_MS = 2_000
RETRY_MAX_MS = 3_600_000
"""The wait doubles from the one to the other, then stays; there is no last try."""
JITTER = 20
"""Percent by which a wait is longer or shorter, so that not everything comes back at once."""
QUIET_MIN_MS = 1_000
QUIET_MAX_MS = 60_000
"""A wallet that fails is left alone, twice as long with each failure in a row: waiting for it keeps a worker busy."""
OPERATORS_AT_ONCE = 8
LAPSED_AT_ONCE = 500
SERVE_S = 10.0
"""An operator's turn ends after so long; well within the lease of its row."""

_log = structlog.get_logger(__name__)


def run() -> int:
    """Do what is due once; return how many rollbacks and wins got a definite answer."""
    _lapse()
    operators = _operators_claim()
    if not operators:
        return 0
    with ThreadPoolExecutor(OPERATORS_AT_ONCE) as pool:
        return sum(pool.map(_serve, operators))


def _lapse() -> None:
    """Give up on plans that were never sent, and take bets for unknown whose sender has died."""
    due = Stake.objects.filter(next_try_at_ms__lte=now_ms())
    planned = list(due.filter(state=StakeState.PLANNED).values_list("pk", flat=True)[:LAPSED_AT_ONCE])
    Stake.objects.filter(pk__in=planned, state=StakeState.PLANNED).update(
        state=StakeState.REFUSED, next_try_at_ms=None, last_error="not_sent"
    )
    for stake_id in due.filter(state=StakeState.SENT).values_list("pk", flat=True)[:LAPSED_AT_ONCE]:
        stake_doubt(stake_id=stake_id, why="sender_died")


@transaction.atomic
def _operators_claim() -> list[UUID]:
    """Take some operators that have something due and that nobody serves."""
    now = now_ms()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE wallets_operator_wallet SET not_before_ms = %(lease)s WHERE operator_id IN ("
            "SELECT w.operator_id FROM wallets_operator_wallet w WHERE w.not_before_ms <= %(now)s AND EXISTS ("
            "SELECT 1 FROM wallets_stake s WHERE s.operator_id = w.operator_id AND s.next_try_at_ms <= %(now)s"
            " AND s.state NOT IN ('planned', 'sent')) ORDER BY random() LIMIT %(limit)s"
            " FOR NO KEY UPDATE SKIP LOCKED) RETURNING operator_id",
            {"now": now, "lease": now + LEASE_MS, "limit": OPERATORS_AT_ONCE},
        )
        return [row[0] for row in cursor.fetchall()]


def _serve(operator_id: UUID) -> int:
    """Send what is due to one operator, in order, until a call fails or its turn is over; runs in a thread."""
    decided, ends, free_at_ms = 0, time.monotonic() + SERVE_S, 0
    try:
        while time.monotonic() < ends:
            stake = _next(operator_id)
            if stake is None:
                break
            said = _send(stake)
            if said.outcome is Outcome.UNKNOWN:
                free_at_ms = now_ms() + _quiet_ms(operator_id)
                break
            decided += 1
    finally:
        OperatorWallet.objects.filter(pk=operator_id).update(not_before_ms=free_at_ms)
        connection.close()
    return decided


def _quiet_ms(operator_id: UUID) -> int:
    failures = OperatorWallet.objects.values_list("failures", flat=True).get(pk=operator_id)
    return min(QUIET_MIN_MS << min(failures, 16), QUIET_MAX_MS)


@transaction.atomic
def _next(operator_id: UUID) -> Stake | None:
    """Commit the next due row as sent and return it."""
    now = now_ms()
    due = Stake.objects.filter(operator_id=operator_id, next_try_at_ms__lte=now, state__in=(*TO_ROLL_BACK, *TO_PAY))
    stake = due.select_for_update(no_key=True, skip_locked=True).order_by("next_try_at_ms", "id").first()
    if stake is None:
        return None
    stake.state = StakeState.ROLLBACK_SENT if stake.state in TO_ROLL_BACK else StakeState.WIN_SENT
    stake.attempts += 1
    stake.next_try_at_ms = now + LEASE_MS
    stake.save(update_fields=["state", "attempts", "next_try_at_ms"])
    return stake


def _send(stake: Stake) -> Verdict:
    what = Call.ROLLBACK if stake.state == StakeState.ROLLBACK_SENT else Call.WIN
    said = call(
        target=settings.target(OperatorWallet.objects.get(pk=stake.operator_id)),
        what=what,
        body=stake_body(what, stake),
        idempotency_key=transaction_id(what, stake),
    )
    note(stake.operator_id, what, said)
    answer_record(stake=stake, said=said)
    return said


@transaction.atomic
def answer_record(*, stake: Stake, said: Verdict) -> bool:
    """Write down what became of a sent rollback or win; False if this attempt is not the present one any more.

    Args:
        stake: as it was sent.
    """
    is_win = stake.state == StakeState.WIN_SENT
    facts: dict[str, object] = {"last_error": said.code[:ERROR_LENGTH_MAX], "next_try_at_ms": None}
    if said.outcome is Outcome.DONE or _had_never_come(stake, said):
        facts["state"] = StakeState.PAID if is_win else StakeState.ROLLED_BACK
    elif said.outcome is Outcome.REFUSED:
        facts["state"] = StakeState.WIN_REFUSED if is_win else StakeState.ROLLBACK_REFUSED
        _log.error("seamless_call_refused", stake=str(stake.pk), operator=str(stake.operator_id), code=said.code)
    else:
        facts["state"] = StakeState.WIN_UNKNOWN if is_win else StakeState.ROLLBACK_UNKNOWN
        facts["next_try_at_ms"] = now_ms() + _wait_ms(stake.attempts, said)
    present = Stake.objects.filter(pk=stake.pk, state=stake.state, attempts=stake.attempts)
    return bool(present.update(**facts))


def _had_never_come(stake: Stake, said: Verdict) -> bool:
    """Tell whether a rollback was answered with: I do not know that bet, and I will refuse it if it comes."""
    return stake.state == StakeState.ROLLBACK_SENT and said.code == "reference_unknown" and not stake.confirmed_at_ms


def _wait_ms(attempts: int, said: Verdict) -> int:
    wait_ms = min(RETRY_MIN_MS << min(attempts - 1, 16), RETRY_MAX_MS)
    wait_ms += wait_ms * random.randint(-JITTER, JITTER) // 100  # noqa: S311  Jitter, not a secret.
    return max(wait_ms, (said.retry_after_s or 0) * 1000)


def ages_measure() -> int:
    """Set the metrics of what is open; return the age of the oldest amount in suspense, in seconds."""
    open_ = Stake.objects.exclude(state__in=FINAL).values_list("state").order_by("state")
    counts = dict(open_.annotate(Count("id")))
    for state in StakeState:
        if state not in FINAL:
            metrics.OPEN.labels(state=str(state)).set(counts.get(state, 0))
    refused = sum(counts.get(state, 0) for state in REFUSED_BY_OPERATOR)
    if refused:
        _log.warning("seamless_refused_open", count=refused)
    suspended = Stake.objects.filter(state__in=(*TO_ROLL_BACK, *TO_PAY))
    now = now_ms()
    oldest_ms = suspended.aggregate(oldest=Min("created_at_ms"))["oldest"] or now
    age_s: int = (now - oldest_ms) // 1000
    metrics.SUSPENSE_OLDEST_S.set(age_s)
    return age_s
