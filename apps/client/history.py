"""The hand history as players and operators read it: the same calls for both, each of his own rounds.

Source: docs/players/history.md and docs/operators/history.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from apps.client.calls import call
from apps.client.transport import Caller

R = TypeVar("R")


class HistoryCalls(Caller[R]):
    """Calls about rounds that were played."""

    def rounds(self, **filters: str | int | None) -> R:
        """Get a page of rounds, newest first: ``{"rounds": [...], "next": CURSOR}``.

        Args:
            filters: ``player_id``, ``table_id``, ``game``, ``currency``, ``status``, ``ended_from_ms``,
                ``ended_to_ms``, ``cursor``, ``limit``.
        """
        return self._call(call("GET", "/v1/rounds", query=filters))

    def history(self, round_id: str) -> R:
        """Get everything of a round that you may know."""
        return self._call(call("GET", f"/v1/rounds/{round_id}/history"))

    def history_text(self, round_id: str) -> R:
        """Get the same as text."""
        return self._call(call("GET", f"/v1/rounds/{round_id}/history.txt"))


def histories(client: HistoryCalls[Any], **filters: str | int | None) -> Iterator[dict[str, Any]]:
    """Give the whole of every round that the filters let through, newest first, one at a time.

    Args:
        client: one that blocks.
    """
    cursor: str | None = None
    while True:
        page = client.rounds(**{"limit": 200, **filters, "cursor": cursor})
        for told in page["rounds"]:
            yield client.history(told["id"])
        cursor = page["next"]
        if cursor is None:
            return
