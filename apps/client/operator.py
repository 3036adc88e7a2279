"""The API as an operator's back end uses it: players, sessions, money, limits, tables, keys.

``OperatorClient`` blocks, ``AsyncOperatorClient`` has the same methods as coroutines.  Answers are the JSON of the API
as it stands in its document.

Source: docs/operators/README.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import UUID

import httpx

from apps.client.calls import Credentials, Retries, call
from apps.client.history import HistoryCalls
from apps.client.signing import Signer
from apps.client.transport import Awaiting, Blocking

R = TypeVar("R")


class OperatorCalls(HistoryCalls[R]):
    """Every call of an operator."""

    def player_upsert(
        self,
        external_id: str,
        *,
        is_test: bool | None = None,
        is_bot: bool | None = None,
        person_key: str | None = None,
    ) -> R:
        """Create a player under your own id, or get the one that has it."""
        optional = {"is_test": is_test, "is_bot": is_bot, "person_key": person_key}
        body = {"external_id": external_id, **{name: value for name, value in optional.items() if value is not None}}
        return self._call(call("POST", "/v1/players", body, is_repeatable=True))

    def player_get(self, player_id: UUID | str) -> R:
        """Get a player."""
        return self._call(call("GET", f"/v1/players/{player_id}"))

    def player_status_set(self, player_id: UUID | str, status: str) -> R:
        """Freeze (``frozen``), thaw (``active``) or close (``closed``) a player."""
        return self._call(call("PATCH", f"/v1/players/{player_id}", {"status": status}, is_repeatable=True))

    def balance(self, player_id: UUID | str, currency: str) -> R:
        """Get what a player has, minor units."""
        return self._call(call("GET", f"/v1/players/{player_id}/balance", query={"currency": currency}))

    def limits(self, player_id: UUID | str) -> R:
        """Get a player's limits and how they came about."""
        return self._call(call("GET", f"/v1/players/{player_id}/limits"))

    def limits_set(self, player_id: UUID | str, limits: Sequence[Mapping[str, Any]]) -> R:
        """Change limits: ``{"kind", "currency", "value"}`` each; what loosens holds a day later."""
        body = {"limits": [dict(limit) for limit in limits]}
        return self._call(call("PATCH", f"/v1/players/{player_id}/limits", body, is_repeatable=True))

    def exclusion(self, player_id: UUID | str) -> R:
        """Get whether a player is excluded."""
        return self._call(call("GET", f"/v1/players/{player_id}/exclusion"))

    def player_exclude(self, player_id: UUID | str, until_ms: int | None) -> R:
        """Exclude a player until a time (Unix ms), or for ever with None; there is no way back."""
        body = {"until_ms": until_ms}
        return self._call(call("POST", f"/v1/players/{player_id}/exclusion", body, is_repeatable=True))

    def session_create(self, player_id: UUID | str, ttl_s: int = 3600) -> R:
        """Start a session of a player; the answer holds its token, this once."""
        body = {"player_id": str(player_id), "ttl_s": ttl_s}
        return self._call(call("POST", "/v1/sessions", body, is_repeatable=True))

    def session_revoke(self, session_id: UUID | str) -> R:
        """End a player's sessions at once."""
        return self._call(call("DELETE", f"/v1/sessions/{session_id}", is_repeatable=True))

    def credit(
        self,
        player_id: UUID | str,
        currency: str,
        amount_minor: int,
        external_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> R:
        """Put money on a player's account.

        Args:
            external_id: your own id of the transaction; it decides for ever that this happens once.
            idempotency_key: made from ``external_id`` where it is None.
        """
        return self._transfer("credit", player_id, currency, amount_minor, external_id, idempotency_key)

    def debit(
        self,
        player_id: UUID | str,
        currency: str,
        amount_minor: int,
        external_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> R:
        """Take money from a player's account, all of it or nothing; arguments as for ``credit``."""
        return self._transfer("debit", player_id, currency, amount_minor, external_id, idempotency_key)

    def _transfer(
        self, kind: str, player_id: UUID | str, currency: str, amount_minor: int, external_id: str, key: str | None
    ) -> R:
        body = {
            "player_id": str(player_id),
            "currency": currency,
            "amount_minor": amount_minor,
            "external_id": external_id,
        }
        key = key or f"{kind}:{external_id}"
        return self._call(call("POST", f"/v1/wallet/{kind}s", body, idempotency_key=key))

    def transaction(self, external_id: str) -> R:
        """Get one of your transactions by your own id."""
        return self._call(call("GET", f"/v1/wallet/transactions/{quote(external_id, safe='')}"))

    def transactions(self, *, cursor: str | None = None, limit: int | None = None) -> R:
        """Get a page of the list of transactions, oldest first."""
        return self._call(call("GET", "/v1/wallet/transactions", query={"cursor": cursor, "limit": limit}))

    def keys(self) -> R:
        """Get your API keys, without their secrets."""
        return self._call(call("GET", "/v1/keys"))

    def key_create(
        self,
        label: str,
        scopes: Sequence[str],
        *,
        addresses: Sequence[str] = (),
        signature: Mapping[str, str] | None = None,
    ) -> R:
        """Make an API key; the answer holds it, this once.

        Args:
            signature: ``{"algorithm": "ed25519", "public_key": BASE64}`` or ``{"algorithm": "hmac-sha256"}``.
        """
        body: dict[str, Any] = {"label": label, "scopes": list(scopes), "addresses": list(addresses)}
        if signature is not None:
            body["signature"] = dict(signature)
        return self._call(call("POST", "/v1/keys", body))

    def key_revoke(self, key_id: UUID | str) -> R:
        """Revoke an API key at once."""
        return self._call(call("DELETE", f"/v1/keys/{key_id}", is_repeatable=True))

    def table_create(self, body: Mapping[str, Any], *, idempotency_key: str = "") -> R:
        """Open a table; members as in the API's document."""
        return self._call(call("POST", "/v1/tables", body, idempotency_key=idempotency_key))

    def tables(self, **filters: str | int | None) -> R:
        """Get a page of the tables, newest first; filters as in the API's document."""
        return self._call(call("GET", "/v1/tables", query=filters))

    def table(self, table_id: UUID | str) -> R:
        """Get a table."""
        return self._call(call("GET", f"/v1/tables/{table_id}"))

    def table_status_set(self, table_id: UUID | str, status: str) -> R:
        """Open (``open``), pause (``paused``), drain (``draining``) or close (``closed``) a table."""
        return self._call(call("PATCH", f"/v1/tables/{table_id}", {"status": status}, is_repeatable=True))

    def round(self, round_id: str) -> R:
        """Get the open view of a round."""
        return self._call(call("GET", f"/v1/rounds/{round_id}"))


class OperatorClient(Blocking, OperatorCalls[Any]):
    """An operator's client that blocks; safe to share between threads."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        signer: Signer | None = None,
        answer_keys: Mapping[str, bytes] | None = None,
        retries: Retries | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        """Make a client.

        Args:
            base_url: where the server is, such as ``https://cards.example``.
            signer: signs every request; needed for whatever moves money where the server asks for it.
            answer_keys: the server's keys by kid, from GET /v1/answer-keys and kept; answers that none of them signed
                are then refused.
        """
        super().__init__(base_url, Credentials(api_key, signer, answer_keys or {}), retries=retries, http=http)


class AsyncOperatorClient(Awaiting, OperatorCalls[Awaitable[Any]]):
    """An operator's client of coroutines; arguments as for OperatorClient."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        signer: Signer | None = None,
        answer_keys: Mapping[str, bytes] | None = None,
        retries: Retries | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        super().__init__(base_url, Credentials(api_key, signer, answer_keys or {}), retries=retries, http=http)
