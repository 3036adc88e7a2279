"""Limits and self-exclusion: what a player asks for, kept for ever.

Source: docs/operators/responsible-play.md.  Nothing here stops a payout, a refund or a withdrawal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from uuid import UUID

from django.db import transaction

from apps.accounts.errors import ExclusionTooShort
from apps.accounts.limits import DAY_MS, LimitEntry, LimitKind, change_of, limit_at
from apps.accounts.models import Exclusion, LimitChange
from apps.accounts.services.players import person_lock, player_lock

EXCLUSION_MS_MIN = DAY_MS


@dataclass(frozen=True, slots=True)
class LimitWish:
    """A limit as somebody wants it; ``currency`` is empty exactly for limits in minutes, ``value`` None is no limit."""

    kind: LimitKind
    currency: str
    value: int | None


@transaction.atomic
def limits_set(*, player_id: UUID, wishes: Sequence[LimitWish], actor: str, now: int) -> list[LimitChange]:
    """Change limits of a player and return the changes: tightened ones hold at once, loosened ones 24 hours later.

    A limit is the person's: the change is made under each of the person's accounts.

    Args:
        actor: who asked, as the history remembers it.
        now: Unix milliseconds.

    Raises:
        PlayerNotFound: no such player.
    """
    accounts = person_lock(player_id)
    made: list[LimitChange] = []
    for player, wish in product(accounts, wishes):
        rows = LimitChange.objects.filter(player=player, kind=wish.kind, currency=wish.currency).order_by("pk")
        change = change_of(limit_at(map(change_read, rows), now), wish.value, now)
        if change is not None:
            made.append(
                LimitChange.objects.create(
                    operator_id=player.operator_id,
                    player=player,
                    kind=wish.kind,
                    currency=wish.currency,
                    value=change.value,
                    actor=actor,
                    created_at_ms=change.created_at_ms,
                    effective_at_ms=change.effective_at_ms,
                )
            )
    return made


@transaction.atomic
def player_exclude(*, player_id: UUID, until_ms: int | None, actor: str, now: int) -> Exclusion:
    """Exclude a player from play until a time, or for ever with None; nobody can take it back.

    Raises:
        PlayerNotFound: no such player.
        ExclusionTooShort: it would end within a day.
    """
    player = player_lock(player_id)
    if until_ms is not None and until_ms < now + EXCLUSION_MS_MIN:
        raise ExclusionTooShort(pointer="/until_ms", until_ms_min=now + EXCLUSION_MS_MIN)
    return Exclusion.objects.create(
        operator_id=player.operator_id, player=player, until_ms=until_ms, actor=actor, created_at_ms=now
    )


def change_read(row: LimitChange) -> LimitEntry:
    """Return a change as the rules of limits take it."""
    return LimitEntry(row.value, row.created_at_ms, row.effective_at_ms)
