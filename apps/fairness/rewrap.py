"""Re-encryption of everything sealed under the newest key-encryption key, so that an old one can be retired.

Implements docs/fairness/operations.md, section Key-encryption keys.  Runs with the owner's login: the application's may
not change a sealed column.  Never shows an opened value; goes through each table once, in batches, by its key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Model, QuerySet

from apps.fairness import sealing
from apps.fairness.models import FairRound, Generation, SigningKey

BATCH = 500
"""Rows of one transaction."""


@dataclass(frozen=True, slots=True)
class _Column:
    model: type[Model]
    column: str
    fields: tuple[str, ...]
    again: Callable[[Any, bytes], bytes]
    """Opens a row's value and seals it anew."""


def _seed_again(row: FairRound, value: bytes) -> bytes:
    facts: dict[str, Any] = {
        "table": row.table_id.bytes,
        "index": row.index,
        "seed_commit": bytes(row.seed_commit),
    }
    return sealing.seed_seal(sealing.seed_open(value, **facts), **facts)


def _source_again(row: Generation, value: bytes) -> bytes:
    facts: dict[str, Any] = {"round_id": row.round_id, "gen": row.gen}
    return sealing.cards_seal(sealing.cards_open(value, **facts), **facts)


def _secret_again(row: SigningKey, value: bytes) -> bytes:
    facts: dict[str, Any] = {"use": row.use, "pk": bytes(row.public_key)}
    return sealing.signing_key_seal(sealing.signing_key_open(value, **facts), **facts)


COLUMNS = (
    _Column(FairRound, "seed_sealed", ("table_id", "index", "seed_commit"), _seed_again),
    _Column(Generation, "source_sealed", ("round_id", "gen"), _source_again),
    _Column(SigningKey, "secret_sealed", ("use", "public_key"), _secret_again),
)


def uses(*, using: str) -> dict[str, Counter[str]]:
    """Return how many values of each table name which key-encryption key."""
    return {
        column.model._meta.db_table: Counter(
            sealing.kek_id_of(bytes(getattr(row, column.column))) for batch in _batches(column, using) for row in batch
        )
        for column in COLUMNS
    }


def rewrap(*, using: str) -> dict[str, int]:
    """Seal every value that names an older key anew; return how many were, by table.

    Raises:
        KeysUnavailable: a key that is named is not among the settings.
        SealBroken: a value does not open.
    """
    newest = sealing.current_kek_id()
    done = {}
    for column in COLUMNS:
        changed = 0
        for batch in _batches(column, using):
            old = [row for row in batch if sealing.kek_id_of(bytes(getattr(row, column.column))) != newest]
            with transaction.atomic(using=using, durable=True):
                for row in old:
                    value = column.again(row, bytes(getattr(row, column.column)))
                    column.model._base_manager.using(using).filter(pk=row.pk).update(**{column.column: value})
            changed += len(old)
        done[column.model._meta.db_table] = changed
    return done


def _batches(column: _Column, using: str) -> Iterator[list[Any]]:
    rows: QuerySet[Any] = column.model._base_manager.using(using).filter(**{f"{column.column}__isnull": False})
    rows = rows.only("pk", column.column, *column.fields).order_by("pk")
    batch = list(rows[:BATCH])
    while batch:
        yield batch
        batch = list(rows.filter(pk__gt=batch[-1].pk)[:BATCH])
