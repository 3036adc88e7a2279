"""The API as a player's client uses it: tables, seats, rounds, moves, and the public proofs.

``PlayerClient`` blocks, ``AsyncPlayerClient`` has the same methods as coroutines.  Streams are in apps.client.streams,
contributions and checks in apps.client.seat and apps.client.witness.

Source: docs/players/README.md.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

import httpx

from apps.client.calls import READ_S, Credentials, Retries, call
from apps.client.history import HistoryCalls
from apps.client.transport import Awaiting, Blocking

R = TypeVar("R")


def idempotency_key() -> str:
    """Return a fresh Idempotency-Key."""
    return secrets.token_urlsafe(18)


class PlayerCalls(HistoryCalls[R]):
    """Every call of a player."""

    def me(self, player_id: UUID | str) -> R:
        """Get yourself."""
        return self._call(call("GET", f"/v1/players/{player_id}"))

    def balance(self, player_id: UUID | str, currency: str) -> R:
        """Get what you have, minor units."""
        return self._call(call("GET", f"/v1/players/{player_id}/balance", query={"currency": currency}))

    def limits(self, player_id: UUID | str) -> R:
        """Get your limits."""
        return self._call(call("GET", f"/v1/players/{player_id}/limits"))

    def limits_set(self, player_id: UUID | str, limits: Sequence[Mapping[str, Any]]) -> R:
        """Change your limits: ``{"kind", "currency", "value"}`` each; what loosens holds a day later."""
        body = {"limits": [dict(limit) for limit in limits]}
        return self._call(call("PATCH", f"/v1/players/{player_id}/limits", body, is_repeatable=True))

    def exclude_me(self, player_id: UUID | str, until_ms: int | None) -> R:
        """Exclude yourself until a time (Unix ms), or for ever with None; there is no way back."""
        body = {"until_ms": until_ms}
        return self._call(call("POST", f"/v1/players/{player_id}/exclusion", body, is_repeatable=True))

    def tables(self, **filters: str | int | None) -> R:
        """Get a page of the tables, newest first; filters as in the API's document."""
        return self._call(call("GET", "/v1/tables", query=filters))

    def table(self, table_id: UUID | str) -> R:
        """Get a table; ``your_seat`` is yours."""
        return self._call(call("GET", f"/v1/tables/{table_id}"))

    def seat_take(self, table_id: UUID | str, seat: int | None = None, *, code: str = "") -> R:
        """Sit down, on a seat of your choice or on any."""
        body: dict[str, Any] = {"seat": seat} | ({"code": code} if code else {})
        return self._call(call("POST", f"/v1/tables/{table_id}/seats", body))

    def seat_stand_up(self, table_id: UUID | str) -> R:
        """Stand up."""
        return self._call(call("DELETE", f"/v1/tables/{table_id}/seats/me"))

    def ready(self, table_id: UUID | str, contribution: Mapping[str, Any]) -> R:
        """Get ready with a contribution that apps.client.seat has made."""
        return self._call(call("POST", f"/v1/tables/{table_id}/ready", contribution))

    def opening(self, table_id: UUID | str, contribution: Mapping[str, Any]) -> R:
        """Open a commitment (mode sealed)."""
        return self._call(call("POST", f"/v1/tables/{table_id}/opening", contribution))

    def auto_ready(self, table_id: UUID | str, rounds: int) -> R:
        """Be made ready for so many rounds from now on, where the table allows it; 0 is no more."""
        body = {"rounds": rounds}
        return self._call(call("POST", f"/v1/tables/{table_id}/auto-ready", body, is_repeatable=True))

    def sit_out(self, table_id: UUID | str) -> R:
        """Sit out from the next round on."""
        return self._call(call("POST", f"/v1/tables/{table_id}/sit-out", {}, is_repeatable=True))

    def come_back(self, table_id: UUID | str) -> R:
        """Take part again."""
        return self._call(call("POST", f"/v1/tables/{table_id}/come-back", {}, is_repeatable=True))

    def round(self, round_id: str) -> R:
        """Get a round as you may see it, with what you may do."""
        return self._call(call("GET", f"/v1/rounds/{round_id}"))

    def act(self, round_id: str, action: Mapping[str, Any], seen: int, *, key: str | None = None) -> R:
        """Play one action.

        Args:
            seen: number of the last entry you saw.
            key: Idempotency-Key; a fresh one where it is None.
        """
        body = {"action": dict(action), "seen": seen}
        path = f"/v1/rounds/{round_id}/actions"
        return self._call(call("POST", path, body, idempotency_key=key or idempotency_key()))

    def leave(self, round_id: str) -> R:
        """Leave the round for good; the stake stays in the pot."""
        return self._call(call("POST", f"/v1/rounds/{round_id}/leave", {}))

    def openings(self, round_id: str) -> R:
        """Get the openings of the cards you see."""
        return self._call(call("GET", f"/v1/rounds/{round_id}/openings"))

    def events(self, table_id: UUID | str, *, after: str | None = None, wait_s: int = 25) -> R:
        """Wait for a table's messages: ``{"messages": [...], "next": CURSOR}``."""
        query = {"after": after, "wait": wait_s}
        return self._call(call("GET", f"/v1/tables/{table_id}/events", query=query, read_s=wait_s + READ_S))

    def checkpoint(self) -> R:
        """Get the newest checkpoint of the public log, a signed note."""
        return self._call(call("GET", "/v1/fairness/checkpoint", is_public=True))

    def log_keys(self) -> R:
        """Get every key the log announced."""
        return self._call(call("GET", "/v1/fairness/keys", is_public=True))

    def trust(self) -> R:
        """Get the server's word on what to trust; better to have it from elsewhere."""
        return self._call(call("GET", "/v1/fairness/trust", is_public=True))

    def records(self, round_id: str) -> R:
        """Get the signed records of a round so far."""
        return self._call(call("GET", f"/v1/fairness/rounds/{round_id}", is_public=True))

    def bundle(self, round_id: str) -> R:
        """Get the audit bundle of a round."""
        return self._call(call("GET", f"/v1/fairness/rounds/{round_id}/bundle", is_public=True))

    def inclusion(self, index: int, size: int) -> R:
        """Get the proof that an entry is in the log of a size."""
        query = {"index": index, "size": size}
        return self._call(call("GET", "/v1/fairness/proofs/inclusion", query=query, is_public=True))

    def consistency(self, old: int, new: int) -> R:
        """Get the proof that the log of one size extends that of another."""
        query = {"from": old, "to": new}
        return self._call(call("GET", "/v1/fairness/proofs/consistency", query=query, is_public=True))


class PlayerClient(Blocking, PlayerCalls[Any]):
    """A player's client that blocks."""

    def __init__(
        self, base_url: str, token: str, *, retries: Retries | None = None, http: httpx.Client | None = None
    ) -> None:
        super().__init__(base_url, Credentials(token), retries=retries, http=http)


class AsyncPlayerClient(Awaiting, PlayerCalls[Awaitable[Any]]):
    """A player's client of coroutines."""

    def __init__(
        self, base_url: str, token: str, *, retries: Retries | None = None, http: httpx.AsyncClient | None = None
    ) -> None:
        super().__init__(base_url, Credentials(token), retries=retries, http=http)
