"""What others may read of operators, players and sessions.

Every selector that answers a caller takes the caller's operator and finds nothing of another's.

Source: docs/operators/keys-and-sessions.md.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from apps.accounts.errors import OperatorNotFound, PlayerNotFound
from apps.accounts.models import ApiKey, Operator, OperatorStatus, Player, PlayerSession
from apps.accounts.principals import PlayerPrincipal

KEYS_MAX = 100
"""Keys shown in a list, newest first."""


@dataclass(frozen=True, slots=True)
class PlayerFacts:
    """What the other apps need to know of a player."""

    id: UUID
    operator_id: UUID
    external_id: str
    status: str
    is_test: bool
    is_bot: bool
    person: str
    """The same text for two players exactly if they are known to be one human; never empty."""
    token_version: int


def operator_get(*, operator_id: UUID) -> Operator:
    """Return an operator.

    Raises:
        OperatorNotFound: no such operator.
    """
    operator = Operator.objects.filter(pk=operator_id).first()
    if operator is None:
        raise OperatorNotFound
    return operator


def operator_is_active(*, operator_id: UUID) -> bool:
    """Tell whether new rounds of the operator may begin."""
    return Operator.objects.filter(pk=operator_id, status=OperatorStatus.ACTIVE).exists()


def keys(*, operator_id: UUID) -> list[ApiKey]:
    """Return the operator's newest keys, revoked ones too."""
    return list(ApiKey.objects.filter(operator_id=operator_id).order_by("-created_at_ms", "pk")[:KEYS_MAX])


def player_get(*, operator_id: UUID, player_id: UUID) -> PlayerFacts:
    """Return a player of the operator.

    Raises:
        PlayerNotFound: the operator has no such player.
    """
    player = Player.objects.filter(operator_id=operator_id, pk=player_id).first()
    if player is None:
        raise PlayerNotFound
    return facts(player)


def players_get(*, operator_id: UUID, player_ids: Collection[UUID]) -> dict[UUID, PlayerFacts]:
    """Return those of the players that are the operator's, by id."""
    rows = Player.objects.filter(operator_id=operator_id, pk__in=player_ids)
    return {player.pk: facts(player) for player in rows}


def facts(player: Player) -> PlayerFacts:
    """Return the facts of a player's row."""
    return PlayerFacts(
        id=player.pk,
        operator_id=player.operator_id,
        external_id=player.external_id,
        status=player.status,
        is_test=player.is_test,
        is_bot=player.is_bot,
        person=f"person:{player.person_key}" if player.person_key else f"player:{player.pk}",
        token_version=player.token_version,
    )


def session_is_live(principal: PlayerPrincipal) -> bool:
    """Tell whether the session of a token that was read still stands, by the database and in one query."""
    return PlayerSession.objects.filter(
        pk=principal.session_id,
        operator_id=principal.operator_id,
        player_id=principal.player_id,
        revoked_at_ms=None,
        token_version=principal.token_version,
        player__token_version=principal.token_version,
    ).exists()


SESSION_LIVE_SQL = """
SELECT EXISTS (
    SELECT FROM accounts_playersession s JOIN accounts_player p ON p.id = s.player_id
    WHERE s.id = %(session)s AND s.revoked_at_ms IS NULL AND s.token_version = p.token_version
)
"""
"""The question of ``session_is_live`` for a statement of another app's hot path; parameter ``session``, a session id."""
