"""Whether a player may join a round.

Asked before a player sits down and again before each stake.  It never stops a payout, a refund or a withdrawal.

Source: docs/operators/keys-and-sessions.md, section Who may play.
"""

from __future__ import annotations

from uuid import UUID

from apps.accounts.errors import GamingDisabled, PlayerClosed, PlayerFrozen, PlayerNotFound
from apps.accounts.models import OperatorStatus, Player, PlayerStatus


def player_may_play(*, player_id: UUID) -> None:
    """Return if the player may join, else say why not.

    Raises:
        PlayerNotFound: no such player.
        GamingDisabled: play is stopped for the operator.
        PlayerClosed, PlayerFrozen: by the player's status.
    """
    player = Player.objects.select_related("operator").filter(pk=player_id).first()
    if player is None:
        raise PlayerNotFound
    if player.operator.status != OperatorStatus.ACTIVE:
        raise GamingDisabled
    match PlayerStatus(player.status):
        case PlayerStatus.CLOSED:
            raise PlayerClosed
        case PlayerStatus.FROZEN:
            raise PlayerFrozen
        case PlayerStatus.ACTIVE:
            return
