"""Player sessions: a short-lived signed token, and its end before its time.

Source: docs/operators/keys-and-sessions.md, section Player sessions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction

from apps.accounts import selectors
from apps.accounts.errors import PlayerClosed, SessionNotFound
from apps.accounts.limits import Limit, LimitKind
from apps.accounts.models import PlayerSession, PlayerStatus
from apps.accounts.principals import PlayerPrincipal
from apps.accounts.selectors import TTL_S_MAX
from apps.accounts.services.players import player_lock
from apps.accounts.tokens import token_make
from apps.core.clock import now_ms

TTL_S_MIN = 60


@dataclass(frozen=True, slots=True)
class SessionToken:
    """A session that was just made; the token is shown once and kept nowhere."""

    session_id: UUID
    player_id: UUID
    token: str = field(repr=False)
    sitting_at_ms: int
    expires_at_ms: int
    reality_check_minutes: int | None
    """How often the player wants to be reminded of the time, counted from the sitting's beginning."""


@transaction.atomic
def session_create(*, player_id: UUID, ttl_s: int) -> SessionToken:
    """Start a session of a player for ``ttl_s`` seconds, bounded by TTL_S_MIN and TTL_S_MAX.

    Frozen and excluded players get sessions too: they may look at their rounds and history, only not join.

    Raises:
        PlayerNotFound: no such player.
        PlayerClosed: the player's account is closed.
    """
    player = player_lock(player_id)
    if player.status == PlayerStatus.CLOSED:
        raise PlayerClosed
    now = now_ms()
    persons = selectors.persons_of(players=[player])
    session = PlayerSession.objects.create(
        operator_id=player.operator_id,
        player=player,
        token_version=player.token_version,
        sitting_at_ms=selectors.sittings(persons=persons, now=now).get(player.pk, now),
        created_at_ms=now,
        expires_at_ms=now + 1000 * min(max(ttl_s, TTL_S_MIN), TTL_S_MAX),
    )
    principal = PlayerPrincipal(player.operator_id, player.pk, session.pk, player.token_version)
    return SessionToken(
        session_id=session.pk,
        player_id=player.pk,
        token=token_make(principal, expires_ms=session.expires_at_ms),
        sitting_at_ms=session.sitting_at_ms,
        expires_at_ms=session.expires_at_ms,
        reality_check_minutes=_reality_check_minutes(player.pk, persons, now),
    )


@transaction.atomic
def session_revoke(*, operator_id: UUID, session_id: UUID) -> PlayerSession:
    """End a session at once, and with it every other live session of the player; again changes nothing.

    A move checks a token's version only, so that it needs no further look-up; the version is the player's, and counting
    it up kills all of the player's tokens together.

    Raises:
        SessionNotFound: the operator has no such session.
    """
    found = PlayerSession.objects.filter(operator_id=operator_id, pk=session_id).first()
    if found is None:
        raise SessionNotFound
    player = player_lock(found.player_id)
    now = now_ms()
    live = PlayerSession.objects.filter(player=player, revoked_at_ms=None, expires_at_ms__gt=now)
    if live.filter(pk=found.pk).update(revoked_at_ms=now):
        live.update(revoked_at_ms=now)
        player.token_version += 1
        player.save(update_fields=["token_version"])
    found.refresh_from_db()
    return found


def _reality_check_minutes(player_id: UUID, persons: selectors.Persons, now: int) -> int | None:
    limits = selectors.limits_of(persons=persons, now=now)[player_id]
    return limits.get((LimitKind.REALITY_CHECK_MINUTES, ""), Limit()).value
