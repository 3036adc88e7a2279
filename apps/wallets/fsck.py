"""The check of the whole ledger: invariants I1 to I19, each with what breaks it.

docs/auditors/ledger.md.  Most are queries (apps.wallets.invariants); here are those that recompute hashes, signatures,
files and payouts.  What a round should have paid is known above the ledger: the setting SEALDECK_ROUND_AUDIT names a
function that recomputes it from a round's public records; without it I8, I9 and I18 say that they were not checked.
Reads only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.utils.module_loading import import_string

from apps.wallets import canonical
from apps.wallets.daily import daily_body_compute
from apps.wallets.invariants import INVARIANTS, Invariant
from apps.wallets.keys import signature_is_valid
from apps.wallets.models import DailyFile, LedgerBlock, LedgerKey, LedgerTransaction, TxKind
from apps.wallets.sealing import entries_between

SHOWN_MAX = 20
"""Violations shown of each invariant."""
TIMEOUT_MS = 600_000
"""A full check reads everything; it gets more time than a request."""

FEE_SAYS = "A fee is floor(pot * basis points / 10000)."
SPLIT_SAYS = "Payouts of an equal split differ by one unit at most."
BLOCKS_SAY = "Blocks chain without a gap, and hash, sums and signature are right."
FILES_SAY = "Daily files chain, and making them again gives the same bytes."
PAYOUTS_SAY = "Payouts are those that the round's public records give."


class State(StrEnum):
    """What came out of a check."""

    HOLDS = "holds"
    BROKEN = "broken"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Finding:
    """One invariant and how it stands."""

    id: str
    says: str
    state: State
    violations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RoundAudit:
    """What a round should have moved, recomputed from its public records."""

    pot_minor: int
    fee_bp: int
    payouts: Mapping[UUID, int]
    """Amount of each player who gets one; a match's under its first round."""
    is_equal_split: bool
    """Whether all shares are equal, so that payouts differ by one unit at most."""


RoundAuditor = Callable[[UUID], RoundAudit | None]
Differ = Callable[[RoundAudit, dict[UUID, int], int], bool]


def check(*, operator_id: UUID | None = None, is_quick: bool = False) -> Iterator[Finding]:
    """Check the ledger of one operator, or of all; yield each invariant in the order of its number.

    Args:
        is_quick: only what is cheap enough for every few minutes.
    """
    checks: dict[str, Callable[[], Finding]] = {
        each.id: partial(_queried, each, operator_id) for each in INVARIANTS if each.is_quick or not is_quick
    }
    if not is_quick:
        rounds = _Rounds(operator_id)
        checks["I8"] = partial(rounds.finding, "I8", FEE_SAYS, rounds.fees)
        checks["I9"] = partial(rounds.finding, "I9", SPLIT_SAYS, rounds.splits)
        checks["I13"] = partial(_chained, "I13", BLOCKS_SAY, _blocks, operator_id)
        checks["I16"] = partial(_chained, "I16", FILES_SAY, _files, operator_id)
        checks["I18"] = partial(rounds.finding, "I18", PAYOUTS_SAY, rounds.payouts)
    for name in sorted(checks, key=lambda name: int(name[1:])):
        yield checks[name]()


def quick_ids() -> tuple[str, ...]:
    """Return the numbers of the quick invariants."""
    return tuple(each.id for each in INVARIANTS if each.is_quick)


def _queried(invariant: Invariant, operator_id: UUID | None) -> Finding:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(TIMEOUT_MS)])
        cursor.execute(invariant.query, {"operator": operator_id})
        return _found(invariant.id, invariant.says, (row[0] for row in cursor.fetchmany(SHOWN_MAX)))


def _found(name: str, says: str, violations: Iterator[str]) -> Finding:
    shown = tuple(text for text, _ in zip(violations, range(SHOWN_MAX), strict=False))
    return Finding(name, says, State.BROKEN if shown else State.HOLDS, shown)


def _chained(name: str, says: str, walk: Callable[[UUID | None], Iterator[str]], operator_id: UUID | None) -> Finding:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(TIMEOUT_MS)])
        return _found(name, says, walk(operator_id))


def _blocks(operator_id: UUID | None) -> Iterator[str]:
    """Recompute every block from the entries and yield what does not fit."""
    keys = {key.kid: bytes(key.public_key) for key in LedgerKey.objects.all()}
    blocks = LedgerBlock.objects.order_by("operator_id", "seq")
    if operator_id is not None:
        blocks = blocks.filter(operator_id=operator_id)
    last: LedgerBlock | None = None
    for row in blocks.iterator():
        if last is None or last.operator_id != row.operator_id:
            last = None
        name = f"block {row.seq} of operator {row.operator_id}"
        entries = entries_between(row.operator_id, row.from_xid, row.upto_xid)
        block = canonical.Block(row.operator_id, row.seq, bytes(row.prev_hash), row.from_xid, row.upto_xid, entries)
        if (row.seq, row.from_xid, bytes(row.prev_hash)) != (
            (last.seq + 1, last.upto_xid, bytes(last.hash)) if last else (0, 0, canonical.GENESIS)
        ):
            yield f"{name} does not follow the one before"
        if row.form != canonical.FORM or block.hash() != bytes(row.hash):
            yield f"{name}: the hash is not that of its entries"
        elif (len(entries), entries[0].id, entries[-1].id, block.sums()) != (
            row.n,
            row.first_entry,
            row.last_entry,
            row.sums,
        ):
            yield f"{name}: its counts or sums are not those of its entries"
        statement = canonical.block_statement(row.operator_id, row.seq, bytes(row.hash), row.sealed_at_ms)
        if not signature_is_valid(keys[row.kid_id], bytes(row.signature), statement):
            yield f"{name}: the signature is not valid"
        last = row


def _files(operator_id: UUID | None) -> Iterator[str]:
    """Make every daily file again and yield what differs."""
    keys = {key.kid: bytes(key.public_key) for key in LedgerKey.objects.all()}
    files = DailyFile.objects.order_by("operator_id", "currency", "day")
    if operator_id is not None:
        files = files.filter(operator_id=operator_id)
    last: DailyFile | None = None
    for row in files.iterator():
        if last is not None and (last.operator_id, last.currency) != (row.operator_id, row.currency):
            last = None
        name = f"file {row.day} {row.currency} of operator {row.operator_id}"
        if bytes(row.prev_hash) != (bytes(last.hash) if last else canonical.GENESIS):
            yield f"{name} does not follow the one before"
        body = daily_body_compute(operator_id=row.operator_id, currency=row.currency, day=row.day, last=last)
        if body != bytes(row.body):
            yield f"{name} is not what the ledger gives"
        statement = canonical.daily_statement(row.operator_id, row.currency, row.day.isoformat(), bytes(row.hash))
        if canonical.daily_hash(bytes(row.body)) != bytes(row.hash) or not signature_is_valid(
            keys[row.kid_id], bytes(row.signature), statement
        ):
            yield f"{name}: hash or signature is not valid"
        last = row


class _Rounds:
    """Settled rounds beside what their public records say, where something can say it."""

    def __init__(self, operator_id: UUID | None) -> None:
        path = str(getattr(settings, "SEALDECK_ROUND_AUDIT", ""))
        self.auditor: RoundAuditor | None = import_string(path) if path else None
        self.operator_id = operator_id

    def finding(self, name: str, says: str, differ: Differ) -> Finding:
        """Return how an invariant of rounds stands."""
        if self.auditor is None:
            return Finding(name, says, State.NOT_CHECKED, ("SEALDECK_ROUND_AUDIT names nothing to recompute rounds",))
        return _found(name, says, self._differences(self.auditor, differ))

    def _differences(self, auditor: RoundAuditor, differ: Differ) -> Iterator[str]:
        settled = LedgerTransaction.objects.filter(kind=TxKind.SETTLE).order_by("xid", "id")
        if self.operator_id is not None:
            settled = settled.filter(operator_id=self.operator_id)
        for tx in settled.iterator():
            assert tx.round_id is not None, "a settlement has a round"
            expected = auditor(tx.round_id)
            if expected is None:
                yield f"round {tx.round_id} has no public records to recompute it from"
                continue
            payouts, fee = _moved(tx.pk)
            if differ(expected, payouts, fee):
                yield f"round {tx.round_id}: paid {payouts}, fee {fee}; records give {expected}"

    @staticmethod
    def fees(expected: RoundAudit, payouts: dict[UUID, int], fee: int) -> bool:
        """Tell whether the fee differs from the published rule."""
        pot = sum(payouts.values()) + fee
        return pot != expected.pot_minor or fee != pot * expected.fee_bp // 10_000

    @staticmethod
    def splits(expected: RoundAudit, payouts: dict[UUID, int], _fee: int) -> bool:
        """Tell whether an equal split is not equal."""
        return expected.is_equal_split and max(payouts.values(), default=0) - min(payouts.values(), default=0) > 1

    @staticmethod
    def payouts(expected: RoundAudit, payouts: dict[UUID, int], _fee: int) -> bool:
        """Tell whether somebody got another amount."""
        return payouts != {player: amount for player, amount in expected.payouts.items() if amount}


def _moved(tx_id: UUID) -> tuple[dict[UUID, int], int]:
    """Return what a settlement paid to whom, and its fee."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT a.kind, a.owner_ref, e.amount FROM wallets_entry e JOIN wallets_account a ON a.id = e.account_id"
            " WHERE e.tx_id = %s AND e.amount > 0",
            [tx_id],
        )
        rows = cursor.fetchall()
    return {owner: amount for kind, owner, amount in rows if kind == "player"}, sum(
        amount for kind, _, amount in rows if kind == "rake"
    )
