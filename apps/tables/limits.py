"""Refused calls and catches are limited: trying blindly for an open window must not pay.

A limit of convenience, kept in Redis: without Redis nothing is limited and play goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import redis

from apps.core.redis import client
from apps.games.contract import RuleError
from apps.tables.errors import TooManyCalls

VERBS = frozenset({"call", "catch"})
REFUSED_MAX = 10
"""Refused calls of one player in one round within WINDOW_S."""
WINDOW_S = 10


@contextmanager
def calls_limited(round_id: UUID, player_id: UUID, verb: object) -> Iterator[None]:
    """Run a player's action; refuse a call when too many were refused lately.

    Raises:
        TooManyCalls: wait; nothing was tried.
    """
    if verb not in VERBS:
        yield
        return
    key = f"sealdeck:calls:{round_id.hex}:{player_id.hex}"
    if _count(key) >= REFUSED_MAX:
        raise TooManyCalls(retry_after_s=WINDOW_S)
    try:
        yield
    except RuleError:
        _note(key)
        raise


def _count(key: str) -> int:
    try:
        return int(client().get(key) or 0)
    except redis.RedisError:
        return 0


def _note(key: str) -> None:
    try:
        with client().pipeline() as pipe:
            pipe.incr(key)
            pipe.expire(key, WINDOW_S, nx=True)
            pipe.execute()
    except redis.RedisError:
        return
