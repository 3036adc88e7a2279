"""Everything that changes operators, keys, players and sessions, and the question whether a player may play.

Source: docs/operators/keys-and-sessions.md.  Every service opens a transaction or joins the caller's.
"""

from apps.accounts.services.limits import LimitWish, limits_set, player_exclude
from apps.accounts.services.nonces import nonces_purge
from apps.accounts.services.operators import (
    Signing,
    key_create,
    key_revoke,
    operator_create,
    operator_status_set,
)
from apps.accounts.services.play import LossSince, player_may_play, players_refused
from apps.accounts.services.players import player_status_set, player_upsert
from apps.accounts.services.sessions import SessionToken, session_create, session_revoke

__all__ = [
    "LimitWish",
    "LossSince",
    "SessionToken",
    "Signing",
    "key_create",
    "key_revoke",
    "limits_set",
    "nonces_purge",
    "operator_create",
    "operator_status_set",
    "player_exclude",
    "player_may_play",
    "player_status_set",
    "player_upsert",
    "players_refused",
    "session_create",
    "session_revoke",
]
