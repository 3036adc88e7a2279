"""What others may read of operators, players and sessions.

Every selector that answers a caller takes the caller's operator and finds nothing of another's.

Source: docs/operators/keys-and-sessions.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models import F, Q

from apps.accounts.errors import OperatorNotFound, PlayerNotFound
from apps.accounts.limits import Limit, LimitEntry, limit_at, limit_strictest
from apps.accounts.models import ApiKey, Change, Exclusion, LimitChange, Operator, OperatorStatus, Player, PlayerSession
from apps.accounts.models import PlayerStatus as Status
from apps.accounts.principals import PlayerPrincipal
from apps.core.clock import now_ms

KEYS_MAX = 100
"""Keys shown in a list, newest first."""
CHANGES_MAX = 100
"""Changes of limits shown in a list, newest first."""
EXCLUDED = "excluded"
FOR_EVER_MS = 2**63 - 1
TTL_S_MAX = 86_400
"""The longest that a player's session lasts."""
REST_MS = 15 * 60 * 1000
"""A session that starts within this time after the last one ended belongs to the same sitting."""

Persons = Mapping[UUID, Collection[UUID]]
"""The accounts of each player's person, the player's own among them: limits and exclusions hold for all of them."""


@dataclass(frozen=True, slots=True)
class PlayerFacts:
    """What the other apps need to know of a player."""

    id: UUID
    operator_id: UUID
    external_id: str
    status: str
    """``active``, ``frozen``, ``excluded`` or ``closed``."""
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


def operator_by_name(*, name: str) -> Operator | None:
    """Return the operator of a name, which is unique."""
    return Operator.objects.filter(name=name).first()


def operator_is_active(*, operator_id: UUID) -> bool:
    """Tell whether new rounds of the operator may begin."""
    return Operator.objects.filter(pk=operator_id, status=OperatorStatus.ACTIVE).exists()


def keys(*, operator_id: UUID) -> list[ApiKey]:
    """Return the operator's newest keys, revoked ones too."""
    return list(ApiKey.objects.filter(operator_id=operator_id).order_by("-created_at_ms", "pk")[:KEYS_MAX])


def player_get(*, operator_id: UUID, player_id: UUID, now: int | None = None) -> PlayerFacts:
    """Return a player of the operator.

    Raises:
        PlayerNotFound: the operator has no such player.
    """
    found = players_get(operator_id=operator_id, player_ids=[player_id], now=now)
    if player_id not in found:
        raise PlayerNotFound
    return found[player_id]


def players_get(*, operator_id: UUID, player_ids: Collection[UUID], now: int | None = None) -> dict[UUID, PlayerFacts]:
    """Return those of the players that are the operator's, by id."""
    rows = list(Player.objects.filter(operator_id=operator_id, pk__in=player_ids))
    excluded = exclusions_in_force(persons=persons_of(players=rows), now=now_ms() if now is None else now)
    return {player.pk: _facts(player, is_excluded=player.pk in excluded) for player in rows}


def _facts(player: Player, *, is_excluded: bool) -> PlayerFacts:
    return PlayerFacts(
        id=player.pk,
        operator_id=player.operator_id,
        external_id=player.external_id,
        status=EXCLUDED if is_excluded and player.status == Status.ACTIVE else player.status,
        is_test=player.is_test,
        is_bot=player.is_bot,
        person=person_name(player),
        token_version=player.token_version,
    )


def players_excluded(*, operator_id: UUID, player_ids: Collection[UUID], now: int) -> dict[UUID, int | None]:
    """Return who of the operator's players is excluded at ``now``, with the end of it (Unix ms) or None for never."""
    rows = Player.objects.filter(operator_id=operator_id, pk__in=list(player_ids))
    return exclusions_in_force(persons=persons_of(players=list(rows)), now=now)


def persons_of(*, players: Collection[Player]) -> Persons:
    """Return the accounts of each player's person: those of the same operator with the same person key."""
    same = Q()
    for player in players:
        if player.person_key:
            same |= Q(operator_id=player.operator_id, person_key=player.person_key)
    accounts: dict[tuple[UUID, str], list[UUID]] = defaultdict(list)
    if same:
        for pk, operator_id, key in Player.objects.filter(same).values_list("pk", "operator_id", "person_key"):
            accounts[operator_id, key].append(pk)
    return {player.pk: accounts.get((player.operator_id, player.person_key), [player.pk]) for player in players}


def person_of(*, player_id: UUID) -> Persons:
    """Return the accounts of one player's person.

    Raises:
        PlayerNotFound: no such player.
    """
    persons = persons_of(players=list(Player.objects.filter(pk=player_id)))
    if not persons:
        raise PlayerNotFound
    return persons


def exclusions_in_force(*, persons: Persons, now: int) -> dict[UUID, int | None]:
    """Return who of the players is excluded at ``now``, with the end of it (Unix ms) or None for never.

    An exclusion of one account holds for every account of the same person.
    """
    ends: dict[UUID, int] = {}
    rows = Exclusion.objects.filter(Q(until_ms=None) | Q(until_ms__gt=now), player__in=_accounts(persons))
    for account_id, until_ms in rows.values_list("player_id", "until_ms"):
        ends[account_id] = max(FOR_EVER_MS if until_ms is None else until_ms, ends.get(account_id, 0))
    found = {
        player_id: max(ends.get(account_id, 0) for account_id in account_ids)
        for player_id, account_ids in persons.items()
    }
    return {player_id: None if end == FOR_EVER_MS else end for player_id, end in found.items() if end}


def _accounts(persons: Persons) -> list[UUID]:
    return list({account_id for account_ids in persons.values() for account_id in account_ids})


def person_name(player: Player) -> str:
    """Return a text that two players of an operator share exactly if they are known to be one human."""
    return f"person:{player.person_key}" if player.person_key else f"player:{player.pk}"


def limits_of(*, persons: Persons, now: int) -> dict[UUID, dict[tuple[str, str], Limit]]:
    """Return the limits of each player at ``now``, by kind and currency ('' for limits in minutes).

    Each is the strictest of those of the person's accounts.
    """
    entries: dict[UUID, dict[tuple[str, str], list[LimitEntry]]] = defaultdict(lambda: defaultdict(list))
    for row in LimitChange.objects.filter(player__in=_accounts(persons)).order_by("pk"):
        entry = LimitEntry(row.value, row.created_at_ms, row.effective_at_ms)
        entries[row.player_id][row.kind, row.currency].append(entry)
    found: dict[UUID, dict[tuple[str, str], Limit]] = {}
    for player_id, account_ids in persons.items():
        by_name: dict[tuple[str, str], list[Limit]] = defaultdict(list)
        for account_id in account_ids:
            for name, listed in entries[account_id].items():
                by_name[name].append(limit_at(listed, now))
        found[player_id] = {name: limit_strictest(limits) for name, limits in sorted(by_name.items())}
    return found


def limit_changes(*, operator_id: UUID, player_id: UUID) -> list[LimitChange]:
    """Return the newest changes of a player's limits."""
    return list(LimitChange.objects.filter(operator_id=operator_id, player=player_id).order_by("-pk")[:CHANGES_MAX])


def changes(*, operator_id: UUID, subject_id: UUID) -> list[Change]:
    """Return the newest changes of an operator, a key or a player, newest first."""
    rows = Change.objects.filter(operator_id=operator_id, subject_id=subject_id)
    return list(rows.order_by("-pk")[:CHANGES_MAX])


def sittings(*, persons: Persons, now: int) -> dict[UUID, int]:
    """Return when the unbroken sitting of each of the players began who is in one at ``now``, Unix milliseconds.

    A sitting is the person's, under whichever accounts, and lasts until REST_MS after the end of its last session.
    """
    rows = PlayerSession.objects.filter(
        Q(revoked_at_ms=None) | Q(revoked_at_ms__gt=now - REST_MS),
        player__in=_accounts(persons),
        created_at_ms__gt=now - REST_MS - 1000 * TTL_S_MAX,  # What the index can use.
        expires_at_ms__gt=now - REST_MS,
    )
    began: dict[UUID, int] = {}
    for account_id, sitting_at_ms in rows.values_list("player_id", "sitting_at_ms"):
        began[account_id] = min(sitting_at_ms, began.get(account_id, sitting_at_ms))
    return {
        player_id: min(began[account_id] for account_id in account_ids if account_id in began)
        for player_id, account_ids in persons.items()
        if not began.keys().isdisjoint(account_ids)
    }


def session_is_live(principal: PlayerPrincipal) -> bool:
    """Tell whether the session of a token that was read still stands, by the database and in one query."""
    with connection.cursor() as cursor:  # Asked by every request of a player, so it is written out.
        cursor.execute(
            "SELECT EXISTS (SELECT FROM accounts_playersession s JOIN accounts_player p ON p.id = s.player_id"
            " WHERE s.id = %s AND s.operator_id = %s AND s.player_id = %s AND s.revoked_at_ms IS NULL"
            " AND s.token_version = %s AND p.token_version = s.token_version)",
            [principal.session_id, principal.operator_id, principal.player_id, principal.token_version],
        )
        return bool(cursor.fetchone()[0])


def sessions_live(session_ids: Collection[UUID]) -> set[UUID]:
    """Return those of the sessions that have not been revoked, in one query."""
    rows = PlayerSession.objects.filter(
        pk__in=session_ids, revoked_at_ms=None, token_version=F("player__token_version")
    )
    return set(rows.values_list("pk", flat=True))


SESSION_LIVE_SQL = """
SELECT EXISTS (
    SELECT FROM accounts_playersession s JOIN accounts_player p ON p.id = s.player_id
    WHERE s.id = %(session)s AND s.revoked_at_ms IS NULL AND s.token_version = p.token_version
)
"""
"""The question of ``session_is_live`` for a statement of another app's hot path; parameter ``session``, its id."""
