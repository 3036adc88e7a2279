"""The connection to Redis.  Nothing there is the truth: losing all of it costs a reconnect and nothing else."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

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


class OneWay:
    """A connection on which Redis answers nothing: a hint costs one write and no wait.

    What Redis refuses is not told, so nothing may depend on what is sent here.  Safe to share between threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: Any = None

    def publish(self, channel: str, message: str) -> None:
        """Publish a message.

        Raises:
            RedisError: there is no connection; the next message tries a new one.
        """
        with self._lock:
            try:
                self._connected().send_command("PUBLISH", channel, message, check_health=False)
            except redis.RedisError:
                if self._connection is not None:
                    self._connection.disconnect()
                self._connection = None
                raise

    def _connected(self) -> Any:
        """Return the connection; one that says something has ended or broken its silence, and is made anew."""
        if self._connection is not None and self._connection.can_read():
            self._connection.disconnect()
            self._connection = None
        if self._connection is None:
            self._connection = client().connection_pool.make_connection()
            self._connection.connect()
            self._connection.send_command("CLIENT", "REPLY", "OFF")
        return self._connection


@cache
def one_way() -> OneWay:
    """Return this process's connection for hints."""
    return OneWay()
