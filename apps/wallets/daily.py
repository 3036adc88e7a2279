"""The daily file: every transaction of one operator, currency and UTC day, signed and chained.

Its header says what each kind of account had before and after.  Made from the ledger alone, so making it again gives
the same bytes.

Source: docs/operators/wallet.md, section Daily files; invariant I16 in docs/auditors/ledger.md.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from apps.core.clock import now_ms
from apps.wallets import canonical
from apps.wallets.keys import signer
from apps.wallets.models import AccountKind, DailyFile

DAY_MS = 86_400_000
DAYS_AT_ONCE_MAX = 31
AFTER_MIDNIGHT_MS = 60_000
"""A day is closed so long after its end: longer than any statement may run that still dates into it."""
WAIT_TRIES = 40
WAIT_S = 0.25


@dataclass(frozen=True, slots=True)
class Daily:
    """A daily file: the bytes that are hashed, and what signs them."""

    body: bytes
    hash: bytes
    kid: str
    signature: bytes

    def file(self) -> bytes:
        """Return the file as it is served: the hashed bytes and one line with hash, key and signature."""
        return self.body + canonical.json_line(
            {"hash": self.hash.hex(), "kid": self.kid, "signature": self.signature.hex()}
        )


def day_start_ms(day: date) -> int:
    """Return when a day begins, Unix milliseconds."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


def daily_files_make(*, operator_id: UUID) -> int:
    """Make the operator's files of all days that are over; return how many, at most DAYS_AT_ONCE_MAX per currency."""
    made = 0
    today = _date(now_ms() - AFTER_MIDNIGHT_MS)
    for currency, first_ms in _currencies(operator_id):
        last = _last(operator_id, currency)
        day = last.day + timedelta(days=1) if last else _date(first_ms)
        stop = min(today, day + timedelta(days=DAYS_AT_ONCE_MAX))
        if day < stop:
            _running_ones_end()
        while day < stop:
            daily_file_make(operator_id=operator_id, currency=currency, day=day)
            day += timedelta(days=1)
            made += 1
    return made


def _currencies(operator_id: UUID) -> list[tuple[str, int]]:
    """Return the operator's currencies, each with the time at which its first house account was opened.

    A house account is opened with the first transaction that needs it, and its state never changes.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT currency_id, min(status_at_ms) FROM wallets_account WHERE operator_id = %s"
            " AND kind NOT IN ('player', 'escrow') GROUP BY currency_id ORDER BY currency_id",
            [operator_id],
        )
        return [(str(currency), int(first_ms)) for currency, first_ms in cursor.fetchall()]


def _running_ones_end() -> None:
    """Wait until every database transaction that runs now has ended, so that none still adds to a day that is over.

    Raises:
        TimeoutError: one does not end; the next run tries again.
    """
    with connection.cursor() as cursor:
        # A number of our own is above every number given before; a snapshot's upper end may be below a running one.
        cursor.execute("SELECT pg_current_xact_id()::text::bigint")
        (bound,) = cursor.fetchone()
        for _ in range(WAIT_TRIES):
            cursor.execute("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= %s", [bound])
            if cursor.fetchone()[0]:
                return
            time.sleep(WAIT_S)
    raise TimeoutError("A database transaction has been running too long to close the day.")


@transaction.atomic
def daily_file_make(*, operator_id: UUID, currency: str, day: date) -> Daily:
    """Make and keep the file of one day, the one after the operator's last."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"wallets daily {operator_id}"])
    known = DailyFile.objects.filter(operator_id=operator_id, currency=currency, day=day).first()
    if known is not None:
        return stored(known)
    last = _last(operator_id, currency)
    assert last is None or last.day + timedelta(days=1) == day, "days follow one another"
    made = _signed(operator_id, currency, day, last)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO wallets_daily_file (operator_id, currency, day, form, body, prev_hash, hash, kid, signature)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                operator_id,
                currency,
                day,
                canonical.FORM,
                made.body,
                bytes(last.hash) if last else canonical.GENESIS,
                made.hash,
                made.kid,
                made.signature,
            ],
        )
    return made


def day_so_far(*, operator_id: UUID, currency: str, day: date) -> Daily | None:
    """Return the file that today would have if it ended now, signed and not kept; None of any other day.

    For a sandbox, where nobody wants to wait for midnight.
    """
    first_ms = dict(_currencies(operator_id)).get(currency)
    if first_ms is None or day != _date(now_ms()):
        return None
    last = _last(operator_id, currency)
    if day != (last.day + timedelta(days=1) if last else _date(first_ms)):
        return None
    return _signed(operator_id, currency, day, last)


def _last(operator_id: UUID, currency: str) -> DailyFile | None:
    return DailyFile.objects.filter(operator_id=operator_id, currency=currency).order_by("-day").first()


def _date(at_ms: int) -> date:
    return datetime.fromtimestamp(at_ms / 1000, tz=UTC).date()


def _signed(operator_id: UUID, currency: str, day: date, last: DailyFile | None) -> Daily:
    body = daily_body_compute(operator_id=operator_id, currency=currency, day=day, last=last)
    key = signer()
    file_hash = canonical.daily_hash(body)
    statement = canonical.daily_statement(operator_id, currency, day.isoformat(), file_hash)
    return Daily(body, file_hash, key.kid, key.sign(statement))


def stored(row: DailyFile) -> Daily:
    """Return a kept file."""
    return Daily(bytes(row.body), bytes(row.hash), row.kid_id, bytes(row.signature))


def daily_body_compute(*, operator_id: UUID, currency: str, day: date, last: DailyFile | None) -> bytes:
    """Compute the hashed bytes of a day's file from the ledger and the file before it."""
    opening = (
        json.loads(bytes(last.body).split(b"\n", 1)[0])["closing"] if last else dict.fromkeys(AccountKind.values, 0)
    )
    transactions = list(_transactions(operator_id, currency, day))
    closing = dict(opening)
    kinds: dict[str, dict[str, int]] = {}
    for one in transactions:
        of_kind = kinds.setdefault(one["kind"], {"count": 0, "moved_minor": 0})
        of_kind["count"] += 1
        of_kind["moved_minor"] += sum(line["amount_minor"] for line in one["lines"] if line["amount_minor"] > 0)
        for line in one["lines"]:
            closing[line["account"]] += line["amount_minor"]
    header = {
        "form": f"sealdeck-daily/{canonical.FORM}",
        "operator_id": str(operator_id),
        "currency": currency,
        "day": day.isoformat(),
        "prev_hash": bytes(last.hash).hex() if last else canonical.GENESIS.hex(),
        "opening": opening,
        "closing": closing,
        "fee_minor": closing[AccountKind.RAKE] - opening[AccountKind.RAKE],
        "kinds": kinds,
        "transactions": len(transactions),
    }
    return canonical.daily_body(header, transactions)


def _transactions(operator_id: UUID, currency: str, day: date) -> Iterator[dict[str, Any]]:
    start = day_start_ms(day)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT t.id, t.kind, t.external_id, t.round_id, t.reverses_id, t.created_at_ms,"
            " a.kind, a.owner_ref, e.amount, e.balance_after"
            " FROM wallets_tx t JOIN wallets_entry e ON e.tx_id = t.id JOIN wallets_account a ON a.id = e.account_id"
            " WHERE t.operator_id = %s AND e.currency = %s AND t.created_at_ms >= %s AND t.created_at_ms < %s"
            " ORDER BY t.created_at_ms, t.id, e.id",
            [operator_id, currency, start, start + DAY_MS],
        )
        rows = cursor.fetchall()
    for (tx_id, kind, external_id, round_id, reverses_id, created_at_ms), lines in groupby(
        rows, key=itemgetter(0, 1, 2, 3, 4, 5)
    ):
        yield {
            "id": str(tx_id),
            "kind": kind,
            "external_id": external_id,
            "round_id": str(round_id) if round_id else None,
            "reverses_id": str(reverses_id) if reverses_id else None,
            "created_at_ms": created_at_ms,
            "lines": [_line(*line[6:]) for line in lines],
        }


def _line(kind: str, owner: UUID, amount: int, balance_after: int | None) -> dict[str, Any]:
    line: dict[str, Any] = {"account": kind, "amount_minor": amount}
    if kind == AccountKind.PLAYER:
        line |= {"player_id": str(owner), "balance_after_minor": balance_after}
    return line
