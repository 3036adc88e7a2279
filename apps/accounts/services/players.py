"""Players: upserted by the operator's own id, frozen, closed.

Source: docs/operators/keys-and-sessions.md, section Players.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db import transaction

from apps.accounts import selectors
from apps.accounts.changes import SYSTEM, changed_by
from apps.accounts.errors import PlayerClosed, PlayerConflict, PlayerNotFound
from apps.accounts.models import Player, PlayerStatus
from apps.core.clock import now_ms


@transaction.atomic
def player_upsert(
    *,
    operator_id: UUID,
    external_id: str,
    is_test: bool | None = None,
    is_bot: bool | None = None,
    person_key: str | None = None,
    actor: str = SYSTEM,
) -> Player:
    """Return the operator's player with this id, creating it if there is none.

    What is None is not asked for: false or empty on creation, as it stands otherwise.  A person key may be added later;
    apart from that none of the facts ever changes.

    Raises:
        PlayerConflict: the player exists with another value in a field that was asked for; ``pointer`` names it.
    """
    fresh = Player(
        operator_id=operator_id,
        external_id=external_id,
        is_test=bool(is_test),
        is_bot=bool(is_bot),
        person_key=person_key or "",
        created_at_ms=now_ms(),
    )
    # A parallel insert makes this one wait and then do nothing, so the row exists in either case.
    Player.objects.bulk_create([fresh], ignore_conflicts=True)
    player = Player.objects.select_for_update(no_key=True).get(operator_id=operator_id, external_id=external_id)
    if person_key and not player.person_key:
        changed_by(actor)
        player.person_key = person_key
        player.save(update_fields=["person_key"])
    asked = {"is_test": is_test, "is_bot": is_bot, "person_key": person_key}
    for name, value in asked.items():
        if value is not None and getattr(player, name) != value:
            raise PlayerConflict(pointer=f"/{name}", field=name)
    return player


@transaction.atomic
def player_status_set(*, player_id: UUID, status: PlayerStatus, actor: str = SYSTEM, reason: str = "") -> Player:
    """Freeze, thaw or close a player; a closed player's tokens die at once and it never opens again.

    Raises:
        PlayerNotFound: no such player.
        PlayerClosed: the player is closed already, and something else was asked for.
    """
    player = player_lock(player_id)
    if player.status == status:
        return player
    if player.status == PlayerStatus.CLOSED:
        raise PlayerClosed
    changed_by(actor, reason)
    player.status = status
    if status == PlayerStatus.CLOSED:
        player.token_version += 1
    player.save(update_fields=["status", "token_version"])
    return player


def person_lock(player_id: UUID) -> list[Player]:
    """Lock the rows of all accounts of a player's person until the transaction ends and return them.

    Raises:
        PlayerNotFound: no such player.
    """
    return accounts_lock(selectors.person_of(player_id=player_id)[player_id])


def accounts_lock(account_ids: Collection[UUID]) -> list[Player]:
    """Lock players' rows until the transaction ends, in one order for everybody, and return them."""
    return list(Player.objects.select_for_update(no_key=True).filter(pk__in=account_ids).order_by("pk"))


def player_lock(player_id: UUID) -> Player:
    """Lock a player's row until the transaction ends and return it.

    Raises:
        PlayerNotFound: no such player.
    """
    player = Player.objects.select_for_update(no_key=True).filter(pk=player_id).first()
    if player is None:
        raise PlayerNotFound
    return player
