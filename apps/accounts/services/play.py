"""Whether a player may join a round.

Asked before a player sits down and again before each stake.  It never stops a payout, a refund or a withdrawal.

Source: docs/operators/responsible-play.md, section Who may play.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from uuid import UUID

from apps.accounts import selectors
from apps.accounts.errors import (
    GamingDisabled,
    LimitExceeded,
    PlayerClosed,
    PlayerExcluded,
    PlayerFrozen,
    PlayerNotFound,
)
from apps.accounts.limits import LOSS_WINDOWS_MS, MINUTE_MS, Limit, LimitKind
from apps.accounts.models import OperatorStatus, Player, PlayerStatus
from apps.accounts.services.players import accounts_lock
from apps.core.clock import now_ms
from apps.core.errors import ApplicationError

LossSince = Callable[[Collection[UUID], str, int], int]
"""Tells what players lost together in a currency since a time (Unix ms): minor units, negative for a gain."""


def player_may_play(
    *,
    player_id: UUID,
    currency: str | None = None,
    stake_minor: int = 0,
    loss_since: LossSince | None = None,
    now: int | None = None,
) -> None:
    """Return if the player may join a round for this stake, else say why not.

    Args:
        currency: of the stake; None where there is none, and then no limit in a currency is looked at.
        stake_minor: what the player would put in, minor units.
        loss_since: asked only if the player has a loss limit in the currency; then it must be there.
        now: Unix milliseconds; the database's time where it is not given.

    Raises:
        PlayerNotFound: no such player.
        GamingDisabled: play is stopped for the operator.
        PlayerClosed, PlayerFrozen: by the player's status.
        PlayerExcluded: the player, or the same person under another account, is excluded.
        LimitExceeded: the stake, or losing it, or playing on would pass one of the player's limits.
    """
    refusals = players_refused(
        player_ids=[player_id], currency=currency, stake_minor=stake_minor, loss_since=loss_since, now=now
    )
    if player_id in refusals:
        raise refusals[player_id]


def players_refused(
    *,
    player_ids: Collection[UUID],
    currency: str | None = None,
    stake_minor: int = 0,
    loss_since: LossSince | None = None,
    now: int | None = None,
) -> dict[UUID, ApplicationError]:
    """Return those of the players who may not join, with the reason: player_may_play for a whole table at once.

    Exclusions and limits are the person's: whatever was lost, or sat through, under any account counts.  The accounts
    of who has a loss limit stay locked until the transaction ends, so that two stakes at once do not both just fit.
    """
    time = now_ms() if now is None else now
    players = {row.pk: row for row in Player.objects.select_related("operator").filter(pk__in=player_ids)}
    persons = selectors.persons_of(players=list(players.values()))
    excluded = selectors.exclusions_in_force(persons=persons, now=time)
    limits = selectors.limits_of(persons=persons, now=time)
    sittings = selectors.sittings(
        persons={pk: accounts for pk, accounts in persons.items() if _has_session_limit(limits[pk])}, now=time
    )
    if currency is not None:
        bound = [pk for pk in players if any((kind, currency) in limits[pk] for kind in LOSS_WINDOWS_MS)]
        accounts_lock([account_id for pk in bound for account_id in persons[pk]])
    refusals: dict[UUID, ApplicationError] = {}
    for player_id in player_ids:
        refusal = _status_refusal(players.get(player_id))
        if refusal is None and player_id in excluded:
            refusal = PlayerExcluded(until_ms=excluded[player_id])
        if refusal is None:
            refusal = _session_refusal(limits[player_id], sittings.get(player_id), time)
        if refusal is None and currency is not None:
            refusal = _stake_refusal(limits[player_id], persons[player_id], currency, stake_minor, loss_since, time)
        if refusal is not None:
            refusals[player_id] = refusal
    return refusals


def _status_refusal(player: Player | None) -> ApplicationError | None:
    if player is None:
        return PlayerNotFound()
    if player.operator.status != OperatorStatus.ACTIVE:
        return GamingDisabled()
    match PlayerStatus(player.status):
        case PlayerStatus.CLOSED:
            return PlayerClosed()
        case PlayerStatus.FROZEN:
            return PlayerFrozen()
        case PlayerStatus.ACTIVE:
            return None


def _has_session_limit(limits: Mapping[tuple[str, str], Limit]) -> bool:
    limit = limits.get((LimitKind.SESSION_MINUTES, ""))
    return limit is not None and limit.value is not None


def _session_refusal(
    limits: Mapping[tuple[str, str], Limit], sitting_at_ms: int | None, now: int
) -> ApplicationError | None:
    if sitting_at_ms is None or not _has_session_limit(limits):
        return None
    minutes = limits[LimitKind.SESSION_MINUTES, ""].value
    assert minutes is not None
    if now - sitting_at_ms < minutes * MINUTE_MS:
        return None
    return LimitExceeded(kind=LimitKind.SESSION_MINUTES.value, limit=minutes)


def _stake_refusal(
    limits: Mapping[tuple[str, str], Limit],
    accounts: Collection[UUID],
    currency: str,
    stake_minor: int,
    loss_since: LossSince | None,
    now: int,
) -> ApplicationError | None:
    stake_limit = limits.get((LimitKind.STAKE_ROUND, currency), Limit()).value
    if stake_limit is not None and stake_minor > stake_limit:
        return LimitExceeded(kind=LimitKind.STAKE_ROUND.value, currency=currency, limit=stake_limit)
    for kind, window_ms in LOSS_WINDOWS_MS.items():
        limit = limits.get((kind, currency), Limit()).value
        if limit is None:
            continue
        assert loss_since is not None, "a player with a loss limit needs loss_since"
        if loss_since(accounts, currency, now - window_ms) + stake_minor > limit:
            return LimitExceeded(kind=kind.value, currency=currency, limit=limit)
    return None
