"""The database back end that the settings name: Django's for PostgreSQL, but one round trip less in every request.

Django asks a lasting connection ``SELECT 1`` before its first use in a request.  A server that ends a connection says
so, or its kernel does, and then there is something to read from a connection that should be silent; so the socket is
looked at instead, without going to the server.  Only a connection that has rested for a while is asked the long way: a
firewall between the machines may have dropped it without a word.
"""

from __future__ import annotations

import select
import time
from typing import Any

from django.db.backends.postgresql import base

RESTED_S = 10.0


class DatabaseWrapper(base.DatabaseWrapper):
    """One connection."""

    health_check_enabled: bool
    health_check_done: bool
    _used_s = float("-inf")

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect; a new connection has no prepared statements."""
        self.hot_statements: dict[str, bytes] = {}
        """Text to name of the statements that apps.core.postgres.hot has prepared in this connection."""
        return super().get_new_connection(conn_params)

    def close_if_health_check_failed(self) -> None:
        """Close the connection if it is dead, once in a request and before its first use."""
        if self.connection is None or not self.health_check_enabled or self.health_check_done:
            return
        now_s = time.monotonic()
        rested, self._used_s = now_s - self._used_s > RESTED_S, now_s
        if rested or not _is_silent(self.connection.fileno()):
            super().close_if_health_check_failed()
            return
        self.health_check_done = True


def _is_silent(socket: int) -> bool:
    """Tell whether nothing waits to be read: no last word of the server, no end of the connection."""
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return not poll.poll(0)
