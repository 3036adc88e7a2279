"""Operators, players and callers for the tests of accounts."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from rest_framework.test import APIClient

from apps.accounts import services
from apps.accounts.models import Player
from apps.client.signing import Signer, key_prefix, request_headers
from apps.core.clock import now_ms


@dataclass(frozen=True, slots=True)
class Caller:
    """Sends requests with one credential."""

    credential: str

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send a request to ``/v1`` and return the answer."""
        client = APIClient(raise_request_exception=True)
        if self.credential:
            headers = {"authorization": f"Bearer {self.credential}", **headers}
        return client.generic(method, f"/v1{path}", _encoded(body), content_type="application/json", headers=headers)


def _encoded(body: Any) -> Any:  # bytes; the test client's types know text only.
    if body is None:
        return b""
    return body if isinstance(body, bytes) else json.dumps(body).encode()


@dataclass(frozen=True, slots=True)
class Tenant:
    """An operator with a key of every scope, and ways to call as somebody else."""

    id: UUID
    api_key: str
    call: Caller

    def with_scopes(self, *scopes: str) -> Caller:
        """Return a caller with a key of these scopes."""
        label = "-".join(scopes) or "none"
        _key, plaintext = services.key_create(operator_id=self.id, scopes=scopes, label=label)
        return Caller(plaintext)

    def player(self, external_id: str = "p1", **facts: Any) -> Player:
        """Return a player of the operator."""
        return services.player_upsert(operator_id=self.id, external_id=external_id, **facts)

    def as_player(self, player: Player) -> Caller:
        """Return a caller with a fresh token of the player."""
        return Caller(services.session_create(player_id=player.pk, ttl_s=600).token)


@dataclass(frozen=True, slots=True)
class SignedCaller:
    """Sends signed requests; what is sent may differ from what was signed."""

    api_key: str
    signer: Signer

    def headers(
        self, method: str, path: str, body: bytes, *, timestamp_s: int | None = None, nonce: str = "", key: str = ""
    ) -> dict[str, str]:
        """Return the headers of a signed request to ``/v1``."""
        signed = request_headers(
            signer=self.signer,
            prefix=key_prefix(self.api_key),
            method=method,
            url=f"/v1{path}",
            timestamp_s=now_ms() // 1000 if timestamp_s is None else timestamp_s,
            nonce=nonce or secrets.token_urlsafe(16),
            body=body,
            idempotency_key=key,
        )
        return signed | ({"Idempotency-Key": key} if key else {})

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the answer."""
        raw = _encoded(body)
        return Caller(self.api_key)(method, path, raw, **self.headers(method, path, raw))


@pytest.fixture
def tenant_make(db: None) -> Callable[[str], Tenant]:
    """Return a function that makes an operator."""

    def make(name: str) -> Tenant:
        operator, plaintext = services.operator_create(name=name)
        return Tenant(operator.pk, plaintext, Caller(plaintext))

    return make


@pytest.fixture
def acme(tenant_make: Callable[[str], Tenant]) -> Tenant:
    """Return an operator."""
    return tenant_make("Acme")


@pytest.fixture
def rival(tenant_make: Callable[[str], Tenant]) -> Tenant:
    """Return another operator."""
    return tenant_make("Rival")


@pytest.fixture
def nobody() -> Caller:
    """Return a caller without credentials."""
    return Caller("")
