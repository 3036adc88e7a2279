"""The connection to Redis.  Nothing there is the truth: losing all of it costs a reconnect and nothing else."""

from __future__ import annotations

from functools import cache

import redis
from django.conf import settings

TIMEOUT_S = 2.0
"""A Redis that hangs must not hang a request."""


@cache
def client() -> redis.Redis:
    """Return this process's client; it pools its connections and is safe to share between threads."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S, health_check_interval=30
    )
